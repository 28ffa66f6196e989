"""Placing members one by one, each seeing where the earlier ones went: for rules that make one member's node matter to another.

For each pod all nodes are judged at once; what a node has room for is computed anew only where a pod was put since the signature
was last looked at. A pod that finds no node is tried again once others have theirs, because it may need them.

Equal pods of which a value of a node label takes one (the usual anti-affinity, one pod per node) take a shorter way with the same
outcome: a node that got one is out, and nothing else changes for the others, so the best node is looked for in one row of figures
that only ever loses entries.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.identical import PodsByNode
from scheduler.algorithm.overlay import Placed
from scheduler.algorithm.snapshot import SnapshotOverlay
from scheduler.algorithm.topology_state import Mask, TopologyState, Whole
from scheduler.cache.node_columns import Slots
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.steps import ONE_SCAN, Steps

OUT: Final = np.iinfo(np.int64).min
"""The rank of a node that cannot take one more."""


def one_per_value(topology: TopologyState, signature: PodSignature) -> list[Slots]:
    """By rule that lets one pod of this signature into each value: the values of the nodes; none when other rules matter."""
    prefilter = topology.topology.prefilter_states[signature]
    if (
        topology.volumes is not None
        or topology.devices is not None
        or prefilter.affinity
        or prefilter.hard_spreads
        or prefilter.soft_spreads
        or prefilter.preferred_affinity
    ):
        return []
    own = topology.topology.effects[signature]
    found = [
        topology.values(at)
        for at in dict.fromkeys((*prefilter.anti_affinity, *prefilter.existing_anti_affinity))
        if own.get(at, 0) > 0
    ]
    distinct: list[Slots] = []
    for values in found:
        if not any(np.array_equal(values, other) for other in distinct):
            distinct.append(values)
    return distinct


def all_labelled(values: list[Slots], feasible: Mask) -> bool:
    """Whether some rule lets only one pod onto each of these nodes."""
    return any(bool((codes[feasible] != 0).all()) for codes in values)


def take_one_each(rank: Whole, values: list[Slots], count: int, steps: Steps) -> list[int]:
    """The indices of the best nodes in turn, at most `count`.

    Args:
        rank: how good each node is, `OUT` where none fits, `[node]`; is written to.
        values: by rule: the code of the label's value on each node, 0 without the label, `[node]`.
        count: pods to place.
        steps: what is spent.

    Every node that is not `OUT` must have one of the `values` at least (not 0).
    """
    found: list[int] = []
    while len(found) < count:
        steps.spend((1 + len(values)) * (ONE_SCAN + len(rank)))
        index = int(rank.argmax())
        if rank[index] == OUT:
            break
        for codes in values:
            if codes[index]:
                rank[codes == codes[index]] = OUT
        found.append(index)
    return found


_STEP: Final = 2**20
"""Weight of a score against the number of members that are on the node already."""

_SCANS_OF_A_POD: Final = 3
_SCANS_OF_A_SIGNATURE: Final = 40
"""Operations on all nodes that a pod takes, and the first of its signature besides."""
_FEW: Final = 8
"""Changed nodes that are looked at one by one."""

Confined = Mapping[PodSignature, NDArray[np.bool_]]
"""By signature: the nodes, `[node]`, to which an attempt limits its pods; a signature that is not in here may go anywhere."""


class PodByPod:
    """One pass after the other over members in a given order."""

    def __init__(self, snapshot: SnapshotOverlay, *, pack: bool, confined: Confined) -> None:
        """With `pack` full nodes are preferred to empty ones."""
        if snapshot.topology_state is None:
            raise ValueError("where members do not affect each other they are placed at once")
        self._snapshot: Final = snapshot
        self._topology_state: Final = snapshot.topology_state
        self._sign: Final = -1 if pack else 1
        self._confined: Final = confined
        self._offers: dict[PodSignature, _Offer] = {}
        self._history: list[int] = []
        self._given: PodsByNode = np.zeros(len(self._topology_state.slots), dtype=np.int64)

    def place(self, order: Iterable[tuple[PodSignature, int]]) -> list[Placed]:
        """Places as many pods as it can; `order` is runs of pods of one signature."""
        slots: dict[PodSignature, list[int]] = {}
        waiting = list(order)
        while waiting:
            left: list[tuple[PodSignature, int]] = []
            for signature, count in waiting:
                found = self._run(signature, count)
                slots.setdefault(signature, []).extend(found)
                if len(found) < count:
                    left.append((signature, count - len(found)))
            if sum(count for _, count in left) == sum(count for _, count in waiting):
                break
            waiting = left
        self._snapshot.note_changed(self._topology_state.slots[np.unique(np.array(self._history, dtype=np.intp))])
        return [self._placed(signature, found) for signature, found in slots.items() if found]

    def _run(self, signature: PodSignature, count: int) -> list[int]:
        found = self._one_each(signature, count) if count > 1 else []
        while len(found) < count:
            index = self._best(signature)
            if index is None:
                break
            self._snapshot.assume_pod(signature, int(self._topology_state.slots[index]))
            self._given[index] += 1
            self._history.append(index)
            found.append(index)
        return found

    def _one_each(self, signature: PodSignature, count: int) -> list[int]:
        """Places those of which each node takes at most one, whatever else is there."""
        values = one_per_value(self._topology_state, signature)
        offer = self._offer(signature) if values else None
        if offer is None or offer.has_static_scores:
            return []
        feasible = offer.room > 0
        allowed = self._topology_state.allowed(signature)
        if allowed is not None:
            feasible &= allowed
        if not (feasible.any() and all_labelled(values, feasible)):
            return []
        rank = np.where(feasible, self._sign * offer.score * _STEP - self._given, OUT)
        found = take_one_each(rank, values, count, self._snapshot.steps)
        self._snapshot.assume_pod_on_each(signature, self._topology_state.slots[found])
        self._given[found] += 1
        self._history += found
        return found

    def _best(self, signature: PodSignature) -> int | None:
        self._snapshot.spend(_SCANS_OF_A_POD, self._topology_state.slots)
        offer = self._offer(signature)
        feasible = offer.room > 0
        allowed = self._topology_state.allowed(signature)
        if allowed is not None:
            feasible &= allowed
        if not feasible.any():
            return None
        score = offer.score
        if offer.has_static_scores:
            static_scores = self._snapshot.fits.static_scores(signature, self._spread_out(feasible))
            score = score if static_scores is None else score + static_scores[self._topology_state.slots]
        liked = self._topology_state.scores(signature, feasible)
        if liked is not None:
            score = score + liked
        rank = self._sign * score * _STEP - self._given
        return int(np.where(feasible, rank, OUT).argmax())

    def _offer(self, signature: PodSignature) -> "_Offer":
        offer = self._offers.get(signature)
        slots = self._topology_state.slots
        if offer is None:
            self._snapshot.spend(_SCANS_OF_A_SIGNATURE, slots)
            room, score = self._snapshot.room(signature)[slots], self._snapshot.score(signature)[slots]
            # The snapshot knows of counted pods only once it is told which nodes they touched.
            has_static_scores = self._snapshot.fits.static_scores(signature, self._spread_out(room)) is not None
            offer = self._offers[signature] = _Offer(room, score, has_static_scores=has_static_scores)
            limit = self._confined.get(signature)
            if limit is not None:
                offer.limit = limit[slots]
        news = sorted(set(self._history[offer.position :]))
        if len(news) <= _FEW:
            for index in news:
                offer.room[index], offer.score[index] = self._snapshot.room_and_score_on(
                    signature, int(slots[index]), offer.known
                )
        else:
            offer.room[news] = self._snapshot.room_on(signature, slots[news])
            offer.score[news] = self._snapshot.scores_on(signature, slots[news], 1)[:, 0]
        offer.position = len(self._history)
        if offer.limit is not None:
            offer.room[~offer.limit] = 0
        return offer

    def _spread_out(self, values: NDArray[np.int64] | NDArray[np.bool_]) -> NDArray[np.int64]:
        whole = np.zeros(self._snapshot.nodes.slots, dtype=np.int64)
        whole[self._topology_state.slots] = values
        return whole

    def _placed(self, signature: PodSignature, found: list[int]) -> Placed:
        indices, counts = np.unique(np.array(found, dtype=np.intp), return_counts=True)
        slots: Slots = self._topology_state.slots[indices]
        return Placed(signature, slots, counts.astype(np.int64))


class _Offer:
    """What the nodes have room for, and how good they are, for one signature, up to a position in the history of placed pods."""

    __slots__ = ("has_static_scores", "known", "limit", "position", "room", "score")

    def __init__(self, room: PodsByNode, score: NDArray[np.int64], *, has_static_scores: bool) -> None:
        self.room = room.copy()
        self.score = score.copy()
        self.has_static_scores = has_static_scores
        self.limit: NDArray[np.bool_] | None = None
        self.position = 0
        self.known: dict[tuple[int, ...], tuple[int, int]] = {}

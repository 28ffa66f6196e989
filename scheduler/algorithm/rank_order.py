"""Which member goes to which of the places that were found: neighbouring ranks near each other.

Members of one signature are equal, so a decision first finds how many of them each node takes, and only then deals them out: in
the order of their ranks to the nodes in the order of the tree of levels. So neighbours are on one node where they can be, else in
one domain of the narrowest level, and so on; with d domains of a level in use, d - 1 pairs of neighbours are apart, and no deal has
fewer. Without levels the tree is that of zones. Beside members that run already, the places are taken one by one, each by the rank
whose neighbours are nearest: that is a heuristic.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from scheduler.algorithm.attempt import Attempt
from scheduler.algorithm.level_tree import LevelTree, level_tree_of
from scheduler.algorithm.member_ranks import rank_of_uid, slots_by_rank
from scheduler.algorithm.overlay import Placed
from scheduler.algorithm.partition import MemberPartition
from scheduler.cache.cluster import ClusterState
from scheduler.cache.node_columns import Slots
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.ranks import NO_RANK, Rank
from scheduler.cache.steps import ONE_BY_ONE, ONE_SCAN

ZONE: Final = "topology.kubernetes.io/zone"

MOST_COMPARED: Final = 100_000
"""Members times nodes up to which places are compared one by one; more are dealt in order."""


class Dealt(NamedTuple):
    """Members of one signature: those that got a place, their node slots in the same order, and the others."""

    uids: Sequence[str]
    slots: list[int]
    rest: Sequence[str]


DealtMembers = Mapping[PodSignature, Dealt]


def deal(state: ClusterState, members: PodGroupState, found: MemberPartition, attempt: Attempt) -> DealtMembers:
    """Who of the members gets which place of an attempt, by signature.

    Args:
        state: the cluster.
        members: the item.
        found: its pending members.
        attempt: what was found for them.

    Raises:
        OverBudgetError: that takes more steps than the computation under way may cost.
    """
    has_choice = not members.is_lone and max([len(part.slots) for part in attempt.placed], default=0) > 1
    order = _Order(state, members, level_tree_of(state, _levels_of(members)) if has_choice else None)
    if attempt.parts is None:
        counts = {part.signature: part for part in attempt.placed}
        return {signature: _dealt(order, counts.get(signature), uids) for signature, uids in found.uids.items()}
    return _of_parts(order, found, attempt)


def _levels_of(members: PodGroupState) -> tuple[str, ...]:
    levels = members.group.topology.levels if members.group is not None else ()
    return tuple([level.key for level in levels]) or (ZONE,)


def _dealt(order: "_Order", part: Placed | None, uids: Sequence[str]) -> Dealt:
    if part is None or not part.total:
        return Dealt((), [], uids)
    first = uids[: part.total]
    return Dealt(first, order.places(part, first), uids[part.total :])


def _of_parts(order: "_Order", found: MemberPartition, attempt: Attempt) -> DealtMembers:
    places: dict[PodSignature, dict[str, int]] = {signature: {} for signature in found.uids}
    for part in attempt.parts or ():
        for placed in part.placed:
            uids = part.uids[placed.signature][: placed.total]
            places[placed.signature].update(zip(uids, order.places(placed, uids), strict=True))
    return {
        signature: Dealt(
            [uid for uid in uids if uid in places[signature]],
            [places[signature][uid] for uid in uids if uid in places[signature]],
            [uid for uid in uids if uid not in places[signature]],
        )
        for signature, uids in found.uids.items()
    }


class _Order:
    """Nodes in the order in which ranks are dealt to them."""

    def __init__(self, state: ClusterState, members: PodGroupState, tree: LevelTree | None) -> None:
        self._state: Final = state
        self._tree: Final = tree
        # The groups of a tree count their ranks each from 0.
        is_tree = members.group is not None and members.group.is_tree
        has_running = tree is not None and members.scheduled_count and not is_tree
        self._running: Final = slots_by_rank(state, members) if has_running else {}

    def places(self, part: Placed, uids: Sequence[str]) -> list[int]:
        """The node slot of each of these members, who are as many as there are places."""
        slots, counts = part.slots, part.counts
        if self._tree is not None and len(slots) > 1:
            order = self._tree.order[slots].argsort()
            slots, counts = slots[order], counts[order]
            if self._running and len(uids) * len(slots) <= MOST_COMPARED:
                return self._near_neighbours(self._tree, slots, counts.copy(), uids)
        found: list[int] = slots.repeat(counts).tolist()
        return found

    def _near_neighbours(self, tree: LevelTree, slots: Slots, left: Slots, uids: Sequence[str]) -> list[int]:
        self._state.nodes.steps.spend(len(uids) * (ONE_BY_ONE + 4 * ONE_SCAN))
        places, known = [], dict(self._running)
        for uid in uids:
            series, number = rank_of_uid(self._state, uid)
            near = np.zeros(len(slots), dtype=np.int64)
            for neighbour in (number - 1, number + 1):
                slot = known.get(Rank(series, neighbour)) if number != NO_RANK else None
                if slot is not None:
                    near += slots == slot
                    near += np.sum([codes[slots] == codes[slot] for codes in tree.codes], axis=0)
            index = int(np.where(left > 0, near, -1).argmax())
            left[index] -= 1
            places.append(int(slots[index]))
            known[Rank(series, number)] = places[-1]
        return places

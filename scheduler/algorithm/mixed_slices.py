"""Slices of members that differ, or that limit each other: domain after domain as many as attempts find room for.

Slices with the same members of each kind are taken together. How many copies a domain can take at most is known from counting;
so many are tried there by the ways of `attempts`, and fewer if they do not fit. The domains come in the order in which they would
be chosen if the counts were true. It is a heuristic: slices may be refused although a placement exists, but none is torn.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.attempt import Attempt, Part
from scheduler.algorithm.attempts import best_attempt
from scheduler.algorithm.fewest_domains import fewest_domains
from scheduler.algorithm.identical import PodsByNode
from scheduler.algorithm.level_request import LevelRequest
from scheduler.algorithm.overlay import Placed
from scheduler.algorithm.slices import ANY, Slice
from scheduler.algorithm.snapshot import NewSnapshot, SnapshotOverlay
from scheduler.algorithm.upper_bound import most_pods_by_node
from scheduler.cache.pod_signature import PodSignature

Mask = NDArray[np.bool_]
Uids = Mapping[PodSignature, Sequence[str]]

MOST_TRIES: Final = 400
"""Attempts of one decision."""
_DOMAINS_FOR_A_PART: Final = 8
"""Domains that are tried for a part of a slice, roomiest first."""
_MARGIN: Final = 2


class MixedSlices:
    """One placement of the slices of a request.

    Args:
        request: what is asked for; its slices are known.
        slices: the slices.
        wanted: members that must get a place together.
        new_snapshot: makes a snapshot for one try.
    """

    def __init__(self, request: LevelRequest, slices: Sequence[Slice], wanted: int, new_snapshot: NewSnapshot) -> None:
        self._request: Final = request
        self._slices: Final = slices
        self._wanted: Final = wanted
        self._new_snapshot: Final = new_snapshot
        self._parts: list[Part] = []
        self._tries = 0
        self._cost = 0

    @property
    def _total(self) -> int:
        return sum(placed.total for part in self._parts for placed in part.placed)

    def attempt(self, inside: Mask, outside: str) -> Attempt:
        """The members on these nodes, `outside` is the reason to give for others.

        Raises:
            OverBudgetError: more steps are needed than the computation under way may take.
        """
        self._parts, self._tries = [], 0
        self._cost = 0
        usable = self._request.in_slices(inside)
        waiting = [one for one in self._slices if one.domain == ANY]
        for one in self._slices:
            if one.domain != ANY:
                self._put(usable, one.domain, one.uids)
        for group in _alike(waiting):
            waiting = [one for one in waiting if one not in group] + self._whole(usable, group)
        for one in waiting:
            lacking = self._wanted - self._total
            if lacking > 0:
                self._some(usable, one, lacking)
        snapshot = self._new_snapshot(inside, outside)
        placed = _merged(self._parts)
        snapshot.assume_all(placed)
        attempt = Attempt(snapshot, placed)
        attempt.parts = self._parts
        return attempt

    def _whole(self, usable: Mask, group: list[Slice]) -> list[Slice]:
        """Places slices that are alike; returns those that are left."""
        left = list(group)
        sizes = {signature: len(uids) for signature, uids in group[0].uids.items()}
        for code, most in self._domains(usable, sizes, len(group)):
            copies = min(most, len(left))
            while copies and self._may_try():
                placed = self._put(usable, code, _together(left[:copies]), is_whole=True)
                if placed == copies * group[0].size:
                    left = left[copies:]
                    break
                copies = placed // group[0].size
            if not left:
                break
        return left

    def _domains(self, usable: Mask, sizes: Mapping[PodSignature, int], count: int) -> Iterator[tuple[int, int]]:
        """(number, copies of a slice it can take at most) of domains, those first that would be chosen if that were true."""
        request = self._request
        snapshot = self._snapshot(usable)
        leaves, codes = request.leafage(usable, _room(snapshot, sizes), request.slice_level)
        units = np.full(len(codes), count, dtype=np.int64)
        for signature, size in sizes.items():
            by_node = most_pods_by_node(snapshot, signature)
            sums = np.bincount(request.tree.codes[request.slice_level], weights=by_node).astype(np.int64)
            units = np.minimum(units, sums[codes] // size)
        choice = fewest_domains(leaves._replace(room=units), count, request.state.nodes.steps)
        order = [*np.flatnonzero(choice.chosen), *sorted(np.flatnonzero(~choice.chosen), key=lambda one: -units[one])]
        for index in order:
            if units[index] > 0:
                yield int(codes[index]), int(units[index])

    def _some(self, usable: Mask, one: Slice, lacking: int) -> None:
        """Places a part of a slice, as much as is lacking and fits in one domain."""
        uids: dict[PodSignature, Sequence[str]] = {}
        for signature, waiting in one.uids.items():
            uids[signature] = waiting[: max(lacking - sum(map(len, uids.values())), 0)]
        uids = {signature: waiting for signature, waiting in uids.items() if waiting}
        request = self._request
        room = _room(self._snapshot(usable), uids)
        leaves, codes = request.leafage(usable, room, request.slice_level)
        best: tuple[int, int] = (0, 0)
        for index in np.argsort(-leaves.room, kind="stable")[:_DOMAINS_FOR_A_PART].tolist():
            placed = sum(part.total for part in self._tried(usable, int(codes[index]), uids)) if self._may_try() else 0
            best = max(best, (placed, -int(codes[index])))
        if best[0]:
            self._put(usable, -best[1], uids)

    # --- one try -----------------------------------------------------------------------------------------------------

    def _may_try(self) -> bool:
        return self._tries < MOST_TRIES and self._request.state.nodes.steps.left > _MARGIN * self._cost

    def _snapshot(self, within: Mask) -> SnapshotOverlay:
        snapshot = self._new_snapshot(within, "")
        snapshot.assume_all(_merged(self._parts))
        return snapshot

    def _tried(self, usable: Mask, code: int, uids: Uids) -> list[Placed]:
        request = self._request
        within = usable & (request.tree.codes[request.slice_level] == code)
        if not within.any():
            return []
        steps = request.state.nodes.steps
        self._tries += 1
        begun = steps.spent
        pending = {signature: len(waiting) for signature, waiting in uids.items()}
        found = best_attempt(pending, sum(pending.values()), request.state.nodes, lambda: self._snapshot(within))
        self._cost = max(self._cost, steps.spent - begun)
        return [one for one in found.placed if one.total]

    def _put(self, usable: Mask, code: int, uids: Uids, *, is_whole: bool = False) -> int:
        """How many of these members found room in a domain; they stay there, with `is_whole` only if all of them did."""
        placed = self._tried(usable, code, uids)
        total = sum(one.total for one in placed)
        if total and (not is_whole or total == sum(map(len, uids.values()))):
            self._parts.append(Part(uids, placed))
        return total


def _room(snapshot: SnapshotOverlay, signatures: Iterable[PodSignature]) -> PodsByNode:
    rooms: PodsByNode = np.sum([most_pods_by_node(snapshot, signature) for signature in signatures], axis=0)
    return rooms


def _alike(slices: Sequence[Slice]) -> list[list[Slice]]:
    """Slices by how many members of each kind they have, the largest first."""
    groups: dict[frozenset[tuple[PodSignature, int]], list[Slice]] = {}
    for one in slices:
        groups.setdefault(frozenset((kind, len(uids)) for kind, uids in one.uids.items()), []).append(one)
    return sorted(groups.values(), key=lambda group: -group[0].size)


def _together(slices: Sequence[Slice]) -> Uids:
    found: dict[PodSignature, list[str]] = {}
    for one in slices:
        for signature, uids in one.uids.items():
            found.setdefault(signature, []).extend(uids)
    return found


def _merged(parts: Sequence[Part]) -> list[Placed]:
    """One entry for each signature."""
    by_signature: dict[PodSignature, list[Placed]] = {}
    for part in parts:
        for placed in part.placed:
            by_signature.setdefault(placed.signature, []).append(placed)
    found = []
    for signature, several in by_signature.items():
        slots, index = np.unique(np.concatenate([one.slots for one in several]), return_inverse=True)
        counts = np.bincount(index, weights=np.concatenate([one.counts for one in several])).astype(np.int64)
        found.append(Placed(signature, slots, counts))
    return found

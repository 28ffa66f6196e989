"""Placing the groups of a tree one after the other, beside those that were placed before, each whole or not at all.

What a level placed is taken back where it does not get as many as it needs. In which order groups are tried, and whether more than
the minimum is placed, an `Order` says; `schedule_tree` tries one after the other.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice
from math import inf
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.attempt import Attempt, Part
from scheduler.algorithm.attempts import MOST_DOMAINS
from scheduler.algorithm.exact.members import SearchBudget
from scheduler.algorithm.overlay import Placed
from scheduler.algorithm.partition import MemberPartition
from scheduler.algorithm.rank_order import Dealt, DealtMembers, deal
from scheduler.algorithm.snapshot import NewSnapshot, SnapshotOverlay
from scheduler.algorithm.topology_domains import domains_in_use
from scheduler.algorithm.upper_bound import most_in_domain
from scheduler.cache.branch import (
    Branch,
    Child,
    by_age,
    by_size,
    by_size_descending,
    children_of,
    is_complete,
    missing_in,
    missing_pods,
)
from scheduler.cache.cluster import ClusterState
from scheduler.cache.node_columns import NO_SLOTS
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_group_tree import TreeState
from scheduler.cache.pod_signature import PodSignature
from scheduler.plugins.status import Code, Status

Mask = NDArray[np.bool_]
Parts = Mapping[PodSignature, Sequence[str]]
"""UIDs of pods by signature."""
PlaceGroup = Callable[
    [ClusterState, PodGroupState, MemberPartition, int, NewSnapshot, SearchBudget | None], Attempt | Status
]
"""How one group is placed: (cluster, group, its pending members, how many must get a place, makes snapshots, search budget)."""

_PLUGIN: Final = "GangScheduling"
_IN_MANY: Final = "groups below composite pod group {} already run in more than one {}: {}"


class TreeAttempt(NamedTuple):
    """Pods of a tree on nodes, enough for it to start."""

    attempt: Attempt
    dealt: DealtMembers
    """Which of its pending pods has which place."""


class Order(NamedTuple):
    """In which order children are tried."""

    key: Callable[[Child], tuple[float, float, str]]
    is_least: bool
    """No more groups and pods are placed than must start together, or each with its minimum beside those that have started."""


class _Part(NamedTuple):
    """Places for pods of one group: which of these pods gets which is said in the end."""

    leaf: PodGroupState
    signature: PodSignature
    slots: NDArray[np.intp]
    counts: NDArray[np.int64]
    uids: Sequence[str]


class OneByOne:
    """One order of placing the groups of a tree beside each other.

    Attributes:
        started: children of the root that have their minimum, at the end.
        reason: why the first group that could not be placed could not; None when all could.
        refused_uids: the pods of that group.
    """

    def __init__(
        self,
        state: ClusterState,
        tree: TreeState,
        found: MemberPartition,
        new_snapshot: NewSnapshot,
        place: PlaceGroup,
        order: Order,
    ) -> None:
        self._state: Final = state
        self._tree: Final = tree
        self._found: Final = found
        self._new_snapshot: Final = new_snapshot
        self._place_group: Final = place
        self._order: Final = order
        self._has_started: Final = tree.branch is not None and not tree.branch.missing
        self._signature_of: Final = {uid: signature for signature, uids in found.uids.items() for uid in uids}
        self._parts: list[_Part] = []
        self._counts: dict[PodSignature, NDArray[np.int64]] = {}
        """Pods that are placed, `[node]`."""
        self.started = 0
        self.reason: Status | None = None
        self.refused_uids: Sequence[str] = ()

    def place(self, root: Branch) -> bool:
        """Whether enough was placed for the tree to start, or anything at all of a tree that has started."""
        return self._branch(root, None, "") and bool(self._parts)

    def result(self) -> TreeAttempt:
        """What was placed."""
        chosen = {part.signature for part in self._parts}
        placed = [self._placed(signature) for signature in self._found.uids if signature in chosen]
        snapshot = self._new_snapshot(None, "")
        snapshot.assume_all(placed)
        slot_of: dict[str, int] = {}
        for leaf, parts in groupby(self._parts, key=lambda part: part.leaf):
            for dealt in self._dealt(leaf, list(parts), snapshot).values():
                slot_of.update(zip(dealt.uids, dealt.slots, strict=True))
        return TreeAttempt(
            Attempt(snapshot, placed),
            {signature: _of_those_placed(uids, slot_of) for signature, uids in self._found.uids.items()},
        )

    def _dealt(self, leaf: PodGroupState, parts: Sequence[_Part], snapshot: SnapshotOverlay) -> DealtMembers:
        """As if the group had been placed alone: what it asks for decides who of it goes where."""
        uids: dict[PodSignature, list[str]] = {}
        for part in parts:
            uids.setdefault(part.signature, []).extend(part.uids)
        attempt = Attempt(snapshot, [_places_of(part) for part in parts])
        attempt.parts = [Part({part.signature: part.uids}, [_places_of(part)]) for part in parts]
        return deal(self._state, leaf, MemberPartition(uids), attempt)

    # --- levels ------------------------------------------------------------------------------------------------------

    def _branch(self, branch: Branch, allowed: Mask | None, outside: str) -> bool:
        """Whether it has its minimum with what was placed; if not, nothing of it stays placed."""
        if branch.missing == inf:
            return False
        key = branch.record.topology_key
        if key is None:
            return self._below(branch, allowed, outside)
        best: list[_Part] | None = None
        begin, largest = len(self._parts), -1
        for domain in self._domains(branch, key, allowed):
            is_enough = self._below(branch, domain, f"node(s) were in another {key}")
            parts = self._parts[begin:]
            total = sum(len(part.uids) for part in parts)
            if is_enough and total > largest:
                best, largest = parts, total
            self._take_back(begin)
            if is_enough and (
                self._order.is_least or total == sum(leaf.pending_count for leaf in branch.usable_leaves())
            ):
                break
        for part in best or ():
            self._take(part)
        return best is not None or branch.missing == 0

    def _below(self, branch: Branch, allowed: Mask | None, outside: str) -> bool:
        begin, started, wanted = len(self._parts), branch.started, branch.record.min_group_count
        for child in sorted(children_of(branch), key=self._order.key):
            missing = missing_in(child)
            if self._order.is_least and missing and started >= wanted and not self._has_started:
                continue
            is_enough = (
                self._branch(child, allowed, outside)
                if isinstance(child, Branch)
                else self._leaf(child, allowed, outside)
            )
            if is_enough and missing:
                started += 1
            elif 0 < missing < inf and self._tree.is_needed_whole:
                break
        if branch is self._tree.branch:
            self.started = max(self.started, started)
        if started < wanted:
            self._take_back(begin)
            return False
        return True

    def _leaf(self, leaf: PodGroupState, allowed: Mask | None, outside: str) -> bool:
        missing = missing_pods(leaf)
        is_more_than_needed = self._order.is_least and not missing and not self._has_started
        if not leaf.pending_count or not is_complete(leaf) or missing == inf or is_more_than_needed:
            return missing == 0
        need = max(int(missing), 1)
        parts = self._pending(leaf, need if self._order.is_least else leaf.pending_count)

        def new_snapshot(inside: Mask | None, why: str) -> SnapshotOverlay:
            return self._snapshot(_both(allowed, inside), why or outside)

        placed = self._try(leaf, parts, need, new_snapshot)
        for part in placed or ():
            self._take(part)
        return placed is not None or missing == 0

    def _try(self, leaf: PodGroupState, parts: Parts, need: int, new_snapshot: NewSnapshot) -> Sequence[_Part] | None:
        """Places pods of one group, as many as there is room for; None when that are fewer than it needs."""
        found = MemberPartition(parts, self._found.topology)
        attempt = self._place_group(self._state, leaf, found, need, new_snapshot, None)
        if isinstance(attempt, Status) or attempt.total < need:
            self._note(attempt, parts)
            return None
        return [
            _Part(leaf, placed.signature, placed.slots, placed.counts, own.uids[placed.signature][: placed.total])
            for own in (attempt.parts if attempt.parts is not None else [Part(parts, attempt.placed)])
            for placed in own.placed
            if placed.total
        ]

    def _domains(self, branch: Branch, key: str, allowed: Mask | None) -> Iterator[Mask]:
        """The domains in which to try, the roomiest first."""
        nodes = self._state.nodes
        in_use = (name for leaf in branch.all_leaves() for name in self._state.nodes_in_use(leaf))
        pins = domains_in_use(key, in_use, nodes)
        if len(pins) > 1:
            args = (branch.record.name, key, ", ".join(sorted(pins)))
            self.reason = self.reason or Status(Code.ERROR, _IN_MANY, args, plugin=_PLUGIN)
            return
        waiting: dict[PodSignature, list[str]] = {}
        for leaf in branch.usable_leaves():
            for signature, uids in self._pending(leaf, leaf.pending_count).items():
                waiting.setdefault(signature, []).extend(uids)
        if not waiting:
            return
        snapshot = self._snapshot(allowed, "")
        pending = {signature: len(uids) for signature, uids in waiting.items()}
        possible = most_in_domain(key, next(iter(pins), None), pending, nodes, snapshot)
        column = nodes.label_column(key)
        codes = np.argsort(-possible, kind="stable")[:MOST_DOMAINS]
        fitting = [code for code in codes.tolist() if possible[code] >= max(branch.missing, 1)]
        if not fitting:
            self._note(Attempt(snapshot, []), waiting)
        for code in fitting:
            domain = _both(allowed, column.codes == code)
            if domain is not None:
                yield domain

    # --- what is placed ----------------------------------------------------------------------------------------------

    def _pending(self, leaf: PodGroupState, most: int) -> dict[PodSignature, list[str]]:
        """The first pending pods of a group by signature."""
        parts: dict[PodSignature, list[str]] = {}
        for uid in islice(in_order(leaf), most):
            parts.setdefault(self._signature_of[uid], []).append(uid)
        return parts

    def _snapshot(self, allowed: Mask | None, outside: str) -> SnapshotOverlay:
        snapshot = self._new_snapshot(allowed, outside)
        snapshot.assume_all([self._placed(signature) for signature in self._counts])
        return snapshot

    def _placed(self, signature: PodSignature) -> Placed:
        counts = self._counts[signature]
        slots = np.flatnonzero(counts)
        return Placed(signature, slots, counts[slots])

    def _take(self, part: _Part) -> None:
        self._parts.append(part)
        counts = self._counts.get(part.signature)
        if counts is None:
            counts = self._counts[part.signature] = np.zeros(self._state.nodes.slots, dtype=np.int64)
        counts[part.slots] += part.counts

    def _take_back(self, begin: int) -> None:
        for part in self._parts[begin:]:
            self._counts[part.signature][part.slots] -= part.counts
        del self._parts[begin:]

    def _note(self, attempt: Attempt | Status, parts: Parts, *, is_any: bool = False) -> None:
        """Keeps the first refusal; with `is_any` each signature of the parts is one that no more pods of fit."""
        if self.reason is not None:
            return
        if isinstance(attempt, Status):
            self.reason = attempt
        else:
            short = next(each for each, uids in parts.items() if is_any or attempt.count(each) < len(uids))
            self.reason = Status(Code.UNSCHEDULABLE, diagnosis=attempt.snapshot.diagnosis(short))
        self.refused_uids = [uid for uids in parts.values() for uid in uids]


class ByCount(OneByOne):
    """The same where pods are alike and only amounts matter: how many fit is known, and where they go is decided at once."""

    def __init__(self, whole: Attempt, *arguments: Any) -> None:
        """`whole` has placed as many as fit."""
        super().__init__(*arguments)
        self._whole: Final = whole
        self._left = whole.total

    def result(self) -> TreeAttempt:
        """What was chosen, placed."""
        (signature,) = self._found.uids
        chosen = [uid for part in self._parts for uid in part.uids]
        there = set(chosen)
        found = MemberPartition(
            {signature: [*chosen, *(uid for uid in self._found.uids[signature] if uid not in there)]}
        )
        attempt = self._place_group(
            self._state, self._tree, MemberPartition({signature: chosen}), len(chosen), self._new_snapshot, None
        )
        if isinstance(attempt, Status) or attempt.total != len(chosen):
            raise ValueError("fewer pods fit than were counted")
        return TreeAttempt(attempt, deal(self._state, self._tree, found, attempt))

    def _branch(self, branch: Branch, allowed: Mask | None, outside: str) -> bool:
        # The one constraint there may be, that of the root, is part of the count.
        return branch.missing < inf and self._below(branch, allowed, outside)

    def _try(
        self,
        leaf: PodGroupState,
        parts: Parts,
        need: int,
        new_snapshot: NewSnapshot,  # noqa: ARG002 (they are placed at the end)
    ) -> Sequence[_Part] | None:
        if self._left < need:
            self._note(self._whole, parts, is_any=True)
            return None
        ((signature, uids),) = parts.items()
        return [_Part(leaf, signature, NO_SLOTS, NO_SLOTS, uids[: self._left])]

    def _take(self, part: _Part) -> None:
        self._parts.append(part)
        self._left -= len(part.uids)

    def _take_back(self, begin: int) -> None:
        self._left += sum(len(part.uids) for part in self._parts[begin:])
        del self._parts[begin:]


def in_order(leaf: PodGroupState) -> Iterator[str]:
    """UIDs of the pending pods of a group, signature by signature; of one with slices by rank: the first make whole ones."""
    if leaf.group is None or not leaf.group.topology.slice_size:
        yield from chain.from_iterable(waiting.uids for waiting in leaf.pending.values())
        return
    pods = (zip(waiting.keys, waiting.uids, strict=True) for waiting in leaf.pending.values())
    yield from (uid for _, uid in sorted(chain.from_iterable(pods)))


def _places_of(part: _Part) -> Placed:
    return Placed(part.signature, part.slots, part.counts)


def _of_those_placed(waiting: Sequence[str], slot_of: Mapping[str, int]) -> Dealt:
    first = [uid for uid in waiting if uid in slot_of]
    return Dealt(first, [slot_of[uid] for uid in first], [uid for uid in waiting if uid not in slot_of])


def _both(one: Mask | None, other: Mask | None) -> Mask | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


ORDERS: Final = (
    Order(by_age, is_least=False),
    Order(by_age, is_least=True),
    Order(by_size, is_least=True),
    Order(by_size_descending, is_least=True),
)
HOPELESS: Final = (Order(by_age, is_least=True),)
"""Of a tree that has no place for certain: it says how many of its groups would have one."""

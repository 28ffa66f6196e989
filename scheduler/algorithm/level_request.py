"""What an item asks of the topology, against the nodes of one moment."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from api.topology import TopologyRequest
from scheduler.algorithm.attempts import affect_each_other
from scheduler.algorithm.fewest_domains import Choice, Leaves, fewest_domains
from scheduler.algorithm.identical import PodsByNode
from scheduler.algorithm.level_tree import LevelTree, level_tree_of
from scheduler.algorithm.partition import MemberPartition
from scheduler.algorithm.slices import ANY, Slice, slices_of
from scheduler.algorithm.snapshot import NewSnapshot, SnapshotOverlay
from scheduler.algorithm.upper_bound import most_pods_by_node
from scheduler.cache.cluster import ClusterState
from scheduler.cache.node_columns import Slots
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_signature import PodSignature
from scheduler.plugins.status import Status

Mask = NDArray[np.bool_]

NOWHERE: Final = -1


class Leafage(NamedTuple):
    """Domains of one level inside some nodes; `codes` are their numbers in the tree, `room` what they take."""

    leaves: Leaves
    codes: Slots


class LevelRequest:
    """The levels of an item as a tree, its room there, and its slices.

    Args:
        state: the cluster.
        members: the item.
        found: its pending members.
        request: what it asks for.
        new_snapshot: makes a snapshot for one try.
        allowed: the only nodes that may be used, `[node]`; None for all.
        has_preferences: preferred levels count; else they only tell domains of one name apart.

    Attributes:
        required: the narrowest required level, `NOWHERE` without one; by number in the tree.
        slice_level: that of slices, `NOWHERE` without slices.
        usable: nodes that have the labels of all required levels, `[node]`.
        are_identical: all members are equal, and the place of one does not matter to another.
        slices: those of the pending members, empty without slices; or why they cannot be told.

    Raises:
        OverBudgetError: more steps are needed than the computation under way may take.
    """

    def __init__(
        self,
        state: ClusterState,
        members: PodGroupState,
        found: MemberPartition,
        request: TopologyRequest,
        new_snapshot: NewSnapshot,
        allowed: Mask | None = None,
        *,
        has_preferences: bool = True,
    ) -> None:
        nodes = state.nodes
        self.state: Final = state
        self.found: Final = found
        self.pending: Final = found.pending
        keys = tuple(level.key for level in request.levels)
        self.tree: Final[LevelTree] = level_tree_of(state, keys, request.slice_key)
        at = {key: level for level, key in enumerate(self.tree.keys)}
        required = [at[level.key] for level in request.levels if level.is_required]
        self.required: Final = max(required, default=NOWHERE)
        self._counts: Final = [False] * len(at)
        for level in request.levels:
            is_counted = has_preferences and not level.is_required and at[level.key] > self.required
            self._counts[at[level.key]] = is_counted
        self.slice_level: Final = at[request.slice_key] if request.slice_size else NOWHERE
        self.slice_size: Final = request.slice_size
        self.usable: Mask = nodes.alive & self.tree.has_all(required)
        if allowed is not None:
            self.usable = self.usable & allowed
        used = (nodes.slot_of.get(name, NOWHERE) for name in state.nodes_in_use(members))
        self.used: Final[Slots] = np.array([slot for slot in used if slot != NOWHERE], dtype=np.intp)
        self.everywhere: Final[SnapshotOverlay] = new_snapshot(allowed, "")
        self.are_identical: Final = len(self.pending) == 1 and not affect_each_other(self.everywhere, self.pending)
        self.room: Final[Mapping[PodSignature, PodsByNode]] = {
            signature: self.everywhere.capacity(signature)
            if self.are_identical
            else most_pods_by_node(self.everywhere, signature)
            for signature in self.pending
        }
        """No more of the signature than this fit on a node; `[node]`."""
        self.slices: Final[Sequence[Slice] | Status] = (
            slices_of(state, members, found, request.slice_size, request.slice_key, self._domains_of_slices())
            if request.slice_size
            else ()
        )

    @property
    def last_preferred(self) -> int:
        """The narrowest preferred level that is narrower than all required ones, `NOWHERE` without one."""
        return max((level for level, counts in enumerate(self._counts) if counts), default=NOWHERE)

    def in_slices(self, inside: Mask) -> Mask:
        """The nodes of these that slices can use."""
        return inside & self.tree.labelled[self.slice_level] if self.slice_level != NOWHERE else inside

    def leafage(self, inside: Mask, room: PodsByNode, last: int, first: int = 0) -> Leafage:
        """The domains of the levels `first` to `last` on the nodes of a mask that have room, `[node]`."""
        slots = np.flatnonzero(inside & (room > 0))
        self.everywhere.spend(last + 2, slots)
        codes, one, index = np.unique(self.tree.codes[last][slots], return_index=True, return_inverse=True)
        parents = [self.tree.codes[level][slots[one]] for level in range(first, last + 1)]
        used = [
            np.isin(parent, self.tree.codes[level][self.used])
            for level, parent in zip(range(first, last + 1), parents, strict=True)
        ]
        sums = np.bincount(index, weights=room[slots], minlength=len(codes)).astype(np.int64)
        return Leafage(Leaves(parents, sums, used, self._counts[first : last + 1]), codes)

    def fewest(self, inside: Mask, room: PodsByNode, wanted: int, first: int = 0) -> tuple[Mask, Choice]:
        """The nodes of the fewest domains of preferred levels from `first` on that have room for so many members."""
        leaves, codes = self.leafage(inside, room, self.last_preferred, first)
        choice = fewest_domains(leaves, wanted, self.state.nodes.steps)
        return inside & np.isin(self.tree.codes[self.last_preferred], codes[choice.chosen]), choice

    def candidates(self) -> Iterator[tuple[int, Mask]]:
        """(number, nodes) of each domain of the narrowest required level; all nodes without one."""
        if self.required == NOWHERE:
            if self.usable.any():
                yield NOWHERE, self.usable
            return
        codes = self.tree.codes[self.required]
        for code in np.unique(codes[self.usable]).tolist():
            yield code, self.usable & (codes == code)

    def _domains_of_slices(self) -> Slots:
        return np.where(self.tree.labelled[self.slice_level], self.tree.codes[self.slice_level], ANY)

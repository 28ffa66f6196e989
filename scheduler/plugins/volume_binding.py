"""VolumeBinding: claims must have a volume that the node reaches, or be able to get one there.

A claim that waits for its first pod (`WaitForFirstConsumer`) gets the smallest volume that fits and that the node reaches;
where there is none, one can be made if the class has a provisioner, allows the node's topology, and enough is left. All nodes
are judged at once: volumes in order of size, with the nodes that reach each.

Where volumes are to be made, nodes with more storage left score more (StorageCapacityScoring). A volume that exists counts by
how much of it the claim would use, the less the better; then what could be made does not count.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.cache.nodes import NodeTable
from scheduler.cache.volume_records import CapacityRecord, ClaimRecord, ClassRecord, VolumeRecord
from scheduler.cache.volume_topology import VolumeReachability
from scheduler.plugins.interface import MAX_SCORE, IntArray, Mask
from scheduler.plugins.status import Code, Status

NAME: Final = "VolumeBinding"

REASON_AFFINITY: Final = Status(
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) didn't match PersistentVolume's node affinity", plugin=NAME
)
REASON_NONE: Final = Status(
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) didn't find available persistent volumes to bind", plugin=NAME
)
REASON_SPACE: Final = Status(
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) did not have enough free storage", plugin=NAME
)
REASON_GONE: Final = Status(
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
    plugin=NAME,
)
REASON_IMMEDIATE: Final = Status(
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "pod has unbound immediate PersistentVolumeClaims", plugin=NAME
)

NONE: Final = -1
"""Stands for no volume, and for a node where none can be made."""

Use = tuple[IntArray, IntArray]
"""(bytes asked for, bytes there are), both `[node slot]`; nothing there where the second is 0."""


def is_large_enough(volume: VolumeRecord, claim: ClaimRecord) -> bool:
    """Whether the volume is of the claim's kind and size, whoever it is reserved for."""
    return (
        volume.size_bytes >= (claim.size_bytes or 0)
        and volume.is_block is claim.is_block
        and volume.attributes_class == claim.attributes_class
        and not volume.metadata.is_terminating
    )


def matches(volume: VolumeRecord, claim: ClaimRecord) -> bool:
    """Whether a free volume of the claim's class can be given to the claim."""
    return (
        is_large_enough(volume, claim)
        and claim.modes <= volume.modes
        and (claim.selector is None or claim.selector.matches(volume.labels))
    )


class MatchingVolumes:
    """Volumes that suit a claim, smallest first, with the nodes that reach them; `numbers` is `[volume]`, in their order."""

    __slots__ = ("_anywhere", "_edge_rank", "_edge_slot", "numbers", "slots", "volumes")

    def __init__(
        self, volumes: Iterable[VolumeRecord], numbers: dict[str, int], reach: VolumeReachability, slots: int
    ) -> None:
        """`numbers` gives each volume a number by its name, here and wherever else it is a candidate; `slots` counts node slots."""
        self.volumes: Final = sorted(volumes, key=lambda one: (one.size_bytes, one.metadata.name))
        self.slots: Final = slots
        names = [volume.metadata.name for volume in self.volumes]
        self.numbers: Final = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)
        self._anywhere = [rank for rank, volume in enumerate(self.volumes) if volume.terms is None]
        bound = [
            (rank, reach.slots(volume.terms)) for rank, volume in enumerate(self.volumes) if volume.terms is not None
        ]
        self._edge_slot = np.concatenate([where for _, where in bound]) if bound else np.empty(0, dtype=np.intp)
        ranks = np.array([rank for rank, _ in bound], dtype=np.int64)
        self._edge_rank = ranks.repeat(np.array([len(where) for _, where in bound], dtype=np.intp))

    def pick(self, taken: set[int], beside: Sequence[IntArray]) -> IntArray:
        """`[node slot]`: the number of the smallest volume that is not `taken` nor picked there `beside`; `NONE` where none is.

        `beside` are earlier answers, for other claims of the same pod.
        """
        last = len(self.volumes)
        rank = np.full(self.slots, last, dtype=np.int64)
        if not last:
            return np.full(self.slots, NONE, dtype=np.int64)
        number = self.numbers[self._edge_rank]
        keep = np.ones(len(number), dtype=np.bool_) if not taken else ~np.isin(number, list(taken))
        for other in beside:
            keep &= other[self._edge_slot] != number
        # Of several values for one slot the last one stays, so the smallest volume comes last.
        rank[self._edge_slot[keep][::-1]] = self._edge_rank[keep][::-1]
        self._pick_anywhere(rank, taken, beside)
        return np.append(self.numbers, NONE)[rank]

    def _pick_anywhere(self, rank: IntArray, taken: set[int], beside: Sequence[IntArray]) -> None:
        open_ = np.ones(self.slots, dtype=np.bool_)
        for candidate in self._anywhere:
            number = int(self.numbers[candidate])
            if number in taken:
                continue
            here = open_.copy()
            for other in beside:
                here &= other != number
            np.minimum(rank, candidate, out=rank, where=here)
            open_ &= ~here
            if not open_.any():
                break


def nodes_reaching(volume: VolumeRecord, reach: VolumeReachability, slots: int) -> Mask:
    """The nodes `[node slot]` that reach a volume."""
    if volume.terms is None:
        return np.ones(slots, dtype=np.bool_)
    mask = np.zeros(slots, dtype=np.bool_)
    mask[reach.slots(volume.terms)] = True
    return mask


def allowed_topology(storage_class: ClassRecord, nodes: NodeTable) -> Mask:
    """The nodes `[node slot]` for which a class allows volumes to be made."""
    if not storage_class.topologies:
        return np.ones(nodes.slots, dtype=np.bool_)
    allowed = np.zeros(nodes.slots, dtype=np.bool_)
    everybody = np.arange(nodes.slots)
    for term in storage_class.topologies:
        met = np.full(nodes.slots, fill_value=bool(term), dtype=np.bool_)
        for key, values in term:
            met &= nodes.label_column(key).ask(lambda value, wanted=values: value in wanted, everybody)  # type: ignore[misc]
        allowed |= met
    return allowed


def capacity_left(
    capacities: Iterable[CapacityRecord], size_bytes: int, reach: VolumeReachability, slots: int
) -> IntArray:
    """`[node slot]`: bytes left where a volume of this size can still be made, `NONE` where it cannot."""
    left = np.full(slots, NONE, dtype=np.int64)
    for capacity in capacities:
        if capacity.limit_bytes is None or capacity.limit_bytes < size_bytes or capacity.nodes.requirements is None:
            continue
        requirements = capacity.nodes.requirements
        where = reach.slots((requirements,)) if requirements else slice(None)
        left[where] = np.maximum(left[where], capacity.size_bytes or 0)
    return left


def score_nodes(existing: Mapping[str, Use], makeable: Mapping[str, Use], slots: int) -> IntArray:
    """The mean over storage classes (the keys), `[node slot]` of 0..100."""
    total, classes = np.zeros(slots), np.zeros(slots)
    has_existing = np.zeros(slots, dtype=np.bool_)
    for asked, there in existing.values():
        has_existing |= there > 0
        _add(total, classes, asked, there, there > 0)
    for asked, there in makeable.values():
        _add(total, classes, asked, there, (there > 0) & ~has_existing)
    return np.asarray(np.floor(total / np.maximum(classes, 1) + 0.5), dtype=np.int64)


def _add(
    total: NDArray[np.float64], classes: NDArray[np.float64], asked: IntArray, there: IntArray, counts: Mask
) -> None:
    used = np.minimum(MAX_SCORE * asked.astype(np.float64) // np.maximum(there, 1), MAX_SCORE)
    total += np.where(counts, MAX_SCORE - used, 0)
    classes += counts

"""The volumes of one snapshot: where pods may go with their claims, and which volume each claim gets.

A placed pod takes volumes from the others, fills up nodes that can attach only so many, and decides for everybody who shares
its claims. Members of a gang that share a claim for many nodes whose volume is yet to be made may be anywhere the class allows:
whether they reach it is certain only once it exists, and is looked at again before any of them is bound.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from api.constants import NO_PROVISIONER
from scheduler.algorithm.volume_claims import MemberVolumeClaims, PodVolumeClaims
from scheduler.cache.nodes import NodeTable
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.pod_volumes import Disk
from scheduler.cache.steps import ONE_BY_ONE, ONE_SCAN
from scheduler.cache.volume_records import MANY_NODES, ClaimKey, ClaimRecord, VolumeRecord
from scheduler.cache.volume_topology import Attached
from scheduler.plugins import node_volume_limits, volume_restrictions, volume_zone
from scheduler.plugins import volume_binding as binding
from scheduler.plugins.interface import IntArray
from scheduler.plugins.status import Status

_SCANS_OF_A_VOLUME: Final = 5
Mask = NDArray[np.bool_]
Reasons = list[tuple[Status, Mask]]
"""With what one filter refuses which nodes; a node may have several of them."""


class _Feasibility:
    """Where a pod can go with its claims: what each filter refuses, by claim the number of the volume it would get, `[node]`."""

    __slots__ = ("existing", "makeable", "picks", "reasons")

    def __init__(self) -> None:
        self.reasons: list[Reasons] = []
        self.picks: dict[ClaimKey, NDArray[np.int64]] = {}
        self.existing: dict[str, binding.Use] = {}
        self.makeable: dict[str, binding.Use] = {}


class VolumeBinder:
    """The volumes of all pods of a snapshot; masks are `[node]`."""

    def __init__(self, volume_claims: MemberVolumeClaims, nodes: NodeTable) -> None:
        self.volume_claims: Final = volume_claims
        self.matched: Final[dict[ClaimKey, str]] = {}
        """Claims with the existing volume they get."""
        self._nodes: Final = nodes
        self._storage: Final = volume_claims.storage
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []
        self._taken: set[int] = set()
        self._made: dict[ClaimKey, int] = {}
        self._used: set[ClaimKey] = set()
        self._mounted: dict[int, list[Disk]] = {}
        self._attached: dict[int, set[Attached]] = {}
        self._candidates: dict[object, binding.MatchingVolumes] = {}
        self._feasibilities: dict[PodSignature, _Feasibility] = {}

    def refusal(self, signature: PodSignature) -> Status | None:
        """Why pods of this signature can run nowhere, whatever the nodes; None when that is not so."""
        pod_claims = self.volume_claims.of.get(signature)
        return pod_claims.refusal if pod_claims is not None else None

    def filtered(self, signature: PodSignature) -> list[Reasons]:
        """What volumes hold against each node, filter by filter."""
        pod_claims = self.volume_claims.of.get(signature)
        return self._feasibility(signature, pod_claims).reasons if pod_claims is not None else []

    def scores(self, signature: PodSignature) -> IntArray | None:
        """What volumes add to the score of each node; None when they make no difference."""
        pod_claims = self.volume_claims.of.get(signature)
        if pod_claims is None or not pod_claims.delayed:
            return None
        feasibility = self._feasibility(signature, pod_claims)
        if not feasibility.existing and not feasibility.makeable:
            return None
        return binding.score_nodes(feasibility.existing, feasibility.makeable, self._nodes.slots)

    def assume_pod(self, signature: PodSignature, slot: int) -> None:
        """Pods of this signature are on this node from now on."""
        pod_claims = self.volume_claims.of.get(signature)
        if pod_claims is None:
            return
        picks = self._feasibility(signature, pod_claims).picks
        for claim in pod_claims.delayed:
            number = int(picks[claim.key][slot]) if claim.key in picks else binding.NONE
            if number != binding.NONE:
                self._taken.add(number)
                self.matched[claim.key] = self._names[number]
            else:
                self._made.setdefault(claim.key, slot)
        self._used.update(pod_claims.one_pod)
        if pod_claims.disks:
            self._mounted.setdefault(slot, []).extend(pod_claims.disks)
        if pod_claims.attached:
            self._attached.setdefault(slot, set()).update(pod_claims.attached)
        if not self.volume_claims.are_fixed:
            self._feasibilities.clear()

    # --- inside ------------------------------------------------------------------------------------------------------

    def _feasibility(self, signature: PodSignature, pod_claims: PodVolumeClaims) -> _Feasibility:
        feasibility = self._feasibilities.get(signature)
        if feasibility is None:
            self._spend(pod_claims)
            feasibility = self._feasibilities[signature] = _Feasibility()
            if pod_claims.refusal is None:
                feasibility.reasons = [
                    list(_some(self._restricted(pod_claims))),
                    list(_some(self._limited(pod_claims))),
                    list(_some(self._unbindable(pod_claims, feasibility))),
                    list(_some([(volume_zone.REASON, volume_zone.in_other_zone(pod_claims.zones, self._nodes))])),
                ]
            else:
                feasibility.reasons = [[(pod_claims.refusal, self._everywhere())]]
        return feasibility

    def _spend(self, pod_claims: PodVolumeClaims) -> None:
        """What judging all nodes for the claims of one pod costs."""
        steps = self._nodes.steps
        volumes = len(pod_claims.bound) + len(pod_claims.delayed) + len(pod_claims.attached) + len(pod_claims.zones)
        steps.spend(_SCANS_OF_A_VOLUME * (1 + volumes) * (ONE_SCAN + self._nodes.slots))
        if pod_claims.disks:
            steps.spend(ONE_BY_ONE * len(pod_claims.disks) * (1 + sum(map(len, self._mounted.values()))))

    def _everywhere(self) -> Mask:
        return np.ones(self._nodes.slots, dtype=np.bool_)

    def _restricted(self, pod_claims: PodVolumeClaims) -> Iterator[tuple[Status, Mask | None]]:
        refused = np.zeros(self._nodes.slots, dtype=np.bool_)
        if pod_claims.disks:
            slots = (self._nodes.slot_of.get(name) for name in self._storage.nodes_in_conflict(pod_claims.disks))
            refused[[slot for slot in slots if slot is not None]] = True
            for slot, mounted in self._mounted.items():
                refused[slot] |= any(disk.conflicts(other) for disk in pod_claims.disks for other in mounted)
            yield volume_restrictions.REASON_DISK, refused
        if any(key in self._used or self._storage.is_in_use(key) for key in pod_claims.one_pod):
            yield volume_restrictions.REASON_ONE_POD, ~refused

    def _limited(self, pod_claims: PodVolumeClaims) -> Iterator[tuple[Status, Mask | None]]:
        attachments, drivers = self._storage.attachments, self._storage.drivers
        wanted = [
            driver for driver, _ in pod_claims.attached if driver in drivers and drivers[driver].must_be_installed
        ]
        left = self._everywhere()
        for driver, missing in node_volume_limits.nodes_without_driver(wanted, attachments, self._nodes):
            yield node_volume_limits.reason_missing(driver), missing & left
            left &= ~missing
        over = node_volume_limits.exceeding_limits(pod_claims.attached, attachments, self._attached, self._nodes.slots)
        if over is not None:
            yield node_volume_limits.REASON, over & left

    def _unbindable(
        self, pod_claims: PodVolumeClaims, feasibility: _Feasibility
    ) -> Iterator[tuple[Status, Mask | None]]:
        slots, reach = self._nodes.slots, self._storage.reach
        if pod_claims.bound:
            unreached = ~np.logical_and.reduce(
                [binding.nodes_reaching(volume, reach, slots) for volume in pod_claims.bound]
            )
            yield binding.REASON_AFFINITY, unreached
        if pod_claims.delayed:
            unmet, cramped = self._match(pod_claims, feasibility)
            yield binding.REASON_NONE, unmet
            yield binding.REASON_SPACE, cramped
        if pod_claims.gone:
            yield binding.REASON_GONE, self._everywhere()

    # --- claims that wait for their pod ------------------------------------------------------------------------------

    def _match(self, pod_claims: PodVolumeClaims, feasibility: _Feasibility) -> tuple[Mask, Mask]:
        """The nodes without a volume for some claim where none can be made, and those where too little is left for that."""
        unmet, cramped = (np.zeros(self._nodes.slots, dtype=np.bool_) for _ in range(2))
        to_make: list[tuple[ClaimRecord, Mask]] = []
        to_find: list[ClaimRecord] = []
        for claim in pod_claims.delayed:
            node = self._node_of(claim)
            if node is None:
                to_find.append(claim)
            else:
                unmet |= ~node
                to_make.append((claim, node))
        for claim in sorted(to_find, key=lambda one: one.size_bytes or 0):
            picked = self._pick(claim, feasibility)
            feasibility.picks[claim.key] = picked
            to_make.append((claim, picked == binding.NONE))
        for claim, where in to_make:
            open_ = where & ~unmet & ~cramped
            impossible, full = self._make(claim, feasibility)
            unmet |= open_ & impossible
            cramped |= open_ & ~impossible & full
        return unmet, cramped

    def _node_of(self, claim: ClaimRecord) -> Mask | None:
        """The nodes on which a volume that is being made can be used; None when none is being made."""
        slot = self._made.get(claim.key)
        if slot is None:
            name = self._storage.chosen_node(claim)
            if not name:
                return None
            slot = self._nodes.slot_of.get(name)
        elif claim.modes & MANY_NODES:
            return self._everywhere()
        mask = np.zeros(self._nodes.slots, dtype=np.bool_)
        if slot is not None:
            mask[slot] = True
        return mask

    def _pick(self, claim: ClaimRecord, feasibility: _Feasibility) -> NDArray[np.int64]:
        slots, storage = self._nodes.slots, self._storage
        name = self.matched.get(claim.key)
        reserved = storage.volumes[name] if name is not None else storage.reserved_for(claim)
        if reserved is not None and binding.is_large_enough(reserved, claim):
            number = self._number(reserved)
            picked = np.where(binding.nodes_reaching(reserved, storage.reach, slots), number, binding.NONE)
        else:
            beside = list(feasibility.picks.values())
            picked = self._candidates_for(claim).pick(self._taken, beside)
        self._note_existing(claim, picked, feasibility)
        return picked

    def _candidates_for(self, claim: ClaimRecord) -> binding.MatchingVolumes:
        likeness = (
            claim.storage_class,
            claim.size_bytes,
            claim.modes,
            claim.is_block,
            claim.attributes_class,
            claim.selector,
        )
        found = self._candidates.get(likeness)
        if found is None:
            self._nodes.steps.spend(4 * ONE_BY_ONE * sum(1 for _ in self._storage.free_volumes(claim.storage_class)))
            volumes = [
                volume for volume in self._storage.free_volumes(claim.storage_class) if binding.matches(volume, claim)
            ]
            for volume in volumes:
                self._number(volume)
            found = binding.MatchingVolumes(volumes, self._numbers, self._storage.reach, self._nodes.slots)
            self._candidates[likeness] = found
        return found

    def _number(self, volume: VolumeRecord) -> int:
        name = volume.metadata.name
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self._names)
            self._names.append(name)
        return number

    def _note_existing(self, claim: ClaimRecord, picked: NDArray[np.int64], feasibility: _Feasibility) -> None:
        if not self._names:
            return
        sizes = np.array([self._storage.volumes[name].size_bytes for name in self._names] + [0], dtype=np.int64)
        there = sizes[picked]
        asked = np.where(there > 0, claim.size_bytes or 0, 0)
        if there.any():
            before = feasibility.existing.get(claim.storage_class, (0, 0))
            feasibility.existing[claim.storage_class] = (before[0] + asked, before[1] + there)

    def _make(self, claim: ClaimRecord, feasibility: _Feasibility) -> tuple[Mask, Mask]:
        """The nodes for which no volume can be made at all, and those for which there is too little space."""
        nothing = np.zeros(self._nodes.slots, dtype=np.bool_)
        storage_class = self._storage.classes.get(claim.storage_class)
        if storage_class is None or storage_class.provisioner in {"", NO_PROVISIONER}:
            return self._everywhere(), nothing
        impossible = ~binding.allowed_topology(storage_class, self._nodes)
        driver = self._storage.drivers.get(storage_class.provisioner)
        if driver is None or not driver.tracks_capacity or claim.size_bytes is None:
            return impossible, nothing
        capacities = self._storage.capacities.get(claim.storage_class, {}).values()
        left = binding.capacity_left(capacities, claim.size_bytes, self._storage.reach, self._nodes.slots)
        # A node where the claim need not be made has a volume for it, and is scored by that.
        asked, _ = feasibility.makeable.get(claim.storage_class, (np.zeros_like(left), left))
        feasibility.makeable[claim.storage_class] = (asked + claim.size_bytes, left)
        return impossible, left < 0


def _some(found: Iterable[tuple[Status, Mask | None]]) -> Iterator[tuple[Status, Mask]]:
    for reason, mask in found:
        if mask is not None and mask.any():
            yield reason, mask

"""What is known about storage: claims, volumes, classes, and which pods use which claims where.

Beside what the API server shows there is what has been decided and is on its way there: a volume given to a claim, a node
chosen for a claim's new volume. Such an assumption ends when the watch shows it, or when it is taken back. Every change says
which pods that wait for a place may be concerned (their UIDs); pods without claims never come up here.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from scheduler.cache.nodes import NodeTable
from scheduler.cache.pod_volumes import Disk
from scheduler.cache.records import PodRecord
from scheduler.cache.volume_records import CapacityRecord, ClaimKey, ClaimRecord, ClassRecord, VolumeRecord
from scheduler.cache.volume_topology import Attached, Attachments, VolumeReachability

Uids = set[str]


class DriverFacts(msgspec.Struct, frozen=True):
    """What a CSIDriver asks of schedulers."""

    tracks_capacity: bool = False
    must_be_installed: bool = False


class Storage:
    """All records about storage; one writer, no locks."""

    def __init__(self, nodes: NodeTable) -> None:
        self.claims: Final[dict[ClaimKey, ClaimRecord]] = {}
        self.volumes: Final[dict[str, VolumeRecord]] = {}
        self.classes: Final[dict[str, ClassRecord]] = {}
        self.drivers: Final[dict[str, DriverFacts]] = {}
        self.capacities: Final[dict[str, dict[ClaimKey, CapacityRecord]]] = {}
        """By storage class."""
        self.reach: Final = VolumeReachability(nodes)
        self.attachments: Final = Attachments(nodes, self._resolve, self._attached_volume)
        self._free: dict[str, dict[str, VolumeRecord]] = {}
        self._reserved: dict[ClaimKey, dict[str, None]] = {}
        self._given: dict[str, ClaimKey] = {}
        self._chosen: dict[ClaimKey, str] = {}
        self._waiting: dict[ClaimKey, Uids] = {}
        self._in_use: dict[ClaimKey, Counter[str]] = {}
        self._disks: dict[tuple[str, str], dict[str, Counter[Disk]]] = {}

    # --- what is asked -----------------------------------------------------------------------------------------------

    def free_volumes(self, storage_class: str) -> Iterable[VolumeRecord]:
        """Volumes of a class that nobody has or is about to get."""
        return [one for name, one in self._free.get(storage_class, {}).items() if name not in self._given]

    def reserved_for(self, claim: ClaimRecord) -> VolumeRecord | None:
        """A volume that a person, or a decision, reserved for this claim."""
        for name in self._reserved.get(claim.key, ()):
            if self.volumes[name].is_for(claim):
                return self.volumes[name]
        return next((self.volumes[name] for name, key in self._given.items() if key == claim.key), None)

    def chosen_node(self, claim: ClaimRecord) -> str:
        """The node for which the claim's volume is being made, or is about to be."""
        return self._chosen.get(claim.key) or claim.selected_node

    def is_in_use(self, key: ClaimKey) -> bool:
        """Whether a pod on some node uses the claim."""
        return key in self._in_use

    def nodes_in_conflict(self, disks: Iterable[Disk]) -> set[str]:
        """Names of the nodes where one of the disks cannot be mounted beside what is mounted there."""
        return {
            node
            for disk in disks
            for node, mounted in self._disks.get((disk.kind, disk.name), {}).items()
            if any(disk.conflicts(other) for other in mounted)
        }

    @property
    def given(self) -> Mapping[str, ClaimKey]:
        """By name of a volume: the claim that it was decided to give it to."""
        return self._given

    @property
    def chosen(self) -> Mapping[ClaimKey, str]:
        """By claim: the node for which it was decided to have its volume made."""
        return self._chosen

    def attached_as(self, key: ClaimKey) -> Attached | None:
        """What the claim counts as where volumes are limited; None when it counts nowhere."""
        return self._resolve(key)

    # --- pods --------------------------------------------------------------------------------------------------------

    def pod_waits(self, pod: PodRecord) -> None:
        """A pod with volumes waits for a place."""
        for key in claim_keys(pod):
            self._waiting.setdefault(key, set()).add(pod.uid)

    def pod_waits_no_more(self, pod: PodRecord) -> None:
        """It has one, or is gone."""
        for key in claim_keys(pod):
            uids = self._waiting.get(key)
            if uids is not None:
                uids.discard(pod.uid)
                if not uids:
                    del self._waiting[key]

    def enter(self, node: str, pod: PodRecord) -> None:
        """A pod with volumes is on a node."""
        for key in claim_keys(pod):
            self._in_use.setdefault(key, Counter())[node] += 1
        for disk in pod.volumes.disks if pod.volumes else ():
            self._disks.setdefault((disk.kind, disk.name), {}).setdefault(node, Counter())[disk] += 1
        self.attachments.mounted(node, claim_keys(pod), 1)

    def leave(self, node: str, pod: PodRecord) -> None:
        """It is there no more."""
        for key in claim_keys(pod):
            _take_one(self._in_use, key, node)
        for disk in pod.volumes.disks if pod.volumes else ():
            mounted = self._disks[disk.kind, disk.name]
            _take_one(mounted, node, disk)
            if not mounted:
                del self._disks[disk.kind, disk.name]
        self.attachments.mounted(node, claim_keys(pod), -1)

    def sharing(self, pod: PodRecord) -> Uids:
        """Pods that wait for a place and use a claim of this one."""
        return self._waiting_for(claim_keys(pod)) - {pod.uid}

    # --- objects -----------------------------------------------------------------------------------------------------

    def set_claim(self, key: ClaimKey, record: ClaimRecord | None) -> Uids:
        """A claim came, changed or went."""
        if record is None:
            self.claims.pop(key, None)
        else:
            self.claims[key] = record
        if record is None or record.is_bound or record.selected_node:
            self._chosen.pop(key, None)
        if record is None or record.is_bound:
            self.take_back([key])
        self.attachments.claim_changed(key)
        return self._waiting_for([key])

    def set_volume(self, name: str, record: VolumeRecord | None) -> Uids:
        """A volume came, changed or went."""
        old = self.volumes.pop(name, None)
        if old is not None:
            self._take_from_free(old)
            if old.claim is not None:
                self._reserved[old.claim].pop(name)
                if not self._reserved[old.claim]:
                    del self._reserved[old.claim]
        concerned = {record.claim} if record is not None and record.claim is not None else set()
        concerned |= {old.claim} if old is not None and old.claim is not None else set()
        for key in concerned:
            self.attachments.claim_changed(key)
        uids = self._waiting_for(concerned)
        if record is None:
            self._given.pop(name, None)
            return uids
        self.volumes[name] = record
        if record.claim is not None:
            self._given.pop(name, None)
            self._reserved.setdefault(record.claim, {})[name] = None
        elif record.is_available and not record.metadata.is_terminating:
            self._free.setdefault(record.storage_class, {})[name] = record
            if old is None or old.claim is not None or not old.is_available or old.terms != record.terms:
                uids |= self._waiting_for_class(record.storage_class)
        return uids

    def set_class(self, name: str, record: ClassRecord | None) -> Uids:
        """A storage class came, changed or went."""
        if record is None:
            self.classes.pop(name, None)
        else:
            self.classes[name] = record
        self.attachments.everything_changed()
        return self._waiting_for_class(name)

    def set_driver(self, name: str, facts: DriverFacts | None) -> Uids:
        """A CSIDriver came, changed or went."""
        if facts is None:
            self.drivers.pop(name, None)
        else:
            self.drivers[name] = facts
        return self.all_waiting()

    def set_capacity(self, key: ClaimKey, record: CapacityRecord | None, storage_class: str) -> Uids:
        """A CSIStorageCapacity came, changed or went; its class never changes."""
        known = self.capacities.setdefault(storage_class, {})
        old = known.pop(key, None)
        if record is not None:
            known[key] = record
        if not known:
            del self.capacities[storage_class]
        is_more = record is not None and (old is None or _size(record) > _size(old) or old.nodes != record.nodes)
        return self._waiting_for_class(storage_class) if is_more else set()

    def all_waiting(self) -> Uids:
        """Every pod with claims that waits for a place."""
        return self._waiting_for(self._waiting)

    # --- decisions ---------------------------------------------------------------------------------------------------

    def give(self, volumes: Mapping[ClaimKey, str], nodes: Mapping[ClaimKey, str]) -> None:
        """These volumes go to these claims, and volumes of these claims are to be made for these nodes."""
        self._given.update((name, key) for key, name in volumes.items())
        self._chosen.update(nodes)

    def take_back(self, keys: Iterable[ClaimKey]) -> None:
        """What was assumed for these claims has happened, or will not."""
        wanted = set(keys)
        for key in wanted:
            self._chosen.pop(key, None)
        for name in [name for name, key in self._given.items() if key in wanted]:
            del self._given[name]

    # --- inside ------------------------------------------------------------------------------------------------------

    def _take_from_free(self, volume: VolumeRecord) -> None:
        free = self._free.get(volume.storage_class, {})
        if free.pop(volume.metadata.name, None) is not None and not free:
            del self._free[volume.storage_class]

    def _waiting_for(self, keys: Iterable[ClaimKey]) -> Uids:
        return set().union(*(self._waiting.get(key, ()) for key in keys))

    def _waiting_for_class(self, name: str) -> Uids:
        claims = ((key, self.claims.get(key)) for key in self._waiting)
        return self._waiting_for([key for key, claim in claims if claim is not None and claim.storage_class == name])

    def _resolve(self, key: ClaimKey) -> Attached | None:
        claim = self.claims.get(key)
        if claim is None:
            return None
        if claim.volume_name in self.volumes:
            return self._attached_volume(claim.volume_name)
        storage_class = self.classes.get(claim.storage_class)
        return (storage_class.provisioner, f"\x00{key[0]}/{key[1]}") if storage_class else None

    def _attached_volume(self, name: str) -> Attached | None:
        volume = self.volumes.get(name)
        return (volume.csi.driver, volume.csi.volume_handle) if volume is not None and volume.csi else None


def claim_keys(pod: PodRecord) -> list[ClaimKey]:
    """The claims a pod uses, each once."""
    uses = pod.volumes.claims if pod.volumes else ()
    return list(dict.fromkeys((pod.namespace, use.name) for use in uses))


def _size(record: CapacityRecord) -> int:
    return -1 if record.limit_bytes is None else record.limit_bytes


def _take_one(table: dict, key: object, item: object) -> None:  # type: ignore[type-arg]
    counter = table[key]
    counter[item] -= 1
    if not counter[item]:
        del counter[item]
    if not counter:
        del table[key]

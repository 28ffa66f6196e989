"""Which pods wait for volumes and devices, and which items a change of these may help."""

from collections.abc import Iterable, Mapping
from typing import Final

from scheduler.cache.announced_claims import AnnouncedClaims
from scheduler.cache.devices.state import DeviceState
from scheduler.cache.entities import Entities
from scheduler.cache.records import EntityKey, PodRecord, StateChange
from scheduler.cache.storage import Storage


class WaitingPods:
    """Tells volumes and devices who waits for them, and items of what has changed there.

    Args:
        pods: all known pods by UID.
        entities: the items they belong to.
        storage: the volumes.
        devices: the devices.
        announced_claims: the groups whose pods to come have claims.
    """

    def __init__(
        self,
        pods: Mapping[str, PodRecord],
        entities: Entities,
        storage: Storage,
        devices: DeviceState,
        announced_claims: AnnouncedClaims,
    ) -> None:
        self._pods: Final = pods
        self._entities: Final = entities
        self._storage: Final = storage
        self._devices: Final = devices
        self._announced_claims: Final = announced_claims

    def note_volumes(self, old: PodRecord | None, new: PodRecord | None) -> tuple[EntityKey, ...]:
        """Notes that a pod with volumes waits for a place, or does no more; the items its leaving may help."""
        pod = new or old
        if pod is None:
            return ()
        if new is not None and new.signature is not None:
            self._storage.pod_waits(new)
        else:
            self._storage.pod_waits_no_more(pod)
        has_left = old is not None and (new is None or new.is_terminal)
        return self.storage_changed(self._storage.sharing(pod)).items if has_left else ()

    def note_claims(self, old: PodRecord | None, new: PodRecord | None) -> None:
        """Notes that a pod with resource claims, or extended resources, waits for a place, or does no more."""
        if old is not None and (old.claims is not None or old.demand.extended is not None):
            self._devices.pod_waits_no_more(old.namespace, old.uid, old.claims)
        if new is not None and new.signature is not None:
            self._devices.pod_waits(new.namespace, new.uid, new.claims, new.demand.extended)

    def storage_changed(self, pod_uids: Iterable[str]) -> StateChange:
        """Something that these pods, which wait for a place, mount has changed."""
        return _items(self._item_of(uid) for uid in pod_uids)

    def devices_changed(self, uids: Iterable[str]) -> StateChange:
        """Something about devices has changed that may help these pods, or pods to come of these groups."""
        return _items(self._item_of(uid) or self._announcing_group(uid) for uid in uids)

    def _item_of(self, pod_uid: str) -> EntityKey | None:
        record = self._pods.get(pod_uid)
        members = self._entities.of_pod(record) if record else None
        return members.key if members else None

    def _announcing_group(self, uid: str) -> EntityKey | None:
        """The item of a group that announces pods with claims, as long as none of its pods has a place."""
        name = self._announced_claims.group(uid)
        members = self._entities.of_group(*name) if name is not None else None
        return members.key if members is not None and members.pending and not members.scheduled_count else None


def _items(keys: Iterable[EntityKey | None]) -> StateChange:
    return StateChange(items=tuple(dict.fromkeys(key for key in keys if key is not None)))

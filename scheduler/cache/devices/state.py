"""What is known of devices: slices, classes, claims and their templates, taint rules, and which devices are held.

Beside what the API server shows there is what has been decided and is on its way there: an allocation that is assumed holds its
devices until the watch shows it, or until it is taken back. Every change says which pods that wait for a place may be
concerned (their UIDs); pods without claims never come up here.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from api.devices import (
    DeviceClaim,
    DeviceTaint,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from api.extended_resources import ExtendedResources
from scheduler.cache.devices.backing import backing
from scheduler.cache.devices.device_log import EVERYWHERE, DeviceLog
from scheduler.cache.devices.held import HeldDevices
from scheduler.cache.devices.pod_claims import PodClaims
from scheduler.cache.devices.record_factory import ClaimSpecs, claim_record, slice_record, template_record
from scheduler.cache.devices.records import (
    GROUP_RESOURCE,
    ClaimKey,
    ClaimRecord,
    ClaimSpecRecord,
    ClassRecord,
    DeviceRecord,
    HeldDevice,
    PoolId,
    SliceRecord,
)
from scheduler.cache.devices.selectors import Contents, Selectors
from scheduler.cache.nodes import NodeTable

Uids = set[str]


class DeviceState:
    """All records about devices; one writer, no locks.

    Args:
        nodes: told for which extended resources there are classes.
    """

    def __init__(self, nodes: NodeTable) -> None:
        self.is_followed = False
        """Whether devices are followed at all; pods with claims are refused while they are not."""
        self.is_unknown = False
        """They are not because nobody knows of any (an older recording), though the cluster may have some."""
        self.contents: Final = Contents()
        self.selectors: Final = Selectors()
        self.slices: Final[dict[str, SliceRecord]] = {}
        self.slices_of_pool: Final[dict[PoolId, list[SliceRecord]]] = {}
        self.slices_on_node: Final[dict[str, list[SliceRecord]]] = {}
        self.slices_for_many: Final[list[SliceRecord]] = []
        self.classes: Final[dict[str, ClassRecord]] = {}
        self.claims: Final[dict[ClaimKey, ClaimRecord]] = {}
        self.templates: Final[dict[ClaimKey, ClaimRecord]] = {}
        """ResourceClaimTemplates, as claims that nobody has made."""
        self.held: Final = HeldDevices()
        self.log: Final = DeviceLog()
        self.classes_version = 0
        """Grows with every change of a class."""
        self.backing: Mapping[str, str] = {}
        """The name of the class that stands for an extended resource."""
        self._nodes: Final = nodes
        self._specs: Final = ClaimSpecs()
        self._rules: dict[str, DeviceTaintRule] = {}
        self._assumed: dict[ClaimKey, ClaimRecord] = {}
        self._releases: Counter[ClaimKey] = Counter()
        self._released: dict[ClaimKey, str] = {}
        """By claim that was given back: the version from which on the watch shows that."""
        self._waiting: dict[ClaimKey, Uids] = {}
        self._waiting_for_templates: dict[ClaimKey, Uids] = {}
        self._waiting_pods: Uids = set()
        self._waiting_extended: dict[str, ExtendedResources] = {}
        """By UID of a pod that waits for a place: what it asks of extended resources, whether or not a class stands for them."""
        self._extended_claims: dict[str, Uids] = {}
        """By UID of a pod the names of claims that a scheduler has made for its extended resources."""
        self._reserved: Counter[str] = Counter()
        self._of_groups: set[ClaimKey] = set()
        """Claims that a PodGroup is a consumer of."""

    # --- what is asked -----------------------------------------------------------------------------------------------

    def claim(self, key: ClaimKey) -> ClaimRecord | None:
        """A claim as it is, or as it will be when what has been decided is written."""
        return (self._assumed.get(key) if self._assumed else None) or self.claims.get(key)

    def is_assumed(self, key: ClaimKey) -> bool:
        """Whether an allocation of the claim is on its way to the API server."""
        return key in self._assumed

    def backed(self, extended: ExtendedResources | None) -> Mapping[str, str]:
        """The classes by resource, of those that a pod asks for; empty for most pods."""
        if extended is None or not self.backing:
            return {}
        return {name: self.backing[name] for name in extended.names if name in self.backing}

    def extended_claims(self, pod: tuple[str, str]) -> Iterator[ClaimRecord]:
        """The claims that a scheduler has made for the extended resources of a pod, (namespace, UID), as the watch shows them."""
        namespace, uid = pod
        for name in sorted(self._extended_claims.get(uid, ())):
            known = self.claims.get((namespace, name))
            if known is not None:
                yield known

    def spec_of(self, devices: DeviceClaim) -> ClaimSpecRecord:
        """What a claim asks for that is not there yet; equal ones share one object."""
        return self._specs.of(devices)

    def has_reserved(self, uid: str) -> bool:
        """Whether a claim with devices is reserved for this pod, be it gone or not."""
        return uid in self._reserved

    def holding(self) -> Iterator[ClaimRecord]:
        """The claims that keep others from devices and are on their way nowhere, in the order in which they were met."""
        for key, claim in self.claims.items():
            if claim.held and key not in self._assumed:
                yield claim

    def holding_for_groups(self) -> Iterator[ClaimRecord]:
        """Those of them that a PodGroup is a consumer of, by name."""
        for key in sorted(self._of_groups):
            claim = self.claims[key]
            if claim.held and key not in self._assumed:
                yield claim

    def nodes_with(self, held: Iterable[HeldDevice]) -> set[str] | None:
        """The nodes to which these devices matter; None when several nodes reach one of them."""
        found: set[str] = set()
        for pool in {one.id.pool_id for one in held}:
            same_pool = self.slices_of_pool.get(pool, ())
            names = {one.node_name for one in same_pool}
            if "" in names or len(names) > 1:
                return None
            found |= names
        return found

    def is_being_released(self, key: ClaimKey) -> bool:
        """Whether its devices or consumers are being taken back: what is known of it is not to be counted on."""
        return key in self._releases or key in self._released

    @property
    def assumed(self) -> Mapping[ClaimKey, ClaimRecord]:
        """Claims as they will be when what has been decided is written."""
        return self._assumed

    @property
    def releases(self) -> Iterator[tuple[ClaimKey, str]]:
        """Claims that are being given back, and from which version on the watch shows it; empty while nobody knows."""
        for key in self._releases.elements():
            yield key, ""
        yield from self._released.items()

    @property
    def rules(self) -> Mapping[str, DeviceTaintRule]:
        """All taint rules by name."""
        return self._rules

    def taints_of(self, device: DeviceRecord) -> Sequence[DeviceTaint]:
        """The taints of a device, those of rules included."""
        if not self._rules:
            return device.taints
        return (*device.taints, *(rule.spec.taint for rule in self._rules.values() if _is_tainted_by(rule, device)))

    # --- pods --------------------------------------------------------------------------------------------------------

    def pod_waits(
        self, namespace: str, uid: str, claims: PodClaims | None, extended: ExtendedResources | None = None
    ) -> None:
        """A pod with claims, or extended resources, waits for a place, or a group for pods of it to come (by its UID)."""
        if extended is not None:
            self._waiting_extended[uid] = extended
        if claims is None:
            return
        self._waiting_pods.add(uid)
        for waiting, key in self._waited_for(namespace, claims):
            waiting.setdefault(key, set()).add(uid)

    def pod_waits_no_more(self, namespace: str, uid: str, claims: PodClaims | None) -> None:
        """It has one, or is gone."""
        self._waiting_extended.pop(uid, None)
        self._waiting_pods.discard(uid)
        for waiting, key in self._waited_for(namespace, claims) if claims is not None else ():
            uids = waiting.get(key)
            if uids is not None:
                uids.discard(uid)
                if not uids:
                    del waiting[key]

    def all_waiting(self) -> Uids:
        """Every pod that waits for a place and needs devices for it, and every group that announces such pods."""
        if not self.backing:
            return set(self._waiting_pods)
        return self._waiting_pods | {uid for uid, asked in self._waiting_extended.items() if self.backed(asked)}

    # --- objects -----------------------------------------------------------------------------------------------------

    def slim_slice(self, resource_slice: ResourceSlice) -> SliceRecord:
        """The record of a slice."""
        return slice_record(resource_slice, self.contents)

    def slim_claim(self, claim: ResourceClaim) -> ClaimRecord:
        """The record of a claim."""
        return claim_record(claim, self._specs)

    def slim_template(self, template: ResourceClaimTemplate) -> ClaimRecord:
        """The record of a template: that of a claim made from it."""
        return template_record(template, self._specs)

    def set_slice(self, name: str, record: SliceRecord | None) -> Uids:
        """A ResourceSlice came, changed or went."""
        old = self.slices.get(name)
        if old is not None and record is not None and old.offers_like(record):
            return set()
        self.slices.pop(name, None)
        if old is not None:
            self._list_of(old).remove(old)
            self.slices_of_pool[old.pool].remove(old)
            if not self.slices_of_pool[old.pool]:
                del self.slices_of_pool[old.pool]
            if old.node_name and not self.slices_on_node[old.node_name]:
                del self.slices_on_node[old.node_name]
            self._note_slice(old)
        if record is not None:
            self.slices[name] = record
            self._list_of(record).append(record)
            self.slices_of_pool.setdefault(record.pool, []).append(record)
            self._note_slice(record)
        return self.all_waiting()

    def set_class(self, name: str, record: ClassRecord | None) -> Uids:
        """A DeviceClass came, changed or went."""
        if record is None:
            self.classes.pop(name, None)
        else:
            self.classes[name] = record
        self.classes_version += 1
        self.backing = backing(self.classes.values())
        self._nodes.set_backed(frozenset(self.backing))
        self.log.add(EVERYWHERE)
        return self.all_waiting() if record is not None else set()

    def set_rule(self, name: str, rule: DeviceTaintRule | None) -> Uids:
        """A DeviceTaintRule came, changed or went."""
        old = self._rules.pop(name, None)
        if rule is not None:
            self._rules[name] = rule
        self.log.add(EVERYWHERE)
        # A new one only takes devices away.
        return self.all_waiting() if old is not None else set()

    def set_claim(self, key: ClaimKey, record: ClaimRecord | None) -> Uids:
        """A ResourceClaim came, changed or went."""
        before = self._held_by(key)
        old, assumed = self.claims.get(key), self._assumed.get(key)
        self._count_reserved(old, -1)
        self._count_reserved(record, 1)
        self._list_extended(old, record)
        self._of_groups.discard(key)
        if record is None:
            self.claims.pop(key, None)
        else:
            self.claims[key] = record
            if any(one.resource == GROUP_RESOURCE for one in record.reserved_for.values()):
                self._of_groups.add(key)
        is_another = assumed is not None and (
            # One that has been assumed before it was made has no UID yet; its name is nobody else's.
            record is None or assumed.metadata.uid not in {"", record.metadata.uid}
        )
        if is_another or (record is not None and record.is_allocated):
            self._assumed.pop(key, None)
        is_released = key in self._released and not (
            record and _is_older(record.metadata.resource_version, self._released[key])
        )
        if is_released:
            del self._released[key]
        after = self._held_by(key)
        if self._change_held(before, after):
            return self.all_waiting()
        is_news = is_released or old is None or record is None or not record.decides_like(old)
        return self._users_of(key, old) if is_news else set()

    def set_template(self, key: ClaimKey, record: ClaimRecord | None) -> Uids:
        """A ResourceClaimTemplate came, changed or went."""
        old = self.templates.pop(key, None)
        if record is None:
            return set()
        self.templates[key] = record
        return set() if old is not None and old.spec is record.spec else set(self._waiting_for_templates.get(key, ()))

    # --- decisions ---------------------------------------------------------------------------------------------------

    def assume(self, allocated: Mapping[ClaimKey, ClaimRecord]) -> None:
        """These claims have these devices from now on; they are on their way to the API server."""
        for key, record in allocated.items():
            before = self._held_by(key)
            self._assumed[key] = record
            self._change_held(before, self._held_by(key))

    def take_back(self, keys: Iterable[ClaimKey]) -> Uids:
        """What was assumed for these claims will not happen; whom that may help."""
        is_freed = False
        for key in keys:
            before = self._held_by(key)
            self._assumed.pop(key, None)
            is_freed |= self._change_held(before, self._held_by(key))
        return self.all_waiting() if is_freed else set()

    def begin_release(self, key: ClaimKey) -> None:
        """What was written to the claim is taken back: until the watch shows it, nobody may use it and its devices are held."""
        self._releases[key] += 1

    def restore_release(self, key: ClaimKey, version: str) -> None:
        """One of `releases` again."""
        if version:
            self._released[key] = version
        else:
            self.begin_release(key)

    def end_release(self, key: ClaimKey, version: str) -> Uids:
        """It is taken back, or cannot be; whom that may help.

        Args:
            key: of the claim.
            version: of the claim since it is taken back; empty when it is gone or was left as it is.
        """
        self._releases[key] -= 1
        if not self._releases[key]:
            del self._releases[key]
        known = self.claims.get(key)
        if version and known is not None and _is_older(known.metadata.resource_version, version):
            self._released[key] = version
        return self.take_back([key]) | set(self._waiting.get(key, ()))

    # --- inside ------------------------------------------------------------------------------------------------------

    def _users_of(self, key: ClaimKey, before: ClaimRecord | None) -> Uids:
        """The pods that wait and use a claim, or for whose extended resources it was made."""
        found = set(self._waiting.get(key, ()))
        if before is not None and before.is_for_extended_resources and before.owner_uid in self._waiting_extended:
            found.add(before.owner_uid)
        return found

    def _list_extended(self, old: ClaimRecord | None, new: ClaimRecord | None) -> None:
        if old is not None and old.is_for_extended_resources:
            names = self._extended_claims.get(old.owner_uid, set())
            names.discard(old.metadata.name)
            if not names:
                self._extended_claims.pop(old.owner_uid, None)
        if new is not None and new.is_for_extended_resources:
            self._extended_claims.setdefault(new.owner_uid, set()).add(new.metadata.name)

    def _waited_for(self, namespace: str, claims: PodClaims) -> Iterator[tuple[dict[ClaimKey, Uids], ClaimKey]]:
        for use in claims.uses:
            if use.claim:
                yield self._waiting, (namespace, use.claim)
            else:
                yield self._waiting_for_templates, (namespace, use.template)

    def _held_by(self, key: ClaimKey) -> tuple[HeldDevice, ...]:
        record = self.claim(key)
        return record.held if record is not None else ()

    def _count_reserved(self, claim: ClaimRecord | None, change: int) -> None:
        for uid in claim.reserved_for if claim is not None and claim.held else ():
            self._reserved[uid] += change
            if not self._reserved[uid]:
                del self._reserved[uid]

    def _change_held(self, before: tuple[HeldDevice, ...], after: tuple[HeldDevice, ...]) -> bool:
        """Whether a device became free."""
        if before == after:
            return False
        self.held.remove(before)
        self.held.add(after)
        for pool in {one.id.pool_id for one in (*before, *after)}:
            for one in self.slices_of_pool.get(pool, ()):
                self._note_slice(one)
        return bool(before)

    def _list_of(self, record: SliceRecord) -> list[SliceRecord]:
        return self.slices_on_node.setdefault(record.node_name, []) if record.node_name else self.slices_for_many

    def _note_slice(self, record: SliceRecord) -> None:
        same_pool = self.slices_of_pool.get(record.pool, ())
        is_local = record.node_name and all(one.node_name == record.node_name for one in same_pool)
        self.log.add(record.node_name if is_local else EVERYWHERE)


def _is_tainted_by(rule: DeviceTaintRule, device: DeviceRecord) -> bool:
    wanted = rule.spec.device_selector
    if wanted is None:
        return False
    return all(
        asked is None or asked == there
        for asked, there in zip((wanted.driver, wanted.pool, wanted.device), device.id, strict=True)
    )


def _is_older(version: str, than: str) -> bool:
    """Whether a resource version is an earlier one; versions of one kind of object are numbers that grow."""
    return version.isdecimal() and than.isdecimal() and int(version) < int(than)

"""From the scheduler's records of pods back to pods: exactly the bytes that were read, as far as they decide anything."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from api.constants import POD_GROUP
from api.features import fields_that_need
from api.meta import Metadata, OwnerReference
from api.pod import EMPTY, Container, Pod, PodSpec, PodStatus, SchedulingGate, Volume
from scheduler.cache.demand import Demand
from scheduler.cache.devices.records import HeldDevice
from scheduler.cache.pod_signature import Texts
from scheduler.cache.pod_volumes import Disk, PodVolumes
from scheduler.cache.records import Owner, Phase, PodRecord
from scheduler.cache.reservations import Reservation
from scheduler.recording.inputs import HeldRoom, KeptDevice, KeptOnNode, ReservationState
from scheduler.recording.pod_claims import claim_entries, claim_statuses

LONG_AGO: Final = "1970-01-01T00:00:00Z"
"""When something was asked to go, where only that it was is known."""

_PHASES: Final = {Phase.SUCCEEDED: "Succeeded", Phase.FAILED: "Failed"}
_HELD: Final = (SchedulingGate("held"),)
_PART: Final = b"\x00"
_SECTION: Final = b"\x01"
_UNREADABLE: Final = Volume(name="unreadable", persistent_volume_claim=msgspec.Raw(b'"unreadable"'))


def kept_device(held: HeldDevice) -> KeptDevice:
    """What is kept of a device as a value."""
    return KeptDevice(*held.id, held.share_id, dict(held.consumed))


class PodWriter:
    """Writes pods; what records have in common is written once.

    Args:
        texts: the bytes that shared objects were read from.
    """

    def __init__(self, texts: Texts) -> None:
        self._texts: Final = texts
        self._demands: dict[Demand, PodSpec] = {}

    def pod(self, record: PodRecord) -> Pod:
        """The pod that a record is of."""
        spec = self._spec(record)
        return Pod(self._metadata(record), spec, _status(record, spec))

    def demand(self, demand: Demand) -> PodSpec:
        """The part of a spec that decides what a pod takes of a node."""
        found = self._demands.get(demand)
        if found is None:
            found = self._demands[demand] = spec_of_demand(self._texts.demands[demand])
        return found

    def reservation(self, reservation: Reservation) -> ReservationState:
        """A reservation as a value."""
        room = (
            HeldRoom(node_name, self.demand(demand), count)
            for node_name, demands in reservation.demands.items()
            for demand, count in demands.items()
        )
        devices = (
            KeptOnNode(node_name, kept.pods, tuple(map(kept_device, kept.devices)))
            for node_name, kept in reservation.devices.items()
        )
        return ReservationState(
            reservation.key, reservation.priority, tuple(room), reservation.deadline_seconds, tuple(devices)
        )

    def _metadata(self, record: PodRecord) -> Metadata:
        named = record.group or record.foreign_group
        return Metadata(
            name=record.name,
            namespace=record.namespace,
            uid=record.uid,
            resource_version=record.resource_version,
            creation_timestamp=time_stamp(record.created_seconds),
            deletion_timestamp=LONG_AGO if record.terminating else None,
            labels=record.labels or None,
            annotations={POD_GROUP: named} if named else None,
            owner_references=owner_references(record.owner),
        )

    def _spec(self, record: PodRecord) -> PodSpec:
        changes: dict[str, Any] = {
            "node_name": record.node_name,
            "scheduler_name": record.profile.scheduler_name,
            "priority": record.profile.priority,
            "preemption_policy": record.profile.preemption_policy,
            "scheduling_gates": _HELD if record.gated else (),
            "volumes": volumes_of(record.volumes, record.name) if record.volumes is not None else (),
        }
        if record.signature is not None:
            text = self._texts.rules[record.signature.rules]
            changes |= _rules(text)
            features = record.signature.rules.features
        else:
            if record.claims is not None:
                changes["resource_claims"] = claim_entries(record.claims)
            features = frozenset[str]()
            if record.affinity_terms is not None:
                changes["affinity"] = _affinity(self._texts.terms[record.affinity_terms])
        spec = self.demand(record.demand)
        images = record.signature.images if record.signature is not None else ()
        if features:
            container, more = fields_that_need(features)
            changes |= {_FIELDS_OF_SPEC[name]: value for name, value in more.items()}
            changes["containers"] = with_features(spec.containers, container)
        if images:
            starting = len(spec.init_containers)
            changes["init_containers"] = _with_images(spec.init_containers, images[:starting])
            changes["containers"] = _with_images(changes.get("containers", spec.containers), images[starting:])
        return msgspec.structs.replace(spec, **changes)


_FIELDS_OF_SPEC: Final = {"hostNetwork": "host_network", "hostUsers": "host_users"}
_FIELDS_OF_CONTAINER: Final = {"restartPolicyRules": "restart_policy_rules", "volumeMounts": "volume_mounts"}


def spec_of_demand(key: bytes) -> PodSpec:
    """The spec of a pod with this `demand_key`."""
    before, starting, after = _sections(key)
    resources, overhead, host, *_ = after
    return PodSpec(
        containers=tuple(
            Container(resources=_raw(before[at]), ports=_raw(before[at + 1])) for at in range(0, len(before), 2)
        ),
        init_containers=tuple(
            Container(
                resources=_raw(starting[at]),
                ports=_raw(starting[at + 1]),
                restart_policy=starting[at + 2].decode(),
            )
            for at in range(0, len(starting), 3)
        ),
        resources=_raw(resources),
        overhead=_raw(overhead),
        host_network=bool(host),
    )


def _sections(key: bytes) -> tuple[list[bytes], list[bytes], list[bytes]]:
    sections: list[list[bytes]] = [[]]
    for part in key.split(_PART):
        if part == _SECTION and len(sections) < 3:
            sections.append([])
        else:
            sections[-1].append(part)
    before, starting, after = sections
    return before, starting, after


def _rules(key: bytes) -> dict[str, msgspec.Raw]:
    """Fields of a spec by the bytes that decide a pod's rules (`rules_key`)."""
    names = ("node_selector", "affinity", "tolerations", "topology_spread_constraints", "resource_claims")
    return {name: _raw(text) for name, text in zip(names, key.split(_PART), strict=False)}


def _affinity(key: bytes) -> msgspec.Raw:
    """The affinity in an `affinity_key`, which has the pod's namespace and perhaps labels after it."""
    return _raw(key[: _end_of_object(key)])


def _end_of_object(text: bytes) -> int:
    """Where the JSON object ends that a text begins with."""
    depth, is_quoted, at = 0, False, 0
    while at < len(text):
        char = text[at : at + 1]
        if is_quoted:
            at += char == b"\\"
            is_quoted = char != b'"'
        elif char == b'"':
            is_quoted = True
        elif char in {b"{", b"["}:
            depth += 1
        elif char in {b"}", b"]"}:
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return at


def _raw(text: bytes) -> msgspec.Raw:
    return msgspec.Raw(text) if text else EMPTY


def with_features(containers: tuple[Container, ...], fields: Mapping[str, Any]) -> tuple[Container, ...]:
    """The containers, the first of which has these fields besides (of `api.features.fields_that_need`)."""
    if not fields:
        return containers
    first, *others = containers or (Container(),)
    more = {_FIELDS_OF_CONTAINER[name]: msgspec.Raw(msgspec.json.encode(value)) for name, value in fields.items()}
    return (msgspec.structs.replace(first, **more), *others)


def _with_images(containers: tuple[Container, ...], images: tuple[str, ...]) -> tuple[Container, ...]:
    return tuple(
        msgspec.structs.replace(container, image=image) for container, image in zip(containers, images, strict=True)
    )


def _status(record: PodRecord, spec: PodSpec) -> PodStatus:
    phase = _PHASES.get(record.phase) or ("Running" if record.is_bound else "Pending")
    told = claim_statuses(record.claims, spec) if record.claims is not None else EMPTY
    return PodStatus(phase=phase, nominated_node_name=record.nominated_node, resource_claim_statuses=told)


# --- volumes -----------------------------------------------------------------------------------------------------------


def volumes_of(found: PodVolumes, pod_name: str) -> tuple[Volume, ...]:
    """Volumes of a pod of this name that decide the same; only that they could not be read is kept of those."""
    if found.problem:
        return (_UNREADABLE,)
    claims = (
        Volume(name=use.name.removeprefix(f"{pod_name}-"), ephemeral=msgspec.Raw(b"{}"))
        if use.is_owned
        else Volume(name=use.name, persistent_volume_claim=_json({"claimName": use.name}))
        for use in found.claims
    )
    return (*claims, *map(_disk, found.disks))


def _disk(disk: Disk) -> Volume:
    is_read_only = {"readOnly": True} if disk.is_read_only else {}
    match disk.kind:
        case "gce":
            return Volume(name="disk", gce_persistent_disk=_json({"pdName": disk.name, **is_read_only}))
        case "ebs":
            return Volume(name="disk", aws_elastic_block_store=_json({"volumeID": disk.name, **is_read_only}))
        case "iscsi":
            return Volume(name="disk", iscsi=_json({"iqn": disk.name, **is_read_only}))
        case _:
            pool, _, image = disk.name.partition("/")
            return Volume(
                name="disk", rbd=_json({"pool": pool, "image": image, "monitors": disk.portals, **is_read_only})
            )


def _json(value: Mapping[str, Any]) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


# --- metadata ----------------------------------------------------------------------------------------------------------


def owner_references(owner: Owner) -> tuple[OwnerReference, ...] | None:
    """The reference to a controller."""
    if not owner.uid:
        return None
    return (OwnerReference(owner.api_version, owner.kind, owner.name, owner.uid, controller=True),)


def time_stamp(seconds: float) -> str | None:
    """Seconds since 1970 as the API server writes them, None for 0."""
    if not seconds:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")

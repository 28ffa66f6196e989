"""Devices of scenes: nodes offer them, residents have some, and each pod of the gang asks for some by a claim of its own."""

from typing import Any, Final

from api.devices import DeviceClass, ResourceClaim, ResourceSlice
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.record_factory import class_record
from tests.devices.build import DRIVER, claim, device, device_class, request, resource_slice
from tests.devices.upstream import typed
from tests.scheduler.core import build

CLASS: Final = "gpu"
Manifest = dict[str, Any]


def offered(state: ClusterState, name: str, more: Manifest) -> Manifest:
    """The arguments of a node, whose `devices` are in a slice then."""
    count = more.get("devices", 0)
    if count:
        follow_devices(state)
        made = resource_slice(f"slice-{name}", [device(f"g{number}") for number in range(count)], node=name)
        record = state.devices.slim_slice(typed(made, ResourceSlice))
        state.devices.set_slice(record.name, record)
    return {key: value for key, value in more.items() if key != "devices"}


def holding(state: ClusterState, name: str, more: Manifest) -> Manifest:
    """The arguments of a pod that runs, which has these `devices` of its node then; `shares` names a claim used by all."""
    devices = more.get("devices", ())
    rest = {key: value for key, value in more.items() if key != "devices"}
    if not devices:
        return rest
    node = more["on"]
    results = [{"request": "r", "driver": DRIVER, "pool": f"slice-{node}", "device": one} for one in devices]
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    allocation = {"devices": {"results": results}, "nodeSelector": {"nodeSelectorTerms": [term]}}
    consumer = {"resource": "pods", "name": name, "uid": f"uid-of-{name}"}
    status = {"allocation": allocation, "reservedFor": [consumer]}
    return {**rest, **_with_claim(state, name, claim("c", request("r", len(devices)), status=status), rest)}


def asking(state: ClusterState, name: str, more: Manifest) -> Manifest:
    """The arguments of a pod that waits, with a claim for so many `devices`; with `claim` False nobody has made it yet."""
    count, is_made, class_name = more.get("devices", 0), more.get("claim", True), more.get("class_name", CLASS)
    rest = {key: value for key, value in more.items() if key not in {"devices", "claim", "class_name"}}
    if not count:
        return rest
    follow_devices(state)
    asked = claim("c", request("r", count, class_name=class_name))
    return {**rest, **_with_claim(state, name, asked, rest, is_made=is_made)}


def _with_claim(
    state: ClusterState, name: str, manifest: Manifest, more: Manifest, *, is_made: bool = True
) -> Manifest:
    entry = {"name": "device", "resourceClaimTemplateName": "one"}
    spec = {**more.get("spec", {}), "resourceClaims": [entry]}
    if not is_made:
        return {"spec": spec}
    made = f"{name}-device"
    owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": f"uid-of-{name}", "controller": True}
    metadata = {
        "name": made,
        "namespace": more.get("namespace", build.NAMESPACE),
        "uid": f"uid-of-{made}",
        "ownerReferences": [owner],
    }
    record = state.devices.slim_claim(typed({**manifest, "metadata": metadata}, ResourceClaim))
    state.devices.set_claim(record.key, record)
    return {"spec": spec, "claim_statuses": [{"name": "device", "resourceClaimName": made}]}


def follow_devices(state: ClusterState) -> None:
    """The server serves devices, and there is one class."""
    if not state.devices.is_followed:
        state.devices.is_followed = True
        state.devices.set_class(CLASS, class_record(typed(device_class(CLASS), DeviceClass)))

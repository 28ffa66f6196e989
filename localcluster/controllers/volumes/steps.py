"""What is to be written next about a claim, a volume or a pod with ephemeral volumes. Pure.

It stands in for every provisioner. Volumes that are made here are folders that exist nowhere: hollow nodes mount nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from api.constants import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    NO_PROVISIONER,
    SELECTED_NODE,
    WAIT_FOR_FIRST_CONSUMER,
)
from api.errors import InvalidQuantity
from api.pod import Pod
from api.quantity import parse_whole
from api.storage import Claim, StorageClass, Volume
from kube.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, Resource

STORAGE: Final = "storage"
MADE_BY: Final = "pv.kubernetes.io/provisioned-by"
HOSTNAME: Final = "kubernetes.io/hostname"
SHARED_MODES: Final = frozenset({"ReadOnlyMany", "ReadWriteMany"})

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """One write: a patch of an object or its status, or with `creates` a new object, or with `deletes` its end."""

    resource: Resource
    name: str
    namespace: str | None
    body: Object
    subresource: str | None = None
    creates: bool = False
    deletes: bool = False


def claim_step(claim: Claim, volumes: Iterable[Volume], storage_class: StorageClass | None) -> Step | None:
    """What is to be done for a claim next; None when nothing is, for now."""
    volumes = list(volumes)
    if claim.metadata.is_terminating:
        return None
    if claim.metadata.annotation(BIND_COMPLETED) is not None and claim.spec.volume_name:
        named = next((one for one in volumes if one.metadata.name == claim.spec.volume_name), None)
        return _claim_status(claim, named)
    volume = _volume_for(claim, volumes, storage_class)
    if volume is not None:
        return _bind_step(claim, volume)
    return _provision_step(claim, storage_class) if not claim.spec.volume_name else None


def volume_step(volume: Volume, owner: Claim | None) -> Step | None:
    """What is to be done about a volume next; `owner` is the claim it names, if that exists."""
    reference = volume.spec.claim_ref
    if volume.metadata.is_terminating:
        return None
    if reference is None or not reference.uid:
        return _phase(PERSISTENT_VOLUMES, volume, "Available")
    if owner is not None and owner.metadata.uid == reference.uid:
        return _phase(PERSISTENT_VOLUMES, volume, "Bound")
    if volume.metadata.annotation(MADE_BY) is not None and volume.status.phase == "Released":
        return Step(PERSISTENT_VOLUMES, volume.metadata.name, None, {"uid": volume.metadata.uid}, deletes=True)
    return _phase(PERSISTENT_VOLUMES, volume, "Released")


def ephemeral_claims(pod: Pod) -> list[Step]:
    """The claims of a pod's generic ephemeral volumes."""
    if pod.is_terminal or pod.metadata.is_terminating:
        return []
    steps = []
    for volume in pod.spec.volumes:
        if volume.ephemeral:
            template = msgspec.json.decode(volume.ephemeral).get("volumeClaimTemplate") or {}
            meta = pod.metadata
            owner = {"apiVersion": "v1", "kind": "Pod", "name": meta.name, "uid": meta.uid}
            name = f"{meta.name}-{volume.name}"
            body = {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {
                    **(template.get("metadata") or {}),
                    "name": name,
                    "namespace": meta.namespace,
                    "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
                },
                "spec": template.get("spec") or {},
            }
            steps.append(Step(PERSISTENT_VOLUME_CLAIMS, name, meta.namespace, body, creates=True))
    return steps


def _volume_for(claim: Claim, volumes: list[Volume], storage_class: StorageClass | None) -> Volume | None:
    for volume in volumes:
        reference = volume.spec.claim_ref
        is_meant = claim.spec.volume_name == volume.metadata.name if claim.spec.volume_name else reference is not None
        if is_meant and _may_have(volume, claim):
            return volume
    if claim.spec.volume_name or (storage_class and storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER):
        return None
    free = (one for one in volumes if one.spec.claim_ref is None and one.status.phase == "Available")
    return min((one for one in free if _suits(one, claim)), key=_size_of_volume, default=None)


def _may_have(volume: Volume, claim: Claim) -> bool:
    reference = volume.spec.claim_ref
    if reference is None:
        return True
    is_named = (reference.namespace, reference.name) == claim.metadata.key
    return is_named and reference.uid in {"", claim.metadata.uid}


def _suits(volume: Volume, claim: Claim) -> bool:
    wanted, has = set(claim.spec.access_modes or ()), set(volume.spec.access_modes or ())
    return (
        volume.spec.storage_class_name == (claim.spec.storage_class_name or "")
        and (volume.spec.volume_mode or "Filesystem") == (claim.spec.volume_mode or "Filesystem")
        and not claim.spec.selector
        and wanted <= has
        and _size_of_volume(volume) >= _bytes((claim.spec.resources.requests or {}).get(STORAGE, "0"))
    )


def _size_of_volume(volume: Volume) -> int:
    return _bytes(volume.spec.capacity.get(STORAGE, "0"))


def _bytes(text: str) -> int:
    try:
        return parse_whole(text)
    except InvalidQuantity:
        return 0


def _bind_step(claim: Claim, volume: Volume) -> Step:
    reference = volume.spec.claim_ref
    if reference is None or not reference.uid:
        meta: Object = {"uid": volume.metadata.uid}
        if reference is None:
            meta["annotations"] = {BOUND_BY_CONTROLLER: "yes"}
        body = {"metadata": meta, "spec": {"claimRef": _reference(claim)}}
        return Step(PERSISTENT_VOLUMES, volume.metadata.name, None, body)
    body = {
        "metadata": {"uid": claim.metadata.uid, "annotations": {BIND_COMPLETED: "yes"}},
        "spec": {"volumeName": volume.metadata.name},
    }
    return Step(PERSISTENT_VOLUME_CLAIMS, claim.metadata.name, claim.metadata.namespace, body)


def _reference(claim: Claim) -> Object:
    meta = claim.metadata
    names = {"namespace": meta.namespace, "name": meta.name, "uid": meta.uid}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **names}


def _claim_status(claim: Claim, volume: Volume | None) -> Step | None:
    phase = "Bound" if volume is not None and _may_have(volume, claim) else "Lost"
    step = _phase(PERSISTENT_VOLUME_CLAIMS, claim, phase)
    if step is not None and volume is not None and phase == "Bound":
        step.body["status"] |= {
            "capacity": dict(volume.spec.capacity),
            "accessModes": list(volume.spec.access_modes or ()),
        }
    return step


def _phase(resource: Resource, obj: Claim | Volume, phase: str) -> Step | None:
    if obj.status.phase == phase:
        return None
    body: Object = {"metadata": {"uid": obj.metadata.uid}, "status": {"phase": phase}}
    return Step(resource, obj.metadata.name, obj.metadata.namespace or None, body, subresource="status")


def _provision_step(claim: Claim, storage_class: StorageClass | None) -> Step | None:
    if storage_class is None or storage_class.provisioner in {"", NO_PROVISIONER}:
        return None
    node = claim.metadata.annotation(SELECTED_NODE)
    if storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER and not node:
        return None
    modes = list(claim.spec.access_modes or ())
    spec: Object = {
        "capacity": {STORAGE: (claim.spec.resources.requests or {}).get(STORAGE, "1Gi")},
        "accessModes": modes,
        "storageClassName": storage_class.metadata.name,
        "volumeMode": claim.spec.volume_mode or "Filesystem",
        "persistentVolumeReclaimPolicy": "Delete",
        "hostPath": {"path": f"/nowhere/{claim.metadata.uid}"},
        "claimRef": _reference(claim),
    }
    if node and not SHARED_MODES.intersection(modes):
        here = {"key": HOSTNAME, "operator": "In", "values": [node]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}}
    name = f"pvc-{claim.metadata.uid}"
    meta = {"name": name, "annotations": {MADE_BY: storage_class.provisioner}}
    body = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta, "spec": spec}
    return Step(PERSISTENT_VOLUMES, name, None, body, creates=True)

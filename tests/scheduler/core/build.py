"""Small builders: objects go through the real decoder, so tests see exactly what the API server's bytes would give."""

from typing import Any

import msgspec

from api import storage
from api.compositepodgroup import CompositePodGroup
from api.constants import MANAGED, MANAGED_BY, POD_GROUP
from api.node import Node
from api.pod import Pod
from api.podgroup import PodGroup
from scheduler.cache.records import EntityKey
from scheduler.cache.volume_records import capacity_record, claim_record, class_record, volume_record
from scheduler.eventhandlers.storage import StorageEventHandlers
from tests.placement.case import own_names

NAMESPACE = "team-a"

_pod = msgspec.json.Decoder(Pod).decode
_node = msgspec.json.Decoder(Node).decode
_group = msgspec.json.Decoder(PodGroup).decode
_composite = msgspec.json.Decoder(CompositePodGroup).decode


def node(name: str, *, uid: str = "", labels: dict[str, str] | None = None, **more: Any) -> Node:
    """A node; `more` are `cpu`, `memory`, `pods`, other `resources`, `taints`, `unschedulable`, `images`, `features`."""
    allocatable = {
        "cpu": str(more.get("cpu", 4)),
        "memory": str(more.get("memory", "64Gi")),
        "pods": str(more.get("pods", 110)),
        **more.get("resources", {}),
    }
    manifest = {
        "metadata": {
            "name": name,
            "uid": uid or f"uid-of-{name}",
            "labels": {"kubernetes.io/hostname": name, **(labels or {})},
        },
        "spec": {"taints": more.get("taints", []), "unschedulable": more.get("unschedulable", False)},
        "status": {
            "allocatable": allocatable,
            "images": more.get("images", []),
            "declaredFeatures": list(more.get("features", ())),
        },
    }
    return _node(msgspec.json.encode(manifest))


def pod(name: str, *, cpu: int | str = 1, group: str = "", on: str = "", **more: Any) -> Pod:
    """A pod that asks for CPU; `group` is the PodGroup it names, `on` its node.

    `more`: `uid`, `priority`, `preemption_policy`, `scheduler`, `gates`, `phase`, `deleted`, `owner` (UID of its controller),
    `managed`, `created`, `labels`, `controller` (kind and name), `requests` (instead of cpu), `ports`, `nominated` (a node),
    `claim_statuses` and `spec` (further fields).
    """
    annotations = {POD_GROUP: group} if group else {}
    requests = more.get("requests", {"cpu": str(cpu)} if cpu else {})
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": more.get("namespace", NAMESPACE),
        "uid": more.get("uid", f"uid-of-{name}"),
        "creationTimestamp": more.get("created", "2026-01-01T00:00:00Z"),
        "annotations": annotations,
        "labels": more.get("labels", {}) | ({MANAGED: "embedded"} if more.get("managed") else {}),
    }
    if more.get("deleted"):
        metadata["deletionTimestamp"] = "2026-01-02T00:00:00Z"
    if more.get("owner"):
        metadata["ownerReferences"] = [
            {"apiVersion": "batch/v1", "kind": "Job", "name": "job", "uid": more["owner"], "controller": True}
        ]
    if more.get("controller"):
        kind, owner = more["controller"]
        metadata["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": f"uid-of-{owner}", "controller": True}
        ]
    spec: dict[str, Any] = {
        "schedulerName": more.get("scheduler", "tutti"),
        "priority": more.get("priority", 0),
        "preemptionPolicy": more.get("preemption_policy", "PreemptLowerPriority"),
        "containers": [
            {"name": "main", "env": [{"name": "ME", "value": name}], "resources": {"requests": requests}}
            | ({"ports": more["ports"]} if "ports" in more else {})
        ],
        **more.get("spec", {}),
    }
    if on:
        spec["nodeName"] = on
    if more.get("gates"):
        spec["schedulingGates"] = [{"name": gate} for gate in more["gates"]]
    status: dict[str, Any] = {"phase": more.get("phase", "Pending"), "nominatedNodeName": more.get("nominated", "")}
    if more.get("claim_statuses"):
        status["resourceClaimStatuses"] = more["claim_statuses"]
    manifest = {"metadata": metadata, "spec": spec, "status": status}
    return _pod(msgspec.json.encode(manifest))


def group(name: str, need: int | None = None, **more: Any) -> PodGroup:
    """A gang of `need`, or a basic group without it; `more`: `uid`, `priority`, `topology`, `owner`, `created`,
    `leaves` (disruption mode), `annotations`, `conditions`, `parent` (a CompositePodGroup).
    """
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": more.get("namespace", NAMESPACE),
        "uid": more.get("uid", f"uid-of-{name}"),
        "creationTimestamp": more.get("created", "2026-01-01T00:00:00Z"),
        "annotations": more.get("annotations", {}),
    }
    if more.get("owner"):
        metadata["annotations"] = {MANAGED_BY: "tutti", **metadata["annotations"]}
        metadata["ownerReferences"] = [
            {"apiVersion": "batch/v1", "kind": "Job", "name": "job", "uid": more["owner"], "controller": True}
        ]
    spec: dict[str, Any] = {"schedulingPolicy": {"gang": {"minCount": need}} if need is not None else {"basic": {}}}
    if "priority" in more:
        spec["priority"] = more["priority"]
    if "preemption_policy" in more:
        spec["preemptionPolicy"] = more["preemption_policy"]
    spec |= _settings(more)
    status = {"conditions": more.get("conditions", [])}
    return _group(msgspec.json.encode({"metadata": metadata, "spec": spec, "status": status}))


def _settings(more: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = {}
    if "leaves" in more:
        spec["disruptionMode"] = {more["leaves"]: {}}
    if "topology" in more:
        spec["schedulingConstraints"] = {"topology": [{"key": more["topology"]}]}
    if "parent" in more:
        spec["parentCompositePodGroupName"] = more["parent"]
        spec["workloadRef"] = {"workloadName": "w", "templateName": "t"}
    return spec


def composite(name: str, need: int | None = None, **more: Any) -> CompositePodGroup:
    """A CompositePodGroup of which `need` children start together, or a basic one without it; `more`: `uid`, `priority`,
    `topology`, `created`, `leaves` (disruption mode), `parent`, `preemption_policy`, `annotations`, `conditions`.
    """
    spec: dict[str, Any] = {
        "schedulingPolicy": {"gang": {"minGroupCount": need}} if need is not None else {"basic": {}},
        "workloadRef": {"workloadName": "w", "templateName": "t"},
        **_settings(more),
    }
    if "priority" in more:
        spec["priority"] = more["priority"]
    if "preemption_policy" in more:
        spec["preemptionPolicy"] = more["preemption_policy"]
    metadata = {
        "name": name,
        "namespace": NAMESPACE,
        "uid": more.get("uid", f"uid-of-{name}"),
        "creationTimestamp": more.get("created", "2026-01-01T00:00:00Z"),
        "annotations": more.get("annotations", {}),
    }
    status = {"conditions": more.get("conditions", [])}
    return _composite(msgspec.json.encode({"metadata": metadata, "spec": spec, "status": status}))


def stored(feed: StorageEventHandlers, manifest: dict[str, Any]) -> None:
    """Tells the feed of an object about storage as the volume controller leaves it; `@namespace` is the pods' one."""
    manifest = own_names(manifest, lambda short: NAMESPACE if short == "namespace" else f"@{short}")
    meta = {"namespace": NAMESPACE, "uid": f"uid-of-{manifest['metadata']['name']}", **manifest["metadata"]}
    if manifest.get("status") == {"phase": "Bound"} and manifest["kind"] == "PersistentVolumeClaim":
        meta["annotations"] = {**meta["annotations"], "pv.kubernetes.io/bind-completed": "yes"}
    raw = msgspec.json.encode({**manifest, "metadata": meta})
    name = meta["name"]
    match manifest["kind"]:
        case "PersistentVolumeClaim":
            feed.claim((meta["namespace"], name), claim_record(msgspec.json.decode(raw, type=storage.Claim)))
        case "PersistentVolume":
            feed.volume(name, volume_record(msgspec.json.decode(raw, type=storage.Volume)))
        case "StorageClass":
            feed.storage_class(name, class_record(msgspec.json.decode(raw, type=storage.StorageClass)))
        case "CSINode":
            feed.node(name, msgspec.json.decode(raw, type=storage.CsiNode))
        case "CSIDriver":
            feed.driver(name, msgspec.json.decode(raw, type=storage.CsiDriver))
        case "CSIStorageCapacity":
            feed.capacity(capacity_record(msgspec.json.decode(raw, type=storage.StorageCapacity)), is_gone=False)
        case "VolumeAttachment":
            feed.attachment(name, msgspec.json.decode(raw, type=storage.Attachment), is_gone=False)


def group_key(name: str, uid: str | None = None) -> EntityKey:
    """The key of a group built by `group`."""
    return EntityKey("group", NAMESPACE, name, f"uid-of-{name}" if uid is None else uid)


def composite_key(name: str, uid: str | None = None) -> EntityKey:
    """The key of a tree by its root, built by `composite`."""
    return EntityKey("composite", NAMESPACE, name, f"uid-of-{name}" if uid is None else uid)


def pod_key(name: str) -> EntityKey:
    """The key of a lone pod built by `pod`."""
    return EntityKey("pod", NAMESPACE, name, f"uid-of-{name}")

"""Objects as users, controllers and kubelets write them, as short as possible."""

from typing import Any

from api.constants import POD_GROUP

Object = dict[str, Any]
JOB: Object = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "job-uid", "controller": True}


def node(name: str, *, gpus: int = 1) -> Object:
    """A node with room for that many one-GPU pods."""
    return {
        "metadata": {"name": name},
        "spec": {},
        "status": {"allocatable": {"cpu": "64", "memory": "256Gi", "pods": "110", "nvidia.com/gpu": str(gpus)}},
    }


def pod(name: str, *, group: str = "", gpus: int = 1, scheduler: str = "tutti", owned: bool = False) -> Object:
    """A pending pod that asks for GPUs."""
    metadata: Object = {"namespace": "ns", "name": name, "creationTimestamp": "2026-01-01T00:00:00Z"}
    if group:
        metadata["annotations"] = {POD_GROUP: group}
    if owned:
        metadata["ownerReferences"] = [JOB]
    amount = {"nvidia.com/gpu": str(gpus), "cpu": "1"}
    return {
        "metadata": metadata,
        "spec": {"schedulerName": scheduler, "priority": 0, "containers": [{"resources": {"requests": amount}}]},
        "status": {"phase": "Pending"},
    }


def composite(name: str, min_group_count: int, *, parent: str = "", priority: int | None = None) -> Object:
    """A CompositePodGroup of which so many children start together."""
    spec: Object = {
        "schedulingPolicy": {"gang": {"minGroupCount": min_group_count}},
        "workloadRef": {"workloadName": "w", "templateName": "t"},
    }
    if parent:
        spec["parentCompositePodGroupName"] = parent
    if priority is not None:
        spec["priority"] = priority
    metadata = {"namespace": "ns", "name": name, "creationTimestamp": "2026-01-01T00:00:00Z", "ownerReferences": [JOB]}
    return {"metadata": metadata, "spec": spec}


def gang(name: str, min_count: int, *, owned: bool = True, parent: str = "") -> Object:
    """A PodGroup that must start together."""
    metadata: Object = {"namespace": "ns", "name": name, "creationTimestamp": "2026-01-01T00:00:00Z"}
    if owned:
        metadata["ownerReferences"] = [JOB]
    spec: Object = {"schedulingPolicy": {"gang": {"minCount": min_count}}}
    if parent:
        spec |= {"parentCompositePodGroupName": parent, "workloadRef": {"workloadName": "w", "templateName": "t"}}
    return {"metadata": metadata, "spec": spec}

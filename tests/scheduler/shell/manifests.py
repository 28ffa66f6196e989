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


def gang(name: str, min_count: int, *, owned: bool = True) -> Object:
    """A PodGroup that must start together."""
    metadata: Object = {"namespace": "ns", "name": name, "creationTimestamp": "2026-01-01T00:00:00Z"}
    if owned:
        metadata["ownerReferences"] = [JOB]
    return {"metadata": metadata, "spec": {"schedulingPolicy": {"gang": {"minCount": min_count}}}}

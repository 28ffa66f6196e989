"""The objects the end-to-end measurement submits: nodes of bare objects, bare gangs, gang Jobs."""

from typing import Any

from kube.groups.group_api import GroupAPI

NAMESPACE = "bench"
CONTAINER = {
    "name": "main",
    "image": "registry.example/pause",
    "resources": {"requests": {"cpu": "1", "memory": "1Gi"}},
}


def node(index: int) -> dict[str, Any]:
    """A node of 16 cores, 64 GiB and 110 pods that nobody runs."""
    capacity = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"node-{index:04}", "labels": {"kubernetes.io/hostname": f"node-{index:04}"}},
        "status": {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": [{"type": "Ready", "status": "True", "reason": "Bench"}],
        },
    }


def pod_group(api: GroupAPI, gang: int, size: int) -> dict[str, Any]:
    """A hand-made PodGroup."""
    return {
        "apiVersion": api.pod_groups.api_version,
        "kind": "PodGroup",
        "metadata": {"name": f"gang-{gang}", "namespace": NAMESPACE},
        "spec": {"schedulingPolicy": {"gang": {"minCount": size}}},
    }


def bare_pod(gang: int, index: int, scheduler_name: str) -> dict[str, Any]:
    """A bare pod of a hand-made group, by field and by annotation."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"gang-{gang}-{index}",
            "namespace": NAMESPACE,
            "annotations": {"tutti.scheduler/pod-group": f"gang-{gang}"},
        },
        "spec": {
            "schedulerName": scheduler_name,
            "schedulingGroup": {"podGroupName": f"gang-{gang}"},
            "containers": [CONTAINER],
            "terminationGracePeriodSeconds": 0,
        },
    }


def job(index: int, size: int, *, gang: bool) -> dict[str, Any]:
    """An Indexed Job of so many pods; without `gang` it opts out and the stock scheduler places its pods."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": f"job-{index}",
            "namespace": NAMESPACE,
            "annotations": {} if gang else {"tutti.scheduler/policy": "none"},
        },
        "spec": {
            "parallelism": size,
            "completions": size,
            "completionMode": "Indexed",
            "template": {
                "spec": {"restartPolicy": "Never", "containers": [CONTAINER], "terminationGracePeriodSeconds": 0}
            },
        },
    }

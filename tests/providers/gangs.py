"""The gangs that every provider is asked about: one of a Job, and one replica of a LeaderWorkerSet."""

from collections.abc import Mapping
from typing import Any

from api.meta import OwnerReference
from providers.gang import LEADER, WORKER, Gang, StartupPolicy, role_of

GROUP = "train-5bb96744b5-train-pgt-0-7cfffc5757"
"""The name a Job's PodGroup has: the Job's, and hashes that differ for every incarnation."""

REPLICA = "llm-0-6c4d9f7b8c"

JOB_OWNER: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "name": "train",
    "uid": "uid-of-job",
    "controller": True,
    "blockOwnerDeletion": True,
}
LEADER_OWNER: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "name": "llm-0",
    "uid": "uid-of-leader",
    "controller": True,
    "blockOwnerDeletion": True,
}


def container(cpu: str, memory: str, **more: Any) -> dict[str, Any]:
    """A container with requests."""
    return {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": memory, **more}}}


WORKER_SPEC: dict[str, Any] = {
    # While it starts, an init container needs 3 cores beside a sidecar of 250m that goes on running; then one core is needed.
    "initContainers": [
        {**container("250m", "64Mi"), "restartPolicy": "Always"},
        container("3", "64Mi"),
    ],
    "containers": [container("1", "1Gi", **{"nvidia.com/gpu": "8"})],
    "overhead": {"cpu": "50m", "memory": "16Mi"},
    "nodeSelector": {"pool": "gpu"},
    "tolerations": [{"key": "gpu", "operator": "Exists"}],
}
"""One pod takes 3300m of cpu, 1104Mi of memory and 8 devices."""

LEADER_SPEC: dict[str, Any] = {"containers": [container("500m", "256Mi")]}


def owner(manifest: Mapping[str, Any]) -> OwnerReference:
    """The record of an owner reference."""
    return OwnerReference(
        api_version=manifest["apiVersion"],
        kind=manifest["kind"],
        name=manifest["name"],
        uid=manifest["uid"],
        controller=True,
        block_owner_deletion=True,
    )


def job_gang(**settings: Any) -> Gang:
    """Four pods of a Job that start together."""
    values: dict[str, Any] = {
        "name": GROUP,
        "namespace": "team",
        "min_count": 4,
        "roles": (role_of(WORKER, 4, WORKER_SPEC),),
        "owner": owner(JOB_OWNER),
        "priority_class_name": "high",
    }
    return Gang(**{**values, **settings})


def replica(startup: StartupPolicy, **settings: Any) -> Gang:
    """A leader and three workers."""
    values: dict[str, Any] = {
        "name": REPLICA,
        "namespace": "team",
        "min_count": 4,
        "roles": (role_of(LEADER, 1, LEADER_SPEC), role_of(WORKER, 3, WORKER_SPEC)),
        "startup": startup,
        "owner": owner(LEADER_OWNER),
        "priority_class_name": "high",
    }
    return Gang(**{**values, **settings})

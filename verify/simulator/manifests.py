"""What users and administrators of a simulated cluster write. Pure."""

from typing import Any, Final

from api.constants import DEFAULT_SCHEDULER_NAME, DEGRADED, REPAIR_TIMEOUT, RESTART
from api.constants import GROUP as TUTTI
from kube.client.resources import JOBS, LEADER_WORKER_SETS
from localcluster.lifecycle import EXIT_CODE, RUN_SECONDS
from localcluster.shapes import NodeShape, node_manifest
from verify.simulator.actions import AddNode, CreateJob, CreateSet, ForeignPod

Object = dict[str, Any]

NAMESPACE: Final = "default"
ZONE: Final = "topology.kubernetes.io/zone"
ZONES: Final = 2
GPU: Final = "nvidia.com/gpu"
CLASSES: Final = (("low", 0), ("middle", 100), ("high", 1000))
STORAGE: Final = "simulated"


def node_name(number: int) -> str:
    """The name of a node."""
    return f"node-{number}"


def job_name(number: int) -> str:
    """The name of a Job."""
    return f"job-{number}"


def set_name(number: int) -> str:
    """The name of a LeaderWorkerSet."""
    return f"set-{number}"


def foreign_name(number: int) -> str:
    """The name of a pod of another scheduler."""
    return f"foreign-{number}"


def node(action: AddNode, now: str) -> Object:
    """A node in one of the zones."""
    resources = {"cpu": str(action.cpu), "memory": "64Gi", "pods": "110"}
    if action.gpus:
        resources[GPU] = str(action.gpus)
    return node_manifest(
        node_name(action.node), NodeShape(resources, labels={ZONE: f"zone-{action.node % ZONES}"}), now=now
    )


def classes() -> list[Object]:
    """The priority classes."""
    return [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
        }
        for name, value in CLASSES
    ]


def storage_class() -> Object:
    """Volumes are made when their pod is placed."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": STORAGE},
        "provisioner": "simulated.tutti.scheduler",
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def job(action: CreateJob) -> Object:
    """An Indexed Job."""
    annotations: dict[str, str] = {}
    if action.minimum:
        annotations[f"{TUTTI}/min-count"] = str(action.minimum)
    if action.zone:
        annotations[f"{TUTTI}/topology"] = ZONE
    if action.elastic:
        annotations[f"{TUTTI}/elastic"] = "true"
    if action.single:
        annotations[f"{TUTTI}/disruption-mode"] = "single"
    if action.restart_seconds:
        annotations |= {DEGRADED: RESTART, REPAIR_TIMEOUT: f"{action.restart_seconds}s"}
    ends = {RUN_SECONDS: str(action.seconds), EXIT_CODE: str(action.exit_code)} if action.seconds else {}
    spec: Object = {
        "restartPolicy": "Never",
        "priorityClassName": CLASSES[action.priority][0],
        "containers": [_container(action.cpu_milli, action.gpus)],
    }
    if action.pods == 1:
        spec["schedulerName"] = DEFAULT_SCHEDULER_NAME  # no gang, so nobody else says it
    if action.claims:
        claim = {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": STORAGE,
            "resources": {"requests": {"storage": "1Gi"}},
        }
        spec["volumes"] = [{"name": "data", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}]
    return {
        "apiVersion": JOBS.api_version,
        "kind": JOBS.kind,
        "metadata": {"name": job_name(action.job), "namespace": NAMESPACE, "annotations": annotations},
        "spec": {
            "completionMode": "Indexed",
            "parallelism": action.pods,
            "completions": action.pods,
            "template": {"metadata": {"annotations": ends}, "spec": spec},
        },
    }


def leader_worker_set(action: CreateSet) -> Object:
    """A LeaderWorkerSet whose pods run until it is deleted."""
    template = {
        "spec": {
            "priorityClassName": CLASSES[action.priority][0],
            "containers": [_container(action.cpu_milli, 0)],
        }
    }
    return {
        "apiVersion": LEADER_WORKER_SETS.api_version,
        "kind": LEADER_WORKER_SETS.kind,
        "metadata": {"name": set_name(action.name), "namespace": NAMESPACE},
        "spec": {
            "replicas": action.replicas,
            "startupPolicy": "LeaderReady" if action.leader_ready else "LeaderCreated",
            "leaderWorkerTemplate": {"size": action.size, "workerTemplate": template},
        },
    }


def foreign_pod(action: ForeignPod) -> Object:
    """A pod that is on its node from the first moment."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": foreign_name(action.pod), "namespace": NAMESPACE},
        "spec": {
            "nodeName": node_name(action.node),
            "schedulerName": "another",
            "containers": [_container(action.cpu_milli, 0)],
        },
    }


def _container(cpu_milli: int, gpus: int) -> Object:
    requests = {"cpu": f"{cpu_milli}m"}
    resources: Object = {"requests": requests}
    if gpus:
        requests[GPU] = str(gpus)
        resources["limits"] = {GPU: str(gpus)}
    return {"name": "main", "image": "registry.example/main:1", "resources": resources}

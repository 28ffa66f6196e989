"""Nodes and pods as an API server delivers them, with all that a scheduler has to skip."""

from typing import Any, Final

NODES: Final = 5_000
PODS: Final = 50_000


def node(index: int) -> dict[str, Any]:
    """A node as a cloud's kubelet reports it."""
    name = f"worker-{index:05}.example.internal"
    labels = {
        "kubernetes.io/hostname": name,
        "topology.kubernetes.io/zone": f"zone-{index % 3}",
        "topology.kubernetes.io/rack": f"rack-{index // 100}",
        "node.kubernetes.io/instance-type": "large",
        **{f"feature.node.kubernetes.io/flag-{number}": "true" for number in range(20)},
    }
    amounts = {"cpu": "64", "memory": "527951300Ki", "ephemeral-storage": "1099511627776", "pods": "110"}
    amounts |= {f"example.com/device-{number}": "8" for number in range(6)}
    kinds = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")
    return {
        "metadata": {
            "name": name,
            "uid": f"{index:08x}-1111-4222-8333-444444444444",
            "resourceVersion": str(900_000 + index),
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": labels,
            "annotations": {f"example.com/annotation-{number}": "x" * 80 for number in range(8)},
            "managedFields": _managed_fields(40),
        },
        "spec": {"podCIDR": "10.0.0.0/24", "providerID": f"example:///zone/{name}"},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [
                {"type": kind, "status": "False", "message": "x" * 60, "reason": "Kubelet"} for kind in kinds
            ],
            "images": [
                {
                    "names": [
                        f"registry.example/team/image-{index % 7 * 40 + number}@sha256:{'0123456789abcdef' * 4}",
                        f"registry.example/team/image-{index % 7 * 40 + number}:v1.2.{number}",
                    ],
                    "sizeBytes": 10_000_000 * number,
                }
                for number in range(50)
            ],
        },
    }


def pod(index: int) -> dict[str, Any]:
    """A running pod of a Job of twenty."""
    job = f"train-{index // 20}"
    return {"metadata": _pod_metadata(index, job), "spec": _pod_spec(index), "status": _pod_status(index)}


def _pod_metadata(index: int, job: str) -> dict[str, Any]:
    job_uid = f"{index // 20:08x}-9999-4aaa-8bbb-cccccccccccc"
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": job_uid}
    return {
        "name": f"{job}-{index % 20}-{index:05x}",
        "generateName": f"{job}-{index % 20}-",
        "namespace": f"team-{index // 20 % 50}",
        "uid": f"{index:08x}-5555-4666-8777-888888888888",
        "resourceVersion": str(100_000 + index),
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "labels": {
            "batch.kubernetes.io/job-name": job,
            "batch.kubernetes.io/controller-uid": job_uid,
            "batch.kubernetes.io/job-completion-index": str(index % 20),
        },
        "annotations": {"tutti.scheduler/pod-group": job},
        "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
        "managedFields": _managed_fields(25),
    }


def _pod_spec(index: int) -> dict[str, Any]:
    amounts = {"cpu": "1", "memory": "4Gi"}
    token = {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}
    mount = {"name": "kube-api-access", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
    container = {
        "name": "main",
        "image": "registry.example/team/image-1:v1.2.1",
        "env": [{"name": f"VARIABLE_{number}", "value": "x" * 40} for number in range(15)],
        "resources": {"requests": amounts, "limits": amounts},
        "volumeMounts": [mount],
    }
    tolerated = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    return {
        "schedulerName": "tutti",
        "nodeName": f"worker-{index % NODES:05}.example.internal",
        "priority": 0,
        "serviceAccountName": "default",
        "containers": [container],
        "volumes": [{"name": "kube-api-access", "projected": {"sources": [token]}}],
        "tolerations": [{"key": f"node.kubernetes.io/{taint}", **tolerated} for taint in ("not-ready", "unreachable")],
    }


def _pod_status(index: int) -> dict[str, Any]:
    return {
        "phase": "Running",
        "podIP": f"10.1.{index // 250 % 250}.{index % 250}",
        "conditions": [
            {"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:05Z"}
            for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
        ],
        "containerStatuses": [
            {"name": "main", "ready": True, "restartCount": 0, "image": "x" * 40, "imageID": "x" * 90}
        ],
    }


def _managed_fields(count: int) -> list[dict[str, Any]]:
    fields: dict[str, dict[str, dict[str, str]]] = {
        f"f:field-{number}": {"f:inner": {}, ".": {}} for number in range(count)
    }
    return [
        {"manager": "kubelet", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields}
    ]

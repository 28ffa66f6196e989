"""LeaderWorkerSets and pods as values, small."""

from typing import Any

import msgspec

from api.constants import LWS_NAME, LWS_REVISION, LWS_SIZE, LWS_WORKER_INDEX
from localcluster.controllers.jobs.pods import Pod
from localcluster.controllers.leaderworkersets.model import LeaderWorkerSet

Object = dict[str, Any]
PREFIX = "leaderworkerset.sigs.k8s.io/"


def viewed(
    *, replicas: int = 4, rolling: Object | None = None, status: Object | None = None, **template: Any
) -> LeaderWorkerSet:
    """A LeaderWorkerSet as the controller reads it."""
    document = {
        "metadata": {"name": "g", "namespace": "ns", "uid": "u", "generation": 2},
        "spec": {
            "replicas": replicas,
            "leaderWorkerTemplate": template,
            "rolloutStrategy": {"rollingUpdateConfiguration": rolling or {}},
        },
        "status": status or {},
    }
    return msgspec.convert(document, LeaderWorkerSet)


def group_pod(name: str, *, phase: str = "Running", going: bool = False, restarts: int = 0, revision: str = "r") -> Pod:
    """A pod of a group."""
    metadata: Object = {"name": name, "namespace": "ns", "uid": name, "labels": {LWS_REVISION: revision}}
    if going:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    status = {"phase": phase, "containerStatuses": [{"name": "main", "restartCount": restarts}]}
    return msgspec.convert({"metadata": metadata, "status": status}, Pod)


def new_pod(name: str, annotations: dict[str, str] | None = None, *, size: int = 4) -> Object:
    """A pod as a StatefulSet sends it for creation; a leader when its name has one number, else a worker."""
    labels, annotations = {LWS_NAME: "g"}, dict(annotations or {})
    if name.count("-") == 1:
        labels[LWS_WORKER_INDEX] = "0"
    else:
        labels |= {f"{PREFIX}group-index": name.split("-")[1], f"{PREFIX}group-key": "key"}
        annotations.setdefault("leader-name", name.rpartition("-")[0])
    return {
        "metadata": {
            "name": name,
            "namespace": "ns",
            "labels": labels,
            "annotations": {LWS_SIZE: str(size), **{PREFIX + key: value for key, value in annotations.items()}},
        },
        "spec": {"subdomain": "g", "containers": [{"name": "main", "image": "x"}]},
    }


def stored(**spec: Any) -> Object:
    """A LeaderWorkerSet as the server sends it."""
    template = spec.pop("template", {})
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "g", "namespace": "ns", "uid": "u"},
        "spec": {
            "replicas": 2,
            "leaderWorkerTemplate": {
                "size": 3,
                "workerTemplate": {"metadata": {}, "spec": {"containers": [{"name": "w", "image": "x"}]}},
                **template,
            },
            "networkConfig": {"subdomainPolicy": "Shared"},
            **spec,
        },
    }

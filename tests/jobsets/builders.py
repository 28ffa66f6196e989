"""Small JobSets and Jobs of theirs, as manifests."""

import copy
from collections.abc import Mapping
from typing import Any

from api.constants import MANAGED, SCOPE

Object = dict[str, Any]

UID = "uid-of-set"


def part(
    name: str,
    *,
    replicas: int = 1,
    pods: int = 2,
    completions: int | None = None,
    pod_spec: Mapping[str, Any] | None = None,
    annotations: Mapping[str, str] | None = None,
    restart_policy: str = "Never",
) -> Object:
    """A replicated Job, as JobSet's own webhook leaves it."""
    containers = [{"name": "c", "image": "busybox", "resources": {"requests": {"cpu": "1"}}}]
    template = {"spec": {"restartPolicy": restart_policy, "containers": containers, **(pod_spec or {})}}
    spec = {
        "parallelism": pods,
        "completions": pods if completions is None else completions,
        "completionMode": "Indexed",
        "backoffLimit": 0,
        "template": template,
    }
    metadata = {"annotations": dict(annotations)} if annotations else {}
    return {"name": name, "replicas": replicas, "template": {"metadata": metadata, "spec": spec}}


def marked(part: Object, scope: str, provider: str = "embedded") -> Object:
    """A replicated Job as admission leaves it."""
    part = copy.deepcopy(part)
    job = part["template"]
    job["metadata"].setdefault("annotations", {})[SCOPE] = scope
    pods = job["spec"]["template"]
    pods.setdefault("metadata", {}).setdefault("labels", {})[MANAGED] = provider
    pods["spec"].setdefault("schedulerName", "tutti")
    return part


def jobset(
    *parts: Object,
    name: str = "pair",
    annotations: Mapping[str, str] | None = None,
    restarts: int = 0,
    conditions: tuple[str, ...] = (),
    deleting: bool = False,
    **spec: Any,
) -> Object:
    """A JobSet."""
    metadata: Object = {"name": name, "namespace": "default", "uid": UID, "resourceVersion": "10"}
    if annotations:
        metadata["annotations"] = dict(annotations)
    if deleting:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": metadata,
        "spec": {"replicatedJobs": [copy.deepcopy(each) for each in parts], **spec},
        "status": {"restarts": restarts, "conditions": [{"type": each, "status": "True"} for each in conditions]},
    }


def child(
    *,
    part: str = "left",
    index: int = 0,
    scope: str | None = "set",
    attempt: int | str = 0,
    managed: str | None = "embedded",
    kind: str = "JobSet",
    parent_uid: str = UID,
    pods: int = 3,
    **spec: Any,
) -> Object:
    """A Job as the JobSet controller makes it."""
    labels = {
        "jobset.sigs.k8s.io/jobset-name": "pair",
        "jobset.sigs.k8s.io/jobset-uid": parent_uid,
        "jobset.sigs.k8s.io/replicatedjob-name": part,
        "jobset.sigs.k8s.io/job-index": str(index),
        "jobset.sigs.k8s.io/restart-attempt": str(attempt),
    }
    owner = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": kind,
        "name": "pair",
        "uid": parent_uid,
        "controller": True,
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": f"pair-{part}-{index}",
            "namespace": "default",
            "uid": f"uid-of-{part}-{index}-{attempt}",
            "resourceVersion": "10",
            "labels": dict(labels),
            "annotations": {SCOPE: scope} if scope else {},
            "ownerReferences": [owner],
        },
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "completionMode": "Indexed",
            "suspend": False,
            "template": {
                "metadata": {"labels": {**labels, **({MANAGED: managed} if managed else {})}},
                "spec": {
                    "schedulerName": "tutti",
                    "restartPolicy": "Never",
                    "containers": [{"name": "c", "image": "busybox"}],
                },
            },
            **spec,
        },
    }

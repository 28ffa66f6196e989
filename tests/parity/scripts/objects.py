"""Manifests that several scripts use."""

from datetime import UTC, datetime, timedelta
from typing import Any

Object = dict[str, Any]

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def pod(name: str, *, spec: Object | None = None, **metadata: Any) -> Object:
    """A pod that no scheduler picks up."""
    container = {"name": "main", "image": "none"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, **metadata},
        "spec": {"schedulerName": "nobody", "containers": [container], **(spec or {})},
    }


def job(name: str, *, spec: Object | None = None, template: Object | None = None, **metadata: Any) -> Object:
    """A Job."""
    pods = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}], **(template or {})}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, **metadata},
        "spec": {"template": pods, **(spec or {})},
    }


def node(name: str, **more: Any) -> Object:
    """A node that nothing runs on."""
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"parity": "node"}}, **more}


def config_map(name: str, *, data: Object | None = None, **metadata: Any) -> Object:
    """A ConfigMap."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, **metadata},
        "data": data or {"key": "value"},
    }


def group(name: str, **spec: Any) -> Object:
    """A PodGroup of two."""
    return {
        "apiVersion": "tutti.scheduler/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}, **spec},
    }


def days_ago(days: int) -> str:
    """A time that is that many days old on the day of the recording and on any other: a server tells its age."""
    # Half a day more, so that no script is slow enough to see the next one.
    return f"{datetime.now(UTC) - timedelta(days=days, hours=12):%Y-%m-%dT%H:%M:%SZ}"


def condition(kind: str, status: str = "True", **more: Any) -> Object:
    """A status condition."""
    return {"type": kind, "status": status, "lastTransitionTime": "2026-01-15T08:00:00Z", **more}


def of(api_version: str, kind: str, name: str, **more: object) -> Object:
    """A manifest."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **more}

"""Jobs whose pods are real containers, and what can be asked about them afterwards."""

import datetime as dt
from typing import Any

from tests.e2e.node import SLOT, Node
from verify.clusters.jobs import Jobs

Object = dict[str, Any]

IMAGE = "busybox:1.37"


def container(script: str, *, slots: int = 1) -> Object:
    """A container that runs a shell script and takes so many slots."""
    resources: Object = {"requests": {"cpu": "10m", "memory": "8Mi"}, "limits": {}}
    if slots:
        resources["limits"][SLOT] = str(slots)
    return {"name": "main", "image": IMAGE, "command": ["sh", "-c", script], "resources": resources}


def gang(name: str, count: int, script: str, *, slots: int = 1, grace_seconds: int = 30, **pod: object) -> Object:
    """An ordinary Indexed Job that is a gang."""
    spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": grace_seconds, **pod}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "completionMode": "Indexed",
            "parallelism": count,
            "completions": count,
            "template": {"spec": {**spec, "containers": [container(script, slots=slots)]}},
        },
    }


def lone_pod(name: str, script: str = "exit 0") -> Object:
    """A pod that has nothing to do with Tutti."""
    spec = {"restartPolicy": "Never", "containers": [container(script, slots=0)]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def running(jobs: Jobs, name: str) -> int:
    """How many containers of the Job run."""
    return sum("running" in state(pod) for pod in jobs.pods(name))


def state(pod: Object) -> Object:
    """The state of the pod's container, {} before the kubelet has said something."""
    statuses = pod["status"].get("containerStatuses") or [{}]
    return dict(statuses[0].get("state") or {})


def started_at(pod: Object) -> dt.datetime:
    """When the pod's container began."""
    of_container = state(pod)
    return _time((of_container.get("running") or of_container["terminated"])["startedAt"])


def ended_at(pod: Object) -> dt.datetime:
    """When the pod's container ended."""
    return _time(state(pod)["terminated"]["finishedAt"])


def logs(node: Node, namespace: str, pods: list[Object]) -> list[str]:
    """What the containers of these pods wrote."""
    return [node.kubectl("-n", namespace, "logs", pod["metadata"]["name"]).strip() for pod in pods]


def _time(stamp: str) -> dt.datetime:
    return dt.datetime.fromisoformat(stamp)

"""The status patches of a hollow kubelet.

Pure. Every patch carries the pod's UID, so a later pod of the same name is never touched (the server answers Conflict).
Strategic merge patches: conditions written by others, such as DisruptionTarget, stay. Terminal phases carry container
statuses, which the Job controller (exit codes) and kubectl (STATUS, READY) read.
"""

from typing import Any

from localcluster.lifecycle import HollowContainer, HollowPod

Patch = dict[str, Any]


def running_patch(pod: HollowPod, *, pod_ip: str, host_ip: str, now: str) -> Patch:
    """The pod runs and is ready."""
    running = {"running": {"startedAt": now}}
    inits = [
        _container(each, running, ready=True)
        if each.restart_policy == "Always"
        else _container(each, _terminated(0, started=now, now=now), ready=True)
        for each in pod.spec.init_containers
    ]
    status = {
        "phase": "Running",
        "startTime": now,
        "hostIP": host_ip,
        "podIP": pod_ip,
        "podIPs": [{"ip": pod_ip}],
        "conditions": _conditions("True", "", now),
        "containerStatuses": [_container(each, running, ready=True) for each in pod.spec.containers],
    }
    if inits:
        status["initContainerStatuses"] = inits
    return _patch(pod, status)


def ended_patch(pod: HollowPod, *, exit_code: int, now: str) -> Patch:
    """The pod's containers have ended: Succeeded for exit code 0, else Failed."""
    state = _terminated(exit_code, started=pod.status.start_time or now, now=now)
    succeeded = exit_code == 0
    status = {
        "phase": "Succeeded" if succeeded else "Failed",
        "conditions": _conditions("False", "PodCompleted" if succeeded else "PodFailed", now),
        "containerStatuses": [_container(each, state, ready=False) for each in pod.spec.containers],
    }
    if pod.status.start_time is None:
        status["startTime"] = now
    return _patch(pod, status)


def _patch(pod: HollowPod, status: dict[str, Any]) -> Patch:
    return {"metadata": {"uid": pod.metadata.uid}, "status": status}


def _conditions(ready: str, reason: str, now: str) -> list[dict[str, str]]:
    why = {"reason": reason} if reason else {}
    return [
        {"type": "PodReadyToStartContainers", "status": ready, "lastTransitionTime": now},
        {"type": "Initialized", "status": "True", "lastTransitionTime": now},
        {"type": "ContainersReady", "status": ready, "lastTransitionTime": now, **why},
        {"type": "Ready", "status": ready, "lastTransitionTime": now, **why},
    ]


def _container(container: HollowContainer, state: dict[str, Any], *, ready: bool) -> dict[str, Any]:
    return {
        "name": container.name,
        "image": container.image,
        "imageID": "hollow://" + container.image,
        "containerID": "hollow://" + container.name,
        "ready": ready,
        "started": ready,
        "restartCount": 0,
        "state": state,
    }


def _terminated(exit_code: int, *, started: str, now: str) -> dict[str, Any]:
    return {
        "terminated": {
            "exitCode": exit_code,
            "reason": "Completed" if exit_code == 0 else "Error",
            "startedAt": started,
            "finishedAt": now,
        }
    }

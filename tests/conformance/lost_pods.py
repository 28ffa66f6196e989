"""Pods that are lost: they fail one by one or with their node, and those that are left; and pods that somebody else binds."""

from verify.clusters.client import Api, Object
from verify.clusters.jobs import GATE, Jobs


def alive(jobs: Jobs, name: str) -> dict[str, str]:
    """Node name by UID of the Job's pods that are bound and have not ended."""
    return {
        pod["metadata"]["uid"]: pod["spec"]["nodeName"]
        for pod in jobs.pods(name)
        if pod["spec"].get("nodeName")
        and pod["status"].get("phase") not in {"Failed", "Succeeded"}
        and not pod["metadata"].get("deletionTimestamp")
    }


def bind(api: Api, pod: Object, node: str) -> None:
    """Somebody else than the scheduler binds this pod."""
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    target = {"apiVersion": "v1", "kind": "Node", "name": node}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
    api.request("POST", api.path("pods", namespace, name) + "/binding", binding)


def fails(api: Api, pod: Object) -> None:
    """A pod ends as if its node had said so."""
    path = api.path("pods", pod["metadata"]["namespace"], pod["metadata"]["name"]) + "/status"
    api.request("PATCH", path, {"status": {"phase": "Failed"}}, kind="merge")


def dies(api: Api, node: str, namespace: str) -> None:
    """A node is gone, and the pods on it fail, as the pod garbage collector has it."""
    api.delete("nodes", node)
    for pod in api.list("pods", namespace):
        if pod["spec"].get("nodeName") == node:
            fails(api, pod)


def waits_anew(jobs: Jobs, name: str, members: int) -> bool:
    """Whether the Job has been let in again, and all its pods that have not ended wait for a place."""
    pods = [
        pod
        for pod in jobs.pods(name)
        if pod["status"].get("phase") not in {"Failed", "Succeeded"} and not pod["metadata"].get("deletionTimestamp")
    ]
    is_let_in = GATE not in jobs.get(name)["metadata"].get("annotations", {})
    return is_let_in and len(pods) == members and not any(pod["spec"].get("nodeName") for pod in pods)

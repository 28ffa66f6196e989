"""Putting Tutti on the node, and waiting until all of it is ready."""

import sys
import time
from pathlib import Path

from tests.e2e.node import SYSTEM, Node
from verify.clusters.eventually import eventually

TUTTI = str(Path(sys.executable).with_name("tutti"))
DEPLOYMENTS = ("tutti-controllers", "tutti-scheduler", "tutti-webhooks")
READY_SECONDS = 60.0
REGISTERED_SECONDS = 30.0
CONFIGURATION = "tutti-mutating"


def install(node: Node) -> float:
    """Applies `config/default` unchanged; the seconds from there until every replica was ready."""
    begin = time.monotonic()
    node.kubectl("apply", "-k", "config/default")
    wait_until_ready(node)
    return time.monotonic() - begin


def remove(node: Node) -> None:
    """Takes it off from outside."""
    done = node.run(TUTTI, "uninstall", "--kubeconfig", str(node.kubeconfig))
    assert done.returncode == 0, done.stdout + done.stderr


def is_installed(node: Node) -> bool:
    """Whether all Deployments are there."""
    found = node.kubectl("-n", SYSTEM, "get", "deployments", "-o", "name", "--ignore-not-found").split()
    return {f"deployment.apps/{name}" for name in DEPLOYMENTS} <= set(found)


def wait_until_ready(node: Node) -> None:
    """Waits for all replicas, and for the API server to know whom to ask."""
    for name in DEPLOYMENTS:
        node.kubectl("-n", SYSTEM, "rollout", "status", "deployment", name, f"--timeout={READY_SECONDS:.0f}s")
    eventually(lambda: is_registered(node) and not leaving(node), within_seconds=REGISTERED_SECONDS)


def leaving(node: Node) -> list[str]:
    """Pods of a former revision that have not ended yet."""
    pods = node.api.list("pods", SYSTEM)
    return [pod["metadata"]["name"] for pod in pods if "deletionTimestamp" in pod["metadata"]]


def is_registered(node: Node) -> bool:
    """Whether every webhook trusts somebody."""
    found = node.api.get("mutatingwebhookconfigurations", CONFIGURATION)
    return all(each["clientConfig"].get("caBundle") for each in found["webhooks"])


def scale(node: Node, deployment: str, replicas: int) -> None:
    """Has so many replicas and waits until it is so."""
    node.kubectl("-n", SYSTEM, "scale", "deployment", deployment, f"--replicas={replicas}")
    component = deployment.removeprefix("tutti-")

    def is_so() -> bool:
        pods = node.api.list("pods", SYSTEM, labels=f"app.kubernetes.io/component={component}")
        return len(pods) == replicas

    eventually(is_so, within_seconds=READY_SECONDS)
    node.kubectl("-n", SYSTEM, "rollout", "status", "deployment", deployment, f"--timeout={READY_SECONDS:.0f}s")

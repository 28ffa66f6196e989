"""While the webhooks cannot answer, whatever way, people who have nothing to do with Tutti notice nothing."""

import base64
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from tests.e2e.containers import gang, lone_pod
from tests.e2e.installation import CONFIGURATION, scale, wait_until_ready
from tests.e2e.node import Node
from verify.clusters.eventually import eventually
from verify.clusters.jobs import Jobs, is_gang, plain_job

QUICK_SECONDS = 1.5
EVENT_SECONDS = 30.0
WAY_SECONDS = 10.0
REPAIR_SECONDS = 60.0
WEBHOOKS = "tutti-webhooks"


@contextmanager
def down(node: Node) -> Iterator[None]:
    """There is no replica."""
    scale(node, WEBHOOKS, 0)
    try:
        yield
    finally:
        scale(node, WEBHOOKS, 2)
        wait_until_ready(node)


@contextmanager
def hanging(node: Node) -> Iterator[None]:
    """The replicas take connections and answer nothing."""
    pids = node.processes("webhooks")
    assert len(pids) == 2
    node.inside("kill", "-STOP", *pids)
    try:
        yield
    finally:
        node.inside("kill", "-CONT", *pids)
        wait_until_ready(node)


@contextmanager
def distrusted(node: Node) -> Iterator[None]:
    """The API server trusts another authority than the one that signed their certificate, and they may not put it right."""
    right = authority(node)
    node.api.delete("clusterrolebindings", WEBHOOKS)
    set_authority(node, base64.b64encode((node.folder / "e2e-ca.crt").read_bytes()).decode())
    try:
        yield
    finally:
        node.kubectl("apply", "-k", "config/rbac")
        eventually(lambda: authority(node) == right, within_seconds=REPAIR_SECONDS)


def authority(node: Node) -> str:
    """Whom the API server trusts."""
    return str(node.api.get("mutatingwebhookconfigurations", CONFIGURATION)["webhooks"][0]["clientConfig"]["caBundle"])


def set_authority(node: Node, bundle: str) -> None:
    """Writes whom the API server trusts into each entry."""
    entries = node.api.get("mutatingwebhookconfigurations", CONFIGURATION)["webhooks"]
    patch = [
        {"op": "replace", "path": f"/webhooks/{index}/clientConfig/caBundle", "value": bundle}
        for index in range(len(entries))
    ]
    node.api.patch("mutatingwebhookconfigurations", CONFIGURATION, patch, kind="json")


@pytest.mark.parametrize("away", [down, hanging, distrusted])
def test_unrelated_pods_and_jobs_are_created_at_once(
    tutti: Node, namespace: str, away: Callable[[Node], AbstractContextManager[None]]
) -> None:
    with away(tutti):
        begin = time.monotonic()
        tutti.api.create("pods", lone_pod("bystander"), namespace)
        tutti.api.create("jobs", plain_job("ordinary", 2), namespace, dry_run=True)
        assert time.monotonic() - begin < QUICK_SECONDS
        eventually(lambda: phase(tutti, namespace, "bystander") == "Succeeded", within_seconds=EVENT_SECONDS)


def test_a_gang_made_meanwhile_runs_as_an_ordinary_job_and_says_so(tutti: Node, jobs: Jobs) -> None:
    with down(tutti):
        assert not is_gang(jobs.create(gang("unseen", 2, "sleep 1")))
        eventually(lambda: jobs.events("Job", "unseen", "NotAdmittedAsGang"), within_seconds=EVENT_SECONDS)
        eventually(lambda: jobs.succeeded("unseen"), within_seconds=EVENT_SECONDS)
    # That they are ready is known to the API server before the node has a way to them.
    seen = gang("seen", 2, "sleep 1")
    eventually(lambda: is_gang(jobs.api.create("jobs", seen, jobs.namespace, dry_run=True)), within_seconds=WAY_SECONDS)
    assert is_gang(jobs.create(seen))


def phase(node: Node, namespace: str, pod: str) -> str:
    """What the pod does."""
    return str(node.api.get("pods", pod, namespace)["status"].get("phase"))

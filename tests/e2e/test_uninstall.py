"""Tutti leaves the cluster, taken off from inside: nobody's Job stays behind."""

from collections.abc import Iterator

import pytest

from tests.e2e.containers import gang, running
from tests.e2e.node import SLOTS, SYSTEM, Node
from verify.clusters.eventually import eventually
from verify.clusters.jobs import Jobs, condition

UNINSTALL_SECONDS = 120.0
RUN_SECONDS = 60.0
NAMESPACE = "tutti-uninstall"
SERVES = "trap 'exit 0' TERM; while :; do sleep 0.2; done"


@pytest.fixture
def uninstaller(tutti: Node) -> Iterator[Node]:
    """The Job of `config/uninstall`, which goes at the end."""
    yield tutti
    tutti.kubectl("delete", "-k", "config/uninstall", "--ignore-not-found")


def hold_back(node: Node, jobs: Jobs, name: str) -> None:
    """A Job whose gate nobody opens: the controllers are away."""
    node.kubectl("-n", SYSTEM, "scale", "deployment", "tutti-controllers", "--replicas=0")
    eventually(
        lambda: not node.api.list("pods", SYSTEM, labels="app.kubernetes.io/component=controllers"),
        within_seconds=RUN_SECONDS,
    )
    assert jobs.create(gang(name, 2, "sleep 1"))["spec"]["suspend"] is True


def test_taken_off_from_inside_it_leaves_nothing_and_strands_nobody(uninstaller: Node, jobs: Jobs) -> None:
    node = uninstaller
    jobs.create(gang("running", SLOTS // 2, SERVES))
    eventually(lambda: running(jobs, "running") == SLOTS // 2, within_seconds=RUN_SECONDS)
    hold_back(node, jobs, "waiting")

    node.kubectl("apply", "-k", "config/uninstall")
    cleaning = Jobs(node.api, NAMESPACE)
    eventually(
        lambda: {condition(cleaning.get("uninstall"), each) for each in ("Complete", "Failed")} & {"True"},
        within_seconds=UNINSTALL_SECONDS,
    )
    said = node.kubectl("-n", NAMESPACE, "logs", "job/uninstall")
    assert condition(cleaning.get("uninstall"), "Complete") == "True", said
    assert said.splitlines()[-1] == "Tutti is uninstalled"
    assert "seems to run still" not in said
    assert "1 Jobs let go that waited at our gate" in said

    assert node.api.find("namespaces", SYSTEM) is None
    for kind in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations", "validatingadmissionpolicies"):
        assert [each for each in node.api.list(kind) if each["metadata"]["name"].startswith("tutti-")] == []
    assert jobs.get("waiting")["spec"]["suspend"] is False
    assert running(jobs, "running") == SLOTS // 2
    # Ordinary Jobs of the same shape run as Kubernetes runs them.
    jobs.create(gang("afterwards", 2, "sleep 1"))
    eventually(lambda: jobs.succeeded("afterwards"), within_seconds=RUN_SECONDS)

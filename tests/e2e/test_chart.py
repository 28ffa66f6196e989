"""The chart with choices of a small cluster: one replica of each, gangs held by the API server, metrics for those with a token."""

from collections.abc import Iterator

import pytest

from hack.chart.render import FOLDER
from tests.e2e.containers import gang, started_at
from tests.e2e.installation import is_installed, remove, scale
from tests.e2e.node import REPOSITORY, SLOTS, SYSTEM, Node
from tests.e2e.test_held_gangs import IN_FORCE_SECONDS, RUN_SECONDS, TOGETHER_SECONDS, is_held
from tests.programs import tool
from verify.clusters.eventually import eventually, throughout
from verify.clusters.jobs import Jobs, is_gang

CHOSEN = {
    "holdGangs": "true",
    **{f"{process}.replicas": "1" for process in ("scheduler", "controllers", "webhooks")},
}


@pytest.fixture
def chart(node: Node) -> Iterator[Node]:
    """The node with the chart's release, which goes at the end."""
    if is_installed(node):
        remove(node)
    values = " ".join(f"--set {name}={value}" for name, value in CHOSEN.items())
    helm(node, f"install tutti {FOLDER} --create-namespace {values} --wait --timeout 2m")
    yield node
    # What is left by then is what Helm keeps for itself.
    node.run(*uninstall_command(node))
    helm(node, "uninstall tutti")
    assert node.run(*uninstall_command(node)).returncode == 0


def helm(node: Node, arguments: str) -> str:
    command = f"helm --namespace {SYSTEM} {arguments}"
    return node.shell(command, folder=REPOSITORY, path=[tool("helm", "helm").parent])


def uninstall_command(node: Node) -> list[str]:
    return [str(REPOSITORY / ".venv/bin/tutti"), "uninstall", "--kubeconfig", str(node.kubeconfig)]


def test_a_gang_runs_and_one_that_no_webhook_saw_waits_for_one(chart: Node, namespace: str) -> None:
    jobs = Jobs(chart.api, namespace)
    pods = chart.api.list("pods", SYSTEM)
    assert len(pods) == 3
    assert all(pod["status"]["containerStatuses"][0]["ready"] for pod in pods)
    assert is_gang(jobs.create(gang("usual", SLOTS, "sleep 1")))
    eventually(lambda: jobs.succeeded("usual"), within_seconds=RUN_SECONDS)

    scale(chart, "tutti-webhooks", 0)
    eventually(lambda: is_held(chart, namespace), within_seconds=IN_FORCE_SECONDS)
    assert is_gang(jobs.create(gang("early", SLOTS, "sleep 2")))
    throughout(lambda: not jobs.pods("early"), seconds=3)
    scale(chart, "tutti-webhooks", 1)
    eventually(lambda: jobs.succeeded("early"), within_seconds=RUN_SECONDS)
    starts = sorted(started_at(pod) for pod in jobs.pods("early"))
    assert (starts[-1] - starts[0]).total_seconds() <= TOGETHER_SECONDS

"""`kubectl gang`, called by kubectl itself, on both group APIs."""

import json
import subprocess
from pathlib import Path

import pytest

from verify.clusters.cluster_files import ADMIN
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, indexed_job
from verify.clusters.tutti_process import COMMAND, Tutti

SETTLE_SECONDS = 60
PROGRAMS = Path(COMMAND).parent


class Terminal:
    """Somebody's terminal with kubectl and the plugin on the PATH."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self._kubectl = control_plane.kubectl_binary()
        self._environment = {
            "HOME": str(control_plane.folder),
            "PATH": f"{PROGRAMS}:{self._kubectl.parent}:/usr/bin:/bin",
            "KUBECONFIG": str(control_plane.kubeconfig_of(ADMIN)),
        }

    def run(self, *arguments: str) -> str:
        command = [str(self._kubectl), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=self._environment, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)


@pytest.fixture
def terminal(control_plane: ControlPlane) -> Terminal:
    if not (PROGRAMS / "kubectl-gang").exists():
        pytest.skip("kubectl-gang is not beside tutti: install the project anew")
    return Terminal(control_plane)


def test_kubectl_lists_gangs_and_shows_what_belongs_together(
    terminal: Terminal, jobs: Jobs, nodes: HollowNodes, tutti: Tutti, group_api: str
) -> None:
    here = jobs.namespace
    nodes.add(cpu="4")
    jobs.create(indexed_job("fits", 2))
    jobs.create(indexed_job("waits", 9))

    def states() -> dict[str, tuple[str, str]]:
        found = json.loads(terminal.run("gang", "list", "-n", here, "-o", "json"))
        return {item["owner"]: (item["state"], item.get("reason", "")) for item in found["items"]}

    expected = {"job/fits": ("running", ""), "job/waits": ("waiting", "Unschedulable")}
    eventually(lambda: states() == expected, within_seconds=SETTLE_SECONDS)
    told = terminal.run("gang", "tree", "job/waits", "-n", here)
    assert told.count("└─ workload/") == told.count("└─ podgroup/") == 1
    assert told.count("pod/waits-") == 9
    group = "tutti.scheduler" if group_api == "own" else "scheduling.k8s.io"
    names = terminal.run("gang", "list", "-n", here, "-o", "name").split()
    assert [name.partition("/")[0] for name in names] == [f"podgroup.{group}"] * 2
    assert terminal.run("get", "-n", here, *names).count("\n") == 3


def test_kubectl_completes_the_names_of_gangs(terminal: Terminal, jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> None:
    nodes.add(cpu="4")
    jobs.create(indexed_job("sing", 2))
    eventually(lambda: jobs.groups("sing"), within_seconds=SETTLE_SECONDS)
    told = terminal.run("__complete", "gang", "tree", "-n", jobs.namespace, "job/")
    assert told.splitlines()[:2] == ["job/sing", ":4"]

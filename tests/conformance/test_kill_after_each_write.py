"""kill -9 right after the n-th write of the controllers, for every n: the end is that of an undisturbed run.

The controllers of this module are the real ones with a fault switch around their client; webhooks and scheduler are those of
`tutti run`. How many writes an operation takes is part of the promise, so it is asserted too.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from verify.clusters import cluster_files as files
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import REPOSITORY, HollowNodes
from verify.clusters.jobs import GATE, POD_GROUP, Jobs, indexed_job
from verify.clusters.server import Server
from verify.clusters.tutti_process import Tutti

pytestmark = pytest.mark.slow

WORKERS = 3
LARGER = 5
SETTLE_SECONDS = 40
ALL = -1
ELASTIC = {"tutti.scheduler/elastic": "true"}


@dataclass
class Controllers:
    """Starts the controllers with their fault switch set."""

    control_plane: ControlPlane
    running: Server | None = None

    def start(self, let_through: int) -> Server:
        """A new process; a former one is killed."""
        self.kill()
        folder = self.control_plane.folder
        path = "/api/v1/namespaces/tutti-system/serviceaccounts/tutti-controllers/token"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        token = self.control_plane.admin.request("POST", path, request)["status"]["token"]
        kubeconfig = files.write_kubeconfig(
            folder / "crashing.kubeconfig", server=self.control_plane.url, ca=self.control_plane.ca, user="controllers"
        )
        content = json.loads(kubeconfig.read_text())
        content["users"][0]["user"]["token"] = token
        kubeconfig.write_text(json.dumps(content))
        self.running = Server(
            "crashing controllers",
            [sys.executable, "-m", "tests.conformance.crashing_controllers", str(kubeconfig), str(let_through)],
            log=Path(folder) / "crashing-controllers.log",
            environment={"PYTHONPATH": os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")]))},
        )
        self.running.start()
        return self.running

    def kill(self) -> None:
        """SIGKILL."""
        if self.running is not None:
            self.running.kill()


@pytest.fixture
def controllers(tutti: Tutti, control_plane: ControlPlane) -> Iterator[Controllers]:
    tutti.lose_child("controllers", signal.SIGKILL)
    made = Controllers(control_plane)
    yield made
    made.kill()


def whole(jobs: Jobs, name: str, workers: int = WORKERS) -> bool:
    """The Job runs whole in the one group that belongs to it, and nothing of ours is left behind."""
    live = jobs.get(name)
    assert jobs.bound(name) == len(jobs.pods(name)) == workers
    assert GATE not in live["metadata"].get("annotations", {})
    group = jobs.group(name)
    (workload,) = jobs.workloads(name)
    for made in (group, workload):
        assert live["metadata"]["uid"] in [owner["uid"] for owner in made["metadata"]["ownerReferences"]]
    assert group["spec"]["schedulingPolicy"]["gang"]["minCount"] == workers
    assert workload["spec"]["podGroupTemplates"][0]["schedulingPolicy"]["gang"]["minCount"] == workers
    assert {pod["metadata"]["annotations"][POD_GROUP] for pod in jobs.pods(name)} == {group["metadata"]["name"]}
    return True


def prepared(jobs: Jobs, name: str) -> bool:
    """The group of a Job that its user suspended is there, and the template names it."""
    template = jobs.get(name)["spec"]["template"]["metadata"]
    return bool(template.get("annotations", {}).get(POD_GROUP) == jobs.group(name)["metadata"]["name"])


def paused(jobs: Jobs, name: str) -> bool:
    """The Job has no pods and has kept its group."""
    return not jobs.pods(name) and bool(jobs.group(name)) and jobs.get(name)["spec"]["suspend"] is True


def patch(jobs: Jobs, name: str, **spec: object) -> object:
    return jobs.api.patch("jobs", name, {"spec": spec}, jobs.namespace)


def again(jobs: Jobs, name: str) -> None:
    """Deletes the Job and creates another one of its name."""
    jobs.api.delete("jobs", name, jobs.namespace)
    eventually(lambda: jobs.api.find("jobs", name, jobs.namespace) is None, within_seconds=SETTLE_SECONDS)
    jobs.create(indexed_job(name, WORKERS))


@dataclass(frozen=True)
class Operation:
    """What the user does, from which state, what it ends in, and how many writes of the controllers it takes."""

    act: Callable[[Jobs, str], object]
    end: Callable[[Jobs, str], bool]
    writes: int
    starts_running: bool = True


def gone(jobs: Jobs, name: str) -> bool:
    return not any(jobs.api.list(kind, jobs.namespace) for kind in ("jobs", "pods", "podgroups", "workloads"))


OPERATIONS = {
    "create": Operation(
        lambda jobs, name: jobs.create(indexed_job(name, WORKERS)), whole, writes=3, starts_running=False
    ),
    "create suspended": Operation(
        lambda jobs, name: jobs.create(indexed_job(name, WORKERS, suspend=True)),
        prepared,
        writes=3,
        starts_running=False,
    ),
    "suspend": Operation(lambda jobs, name: patch(jobs, name, suspend=True), paused, writes=0),
    "suspend and resume": Operation(
        lambda jobs, name: (patch(jobs, name, suspend=True), patch(jobs, name, suspend=False)), whole, writes=0
    ),
    "scale": Operation(
        lambda jobs, name: patch(jobs, name, parallelism=LARGER, completions=LARGER),
        lambda jobs, name: whole(jobs, name, LARGER),
        writes=2,
    ),
    "delete": Operation(lambda jobs, name: jobs.api.delete("jobs", name, jobs.namespace), gone, writes=0),
    "delete and create again": Operation(again, whole, writes=3),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_kill_after_each_write_changes_nothing_in_the_end(
    jobs: Jobs, nodes: HollowNodes, controllers: Controllers, operation: str
) -> None:
    nodes.add(1, cpu="64")
    doing = OPERATIONS[operation]
    for let_through in range(1, doing.writes + 1):
        run_once(jobs, controllers, doing, f"job-{let_through}", let_through)
        assert controllers.running is not None
        jobs.api.delete("jobs", f"job-{let_through}", jobs.namespace)
        eventually(lambda: gone(jobs, ""), within_seconds=SETTLE_SECONDS)
    # One more write is never made: the process lives on and the end is there.
    survivor = run_once(jobs, controllers, doing, "last", doing.writes + 1)
    throughout(lambda: survivor.running, seconds=1)


def run_once(jobs: Jobs, controllers: Controllers, doing: Operation, name: str, let_through: int) -> Server:
    """The operation with a kill after that many writes; a successor finishes what is left."""
    if doing.starts_running:
        controllers.start(ALL)
        jobs.create(indexed_job(name, WORKERS, annotations=ELASTIC))
        eventually(lambda: whole(jobs, name), within_seconds=SETTLE_SECONDS)
    controllers.kill()
    doing.act(jobs, name)
    first = controllers.start(let_through)
    if let_through <= doing.writes:
        eventually(lambda: not first.running, within_seconds=SETTLE_SECONDS)
        controllers.start(ALL)
    eventually(lambda: doing.end(jobs, name), within_seconds=SETTLE_SECONDS)
    return first

"""Tutti is replaced by a newer version and by the older one again, while gangs wait, are bound and preempt: nothing is lost.

Both versions are processes as a user starts them, one after the other on one cluster, with the CRDs, rights and policies that each
of them brings along. What the newer one has written is read by the older one.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from localcluster.shapes import HOLLOW_LABEL
from tests.conformance.scenarios.preemption_stage import HIGH, LOW, Stage
from tests.conformance.upgrades.older import check_out, older_tutti
from verify.auditor.auditor import Auditor
from verify.clusters.client import Object
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import CONDITION, Jobs, condition, indexed_job
from verify.clusters.tutti_process import Tutti

pytestmark = [pytest.mark.slow]

SETTLE_SECONDS = 180
DOWN_SECONDS = 240
"""Who is killed leaves a lease that has to run out; nothing is an error that lasts no longer."""
RUNNING, WAITING, LARGE = 3, 4, 24
TEAM = "example.com/team"


@pytest.fixture(scope="module")
def older(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tutti]:
    files = tmp_path_factory.mktemp("older")
    if not check_out(files):
        pytest.skip("shallow")
    made = older_tutti(control_plane, Path(files))
    yield made
    made.kill_everything()


@pytest.fixture
def newer(installation: Tutti, older: Tutti) -> Iterator[Tutti]:
    """This version; neither of both runs before and after the test."""
    end(installation)
    yield installation
    end(older)
    end(installation)


def start(tutti: Tutti) -> None:
    """Whoever was killed has left leases behind, and a busy machine takes its time."""

    def runs() -> bool:
        tutti.ensure_running()
        return True

    eventually(runs, within_seconds=SETTLE_SECONDS)


def end(tutti: Tutti) -> None:
    if tutti.server.running:
        tutti.stop()


@dataclass
class Gangs:
    """Gangs of users, of which nothing may be lost."""

    jobs: Jobs
    nodes: HollowNodes
    stage: Stage

    def __post_init__(self) -> None:
        self.objects: dict[str, set[str]] = {}
        self.pods: dict[str, set[str]] = {}

    # --- what users do -----------------------------------------------------------------------------------------------

    def start(self, name: str) -> None:
        """A gang runs."""
        self.nodes.add(1, cpu=str(RUNNING), labels={TEAM: name})
        self.create(name, RUNNING, team=name)
        self.await_whole(name)
        self.pods[name] = {pod["metadata"]["uid"] for pod in self.jobs.pods(name)}

    def wait(self, name: str) -> None:
        """A gang waits for room, says so, and has its objects."""
        self.create(name, WAITING, team=name)
        eventually(lambda: self.is_told(name, "False"), within_seconds=SETTLE_SECONDS)
        self.note(name)

    def preempt(self, name: str) -> None:
        """A gang has asked others to leave, who take their time."""
        (node,) = self.nodes.add(1, cpu="2", labels={TEAM: name})
        self.untend(node)
        for number in range(2):
            self.stage.pod(f"{name}-before-{number}", on=node, priority=LOW)
        self.create(name, 2, team=name, priority=HIGH)
        eventually(lambda: self.leaving(name) == 2, within_seconds=SETTLE_SECONDS)
        self.note(name)

    def rush(self, name: str) -> None:
        """A large gang has just been created; there is room for it."""
        self.nodes.add(1, cpu=str(LARGE), labels={TEAM: name})
        self.create(name, LARGE, team=name)

    def create(self, name: str, size: int, *, team: str, priority: str = "") -> None:
        job = indexed_job(name, size)
        spec = job["spec"]["template"]["spec"]
        spec["nodeSelector"] = {TEAM: team}
        if priority:
            spec["priorityClassName"] = priority
        self.jobs.create(job)

    def untend(self, node: str) -> None:
        """No kubelet ends what is deleted there."""
        self.jobs.api.patch("nodes", node, {"metadata": {"labels": {HOLLOW_LABEL: None}}})

    def make_room(self, name: str) -> None:
        self.nodes.add(1, cpu=str(WAITING), labels={TEAM: name})

    def let_leave(self, name: str) -> None:
        """The kubelet of those who were asked to leave says that they have ended."""
        self.stage.end(*(f"{name}-before-{number}" for number in range(2)))

    # --- what can be seen --------------------------------------------------------------------------------------------

    def leaving(self, name: str) -> int:
        return sum(pod.startswith(f"{name}-before-") for pod in self.stage.leaving())

    def is_told(self, name: str, status: str) -> bool:
        return condition(self.jobs.group(name), CONDITION) == status

    def note(self, name: str) -> None:
        """From now on these are its objects."""
        self.objects[name] = uids([*self.jobs.workloads(name), *self.jobs.groups(name)])

    def await_whole(self, name: str) -> None:
        eventually(lambda: self.jobs.whole(name), within_seconds=SETTLE_SECONDS)
        eventually(lambda: self.is_told(name, "True"), within_seconds=SETTLE_SECONDS)
        self.note(name)

    def nothing_is_lost(self) -> None:
        """Each gang has the objects that it had, and who ran runs."""
        for name, known in self.objects.items():
            found = uids([*self.jobs.workloads(name), *self.jobs.groups(name)])
            assert found == known, f"{name} had {known} and has {found}"
            assert len(found) == 2
        for name, known in self.pods.items():
            there = {pod["metadata"]["uid"] for pod in self.jobs.pods(name) if pod["status"]["phase"] == "Running"}
            assert there == known, f"{name} ran as {known}, and {there} run now"


def uids(found: list[Object]) -> set[str]:
    return {each["metadata"]["uid"] for each in found}


@pytest.fixture
def gangs(jobs: Jobs, nodes: HollowNodes) -> Iterator[Gangs]:
    made = Gangs(jobs, nodes, Stage(jobs, nodes, None))
    yield made
    for job in jobs.api.list("jobs", jobs.namespace):
        jobs.api.delete("jobs", job["metadata"]["name"], jobs.namespace)
    made.stage.clear()


@contextmanager
def replaced(before: Tutti, after: Tutti, how: signal.Signals) -> Iterator[None]:
    """One version goes when this is left, and the other one comes."""
    yield
    if how is signal.SIGKILL:
        before.kill_everything()
    else:
        before.stop()
    start(after)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
def test_nothing_is_lost_on_the_way_to_a_newer_version_and_back(
    gangs: Gangs, older: Tutti, newer: Tutti, auditor: Auditor, how: signal.Signals
) -> None:
    auditor.windows.widen(DOWN_SECONDS)
    start(older)
    gangs.start("old-runs")
    with replaced(older, newer, how):
        gangs.wait("old-waits")
        gangs.preempt("old-preempts")
        gangs.rush("old-rushes")
    gangs.await_whole("old-rushes")
    gangs.let_leave("old-preempts")
    gangs.await_whole("old-preempts")
    gangs.nothing_is_lost()

    gangs.start("new-runs")
    with replaced(newer, older, how):
        gangs.wait("new-waits")
        gangs.preempt("new-preempts")
        gangs.rush("new-rushes")
    gangs.await_whole("new-rushes")
    gangs.let_leave("new-preempts")
    gangs.await_whole("new-preempts")
    gangs.nothing_is_lost()
    for name in ("old-waits", "new-waits"):
        gangs.make_room(name)
        gangs.await_whole(name)
    gangs.nothing_is_lost()

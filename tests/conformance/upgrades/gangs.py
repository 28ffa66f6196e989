"""Gangs of Jobs at every stage, which somebody looks after while processes or servers are replaced."""

from dataclasses import dataclass

from localcluster.shapes import HOLLOW_LABEL
from tests.conformance.scenarios.preemption_stage import HIGH, LOW, Stage
from verify.clusters.client import Object
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import CONDITION, Jobs, condition, indexed_job

SETTLE_SECONDS = 180
DOWN_SECONDS = 240
"""Who is killed leaves a lease that has to run out; nothing is an error that lasts no longer."""
RUNNING, WAITING, LARGE = 3, 4, 24
TEAM = "example.com/team"


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
        # Being bound is not enough: the hollow kubelet, too, takes a while to come back to a server that was away.
        eventually(lambda: len(self.running(name)) == RUNNING, within_seconds=SETTLE_SECONDS)
        self.pods[name] = self.running(name)

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

    def running(self, name: str) -> set[str]:
        return {pod["metadata"]["uid"] for pod in self.jobs.pods(name) if pod["status"]["phase"] == "Running"}

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
            there = self.running(name)
            assert there == known, f"{name} ran as {known}, and {there} run now"


def uids(found: list[Object]) -> set[str]:
    return {each["metadata"]["uid"] for each in found}

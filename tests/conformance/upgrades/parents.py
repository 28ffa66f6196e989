"""LeaderWorkerSets and JobSets with their gangs, which somebody looks after while processes or servers are replaced."""

from collections.abc import Callable

from tests.conformance.upgrades.gangs import SETTLE_SECONDS, TEAM
from verify.clusters.client import Object
from verify.clusters.eventually import eventually
from verify.clusters.groups import workload
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import POD_GROUP
from verify.clusters.jobsets import JobSets, job_set, part
from verify.clusters.lws import Sets, leader_worker_set

TEMPLATE = "scheduling.k8s.io/group-template-name"
WHOLE = {"tutti.scheduler/scope": "set"}
PODS = 4


class Parents:
    """Sets of users, each of four pods in two groups or one, and each with nodes of its own."""

    def __init__(self, sets: Sets, jobsets: JobSets, nodes: HollowNodes) -> None:
        self.sets, self.jobsets, self.nodes = sets, jobsets, nodes
        self.api, self.namespace = sets.api, sets.namespace
        self.pods_of: dict[str, Callable[[], list[Object]]] = {}
        self.known: dict[str, set[str]] = {}

    def make_room(self, name: str, cpu: int = PODS) -> None:
        self.nodes.add(1, cpu=str(cpu), labels={TEAM: name})

    def leader_worker_set(self, name: str, *, is_whole: bool = False) -> None:
        made = leader_worker_set(name, replicas=2, size=2, annotations=WHOLE if is_whole else {})
        made["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["nodeSelector"] = {TEAM: name}
        self.sets.create(made)
        self.pods_of[name] = lambda: self.sets.pods(name)

    def job_set(self, name: str, *, annotations: dict[str, str] | None = None, scope: str | None = None) -> None:
        entry = part("workers", replicas=2, pods=2, annotations=annotations)
        entry["template"]["spec"]["template"]["spec"]["nodeSelector"] = {TEAM: name}
        self.jobsets.create(job_set(name, entry, scope=scope))
        self.pods_of[name] = lambda: self.jobsets.pods(name)

    def delegated(self, name: str) -> None:
        """A JobSet whose Workload its user has made, as one does who follows KEP-5547."""
        controller = {"apiGroup": "jobset.x-k8s.io", "kind": "JobSet", "name": name}
        self.api.create("workloads", workload(self.api, f"of-{name}", controller, "workers"), self.namespace)
        self.job_set(name, annotations={TEMPLATE: "workers"})

    def bound(self, name: str) -> int:
        return sum(1 for pod in self.pods_of[name]() if pod["spec"].get("nodeName"))

    def groups(self, name: str) -> set[str]:
        """UIDs of the groups that its pods name."""
        named = {(pod["metadata"].get("annotations") or {}).get(POD_GROUP) for pod in self.pods_of[name]()}
        found = self.api.list("podgroups", self.namespace)
        return {each["metadata"]["uid"] for each in found if each["metadata"]["name"] in named}

    def runs(self, name: str) -> None:
        """Waits until all of it runs; from now on these are its objects."""
        eventually(lambda: self.bound(name) == PODS, within_seconds=SETTLE_SECONDS)
        self.note(name)

    def waits(self, name: str, groups: int) -> None:
        """Waits until it has its groups and its pods, none of which has a node."""
        eventually(lambda: len(self.groups(name)) == groups, within_seconds=SETTLE_SECONDS)
        eventually(lambda: len(self.pods_of[name]()) == PODS, within_seconds=SETTLE_SECONDS)
        assert self.bound(name) == 0
        self.note(name)

    def note(self, name: str) -> None:
        self.known[name] = self.groups(name) | {pod["metadata"]["uid"] for pod in self.pods_of[name]()}

    def nothing_is_lost(self) -> None:
        """Each set has the groups and the pods that it had."""
        for name, known in self.known.items():
            now = self.groups(name) | {pod["metadata"]["uid"] for pod in self.pods_of[name]()}
            assert now == known, f"{name} had {known} and has {now}"

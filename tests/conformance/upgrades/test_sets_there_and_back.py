"""LeaderWorkerSets, JobSets and their gangs while Tutti is replaced by a newer version and by the older one again.

The older version knows no JobSet, only Jobs whose parent describes their group, and no tree. What it made goes on under the newer
one. What the newer one made and the older one does not know waits, or runs on, until the newer one is back.
"""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conformance.upgrades.older import check_out, older_tutti
from tests.conformance.upgrades.test_there_and_back import DOWN_SECONDS, SETTLE_SECONDS, TEAM, end, replaced, start
from verify.auditor.auditor import Auditor
from verify.clusters.client import Object
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.groups import workload
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import POD_GROUP
from verify.clusters.jobsets import JobSets, job_set, part
from verify.clusters.lws import Sets, leader_worker_set
from verify.clusters.tutti_process import Tutti

pytestmark = [pytest.mark.slow]

TEMPLATE = "scheduling.k8s.io/group-template-name"
WHOLE = {"tutti.scheduler/scope": "set"}
PODS = 4


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
        """Waits until it has its groups and no pod of it has a node."""
        eventually(lambda: len(self.groups(name)) == groups, within_seconds=SETTLE_SECONDS)
        assert self.bound(name) == 0
        self.note(name)

    def note(self, name: str) -> None:
        self.known[name] = self.groups(name) | {pod["metadata"]["uid"] for pod in self.pods_of[name]()}

    def nothing_is_lost(self) -> None:
        """Each set has the groups and the pods that it had."""
        for name, known in self.known.items():
            now = self.groups(name) | {pod["metadata"]["uid"] for pod in self.pods_of[name]()}
            assert now == known, f"{name} had {known} and has {now}"


@pytest.fixture
def parents(
    control_plane: ControlPlane, namespace: str, nodes: HollowNodes, lws_controller: None, jobset_stand_in: None
) -> Iterator[Parents]:
    api = control_plane.admin
    made = Parents(Sets(api, namespace), JobSets(api, namespace), nodes)
    yield made
    for kind in ("leaderworkersets", "jobsets"):
        for each in api.list(kind, namespace):
            api.delete(kind, each["metadata"]["name"], namespace, propagation="Background")
    eventually(lambda: not api.list("pods", namespace), within_seconds=SETTLE_SECONDS)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
def test_sets_of_each_version_go_on_under_the_other_one(
    parents: Parents, older: Tutti, newer: Tutti, auditor: Auditor, how: signal.Signals
) -> None:
    auditor.windows.widen(DOWN_SECONDS)
    start(older)
    with replaced(older, newer, how):
        for name in ("lws-runs", "delegated-runs", "plain-runs"):
            parents.make_room(name)
        for name in ("lws-runs", "lws-waits"):
            parents.leader_worker_set(name)
        for name in ("delegated-runs", "delegated-waits"):
            parents.delegated(name)
        parents.job_set("plain-runs")
        for name in ("lws-runs", "delegated-runs", "plain-runs"):
            parents.runs(name)
        parents.waits("lws-waits", groups=2)
    parents.nothing_is_lost()
    for name in ("lws-waits", "delegated-waits"):
        parents.make_room(name, cpu=3)
        eventually(lambda each=name: parents.bound(each) == 2, within_seconds=SETTLE_SECONDS)  # type: ignore[misc]
        parents.make_room(name, cpu=1)
        parents.runs(name)
    assert parents.groups("plain-runs") == set()
    (told,) = parents.jobsets.events("plain-runs", "NotAdmittedAsGang")
    assert "delete it and create it again" in told

    with replaced(newer, older, how):
        for name in ("set-runs", "whole-runs"):
            parents.make_room(name)
        for name in ("set-runs", "set-waits"):
            parents.job_set(name, scope="set")
        for name in ("whole-runs", "whole-waits"):
            parents.leader_worker_set(name, is_whole=True)
        for name in ("set-runs", "whole-runs"):
            parents.runs(name)
        parents.waits("set-waits", groups=1)
        parents.waits("whole-waits", groups=2)
    parents.nothing_is_lost()
    # To the older version these pods belong to nobody's group: they wait, and none of them starts alone.
    parents.make_room("set-waits")
    throughout(lambda: parents.bound("set-waits") == 0, seconds=5, poll_seconds=0.2)
    # It knows no trees: each replica is a gang of its own to it.
    parents.make_room("whole-waits", cpu=3)
    eventually(lambda: parents.bound("whole-waits") == 2, within_seconds=SETTLE_SECONDS)
    with replaced(older, newer, how):
        parents.nothing_is_lost()
    parents.runs("set-waits")
    parents.make_room("whole-waits", cpu=1)
    parents.runs("whole-waits")
    parents.nothing_is_lost()

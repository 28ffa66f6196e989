"""Built-in PodGroups without the gate CompositePodGroup: the server says that it has no trees, and our CRD serves instead."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from verify.clusters.client import Api, ApiError, Object
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes, kubelet_process
from verify.clusters.jobs import condition_entry
from verify.clusters.jobsets import JobSets, are_followed, are_served, job_set, jobset_controller, part
from verify.clusters.lws import SETTLE_SECONDS, Sets, controller_process, is_followed, is_served, leader_worker_set
from verify.clusters.real import GATES, RealControlPlane
from verify.clusters.tutti_process import Tutti

pytestmark = [pytest.mark.built_in, pytest.mark.real_only("the embedded server has no built-in groups")]

PARENT = "tutti.scheduler/parent-composite-pod-group"
SCOPE = {"tutti.scheduler/scope": "set"}
WITHOUT = "--feature-gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true"
COMPOSITES = "/apis/tutti.scheduler/v1beta1/namespaces/{}/compositepodgroups"
REF = {"workloadName": "tree", "templateName": "t"}
NAMESPACE = "trees"
SERVED_SECONDS = 90


class Ungated(RealControlPlane):
    """A server with built-in PodGroups whose gate of CompositePodGroups is off, as it comes."""

    def _gates(self) -> list[str]:
        return [WITHOUT]

    def _apiserver_flags(self, port: int, etcd: int) -> list[str]:
        return [WITHOUT if flag == GATES else flag for flag in super()._apiserver_flags(port, etcd)]


@pytest.fixture(scope="module")
def ungated(assets: Path) -> Iterator[ControlPlane]:
    with Ungated(group_api="built-in", assets=assets) as running:
        servers = [kubelet_process(running), controller_process(running), jobset_controller(running)]
        tutti = Tutti(running)
        try:
            for server in servers[1:]:
                server.start()
            eventually(lambda: is_served(running.admin) and are_served(running.admin), within_seconds=SERVED_SECONDS)
            tutti.ensure_running()
            running.admin.create("namespaces", {"metadata": {"name": NAMESPACE}})
            yield running
        finally:
            tutti.kill_everything()
            for server in servers:
                server.kill()


@pytest.fixture
def api(ungated: ControlPlane) -> Api:
    return ungated.admin


@pytest.fixture
def places(api: Api) -> Iterator[HollowNodes]:
    made = HollowNodes(api, "node")
    yield made
    for kind in ("leaderworkersets", "jobsets", "podgroups"):
        for each in api.list(kind, NAMESPACE):
            api.delete(kind, each["metadata"]["name"], NAMESPACE)
    for pod in api.list("pods", NAMESPACE):
        api.delete("pods", pod["metadata"]["name"], NAMESPACE)
    eventually(lambda: not api.list("pods", NAMESPACE), within_seconds=SETTLE_SECONDS)
    made.remove_all()


def composite(api: Api, name: str, need: int) -> None:
    spec = {"workloadRef": REF, "schedulingPolicy": {"gang": {"minGroupCount": need}}}
    body = {"apiVersion": "tutti.scheduler/v1beta1", "kind": "CompositePodGroup", "metadata": {"name": name}}
    path = COMPOSITES.format(NAMESPACE)
    eventually(lambda: api.request("POST", path, {**body, "spec": spec}), within_seconds=SETTLE_SECONDS)


def group(api: Api, name: str, **more: Any) -> Object:
    """A PodGroup that needs two pods, with them; `more` are `annotations` and fields of `spec`."""
    annotations = more.pop("annotations", {})
    body = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"workloadRef": REF, "schedulingPolicy": {"gang": {"minCount": 2}}, **more},
    }
    made: Object = eventually(lambda: api.create("podgroups", body, NAMESPACE), within_seconds=SETTLE_SECONDS)
    for index in range(2):
        container = {"name": "main", "image": "registry.example/a:1", "resources": {"requests": {"cpu": "1"}}}
        spec = {
            "schedulerName": "tutti",
            "schedulingGroup": {"podGroupName": name},
            "terminationGracePeriodSeconds": 0,
            "containers": [container],
        }
        api.create("pods", {"metadata": {"name": f"{name}-{index}"}, "spec": spec}, NAMESPACE)
    return made


def bound(api: Api) -> int:
    return sum(1 for pod in api.list("pods", NAMESPACE) if pod["spec"].get("nodeName"))


def says(api: Api, name: str) -> str:
    """What the condition of a CompositePodGroup says."""
    found = api.request("GET", f"{COMPOSITES.format(NAMESPACE)}/{name}")
    return str((condition_entry(found, "CompositePodGroupInitiallyScheduled") or {}).get("message", ""))


def test_the_server_says_that_it_has_no_such_kind_and_tutti_has_brought_its_own(api: Api) -> None:
    with pytest.raises(ApiError) as refused:
        api.create("compositepodgroups", {"metadata": {"name": "t"}, "spec": {}}, NAMESPACE)
    assert refused.value.status == 404
    assert api.find("customresourcedefinitions", "compositepodgroups.tutti.scheduler") is not None
    assert api.find("customresourcedefinitions", "podgroups.tutti.scheduler") is None


@pytest.mark.parametrize("how", ["annotation", "field"])
def test_a_tree_by_hand_waits_whole_says_why_and_starts_whole(api: Api, places: HollowNodes, how: str) -> None:
    places.add(1, cpu="3")
    tree = f"by-{how}"
    composite(api, tree, 2)
    named: Object = {"annotations": {PARENT: tree}} if how == "annotation" else {"parentCompositePodGroupName": tree}
    for name in ("a", "b"):
        made = group(api, f"{tree}-{name}", **named)
        assert "parentCompositePodGroupName" not in made["spec"], "this server keeps the field"
        assert made["metadata"]["annotations"][PARENT] == tree
    eventually(lambda: "1 of 2 groups can start" in says(api, tree), within_seconds=SETTLE_SECONDS)
    throughout(lambda: bound(api) == 0, seconds=1, poll_seconds=0.1)
    places.add(1, cpu="1")
    eventually(lambda: bound(api) == 4, within_seconds=SETTLE_SECONDS)


def test_a_group_whose_parent_is_nowhere_waits_and_says_for_what(api: Api, places: HollowNodes) -> None:
    places.add(1, cpu="3")
    group(api, "orphan", parentCompositePodGroupName="nowhere")

    def is_told() -> bool:
        entry = condition_entry(api.get("podgroups", "orphan", NAMESPACE), "PodGroupInitiallyScheduled")
        return entry is not None and "nowhere" in entry["message"]

    eventually(is_told, within_seconds=SETTLE_SECONDS)
    throughout(lambda: bound(api) == 0, seconds=1, poll_seconds=0.1)


def test_a_whole_leader_worker_set_waits_whole_and_starts_whole(api: Api, places: HollowNodes) -> None:
    eventually(lambda: is_followed(api), within_seconds=SERVED_SECONDS)
    sets = Sets(api, NAMESPACE)
    places.add(1, cpu="3")
    sets.create(leader_worker_set("serve", replicas=2, size=2, annotations=SCOPE))
    eventually(lambda: len(sets.pods("serve")) == 4, within_seconds=SETTLE_SECONDS)
    eventually(lambda: sets.events("serve", "FailedScheduling"), within_seconds=SETTLE_SECONDS)
    throughout(lambda: sets.bound("serve") == 0, seconds=1, poll_seconds=0.1)
    places.add(1, cpu="1")
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)


def test_a_whole_job_set_waits_whole_and_starts_whole(api: Api, places: HollowNodes) -> None:
    eventually(lambda: are_followed(api), within_seconds=SERVED_SECONDS)
    jobsets = JobSets(api, NAMESPACE)
    places.add(1, cpu="3")
    jobsets.create(job_set("pair", part("left", pods=2), part("right", pods=2), scope="set"))
    eventually(lambda: jobsets.waits("pair", 4), within_seconds=SETTLE_SECONDS)
    eventually(lambda: jobsets.events("pair", "FailedScheduling"), within_seconds=SETTLE_SECONDS)
    throughout(lambda: jobsets.bound("pair") == 0, seconds=1, poll_seconds=0.1)
    places.add(1, cpu="1")
    eventually(lambda: jobsets.bound("pair") == 4, within_seconds=SETTLE_SECONDS)

"""A cluster whose own Job controller makes Workloads and PodGroups (Kubernetes 1.37, gate WorkloadWithJob).

Such a cluster is started for this module alone; it serves the built-in group API.
"""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.gated import GatedControlPlane
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes, kubelet_process
from verify.clusters.jobs import GATE, Jobs, indexed_job, is_gang
from verify.clusters.tutti_process import Tutti

SETTLE_SECONDS = 30


@pytest.fixture(scope="module")
def cluster(group_api: str, assets: Path) -> Iterator[ControlPlane]:
    if group_api != "built-in":
        pytest.skip("this is about the built-in group API")
    with GatedControlPlane("WorkloadWithJob", assets=assets) as running:
        kubelet = kubelet_process(running)
        tutti = Tutti(running)
        tutti.ensure_running()
        yield running
        tutti.kill_everything()
        kubelet.kill()


@pytest.fixture
def their_jobs(cluster: ControlPlane) -> Iterator[Jobs]:
    nodes = HollowNodes(cluster.admin, f"node-{secrets.token_hex(3)}")
    nodes.add(1, cpu="4")
    name = f"test-{secrets.token_hex(3)}"
    cluster.admin.create("namespaces", {"metadata": {"name": name}})
    yield Jobs(cluster.admin, name)
    for job in cluster.admin.list("jobs", name):
        cluster.admin.delete("jobs", job["metadata"]["name"], name)
    eventually(lambda: not cluster.admin.list("pods", name), within_seconds=60)
    nodes.remove_all()


def test_the_job_controller_makes_the_group_and_tutti_places_it_whole(their_jobs: Jobs) -> None:
    job = their_jobs.create(indexed_job("theirs", 4))
    assert job["spec"]["scheduling"]["schedulingPolicy"] == {"gang": {}}
    eventually(lambda: their_jobs.whole("theirs"), within_seconds=SETTLE_SECONDS)
    (workload,) = their_jobs.workloads("theirs")
    group = their_jobs.group("theirs")
    for made in (workload, group):
        assert "tutti.scheduler/managed-by" not in made["metadata"].get("annotations", {})
    assert group["spec"]["schedulingPolicy"] == {"gang": {"minCount": 4}}
    assert group["spec"]["disruptionMode"] == {"all": {}}
    live = their_jobs.get("theirs")
    assert not is_gang(live)
    assert GATE not in live["metadata"].get("annotations", {})
    for pod in their_jobs.pods("theirs"):
        assert pod["spec"]["schedulingGroup"] == {"podGroupName": group["metadata"]["name"]}
        assert pod["spec"]["schedulerName"] == "tutti"
    assert their_jobs.events("Job", "theirs", "NotAdmittedAsGang") == []


def test_a_gang_of_the_job_controller_waits_for_room_for_all(their_jobs: Jobs) -> None:
    their_jobs.create(indexed_job("large", 5))
    eventually(lambda: their_jobs.waits("large"), within_seconds=SETTLE_SECONDS)


def test_the_size_of_their_gang_is_its_users_business(their_jobs: Jobs) -> None:
    their_jobs.create(indexed_job("resized", 3))
    eventually(lambda: their_jobs.whole("resized"), within_seconds=SETTLE_SECONDS)
    their_jobs.api.patch("jobs", "resized", {"spec": {"parallelism": 2, "completions": 2}}, their_jobs.namespace)
    eventually(
        lambda: their_jobs.group("resized")["spec"]["schedulingPolicy"]["gang"]["minCount"] == 2,
        within_seconds=SETTLE_SECONDS,
    )


def test_a_field_its_user_wrote_is_left_as_it_is(their_jobs: Jobs) -> None:
    stated = {"schedulingPolicy": {"gang": {"minCount": 2}}, "disruptionMode": {"single": {}}}
    job = indexed_job("stated", 3, scheduling=stated)
    job["spec"]["completionMode"] = "NonIndexed"
    their_jobs.create(job)
    eventually(lambda: their_jobs.whole("stated"), within_seconds=SETTLE_SECONDS)
    assert their_jobs.get("stated")["spec"]["scheduling"] == stated
    assert their_jobs.group("stated")["spec"]["schedulingPolicy"] == {"gang": {"minCount": 2}}
    assert {pod["spec"]["schedulerName"] for pod in their_jobs.pods("stated")} == {"tutti"}


def test_a_job_suspended_by_its_user_is_resumed_by_its_user_only(their_jobs: Jobs) -> None:
    their_jobs.create(indexed_job("later", 3, suspend=True))
    eventually(lambda: not is_gang(their_jobs.get("later")), within_seconds=SETTLE_SECONDS)
    assert their_jobs.get("later")["spec"]["suspend"] is True
    their_jobs.api.patch("jobs", "later", {"spec": {"suspend": False}}, their_jobs.namespace)
    eventually(lambda: their_jobs.whole("later"), within_seconds=SETTLE_SECONDS)
    assert len(their_jobs.groups("later")) == 1

"""After `tutti uninstall` the cluster is as it was: nothing of ours, nobody suspended by us, everything deletable."""

import signal
from pathlib import Path

import pytest

from verify.clusters.client import ApiError, Object
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import GATE, Jobs, condition, indexed_job
from verify.clusters.tutti_process import SYSTEM_NAMESPACE, Tutti

CLUSTER_KINDS = (
    "clusterrolebindings",
    "clusterroles",
    "mutatingwebhookconfigurations",
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
    "validatingwebhookconfigurations",
)
CONFIG = Path(__file__).parents[2] / "config"
SUSPENDED = "tutti.scheduler/suspended"
OWN_DEFINITIONS = ("podgroups.tutti.scheduler", "workloads.tutti.scheduler")


def objects_of_ours(control_plane: ControlPlane) -> list[str]:
    """Everything a Tutti could have left in the cluster, as kind/name."""
    api = control_plane.admin
    found = [
        f"{kind}/{each['metadata']['name']}"
        for kind in CLUSTER_KINDS
        for each in api.list(kind)
        if each["metadata"]["name"].startswith("tutti")
    ]
    found += [f"crd/{name}" for name in OWN_DEFINITIONS if api.find("customresourcedefinitions", name)]
    if api.find("namespaces", SYSTEM_NAMESPACE):
        found.append(f"namespaces/{SYSTEM_NAMESPACE}")
    return found + [f"group/{each['metadata']['name']}" for each in groups_of_ours(control_plane)]


def groups_of_ours(control_plane: ControlPlane) -> list[Object]:
    """The Workloads and PodGroups that Tutti made, in all namespaces."""
    found: list[Object] = []
    for kind in ("workloads", "podgroups"):
        try:
            listed = control_plane.admin.list(kind)
        except ApiError as error:
            if error.status != 404:
                raise
            continue  # the definition of the kind is gone, and all its objects with it
        found += [o for o in listed if o["metadata"].get("annotations", {}).get("tutti.scheduler/managed-by")]
    return found


def test_uninstalling_leaves_nothing_behind_and_every_gate_open(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane
) -> None:
    nodes.add(1, cpu="4")
    jobs.create(indexed_job("runs", 2))
    eventually(lambda: jobs.whole("runs"), within_seconds=20)
    jobs.create(indexed_job("waits", 3))
    eventually(lambda: jobs.waits("waits"), within_seconds=20)
    tutti.lose_child("controllers", signal.SIGKILL)
    jobs.create(indexed_job("gated", 2))
    jobs.create(indexed_job("suspended-by-its-user", 2, suspend=True))
    assert jobs.get("gated")["spec"]["suspend"] is True
    tutti.kill_everything()

    tutti.uninstall()

    def clean() -> bool:
        left = objects_of_ours(control_plane)
        assert not left, f"left behind: {left}"
        return True

    eventually(clean, within_seconds=30)
    assert jobs.get("suspended-by-its-user")["spec"]["suspend"] is True
    for name in ("runs", "waits", "gated"):
        job = jobs.get(name)
        assert not job["spec"].get("suspend"), f"{name} is still suspended"
        assert GATE not in job["metadata"].get("annotations", {}), f"{name} still has the gate"
    for job in jobs.api.list("jobs", jobs.namespace):
        jobs.api.delete("jobs", job["metadata"]["name"], jobs.namespace)
    eventually(lambda: not jobs.api.list("pods", jobs.namespace), within_seconds=30)


@pytest.mark.one_api
def test_a_job_that_was_suspended_when_it_gave_up_is_resumed(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> None:
    nodes.add(cpu="1")
    gives_up = {"tutti.scheduler/scheduling-timeout": "2s", "tutti.scheduler/on-scheduling-timeout": "suspend"}
    for name in ("ours", "resumed-and-suspended-by-its-user"):
        jobs.create(indexed_job(name, 2, annotations=gives_up))
    for name in ("ours", "resumed-and-suspended-by-its-user"):
        eventually(lambda: SUSPENDED in jobs.get(name)["metadata"]["annotations"], within_seconds=30)  # noqa: B023
        eventually(lambda: condition(jobs.group(name), "SchedulingTimedOut") == "False", within_seconds=30)  # noqa: B023
    theirs = jobs.api.path("jobs", jobs.namespace, "resumed-and-suspended-by-its-user")
    for suspend in (False, True):
        jobs.api.request("PATCH", theirs, {"spec": {"suspend": suspend}}, kind="merge")
    assert tutti.stop() == 0
    assert "1 Jobs resumed that we had suspended" in tutti.uninstall().out
    assert not jobs.get("ours")["spec"]["suspend"]
    assert jobs.get("resumed-and-suspended-by-its-user")["spec"]["suspend"]


def test_the_installation_with_profiles_goes_wholly_and_its_jobs_are_named(
    jobs: Jobs, tutti: Tutti, control_plane: ControlPlane
) -> None:
    assert tutti.stop() == 0
    tutti.uninstall()
    control_plane.kubectl("apply", "-k", str(CONFIG / "profiles"))
    stays = indexed_job("packed", 2, suspend=True)
    stays["spec"]["template"]["spec"]["schedulerName"] = "tutti-packed"
    jobs.create(stays)
    said = tutti.uninstall().out
    assert objects_of_ours(control_plane) == []
    assert f"Job {jobs.namespace}/packed" in said


@pytest.mark.one_api
def test_a_namespace_that_holds_something_else_is_no_success(tutti: Tutti, control_plane: ControlPlane) -> None:
    assert tutti.stop() == 0
    control_plane.admin.create("configmaps", {"metadata": {"name": "somebody-elses"}}, SYSTEM_NAMESPACE)
    done = tutti.uninstall(code=1)
    assert "holds things that are not ours: ConfigMap somebody-elses" in done.out
    control_plane.admin.delete("configmaps", "somebody-elses", SYSTEM_NAMESPACE)
    tutti.uninstall()
    assert objects_of_ours(control_plane) == []


@pytest.mark.one_api
def test_pods_made_after_an_uninstall_run_as_on_any_cluster(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane
) -> None:
    nodes.add()
    assert tutti.stop() == 0
    tutti.uninstall()
    jobs.create(indexed_job("afterwards", 2, run_seconds=0.1))
    eventually(lambda: jobs.succeeded("afterwards"), within_seconds=30)


@pytest.mark.one_api
def test_uninstalling_twice_is_no_error(tutti: Tutti, control_plane: ControlPlane) -> None:
    assert tutti.stop() == 0
    tutti.uninstall()
    tutti.uninstall()
    assert objects_of_ours(control_plane) == []


def test_what_users_made_themselves_survives(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane, group_api: str
) -> None:
    """With the built-in group API users' own Workloads stay; with our kinds they go with their definitions."""
    api_version = "scheduling.k8s.io/v1beta1" if group_api == "built-in" else "tutti.scheduler/v1beta1"
    policy = {"gang": {"minCount": 2}}
    mine = {
        "apiVersion": api_version,
        "kind": "Workload",
        "metadata": {"name": "mine"},
        "spec": {"podGroupTemplates": [{"name": "workers", "schedulingPolicy": policy}]},
    }
    jobs.api.create("workloads", mine, jobs.namespace)
    jobs.api.create("priorityclasses", {"metadata": {"name": "users-own"}, "value": 7})
    assert tutti.stop() == 0
    tutti.uninstall()
    if group_api == "built-in":
        assert jobs.api.find("workloads", "mine", jobs.namespace)
    assert jobs.api.find("priorityclasses", "users-own")
    jobs.api.delete("priorityclasses", "users-own")

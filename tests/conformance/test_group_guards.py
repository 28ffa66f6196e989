"""Groups cannot be misused: priorities are resolved, nobody else's group is joined, nobody claims to be Tutti (100 to 102)."""

import secrets
from collections.abc import Iterator
from contextlib import suppress

import pytest

from verify.clusters import cluster_files as files
from verify.clusters.client import Api, ApiError, Object
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.groups import pod_group
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import POD_GROUP, Jobs, indexed_job, plain_pod
from verify.clusters.tutti_process import Tutti

SETTLE_SECONDS = 30
MANAGED_BY = {"tutti.scheduler/managed-by": "tutti"}


@pytest.fixture
def priority(control_plane: ControlPlane) -> Iterator[str]:
    name = f"class-{secrets.token_hex(3)}"
    control_plane.admin.create("priorityclasses", {"metadata": {"name": name}, "value": 1000})
    yield name
    control_plane.admin.delete("priorityclasses", name)


@pytest.fixture
def tenant(control_plane: ControlPlane, namespace: str) -> Api:
    """Somebody who may do everything with Jobs, pods and groups in the namespace, and nothing else."""
    api = control_plane.admin
    verbs = ["create", "delete", "get", "list", "patch", "update", "watch"]
    rules = [
        {"apiGroups": [""], "resources": ["pods", "pods/status"], "verbs": verbs},
        {"apiGroups": ["batch"], "resources": ["jobs", "cronjobs"], "verbs": verbs},
        {
            "apiGroups": ["scheduling.k8s.io", "tutti.scheduler"],
            "resources": ["workloads", "podgroups", "podgroups/status"],
            "verbs": verbs,
        },
    ]
    api.create("roles", {"metadata": {"name": "tenant"}, "rules": rules}, namespace)
    binding = {
        "metadata": {"name": "tenant"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "tenant"},
        "subjects": [{"kind": "User", "name": files.NOBODY, "apiGroup": "rbac.authorization.k8s.io"}],
    }
    api.create("rolebindings", binding, namespace)
    found = control_plane.api(files.NOBODY)
    eventually(lambda: _may_list(found, namespace), within_seconds=SETTLE_SECONDS)
    return found


def _may_list(api: Api, namespace: str) -> bool:
    try:
        return api.list("podgroups", namespace) is not None
    except ApiError:
        return False


def test_100_a_group_may_name_a_workload_that_is_not_there(tutti: Tutti, jobs: Jobs) -> None:
    reference = {"workloadName": "nowhere", "templateName": "t"}
    made = jobs.api.create("podgroups", pod_group(jobs.api, "early", workloadRef=reference), jobs.namespace)
    assert made["spec"]["workloadRef"] == reference
    assert made["spec"]["disruptionMode"] == {"single": {}}


def test_101_the_class_of_a_group_gives_its_priority(tutti: Tutti, jobs: Jobs, priority: str) -> None:
    api = jobs.api
    bare = api.create("podgroups", pod_group(api, "bare"), jobs.namespace)
    assert bare["spec"]["priority"] == 0
    high = api.create("podgroups", pod_group(api, "high", priorityClassName=priority), jobs.namespace)
    assert high["spec"]["priority"] == 1000
    stated = pod_group(api, "stated", priorityClassName=priority, priority=1000)
    assert api.create("podgroups", stated, jobs.namespace)["spec"]["priority"] == 1000


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"priorityClassName": "nope"}, "no PriorityClass with name nope was found"),
        (
            {"priority": 7},
            "priority set in the pod group (7) must match the priority computed (0) based on the priority class set",
        ),
    ],
)
def test_101_a_priority_that_contradicts_its_class_is_refused(
    tutti: Tutti, jobs: Jobs, spec: Object, words: str
) -> None:
    with pytest.raises(ApiError) as refused:
        jobs.api.create("podgroups", pod_group(jobs.api, "wrong", **spec), jobs.namespace)
    assert refused.value.status == 403
    assert words in refused.value.message


def test_a_tenant_cannot_say_that_a_group_is_tuttis(tutti: Tutti, jobs: Jobs, tenant: Api) -> None:
    with pytest.raises(ApiError, match="only Tutti says which groups are its own"):
        tenant.create("podgroups", pod_group(tenant, "forged", annotations=MANAGED_BY), jobs.namespace)
    tenant.create("podgroups", pod_group(tenant, "own"), jobs.namespace)
    tenant.patch("podgroups", "own", {"metadata": {"annotations": {"team": "a"}}}, jobs.namespace)
    with pytest.raises(ApiError, match="only Tutti says which groups are its own"):
        tenant.patch("podgroups", "own", {"metadata": {"annotations": MANAGED_BY}}, jobs.namespace)
    # Through the status the server either refuses it, too, or ignores what is no status.
    with suppress(ApiError):
        path = tenant.path("podgroups", jobs.namespace, "own") + "/status"
        tenant.request("PATCH", path, {"metadata": {"annotations": MANAGED_BY}}, kind="merge")
    assert tenant.get("podgroups", "own", jobs.namespace)["metadata"]["annotations"] == {"team": "a"}


def test_a_tenant_cannot_take_the_mark_off_a_group_of_tuttis(
    tutti: Tutti, jobs: Jobs, nodes: HollowNodes, tenant: Api
) -> None:
    nodes.add(1, cpu="8")
    tenant.create("jobs", indexed_job("mine", 2), jobs.namespace)
    group = eventually(lambda: jobs.groups("mine"), within_seconds=SETTLE_SECONDS)[0]["metadata"]["name"]
    unmarked = {"metadata": {"annotations": {"tutti.scheduler/managed-by": None}}}
    with pytest.raises(ApiError, match="only Tutti says which groups are its own"):
        tenant.patch("podgroups", group, unmarked, jobs.namespace)


def test_a_stranger_does_not_complete_somebody_elses_gang(
    tutti: Tutti, jobs: Jobs, nodes: HollowNodes, tenant: Api
) -> None:
    """Room for three: the gang of four waits, and a fifth pod that names its group neither joins nor gets a node."""
    nodes.add(1, cpu="3")
    tenant.create("jobs", indexed_job("victim", 4), jobs.namespace)
    eventually(lambda: jobs.waits("victim"), within_seconds=SETTLE_SECONDS)
    group = jobs.group("victim")["metadata"]["name"]
    stranger = plain_pod("stranger")
    stranger["metadata"]["annotations"][POD_GROUP] = group
    stranger["spec"]["schedulerName"] = "tutti"
    tenant.create("pods", stranger, jobs.namespace)
    throughout(lambda: jobs.bound("victim") == 0, seconds=3)
    tenant.delete("pods", "stranger", jobs.namespace)


@pytest.mark.parametrize("change", ["another group", "no group"])
def test_the_group_of_a_pod_is_never_changed(
    tutti: Tutti, jobs: Jobs, nodes: HollowNodes, tenant: Api, change: str
) -> None:
    nodes.add(1, cpu="8")
    tenant.create("jobs", indexed_job("fixed", 2), jobs.namespace)
    eventually(lambda: jobs.whole("fixed"), within_seconds=SETTLE_SECONDS)
    pod = jobs.pods("fixed")[0]["metadata"]["name"]
    value = "other" if change == "another group" else None
    with pytest.raises(ApiError, match="the group of a pod cannot be changed"):
        tenant.patch("pods", pod, {"metadata": {"annotations": {POD_GROUP: value}}}, jobs.namespace)


def test_99_gang_settings_of_a_cron_job_are_checked_when_it_is_written(tutti: Tutti, jobs: Jobs, tenant: Api) -> None:
    job = indexed_job("child", 2)
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly"},
        "spec": {
            "schedule": "0 0 1 1 *",
            "jobTemplate": {
                "metadata": {"annotations": {"tutti.scheduler/min-count": "3"}},
                "spec": job["spec"],
            },
        },
    }
    with pytest.raises(ApiError, match=r"spec.jobTemplate.metadata.annotations\[tutti.scheduler/min-count\]"):
        tenant.create("cronjobs", cron, jobs.namespace)


def test_the_annotations_of_a_namespace_are_defaults_for_its_gangs(
    tutti: Tutti, jobs: Jobs, control_plane: ControlPlane
) -> None:
    opt_in = {"metadata": {"annotations": {"tutti.scheduler/policy": "none"}}}
    jobs.api.patch("namespaces", jobs.namespace, opt_in)

    def stays_plain() -> bool:
        made = jobs.api.create("jobs", indexed_job("plain", 2), jobs.namespace, dry_run=True)
        return bool(made["metadata"]["annotations"].get("tutti.scheduler/policy") == "none")

    eventually(stays_plain, within_seconds=SETTLE_SECONDS)
    chosen = indexed_job("chosen", 2, annotations={"tutti.scheduler/policy": "gang"})
    made = jobs.api.create("jobs", chosen, jobs.namespace, dry_run=True)
    assert "tutti.scheduler/managed" in made["spec"]["template"]["metadata"]["labels"]

"""`tutti uninstall` against a cluster in memory: what goes, what stays, what is said."""

from datetime import UTC, datetime
from typing import Any

import pytest

from api.errors import ConfigurationError
from install.apply import apply
from install.kinds import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES
from install.manifests import load
from install.uninstall import Uninstallation, holder_of
from kube.client.errors import Forbidden
from kube.client.resources import (
    CONFIG_MAPS,
    CUSTOM_RESOURCE_DEFINITIONS,
    DEPLOYMENTS,
    JOBS,
    KUEUE_WORKLOADS,
    LEASES,
    MUTATING_WEBHOOKS,
    NAMESPACES,
    PODS,
    SECRETS,
)
from kube.groups.group_api import BUILT_IN, BUILT_IN_COMPOSITES, OWN
from tests.install.fake_cluster import FakeCluster
from tests.install.fake_time import FakeTime

SYSTEM = "tutti-system"
MANAGED = {"tutti.scheduler/managed": "embedded"}
OURS = {"annotations": {"tutti.scheduler/managed-by": "tutti"}}
JOB_OWNER = {"kind": "Job", "apiVersion": "batch/v1", "name": "gated", "uid": "1", "controller": True}
GROUP_OWNER = {"kind": "PodGroup", "apiVersion": "tutti.scheduler/v1beta1", "name": "g", "uid": "2"}


async def installed(*, own: bool = True, in_cluster: bool = False) -> FakeCluster:
    """A cluster with Tutti on it, as `tutti run` or `kubectl apply -k` leave it."""
    cluster = FakeCluster(served=set() if own else {"scheduling.k8s.io"})
    areas = ("rbac", "policy", "webhook", *(("crd",) if own else ()), *(("manager",) if in_cluster else ()))
    for each in (manifest for area in areas for manifest in load(area)):
        await apply(cluster, each, FakeTime().poller)
    cluster.put(LEASES, "tutti-scheduler", SYSTEM)
    cluster.put(CONFIG_MAPS, "tutti-group-api", SYSTEM)
    cluster.put(CONFIG_MAPS, "kube-root-ca.crt", SYSTEM)
    cluster.writes.clear()
    return cluster


async def uninstall(cluster: FakeCluster) -> list[str]:
    """Uninstalls, which must succeed; what was said."""
    said: list[str] = []
    assert await Uninstallation(cluster, said.append, FakeTime().poller).run(), said
    return said


async def half_uninstall(cluster: FakeCluster) -> list[str]:
    """Uninstalls, which must not wholly succeed; what was said."""
    said: list[str] = []
    assert not await Uninstallation(cluster, said.append, FakeTime().poller).run(), said
    return said


def gated_job(cluster: FakeCluster, name: str = "gated", **more: Any) -> None:
    template = {"metadata": {"labels": dict(MANAGED)}, "spec": {"schedulerName": "tutti"}}
    metadata = {"annotations": {"tutti.scheduler/gate": "pod-group"}}
    cluster.put(JOBS, name, "team", metadata=metadata, spec={"suspend": True, "template": template}, **more)


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("in_cluster", [True, False])
async def test_nothing_of_ours_is_left(own: bool, in_cluster: bool) -> None:
    cluster = await installed(own=own, in_cluster=in_cluster)
    assert (await uninstall(cluster))[-1] == "Tutti is uninstalled"
    assert [key[3] for key in cluster.objects] == ["kube-root-ca.crt"]


async def test_uninstalling_a_clean_cluster_is_no_error() -> None:
    cluster = FakeCluster()
    assert await uninstall(cluster) == ["Tutti is uninstalled"]
    assert cluster.writes == []


async def test_a_policy_that_holds_jobs_without_asking_anybody_goes_before_all_else() -> None:
    cluster = await installed()
    for each in load("components/hold-gangs"):
        await apply(cluster, each, FakeTime().poller)
    cluster.writes.clear()
    await uninstall(cluster)
    assert [kind for _, kind, _ in cluster.writes[:2]] == ["MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"]


async def test_admission_ends_first_then_our_rights_and_only_then_users_objects_change() -> None:
    cluster = await installed()
    gated_job(cluster)
    await uninstall(cluster)
    order = list(dict.fromkeys(kind for _, kind, _ in cluster.writes))
    assert order.index("MutatingWebhookConfiguration") < order.index("ClusterRoleBinding")
    assert order.index("ClusterRoleBinding") < order.index("Job") < order.index("CustomResourceDefinition")
    assert order[-1] == "Namespace"


async def test_every_gate_is_opened_by_one_patch_and_counted() -> None:
    cluster = await installed()
    for name in ("a", "b", "c"):
        gated_job(cluster, name)
    said = await uninstall(cluster)
    assert "3 Jobs let go that waited at our gate" in said
    assert [write for write in cluster.writes if write[1] == "Job"] == [("patch", "Job", n) for n in "abc"]
    job = cluster.find(JOBS, "a", "team")
    assert job is not None
    assert job["spec"] == {
        "suspend": False,
        "template": {"metadata": {"labels": {}}, "spec": {"schedulerName": "tutti"}},
    }
    assert job["metadata"]["annotations"] == {}


async def test_a_job_whose_template_is_frozen_is_let_go_too() -> None:
    cluster = await installed()
    gated_job(cluster, frozen=True)
    await uninstall(cluster)
    job = cluster.find(JOBS, "gated", "team")
    assert job is not None
    assert job["spec"]["suspend"] is False
    assert job["spec"]["template"]["metadata"]["labels"] == MANAGED


async def test_a_job_that_its_user_suspended_is_not_touched() -> None:
    cluster = await installed()
    cluster.put(JOBS, "mine", "team", spec={"suspend": True, "template": {"spec": {}}})
    await uninstall(cluster)
    assert not [write for write in cluster.writes if write[1] == "Job"]


async def test_a_lost_answer_does_not_open_a_gate_twice() -> None:
    cluster = await installed()
    gated_job(cluster)
    cluster.lose_answer_of = {"patch"}
    await uninstall(cluster)
    assert [write for write in cluster.writes if write[1] == "Job"] == [("patch", "Job", "gated")]


async def test_pods_forget_their_group_before_its_kind_goes() -> None:
    cluster = await installed()
    metadata = {"labels": dict(MANAGED), "ownerReferences": [JOB_OWNER, GROUP_OWNER]}
    cluster.put(PODS, "p", "team", metadata=metadata, spec={"nodeName": "n"}, status={"phase": "Running"})
    await uninstall(cluster)
    pod = cluster.find(PODS, "p", "team")
    assert pod is not None
    assert pod["metadata"]["ownerReferences"] == [JOB_OWNER]
    kinds = [kind for _, kind, _ in cluster.writes]
    assert kinds.index("Pod") < kinds.index("CustomResourceDefinition")


async def test_groups_of_the_built_in_api_go_if_they_are_ours_and_stay_if_not() -> None:
    cluster = await installed(own=False)
    protected = {"finalizers": ["scheduling.k8s.io/podgroup-protection"]}
    cluster.put(BUILT_IN.pod_groups, "ours", "team", metadata={**OURS, **protected})
    cluster.put(BUILT_IN.workloads, "ours", "team", metadata=OURS)
    cluster.put(BUILT_IN.pod_groups, "theirs", "team", metadata=protected)
    said = await uninstall(cluster)
    assert "2 Workloads and PodGroups that we made deleted" in said
    assert cluster.names(BUILT_IN.pod_groups) == ["theirs"]
    assert cluster.names(BUILT_IN.workloads) == []


async def test_composites_of_the_built_in_api_go_whatever_version_they_are_served_in() -> None:
    cluster = FakeCluster(served={"scheduling.k8s.io", "compositepodgroups.scheduling.k8s.io"})
    newest = BUILT_IN_COMPOSITES[0]
    cluster.put(newest, "ours", "team", metadata=OURS)
    cluster.put(newest, "theirs", "team")
    said = await uninstall(cluster)
    assert "1 Workloads and PodGroups that we made deleted" in said
    assert cluster.names(newest) == ["theirs"]


async def test_groups_of_others_in_our_kinds_are_counted_before_they_go() -> None:
    cluster = await installed()
    cluster.put(OWN.pod_groups, "theirs", "team")
    assert "1 Workloads and PodGroups made by others go with our kinds" in await uninstall(cluster)
    assert cluster.names(OWN.pod_groups) == []


async def test_a_namespace_that_holds_other_things_is_kept() -> None:
    cluster = await installed()
    cluster.put(SECRETS, "somebody-elses", SYSTEM)
    said = await half_uninstall(cluster)
    assert "still there: namespace tutti-system, which holds things that are not ours: Secret somebody-elses" in said
    assert said[-1] == "Tutti is not wholly gone; run this again later"
    assert cluster.names(NAMESPACES) == [SYSTEM]


async def test_what_an_overlay_put_into_our_namespace_goes_with_it() -> None:
    cluster = await installed(in_cluster=True)
    labels = {"labels": {"app.kubernetes.io/part-of": "tutti"}}
    cluster.put(CONFIG_MAPS, "tutti-scheduler-settings-k7h2", SYSTEM, metadata=labels)
    assert "1 further objects of ours removed from tutti-system" in await uninstall(cluster)
    assert cluster.names(NAMESPACES) == []


async def test_what_of_it_may_not_be_deleted_is_named_and_is_no_success() -> None:
    class Guarded(FakeCluster):
        async def delete(self, resource, name, namespace=None, **more):  # type: ignore[no-untyped-def]
            if resource.plural == "configmaps":
                raise Forbidden(403, "Forbidden", "cannot delete configmaps")
            await super().delete(resource, name, namespace, **more)

    cluster = Guarded()
    cluster.put(NAMESPACES, SYSTEM)
    cluster.put(CONFIG_MAPS, "settings", SYSTEM, metadata={"labels": {"app.kubernetes.io/part-of": "tutti"}})
    assert "still there: ConfigMap tutti-system/settings: may not be deleted" in await half_uninstall(cluster)


async def test_a_job_that_we_suspended_when_it_gave_up_is_resumed_and_no_other() -> None:
    cluster = await installed()
    for name, generation in (("ours", 2), ("theirs", 4)):
        metadata = {"uid": name, "generation": generation, "annotations": {"tutti.scheduler/suspended": f"{name}/2"}}
        cluster.put(JOBS, name, "team", metadata=metadata, spec={"suspend": True, "template": {"spec": {}}})
    assert "1 Jobs resumed that we had suspended when they gave up waiting" in await uninstall(cluster)
    suspended = {
        name: found["spec"]["suspend"] for (_, kind, _, name), found in cluster.objects.items() if kind == "jobs"
    }
    assert suspended == {"ours": False, "theirs": True}


async def test_a_job_that_we_stopped_in_kueue_goes_on_and_no_other() -> None:
    cluster = await installed()
    kind = KUEUE_WORKLOADS[0]
    for name, annotations in (("ours", {"tutti.scheduler/stopped": "preempted"}), ("theirs", {})):
        cluster.put(kind, name, "team", metadata={"annotations": annotations}, spec={"active": False})
    assert "1 Jobs go on in Kueue that we had stopped there" in await uninstall(cluster)
    ours, theirs = cluster.find(kind, "ours", "team"), cluster.find(kind, "theirs", "team")
    assert ours is not None
    assert theirs is not None
    assert (ours["spec"], ours["metadata"].get("annotations")) == ({"active": True}, {})
    assert theirs["spec"] == {"active": False}


async def test_what_nobody_will_place_any_more_is_named() -> None:
    cluster = await installed()
    gated_job(cluster)
    cluster.put(PODS, "lone", "team", spec={"schedulerName": "tutti"}, status={"phase": "Pending"})
    line = next(line for line in await uninstall(cluster) if "nobody will place" in line)
    assert line.endswith("Job team/gated, pod team/lone")


async def test_a_crd_that_does_not_go_is_named_and_is_no_success() -> None:
    cluster, said = await installed(), list[str]()
    found = cluster.find(CUSTOM_RESOURCE_DEFINITIONS, "podgroups.tutti.scheduler")
    assert found is not None
    found["metadata"]["finalizers"] = ["customresourcecleanup"]
    assert not await Uninstallation(cluster, said.append, FakeTime().poller).run()
    assert "still there: CRD podgroups.tutti.scheduler: look for finalizers on its objects" in said


async def test_an_interrupted_run_is_finished_by_the_next() -> None:
    cluster = await installed(in_cluster=True)
    gated_job(cluster)
    cluster.fail["patch"] = Forbidden(403, "Forbidden", "cannot patch jobs")
    with pytest.raises(ExceptionGroup):
        await Uninstallation(cluster, lambda _: None, FakeTime().poller).run()
    assert cluster.names(MUTATING_WEBHOOKS) == cluster.names(DEPLOYMENTS) == cluster.names(CLUSTER_ROLE_BINDINGS) == []
    cluster.fail.clear()
    await uninstall(cluster)
    assert cluster.names(CLUSTER_ROLES) == cluster.names(CUSTOM_RESOURCE_DEFINITIONS) == []


async def test_missing_rights_are_found_before_anything_is_removed() -> None:
    cluster = await installed()
    cluster.denied = {("patch", "jobs"), ("delete", "clusterroles")}
    with pytest.raises(ConfigurationError) as caught:
        await uninstall(cluster)
    assert str(caught.value) == (
        "tutti uninstall needs rights that this user lacks: delete clusterroles.rbac.authorization.k8s.io, patch jobs.batch"
    )
    assert cluster.writes == []


NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("spec", "holder"),
    [
        ({"holderIdentity": "me", "renewTime": "2026-01-01T11:59:50.000000Z", "leaseDurationSeconds": 15}, "me"),
        ({"holderIdentity": "me", "renewTime": "2026-01-01T11:59:40.000000Z", "leaseDurationSeconds": 15}, None),
        ({"holderIdentity": "", "renewTime": "2026-01-01T11:59:59.000000Z", "leaseDurationSeconds": 15}, None),
        ({"holderIdentity": "me", "renewTime": "soon", "leaseDurationSeconds": 15}, None),
        ({}, None),
    ],
)
def test_a_lease_is_held_until_it_runs_out_or_is_given_back(spec: dict[str, Any], holder: str | None) -> None:
    assert holder_of({"spec": spec}, NOW) == holder


async def test_a_process_that_still_runs_somewhere_is_said() -> None:
    cluster, said = await installed(), list[str]()
    spec = {"holderIdentity": "laptop_1", "renewTime": "2026-01-01T11:59:50.000000Z", "leaseDurationSeconds": 15}
    cluster.put(LEASES, "tutti-controllers", SYSTEM, spec=spec)
    assert await Uninstallation(cluster, said.append, FakeTime().poller, lambda: NOW).run()
    assert [line for line in said if "seems to run still, as laptop_1" in line]


async def test_processes_in_the_cluster_end_while_they_can_still_give_their_leases_back() -> None:
    cluster = await installed(in_cluster=True)
    await uninstall(cluster)
    order = list(dict.fromkeys(kind for _, kind, _ in cluster.writes))
    assert order.index("ValidatingWebhookConfiguration") < order.index("Deployment") < order.index("ClusterRoleBinding")


async def test_a_pod_that_was_killed_with_its_lease_is_not_taken_for_a_process_that_runs() -> None:
    """Its Lease says its name for another fifteen seconds."""

    class Killing(FakeCluster):
        async def delete(self, resource, name, namespace=None, **more):  # type: ignore[no-untyped-def]
            await super().delete(resource, name, namespace, **more)
            if resource == DEPLOYMENTS and name == "tutti-controllers":
                del self.objects[next(key for key in self.objects if key[1] == "pods")]

    cluster, said = Killing(), list[str]()
    for each in (*load("rbac"), *load("manager")):
        await apply(cluster, each, FakeTime().poller)
    pod = "tutti-controllers-cb685b46b-p8qpc"
    cluster.put(
        PODS, pod, SYSTEM, metadata={"labels": {"app.kubernetes.io/name": "tutti"}}, spec={"schedulerName": "x"}
    )
    spec = {"holderIdentity": f"{pod}_1_ab", "renewTime": "2026-01-01T11:59:50.000000Z", "leaseDurationSeconds": 15}
    cluster.put(LEASES, "tutti-controllers", SYSTEM, spec=spec)
    assert await Uninstallation(cluster, said.append, FakeTime().poller, lambda: NOW).run()
    assert not [line for line in said if "seems to run" in line]


async def test_a_namespace_that_cannot_be_looked_into_is_kept() -> None:
    class Closed(FakeCluster):
        async def list(self, resource, namespace=None, **more):  # type: ignore[no-untyped-def]
            if resource.plural == "secrets":
                raise Forbidden(403, "Forbidden", "cannot list secrets")
            return await super().list(resource, namespace, **more)

    cluster = Closed()
    for each in load("rbac"):
        await apply(cluster, each, FakeTime().poller)
    assert any(line.endswith("not ours: Secret (may not be listed)") for line in await half_uninstall(cluster))
    assert cluster.names(NAMESPACES) == [SYSTEM]

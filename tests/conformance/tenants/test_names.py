"""A tenant who uses the names, labels and UIDs of another one's gang in his own namespace changes nothing for it."""

import pytest

from tests.conformance.tenants.attacks import create_all, hopeless, member
from tests.conformance.tenants.tenant import Tenant
from verify.auditor.auditor import Auditor
from verify.clusters.client import ApiError, Object
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.groups import pod_group, type_of
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import POD_GROUP, indexed_job

SETTLE_SECONDS = 60
STAYS_SECONDS = 2
SIZE = 4
LITTLE = "1m"
GROUP_UID = "tutti.scheduler/pod-group-uid"


def waiting_gang(victim: Tenant, nodes: HollowNodes, name: str = "train") -> tuple[Object, Object]:
    """A gang of the victim that waits for one more pod's room: its Job and its group."""
    nodes.add(1, cpu="3500m")
    victim.jobs.create(indexed_job(name, SIZE))
    eventually(lambda: victim.jobs.waits(name), within_seconds=SETTLE_SECONDS)
    return victim.jobs.get(name), victim.jobs.group(name)


def disguise(job: Object, group: Object) -> Object:
    """Metadata by which a pod looks as if it were of this Job and its group."""
    uid = job["metadata"]["uid"]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": job["metadata"]["name"], "uid": uid, "controller": True}
    return {
        "labels": {
            "tutti.scheduler/managed": "embedded",
            "batch.kubernetes.io/controller-uid": uid,
            "batch.kubernetes.io/job-name": job["metadata"]["name"],
        },
        "annotations": {POD_GROUP: group["metadata"]["name"], GROUP_UID: group["metadata"]["uid"]},
        "ownerReferences": [owner],
    }


def starts_with_more_room(victim: Tenant, nodes: HollowNodes, name: str = "train") -> None:
    nodes.add(1, cpu="2")
    eventually(lambda: victim.jobs.whole(name), within_seconds=SETTLE_SECONDS)


def is_unbound(who: Tenant, pods: list[str]) -> bool:
    """Whether those of these pods that are still there have no node (one with a forged owner is collected as garbage)."""
    there = {pod["metadata"]["name"]: pod for pod in who.api.list("pods", who.namespace)}
    return not any(there[name]["spec"].get("nodeName") for name in pods if name in there)


def test_pods_with_forged_labels_and_owners_neither_complete_a_gang_nor_start(
    victim: Tenant, attacker: Tenant, nodes: HollowNodes, auditor: Auditor
) -> None:
    # The judge takes pods with our label for ours, and nothing of ours comes before its group.
    auditor.windows.allows_members_first = True
    job, group = waiting_gang(victim, nodes)
    forged = [f"forged-{number}" for number in range(SIZE)]
    for name in forged:
        attacker.create("pods", member(name, group["metadata"]["name"], cpu=LITTLE, **disguise(job, group)))
    throughout(lambda: victim.jobs.bound("train") == 0 and is_unbound(attacker, forged), seconds=STAYS_SECONDS)
    starts_with_more_room(victim, nodes)
    assert is_unbound(attacker, forged)


@pytest.mark.parametrize("how", ["put on a node", "finished"])
def test_a_group_of_the_same_name_with_a_quorum_does_not_start_somebody_elses(
    victim: Tenant, attacker: Tenant, nodes: HollowNodes, control_plane: ControlPlane, how: str
) -> None:
    _, group = waiting_gang(victim, nodes)
    name = group["metadata"]["name"]
    attacker.create("podgroups", pod_group(attacker.api, name, SIZE, workloadRef=group["spec"]["workloadRef"]))
    fake_quorum(control_plane, attacker, name, nodes.names[0], how)
    throughout(lambda: victim.jobs.bound("train") == 0, seconds=STAYS_SECONDS)
    starts_with_more_room(victim, nodes)
    assert victim.jobs.group("train")["metadata"]["uid"] == group["metadata"]["uid"]


@pytest.mark.parametrize("how", ["put on a node", "finished"])
def test_pods_that_only_name_the_group_of_a_job_are_no_quorum_for_it(
    attacker: Tenant, nodes: HollowNodes, control_plane: ControlPlane, how: str
) -> None:
    """Not even in one's own namespace: a gang whose room is short is not started in part by pods beside it."""
    _, group = waiting_gang(attacker, nodes)
    fake_quorum(control_plane, attacker, group["metadata"]["name"], nodes.names[0], how)
    throughout(lambda: attacker.jobs.bound("train") == 0, seconds=STAYS_SECONDS)
    starts_with_more_room(attacker, nodes)


def fake_quorum(control_plane: ControlPlane, who: Tenant, group: str, node: str, how: str) -> None:
    """All but one of the members that a group needs, past the scheduler: on a node, or at their end already."""
    for number in range(SIZE - 1):
        who.create("pods", member(f"quorum-{number}", group, cpu=LITTLE, node=node))
    if how == "finished":
        for number in range(SIZE - 1):
            finish(control_plane, who, f"quorum-{number}")


def finish(control_plane: ControlPlane, who: Tenant, pod: str) -> None:
    """As its kubelet would say when it has ended."""

    def has_ended() -> bool:
        path = f"{control_plane.admin.path('pods', who.namespace, pod)}/status"
        control_plane.admin.request("PATCH", path, {"status": {"phase": "Succeeded"}}, kind="merge")
        return bool(who.api.get("pods", pod, who.namespace)["status"]["phase"] == "Succeeded")

    eventually(has_ended, within_seconds=SETTLE_SECONDS)


def test_objects_of_the_same_names_come_and_go_and_somebody_elses_stay(
    victim: Tenant, attacker: Tenant, nodes: HollowNodes
) -> None:
    job, group = waiting_gang(victim, nodes)
    (workload,) = victim.jobs.workloads("train")
    before = [each["metadata"]["uid"] for each in (workload, group)]
    for resource, body in (("workloads", workload), ("podgroups", group)):
        attacker.create(resource, {**type_of(attacker.api, resource), **same_name(body)})
    attacker.jobs.create(indexed_job("train", SIZE, cpu="1000"))
    eventually(lambda: attacker.jobs.waits("train"), within_seconds=SETTLE_SECONDS)
    for resource, body in (("jobs", job), ("podgroups", group), ("workloads", workload)):
        attacker.api.delete(resource, body["metadata"]["name"], attacker.namespace)
    eventually(lambda: not attacker.api.list("podgroups", attacker.namespace), within_seconds=SETTLE_SECONDS)
    (still,) = victim.jobs.workloads("train")
    assert [each["metadata"]["uid"] for each in (still, victim.jobs.group("train"))] == before
    starts_with_more_room(victim, nodes)


def same_name(of: Object) -> Object:
    """An object that looks like this one, but for the mark that only Tutti may set; its owner's UID is forged."""
    kept = {key: of["metadata"][key] for key in ("name", "ownerReferences")}
    return {"metadata": kept, "spec": of["spec"]}


def test_a_group_made_beforehand_under_the_name_of_a_job_is_not_taken_for_its_group(
    victim: Tenant, attacker: Tenant, nodes: HollowNodes
) -> None:
    """Names of groups contain what nobody knows before: somebody's own Job of the same name gets a group of its own."""
    create_all(attacker, hopeless(attacker.api, "train", 1, need=1))
    nodes.add(1, cpu="16")
    for who in (attacker, victim):
        who.jobs.create(indexed_job("train", 2))
    for who in (attacker, victim):
        eventually(lambda who=who: who.jobs.whole("train"), within_seconds=SETTLE_SECONDS)  # type: ignore[misc]
        assert who.jobs.group("train")["metadata"]["name"] != "train"


def test_nobody_reads_or_writes_gangs_of_another_namespace(
    victim: Tenant, attacker: Tenant, nodes: HollowNodes
) -> None:
    _, group = waiting_gang(victim, nodes)
    name = group["metadata"]["name"]
    path = attacker.api.path("podgroups", victim.namespace, name)
    for method, body in (("GET", None), ("PATCH", {"metadata": {"labels": {"x": "y"}}}), ("DELETE", None)):
        with pytest.raises(ApiError) as refused:
            attacker.api.request(method, path, body, kind="merge")
        assert refused.value.status == 403

"""What the effects write, in which order, and what they say about it."""

import logging
from typing import Any

import pytest

from api.constants import (
    EVENT_FAILED_POD_GROUP_CREATE,
    EVENT_FAILED_WORKLOAD_CREATE,
    EVENT_POD_GROUP_CREATED,
    EVENT_UNSUPPORTED_WORKLOAD_STRUCTURE,
    EVENT_WORKLOAD_CREATED,
    POD_GROUP,
)
from controllers.gangs.writes import Outdated
from controllers.owner_cache import JUST_NOW_SECONDS
from kube.client.errors import Forbidden, Invalid, NotSent
from kube.client.resources import JOBS, PODS
from kube.groups.group_api import OWN
from tests.controllers.builders import (
    GROUP_NAME,
    JOB_UID,
    TEMPLATE_NAME,
    WORKLOAD_NAME,
    job_manifest,
    pod_manifest,
    workload_manifest,
)
from tests.controllers.fake_cluster import FakeCluster, refuse
from tests.controllers.world import World


async def test_a_gang_is_made_by_three_writes_in_order(gang: World) -> None:
    await gang.once()
    assert gang.cluster.calls == [
        ("create", "workloads", WORKLOAD_NAME),
        ("create", "podgroups", GROUP_NAME),
        ("patch", "jobs", "train"),
    ]


async def test_the_way_of_a_gang_is_told_with_the_uid_of_its_job(gang: World, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="trace"):
        await gang.once()
        await gang.once()
    told = [vars(record)["fields"] for record in caplog.records if record.name == "trace"]
    assert [each["stage"] for each in told] == ["admitted", "grouped", "gate opened"]
    assert {(each["trace_id"], each["pod_group"]) for each in told} == {(JOB_UID, GROUP_NAME)}


async def test_a_job_that_the_server_did_not_show_just_now_is_read_before_anything_is_created(gang: World) -> None:
    gang.now += JUST_NOW_SECONDS
    await gang.once()
    assert gang.cluster.calls[:2] == [("get", "jobs", "train"), ("create", "workloads", WORKLOAD_NAME)]


async def test_a_job_whose_end_nobody_reported_gets_objects_that_its_end_takes_along(gang: World) -> None:
    # The watch broke less than half a minute ago. The garbage collector deletes what names an owner that is gone.
    gang.cluster.remove(JOBS, "train")
    await gang.once()
    made = [*gang.cluster.all(OWN.workloads), *gang.cluster.all(OWN.pod_groups)]
    assert [each["metadata"]["ownerReferences"][0]["uid"] for each in made] == [JOB_UID, JOB_UID]
    assert len(gang.jobs) == 0


async def test_a_job_recreated_just_now_unnoticed_is_neither_released_nor_mistaken_for_its_predecessor(
    gang: World,
) -> None:
    gang.cluster.put(JOBS, job_manifest(uid="another-uid"))
    await gang.once()
    owners = {each["metadata"]["ownerReferences"][0]["uid"] for each in gang.cluster.all(OWN.workloads)}
    assert owners == {JOB_UID, "another-uid"}
    job = gang.cluster.one(JOBS, "train")
    group = gang.cluster.one(OWN.pod_groups, job["spec"]["template"]["metadata"]["annotations"][POD_GROUP])
    assert group["metadata"]["ownerReferences"][0]["uid"] == "another-uid"


async def test_the_gate_is_opened_by_one_patch_that_tests_what_it_was_decided_on(gang: World) -> None:
    await gang.once()
    group_uid = gang.cluster.one(OWN.pod_groups, GROUP_NAME)["metadata"]["uid"]
    template = "/spec/template/metadata"
    assert gang.cluster.bodies[-1] == [
        {"op": "test", "path": "/metadata/uid", "value": JOB_UID},
        {"op": "test", "path": "/spec/parallelism", "value": 4},
        {"op": "test", "path": "/spec/completions", "value": 4},
        {"op": "test", "path": "/spec/suspend", "value": True},
        {"op": "test", "path": "/metadata/annotations/tutti.scheduler~1gate", "value": "pod-group"},
        {"op": "test", "path": f"{template}/labels/tutti.scheduler~1managed", "value": "embedded"},
        {"op": "test", "path": f"{template}/annotations", "value": None},
        {
            "op": "add",
            "path": f"{template}/annotations",
            "value": {"tutti.scheduler/pod-group": GROUP_NAME, "tutti.scheduler/pod-group-uid": group_uid},
        },
        {"op": "remove", "path": "/metadata/annotations/tutti.scheduler~1gate"},
        {"op": "replace", "path": "/spec/suspend", "value": False},
    ]


async def test_a_new_status_meanwhile_costs_no_second_round(gang: World) -> None:
    def tell_status(number: int) -> None:
        if number == 2:
            changed = gang.cluster.one(JOBS, "train")
            changed["status"] = {"conditions": [{"type": "Suspended", "status": "True"}]}
            gang.cluster.put(JOBS, changed)

    gang.cluster.before_write = tell_status
    await gang.once()
    assert [call for call in gang.cluster.calls if call[:2] == ("patch", "jobs")] == [("patch", "jobs", "train")]
    assert gang.cluster.one(JOBS, "train")["spec"]["suspend"] is False


@pytest.mark.parametrize(
    "meanwhile",
    [
        {"parallelism": 2, "completions": 2},
        {"suspend": False},
        {"template": {"metadata": {"labels": {"job-name": "train"}}}},
    ],
    ids=["another size", "resumed", "let go"],
)
async def test_a_change_that_matters_meanwhile_refuses_the_patch(gang: World, meanwhile: dict[str, Any]) -> None:
    def change(number: int) -> None:
        if number == 2:
            changed = gang.cluster.one(JOBS, "train")
            changed["spec"] |= meanwhile
            gang.cluster.put(JOBS, changed)

    gang.cluster.before_write = change
    job = gang.jobs.get(("default", "train"))
    assert job is not None
    with pytest.raises(Outdated):
        await gang.attempt(job)
    annotations = gang.cluster.one(JOBS, "train")["spec"]["template"]["metadata"].get("annotations", {})
    assert "tutti.scheduler/pod-group" not in annotations


async def test_owners_are_the_job_and_beside_it_the_workload(gang: World) -> None:
    await gang.once()
    workload = gang.cluster.one(OWN.workloads, WORKLOAD_NAME)
    group = gang.cluster.one(OWN.pod_groups, GROUP_NAME)
    assert [(o["kind"], o["uid"], o.get("controller")) for o in workload["metadata"]["ownerReferences"]] == [
        ("Job", JOB_UID, True)
    ]
    assert [(o["kind"], o["uid"], o.get("controller")) for o in group["metadata"]["ownerReferences"]] == [
        ("Job", JOB_UID, True),
        ("Workload", workload["metadata"]["uid"], None),
    ]


async def test_events_are_told_after_the_write_they_tell_about(gang: World) -> None:
    await gang.once()
    assert gang.events.told == [
        (EVENT_WORKLOAD_CREATED, f"Created Workload {WORKLOAD_NAME} for Job train"),
        (EVENT_POD_GROUP_CREATED, f"Created PodGroup {GROUP_NAME} for Job train"),
    ]
    assert gang.events.at == [1, 2]


async def test_nothing_is_written_at_rest(gang: World) -> None:
    await gang.settle()
    before = list(gang.cluster.calls)
    for _ in range(3):
        gang.look()
        await gang.once()
    assert gang.cluster.calls == before


async def test_a_second_pass_does_nothing_before_the_informers_have_caught_up(gang: World) -> None:
    await gang.once()
    before = list(gang.cluster.calls)
    await gang.once()
    assert gang.cluster.calls == before


async def test_creations_are_counted_by_kind_and_result(gang: World) -> None:
    await gang.once()
    assert gang.counted("Workload", "created") == gang.counted("PodGroup", "created") == 1


# --- patches -------------------------------------------------------------------------------------------------------------


async def test_a_fall_back_takes_the_label_off_and_touches_nothing_else(cluster: FakeCluster) -> None:
    cluster.put(JOBS, job_manifest())
    for name in ("a", "b"):
        cluster.put(OWN.workloads, workload_manifest(name, uid=name, job_uid=None, ours=False))
    world = World(cluster)
    await world.once()
    (body,) = cluster.bodies
    assert [operation for operation in body if operation["op"] != "test"] == [
        {"op": "remove", "path": "/spec/template/metadata/labels/tutti.scheduler~1managed"},
        {"op": "remove", "path": "/metadata/annotations/tutti.scheduler~1gate"},
        {"op": "replace", "path": "/spec/suspend", "value": False},
    ]
    assert world.events.reasons == [EVENT_UNSUPPORTED_WORKLOAD_STRUCTURE]
    await world.settle()
    assert len(cluster.written()) == 1
    assert world.events.reasons == [EVENT_UNSUPPORTED_WORKLOAD_STRUCTURE]


async def test_running_pods_are_told_their_group_with_uid_and_version(cluster: FakeCluster) -> None:
    cluster.put(JOBS, job_manifest(gated=False, started=True))
    for name in ("train-0", "train-1"):
        cluster.put(PODS, pod_manifest(name))
    cluster.put(PODS, pod_manifest("stranger", job_uid="another"))
    await World(cluster).settle()
    group_uid = cluster.one(OWN.pod_groups, GROUP_NAME)["metadata"]["uid"]
    for body in cluster.bodies[2:]:
        assert {"uid", "resourceVersion"} <= set(body["metadata"])
    for name in ("train-0", "train-1"):
        annotations = cluster.one(PODS, name)["metadata"]["annotations"]
        assert annotations == {"tutti.scheduler/pod-group": GROUP_NAME, "tutti.scheduler/pod-group-uid": group_uid}
    assert cluster.one(PODS, "stranger")["metadata"]["annotations"] == {}


async def test_a_pod_that_only_claims_to_be_the_jobs_is_not_touched(cluster: FakeCluster) -> None:
    cluster.put(JOBS, job_manifest(gated=False, started=True))
    impostor = pod_manifest("impostor")
    impostor["metadata"]["ownerReferences"] = []
    cluster.put(PODS, impostor)
    await World(cluster).settle()
    assert all(plural != "pods" for _, plural, _ in cluster.written())


async def test_pods_that_come_later_are_told_when_the_status_of_the_job_changes(cluster: FakeCluster) -> None:
    cluster.put(JOBS, job_manifest(gated=False))
    world = World(cluster)
    await world.settle()
    cluster.put(PODS, pod_manifest("train-0"))
    cluster.put(JOBS, job_manifest(gated=False, started=True))
    await world.settle()
    assert cluster.one(PODS, "train-0")["metadata"]["annotations"]["tutti.scheduler/pod-group"] == GROUP_NAME


async def test_pods_are_given_back_when_one_was_placed_alone(cluster: FakeCluster) -> None:
    cluster.put(JOBS, job_manifest(gated=False, started=True))
    cluster.put(PODS, pod_manifest("train-0", node="n"))
    cluster.put(PODS, pod_manifest("train-1"))
    await World(cluster).settle()
    assert cluster.written() == [("patch", "pods", "train-1")]
    assert "tutti.scheduler/managed" not in cluster.one(PODS, "train-1")["metadata"]["labels"]


async def test_the_minimum_of_an_elastic_gang_is_patched_in_both_objects(cluster: FakeCluster) -> None:
    elastic = {"tutti.scheduler/elastic": "true"}
    cluster.put(JOBS, job_manifest(annotations=elastic))
    world = World(cluster)
    await world.settle()
    grown = cluster.one(JOBS, "train")
    grown["spec"] |= {"parallelism": 6, "completions": 6}
    cluster.put(JOBS, grown)
    await world.settle()
    template = cluster.one(OWN.workloads, WORKLOAD_NAME)["spec"]["podGroupTemplates"][0]
    assert template == {
        "name": TEMPLATE_NAME,
        "schedulingPolicy": {"gang": {"minCount": 6}},
        "disruptionMode": {"all": {}},
    }
    assert cluster.one(OWN.pod_groups, GROUP_NAME)["spec"]["schedulingPolicy"] == {"gang": {"minCount": 6}}


# --- refusals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plural", "reason"),
    [("workloads", EVENT_FAILED_WORKLOAD_CREATE), ("podgroups", EVENT_FAILED_POD_GROUP_CREATE)],
)
async def test_a_refused_creation_is_told_once_and_the_gate_stays_shut(gang: World, plural: str, reason: str) -> None:
    refuse(Forbidden(403, "Forbidden", "exceeded quota"), verb="create", plural=plural)(gang.cluster)
    for _ in range(3):
        with pytest.raises(Forbidden):
            await gang.once()
    told = [note for told, note in gang.events.told if told == reason]
    assert len(told) == 1
    assert told[0].endswith("for Job train: exceeded quota")
    assert gang.cluster.one(JOBS, "train")["spec"]["suspend"] is True


@pytest.mark.parametrize("number", [0, 1, 2])
async def test_a_pass_ends_at_the_write_for_which_the_lease_is_gone(gang: World, number: int) -> None:
    gang.cluster.fault = lambda at: "no lease" if at >= number else None
    with pytest.raises(NotSent):
        await gang.once()
    assert len(gang.cluster.written()) == len(gang.events.told) == number


async def test_a_job_that_changes_all_the_time_is_looked_at_again_later(gang: World) -> None:
    gang.cluster.fault = lambda _: "conflict"
    await gang.once()
    assert await gang.once() is not None
    assert gang.cluster.one(JOBS, "train")["spec"]["suspend"] is True


async def test_a_job_that_its_user_suspends_meanwhile_is_planned_anew(gang: World) -> None:
    def opt_out(number: int) -> None:
        if number == 0:
            changed = gang.cluster.one(JOBS, "train")
            changed["metadata"]["annotations"] = {}
            gang.cluster.put(JOBS, changed)

    gang.cluster.before_write = opt_out
    await gang.settle()
    job = gang.cluster.one(JOBS, "train")
    assert job["spec"]["suspend"] is True
    assert job["spec"]["template"]["metadata"]["annotations"]["tutti.scheduler/pod-group"] == GROUP_NAME


async def test_a_pod_bound_while_it_is_told_is_looked_at_again(cluster: FakeCluster) -> None:
    cluster.put(JOBS, job_manifest(gated=False, started=True))
    cluster.put(PODS, pod_manifest("train-0"))

    def bind(number: int) -> None:
        if number == 2:
            pod = cluster.one(PODS, "train-0")
            pod["spec"]["nodeName"] = "n"
            cluster.put(PODS, pod)

    cluster.before_write = bind
    world = World(cluster)
    await world.settle()
    assert cluster.one(PODS, "train-0")["metadata"]["annotations"] == {}
    assert cluster.one(PODS, "train-0")["spec"]["nodeName"] == "n"


async def test_an_unusable_answer_about_a_group_is_an_error_and_not_a_gang(gang: World) -> None:
    refuse(Invalid(422, "Invalid", "spec: required"), verb="create", plural="podgroups")(gang.cluster)
    with pytest.raises(Invalid):
        await gang.once()
    assert "tutti.scheduler/pod-group" not in gang.cluster.one(JOBS, "train")["spec"]["template"]["metadata"].get(
        "annotations", {}
    )

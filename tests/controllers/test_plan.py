"""The plan for a Job, rule by rule. A plan is shown as the names of its steps; details are asserted where they matter."""

from typing import Any, TypeVar

import pytest

from api.constants import (
    EVENT_INVALID_GANG_SETTINGS,
    EVENT_NAME_TAKEN,
    EVENT_NOT_ADMITTED_AS_GANG,
    EVENT_UNSUPPORTED_WORKLOAD_STRUCTURE,
)
from controllers.gangs.common_steps import CreateWorkload, Rules, SetWorkloadMinimum, Warn
from controllers.jobs.observed import ObservedJob
from controllers.jobs.plan import plan
from controllers.jobs.steps import (
    AnnotatePods,
    CreatePodGroup,
    JobPlan,
    PatchJob,
    SetPodGroupMinimum,
    UnlabelPods,
)
from providers.selection import standard_providers
from tests.controllers.builders import GROUP_API_VERSION, GROUP_NAME, WORKLOAD_NAME, group, job, pod, workload

S = TypeVar("S")

RULES = Rules(standard_providers(), GROUP_API_VERSION)


def planned(seen: ObservedJob) -> JobPlan:
    return plan(seen, RULES)


def kinds(found: JobPlan) -> list[str]:
    return [type(step).__name__ for step in found.steps]


def warnings(found: JobPlan) -> list[str]:
    return [step.reason for step in found.steps if isinstance(step, Warn)]


def the(found: JobPlan, kind: type[S]) -> S:
    (step,) = [step for step in found.steps if isinstance(step, kind)]
    return step


COMPLETE: dict[str, Any] = {"workloads": (workload(),), "pod_groups": (group(),)}


# --- nothing to do -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [{"finished": "Complete"}, {"finished": "Failed"}, {"deleting": True}],
    ids=["complete", "failed", "deleted"],
)
def test_a_job_that_is_over_needs_nothing(settings: dict[str, Any]) -> None:
    assert planned(ObservedJob(job(**settings))) == JobPlan()


@pytest.mark.parametrize("suspended", [False, True])
def test_a_gang_at_rest_needs_nothing(suspended: bool) -> None:
    resting = job(gated=False, suspended=suspended, group=GROUP_NAME)
    assert planned(ObservedJob(resting, **COMPLETE, named_group=group())) == JobPlan()


def test_a_running_job_whose_pods_are_all_told_needs_nothing() -> None:
    running = job(gated=False, started=True)
    pods = (pod("train-0", group=GROUP_NAME, node="n"), pod("train-1", group=GROUP_NAME))
    assert planned(ObservedJob(running, **COMPLETE, pods=pods)) == JobPlan()


# --- jobs that admission did not take in ---------------------------------------------------------------------------------


def test_an_eligible_job_without_the_label_is_warned_about_and_nothing_else() -> None:
    found = planned(ObservedJob(job(managed=None, gated=False)))
    assert kinds(found) == ["Warn"]
    assert warnings(found) == [EVENT_NOT_ADMITTED_AS_GANG]
    assert "create it again" in the(found, Warn).note


def test_invalid_settings_on_a_plain_job_are_told_and_nothing_else() -> None:
    found = planned(ObservedJob(job(managed=None, gated=False, annotations={"tutti.scheduler/min-count": "0"})))
    assert kinds(found) == ["Warn"]
    assert warnings(found) == [EVENT_INVALID_GANG_SETTINGS]


@pytest.mark.parametrize(
    "settings",
    [
        {"pods": 1},
        {"parallelism": 2},
        {"annotations": {"tutti.scheduler/policy": "none"}},
        {"owner": {"apiVersion": "x/v1", "kind": "JobSet", "name": "s", "uid": "u", "controller": True}},
        {"spec": {"template": {"spec": {"schedulerName": "somebody-else"}}}},
    ],
    ids=["one pod", "fewer pods than completions", "opted out", "child of a JobSet", "other scheduler"],
)
def test_an_ordinary_job_hears_nothing_from_us(settings: dict[str, Any]) -> None:
    assert planned(ObservedJob(job(managed=None, gated=False, **settings))) == JobPlan()


def test_a_gate_left_on_a_job_without_the_label_is_opened() -> None:
    found = planned(ObservedJob(job(managed=None, pods=1)))
    assert found.steps == (PatchJob(open_gate=True),)


def test_a_job_that_fell_back_is_not_told_that_it_was_not_admitted() -> None:
    two = (workload("a", ours=False), workload("b", ours=False))
    assert planned(ObservedJob(job(managed=None, gated=False), workloads=two)) == JobPlan()


# --- a new gang ----------------------------------------------------------------------------------------------------------


def test_a_new_gang_gets_workload_then_pod_group_then_one_patch() -> None:
    found = planned(ObservedJob(job()))
    assert kinds(found) == ["ConfirmJob", "CreateWorkload", "CreatePodGroup", "PatchJob"]
    assert the(found, CreateWorkload).manifest["metadata"]["name"] == WORKLOAD_NAME
    assert the(found, CreatePodGroup).workload is None
    assert the(found, PatchJob) == PatchJob(associate=True, group=None, open_gate=True)


def test_a_job_suspended_by_its_user_gets_its_group_but_is_not_resumed() -> None:
    found = planned(ObservedJob(job(gated=False, suspended=True)))
    assert the(found, PatchJob) == PatchJob(associate=True, group=None, open_gate=False)


def test_an_existing_workload_of_ours_only_gets_its_group() -> None:
    mine = workload()
    found = planned(ObservedJob(job(), workloads=(mine,)))
    assert kinds(found) == ["ConfirmJob", "CreatePodGroup", "PatchJob"]
    assert the(found, CreatePodGroup).workload is mine


def test_a_users_own_workload_gets_a_group_made_from_its_template() -> None:
    theirs = workload("byo", ours=False, job_uid=None, templates=("t",))
    found = planned(ObservedJob(job(), workloads=(theirs,)))
    assert kinds(found) == ["ConfirmJob", "CreatePodGroup", "PatchJob"]
    assert the(found, CreatePodGroup).workload is theirs


def test_a_complete_pair_is_used_as_it_is() -> None:
    theirs = group("their-own", ours=False, job_uid=None)
    found = planned(ObservedJob(job(), workloads=(workload(ours=False, job_uid=None),), pod_groups=(theirs,)))
    assert found.steps == (PatchJob(associate=True, group=theirs, open_gate=True),)


def test_a_template_that_pods_were_made_from_waits_until_the_suspension_is_seen() -> None:
    found = planned(ObservedJob(job(started=True), **COMPLETE))
    assert found == JobPlan()


# --- falling back --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "seen",
    [
        {"workloads": (workload("a"), workload("b"))},
        {"workloads": (workload("a", templates=("x", "y")),)},
        {"workloads": (workload("a", templates=()),)},
        {"workloads": (workload("a"),), "pod_groups": (group("g"), group("h"))},
    ],
    ids=["two workloads", "two templates", "no template", "two groups"],
)
def test_a_structure_we_do_not_support_falls_back(seen: dict[str, Any]) -> None:
    found = planned(ObservedJob(job(), **seen))
    assert kinds(found) == ["PatchJob", "Warn"]
    assert the(found, PatchJob) == PatchJob(unmanage=True, open_gate=True)
    assert warnings(found) == [EVENT_UNSUPPORTED_WORKLOAD_STRUCTURE]


def test_a_fall_back_leaves_a_job_suspended_that_its_user_suspended() -> None:
    found = planned(ObservedJob(job(gated=False, suspended=True), workloads=(workload("a"), workload("b"))))
    assert the(found, PatchJob) == PatchJob(unmanage=True, open_gate=False)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"annotations": {"tutti.scheduler/policy": "perhaps"}}, EVENT_INVALID_GANG_SETTINGS),
        ({"annotations": {"tutti.scheduler/policy": "none"}}, EVENT_NOT_ADMITTED_AS_GANG),
        ({"managed": "nobody"}, EVENT_INVALID_GANG_SETTINGS),
    ],
    ids=["unusable setting", "opted out later", "unknown provider"],
)
def test_a_managed_job_that_can_have_no_group_falls_back(settings: dict[str, Any], reason: str) -> None:
    found = planned(ObservedJob(job(**settings)))
    assert kinds(found) == ["PatchJob", "Warn"]
    assert the(found, PatchJob).unmanage
    assert warnings(found) == [reason]


@pytest.mark.parametrize("gated", [True, False])
def test_a_new_job_whose_group_the_cluster_makes_is_let_go_without_a_word(gated: bool) -> None:
    theirs = job(gated=gated, suspended=True, spec={"scheduling": {"schedulingPolicy": {"gang": {}}}})
    assert planned(ObservedJob(theirs)) == JobPlan((PatchJob(unmanage=True, open_gate=gated),))


def test_a_started_job_whose_group_the_cluster_makes_is_left_alone() -> None:
    theirs = job(gated=False, started=True, spec={"scheduling": {"schedulingPolicy": {"gang": {}}}})
    assert planned(ObservedJob(theirs)) == JobPlan()


def test_with_gang_jobs_switched_off_nobody_is_warned_and_gangs_are_looked_after() -> None:
    off = Rules(standard_providers(), GROUP_API_VERSION, makes_gangs=False)
    assert plan(ObservedJob(job(managed=None, gated=False)), off) == JobPlan()
    assert plan(ObservedJob(job(managed=None)), off) == JobPlan((PatchJob(open_gate=True),))
    assert kinds(plan(ObservedJob(job()), off)) == ["ConfirmJob", "CreateWorkload", "CreatePodGroup", "PatchJob"]


def test_a_started_job_is_resumed_with_its_template_as_it_is() -> None:
    found = planned(ObservedJob(job(started=True), workloads=(workload("a"), workload("b"))))
    assert the(found, PatchJob) == PatchJob(unmanage=False, open_gate=True)


def test_a_suspended_started_job_without_gate_gets_no_empty_patch() -> None:
    suspended = job(started=True, gated=False, suspended=True)
    assert kinds(planned(ObservedJob(suspended, workloads=(workload("a"), workload("b"))))) == ["Warn"]


# --- a job that runs although its template names no group ----------------------------------------------------------------


def test_a_running_job_gets_its_objects_and_its_unbound_pods_are_told() -> None:
    pods = (pod("train-0"), pod("train-1"))
    found = planned(ObservedJob(job(gated=False, started=True), pods=pods))
    assert kinds(found) == ["ConfirmJob", "CreateWorkload", "CreatePodGroup", "AnnotatePods"]
    assert the(found, AnnotatePods) == AnnotatePods(pods, None)


def test_a_running_job_without_pods_yet_gets_its_objects() -> None:
    found = planned(ObservedJob(job(gated=False)))
    assert kinds(found) == ["ConfirmJob", "CreateWorkload", "CreatePodGroup"]


def test_only_pods_that_still_matter_and_name_no_group_are_told() -> None:
    new = pod("train-2")
    pods = (
        pod("train-0", group=GROUP_NAME, node="n"),
        pod("train-1", phase="Failed"),
        new,
        pod("train-3", deleting=True),
    )
    found = planned(ObservedJob(job(gated=False, started=True), **COMPLETE, pods=pods))
    assert found.steps == (AnnotatePods((new,), group()),)


def test_a_gate_left_on_a_running_job_is_taken_off() -> None:
    found = planned(ObservedJob(job(gated=True, suspended=False), **COMPLETE))
    assert found.steps == (PatchJob(open_gate=True),)


@pytest.mark.parametrize("phase", ["Pending", "Running", "Succeeded"])
def test_a_pod_that_was_placed_alone_makes_the_job_fall_back(phase: str) -> None:
    held = pod("train-1")
    pods = (pod("train-0", node="n", phase=phase), held, pod("train-2", managed=False))
    found = planned(ObservedJob(job(gated=False, started=True), pods=pods))
    assert kinds(found) == ["UnlabelPods", "Warn"]
    assert the(found, UnlabelPods).pods == (held,)
    assert warnings(found) == [EVENT_NOT_ADMITTED_AS_GANG]


def test_a_gang_that_was_begun_is_completed_even_if_one_pod_slipped_away() -> None:
    slipped = pod("train-0", node="n")
    pods = (slipped, pod("train-1", group=GROUP_NAME))
    found = planned(ObservedJob(job(gated=False, started=True), **COMPLETE, pods=pods))
    assert found.steps == (AnnotatePods((slipped,), group()),)


# --- a job whose template names its group --------------------------------------------------------------------------------


def test_an_associated_job_behind_the_gate_is_only_resumed() -> None:
    found = planned(ObservedJob(job(group=GROUP_NAME), **COMPLETE, named_group=group()))
    assert found.steps == (PatchJob(open_gate=True),)


@pytest.mark.parametrize("started", [False, True])
def test_a_missing_group_of_our_own_is_made_again_whatever_runs(started: bool) -> None:
    running = job(gated=False, group=GROUP_NAME, started=started)
    found = planned(ObservedJob(running, workloads=(workload(),)))
    assert kinds(found) == ["ConfirmJob", "CreatePodGroup"]


def test_a_missing_pair_of_our_own_is_made_again() -> None:
    found = planned(ObservedJob(job(gated=False, group=GROUP_NAME, started=True)))
    assert kinds(found) == ["ConfirmJob", "CreateWorkload", "CreatePodGroup"]


def test_a_missing_workload_of_our_own_is_made_again() -> None:
    found = planned(ObservedJob(job(gated=False, group=GROUP_NAME), named_group=group()))
    assert kinds(found) == ["ConfirmJob", "CreateWorkload"]


def test_a_missing_group_that_somebody_else_named_is_not_made() -> None:
    assert planned(ObservedJob(job(gated=False, group="their-own"))) == JobPlan()
    assert planned(ObservedJob(job(gated=False, group="their-own"), workloads=(workload(),))) == JobPlan()


def test_a_suspended_template_is_tied_to_the_new_group_of_the_same_name() -> None:
    found = planned(ObservedJob(job(gated=False, suspended=True, group=GROUP_NAME), workloads=(workload(),)))
    assert kinds(found) == ["ConfirmJob", "CreatePodGroup", "PatchJob"]
    assert the(found, PatchJob) == PatchJob(associate=True, group=None)


def test_a_template_tied_to_a_predecessor_of_the_group_is_tied_anew() -> None:
    suspended = job(gated=False, suspended=True, group=GROUP_NAME, group_uid="of-a-predecessor")
    found = planned(ObservedJob(suspended, **COMPLETE, named_group=group()))
    assert found.steps == (PatchJob(associate=True, group=group()),)


def test_a_running_template_keeps_the_uid_of_a_predecessor() -> None:
    running = job(gated=False, started=True, group=GROUP_NAME, group_uid="of-a-predecessor")
    assert planned(ObservedJob(running, **COMPLETE, named_group=group())) == JobPlan()


def test_a_group_that_cannot_be_described_any_more_is_not_made() -> None:
    broken = job(gated=False, group=GROUP_NAME, annotations={"tutti.scheduler/min-count": "x"})
    found = planned(ObservedJob(broken))
    assert kinds(found) == ["Warn"]
    assert warnings(found) == [EVENT_INVALID_GANG_SETTINGS]


def test_settings_that_became_unusable_do_not_keep_the_gate_shut() -> None:
    broken = job(group=GROUP_NAME, annotations={"tutti.scheduler/min-count": "x"})
    found = planned(ObservedJob(broken, **COMPLETE, named_group=group()))
    assert kinds(found) == ["Warn", "PatchJob"]
    assert the(found, PatchJob) == PatchJob(open_gate=True)


# --- names that others hold ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("named", [None, GROUP_NAME])
def test_a_name_that_is_taken_is_waited_for(named: str | None) -> None:
    found = planned(ObservedJob(job(group=named), name_taken=f"Workload {WORKLOAD_NAME} is being deleted"))
    assert kinds(found) == ["Warn"]
    assert warnings(found) == [EVENT_NAME_TAKEN]
    assert found.requeue_after_seconds


# --- elastic gangs -------------------------------------------------------------------------------------------------------

ELASTIC = {"tutti.scheduler/elastic": "true"}


def test_the_minimum_of_an_elastic_gang_follows_its_parallelism() -> None:
    grown = job(gated=False, group=GROUP_NAME, pods=6, annotations=ELASTIC)
    found = planned(ObservedJob(grown, **COMPLETE, named_group=group()))
    assert found.steps == (SetWorkloadMinimum(workload(), 6), SetPodGroupMinimum(group(), 6))


def test_an_elastic_gang_without_pods_keeps_a_minimum_of_one() -> None:
    settings = ELASTIC | {"tutti.scheduler/policy": "gang"}
    empty = job(gated=False, group=GROUP_NAME, parallelism=0, annotations=settings)
    found = planned(ObservedJob(empty, **COMPLETE, named_group=group()))
    assert the(found, SetPodGroupMinimum).min_count == 1


def test_the_minimum_of_any_other_gang_stays() -> None:
    grown = job(gated=False, group=GROUP_NAME, pods=6)
    assert planned(ObservedJob(grown, **COMPLETE, named_group=group())) == JobPlan()


def test_the_minimum_in_objects_of_others_stays() -> None:
    grown = job(gated=False, group=GROUP_NAME, pods=6, annotations=ELASTIC)
    theirs = group(ours=False)
    assert (
        planned(ObservedJob(grown, workloads=(workload(ours=False),), pod_groups=(theirs,), named_group=theirs))
        == JobPlan()
    )


def test_an_elastic_gang_that_runs_without_association_follows_too() -> None:
    grown = job(gated=False, started=True, pods=6, annotations=ELASTIC)
    pods = (pod("train-0", group=GROUP_NAME),)
    assert kinds(planned(ObservedJob(grown, **COMPLETE, pods=pods))) == ["SetWorkloadMinimum", "SetPodGroupMinimum"]

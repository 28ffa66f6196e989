"""What the controllers do about a JobSet: one Workload, a group for each unit and attempt, nothing that stays behind."""

from typing import Any

import msgspec
import pytest

from api.compile_jobset import pod_group_for_unit, unit_group_name, workload_for_job_set
from api.constants import EVENT_NAME_TAKEN, EVENT_NOT_ADMITTED_AS_GANG, POD_GROUP, SLICE_SIZE, SLICE_TOPOLOGY, TOPOLOGY
from api.job import Job
from api.jobset import JobSet
from api.parents.children import child_of
from api.parents.jobset import taken_in
from api.podgroup import PodGroup, Workload
from controllers.gangs.common_steps import CreateWorkload, Rules, Warn
from controllers.gangs.pod import GangPod
from controllers.jobs.observed import ObservedJob
from controllers.jobs.plan import plan as plan_job
from controllers.jobs.steps import AnnotatePods, PatchJob
from controllers.jobsets.observed import ObservedJobSet
from controllers.jobsets.plan import plan
from controllers.jobsets.steps import ConfirmJobSet, CreateUnitGroups, DeleteGroups
from kube.groups.group_api import OWN
from providers.selection import standard_providers
from tests.jobsets import builders
from tests.jobsets.builders import marked, part

RULES = Rules(standard_providers(), OWN.workloads.api_version)
LEFT, RIGHT = part("left", replicas=2, pods=3), part("right", replicas=2, pods=3)


def jobset(scope: str | None = "set", **settings: Any) -> JobSet:
    parts = [LEFT, RIGHT] if scope is None else [marked(each, scope) for each in (LEFT, RIGHT)]
    return msgspec.convert(builders.jobset(*parts, **settings), JobSet)


def workload_of(found: JobSet) -> Workload:
    intent = taken_in(found)
    assert intent is not None
    manifest = workload_for_job_set(found, intent, api_version=OWN.workloads.api_version)
    return msgspec.convert(manifest, Workload)


def groups_of(found: JobSet) -> tuple[PodGroup, ...]:
    intent = taken_in(found)
    assert intent is not None
    made = (
        pod_group_for_unit(found, unit, workload_of(found), api_version=OWN.pod_groups.api_version)
        for unit in intent.units
    )
    return tuple(msgspec.convert(each, PodGroup) for each in made)


def test_a_new_set_gets_its_workload_and_then_its_groups() -> None:
    confirm, create, groups = plan(ObservedJobSet(jobset()), RULES).steps
    assert isinstance(confirm, ConfirmJobSet)
    assert isinstance(create, CreateWorkload)
    (template,) = create.manifest["spec"]["podGroupTemplates"]
    assert (template["name"], template["schedulingPolicy"]) == ("set", {"gang": {"minCount": 12}})
    assert isinstance(groups, CreateUnitGroups)
    assert [unit.name for unit in groups.units] == ["set"]


@pytest.mark.parametrize(
    ("scope", "count", "templates"),
    [("set", 1, ["set"]), ("replicated-job", 2, ["left", "right"]), ("job", 4, ["left", "right"])],
)
def test_there_is_a_group_for_each_unit_and_a_template_for_each_replicated_job(
    scope: str, count: int, templates: list[str]
) -> None:
    found = jobset(scope)
    assert len({group.metadata.name for group in groups_of(found)}) == count
    assert [each.name for each in workload_of(found).spec.pod_group_templates] == templates


def test_a_group_has_the_name_that_the_jobs_of_its_unit_are_given_at_admission() -> None:
    found = jobset("job", restarts=2)
    intent = taken_in(found)
    assert intent is not None
    names = {unit_group_name(found, unit) for unit in intent.units}
    jobs = [
        builders.child(part=name, index=index, scope="job", attempt=2) for name in ("left", "right") for index in (0, 1)
    ]
    told = {child.group_name for job in jobs if (child := child_of(msgspec.convert(job, Job))) is not None}
    assert told == names


def test_its_groups_say_the_levels_and_slices_for_which_their_field_has_no_room() -> None:
    said = {TOPOLOGY: "example.com/block, preferred:example.com/rack"}
    said |= {SLICE_SIZE: "3", SLICE_TOPOLOGY: "example.com/host"}
    for group in groups_of(jobset("job", annotations=said)):
        assert said.items() <= (group.metadata.annotations or {}).items()
        assert group.spec.topology_key == "example.com/block"
    (plain,) = groups_of(jobset(annotations={TOPOLOGY: "example.com/rack"}))
    assert TOPOLOGY not in (plain.metadata.annotations or {})


def test_at_rest_nothing_is_done() -> None:
    found = jobset()
    assert plan(ObservedJobSet(found, workload_of(found), groups_of(found)), RULES).steps == ()


def test_a_restart_makes_new_groups_and_takes_those_of_the_former_attempt() -> None:
    before, after = jobset(restarts=0), jobset(restarts=1)
    confirm, delete, create = plan(ObservedJobSet(after, workload_of(after), groups_of(before)), RULES).steps
    assert isinstance(confirm, ConfirmJobSet)
    assert delete == DeleteGroups(groups_of(before))
    assert isinstance(create, CreateUnitGroups)


def test_groups_of_an_attempt_that_is_not_known_yet_stay() -> None:
    before, after = jobset(restarts=0), jobset(restarts=1)
    seen = ObservedJobSet(before, workload_of(before), (*groups_of(before), *groups_of(after)))
    assert plan(seen, RULES).steps == ()


@pytest.mark.parametrize("condition", ["Completed", "Failed"])
def test_a_set_that_is_done_has_no_groups_any_more(condition: str) -> None:
    found = jobset(conditions=(condition,))
    assert plan(ObservedJobSet(found, workload_of(found), groups_of(found)), RULES).steps == (
        ConfirmJobSet(),
        DeleteGroups(groups_of(found)),
    )
    assert plan(ObservedJobSet(found, workload_of(found)), RULES).steps == ()


def test_while_it_is_suspended_no_group_is_made_and_none_is_taken() -> None:
    found = jobset(suspend=True)
    assert plan(ObservedJobSet(found), RULES).steps == ()
    assert plan(ObservedJobSet(found, workload_of(found), groups_of(found)), RULES).steps == ()


def test_a_name_that_somebody_else_holds_is_waited_for() -> None:
    found = plan(ObservedJobSet(jobset(), name_taken="Workload pair belongs to nobody"), RULES)
    (_, warning) = (None, found.steps[-1])
    assert isinstance(warning, Warn)
    assert warning.reason == EVENT_NAME_TAKEN
    assert found.requeue_after_seconds is not None


def test_a_set_that_admission_missed_is_told_once_and_left_alone() -> None:
    (warning,) = plan(ObservedJobSet(jobset(None)), RULES).steps
    assert isinstance(warning, Warn)
    assert warning.reason == EVENT_NOT_ADMITTED_AS_GANG
    for settings in (
        {"conditions": ("Completed",)},
        {"deleting": True},
        {"annotations": {"tutti.scheduler/policy": "none"}},
    ):
        assert plan(ObservedJobSet(jobset(None, **settings)), RULES).steps == ()


# --- its Jobs ----------------------------------------------------------------------------------------------------------------


def test_pods_that_were_not_told_their_group_at_admission_are_told_it_now() -> None:
    job = msgspec.convert(builders.child(), Job)
    pods = [
        {"metadata": {"name": "told", "annotations": {POD_GROUP: "g"}}},
        {"metadata": {"name": "untold"}},
        {"metadata": {"name": "placed"}, "spec": {"nodeName": "n"}},
    ]
    seen = ObservedJob(job, pods=tuple(msgspec.convert(each, GangPod) for each in pods))
    (step,) = plan_job(seen, RULES).steps
    assert isinstance(step, AnnotatePods)
    assert [pod.metadata.name for pod in step.pods] == ["untold"]
    known = child_of(job)
    assert known is not None
    assert step.group is not None
    assert step.group.metadata.name == known.group_name


def test_a_suspended_job_has_the_name_written_into_its_template_and_stays_suspended() -> None:
    job = msgspec.convert(builders.child(suspend=True), Job)
    (step,) = plan_job(ObservedJob(job), RULES).steps
    assert isinstance(step, PatchJob)
    assert (step.associate, step.open_gate) == (True, False)

"""A Job that must give way is suspended behind our gate, and let in again when its pods have left."""

from typing import Any

import msgspec

from api.constants import CONDITION_DISRUPTION_TARGET, CONDITION_TIMED_OUT, ON_SCHEDULING_TIMEOUT, SCHEDULING_TIMEOUT
from api.meta import Condition
from api.podgroup import PodGroup, PodGroupStatus
from controllers.gangs.common_steps import Rules, Warn
from controllers.jobs.execute import job_patch
from controllers.jobs.observed import ObservedJob
from controllers.jobs.plan import plan
from controllers.jobs.steps import (
    PatchJob,
    Step,
)
from controllers.operator import _same_but_status
from providers.selection import standard_providers
from tests.controllers.builders import GROUP_API_VERSION, GROUP_NAME, group, job, workload

RULES = Rules(standard_providers(), GROUP_API_VERSION)


def asked(status: str) -> PodGroup:
    condition = Condition(CONDITION_DISRUPTION_TARGET, status, "PreemptionByScheduler")
    return msgspec.structs.replace(group(), status=PodGroupStatus((condition,)))


def given_up(status: str, on_timeout: str = "suspend") -> PodGroup:
    made = group()
    said = {**(made.metadata.annotations or {}), SCHEDULING_TIMEOUT: "10m", ON_SCHEDULING_TIMEOUT: on_timeout}
    metadata = msgspec.structs.replace(made.metadata, annotations=said)
    condition = Condition(CONDITION_TIMED_OUT, status, "SchedulingTimeout")
    return msgspec.structs.replace(made, metadata=metadata, status=PodGroupStatus((condition,)))


def steps(named: PodGroup, **settings: Any) -> tuple[Step, ...]:
    seen = ObservedJob(
        job("train", group=GROUP_NAME, **settings), workloads=(workload(),), pod_groups=(named,), named_group=named
    )
    return plan(seen, RULES).steps


def test_a_running_job_is_suspended_behind_the_gate() -> None:
    assert steps(asked("True"), gated=False, started=True) == (PatchJob(close_gate=True),)
    running = job("train", group=GROUP_NAME, gated=False)
    operations = job_patch(running, PatchJob(close_gate=True), None)
    changes = {each["path"]: each["value"] for each in operations if each["op"] != "test"}
    assert changes["/spec/suspend"] is True
    assert changes["/metadata/annotations/tutti.scheduler~1gate"] == "pod-group"


def test_it_stays_suspended_until_its_pods_have_left() -> None:
    assert steps(asked("True"), gated=True) == ()


def test_then_it_is_resumed() -> None:
    [step] = steps(asked("False"), gated=True)
    assert isinstance(step, PatchJob)
    assert step.open_gate


def test_a_job_its_user_suspended_stays_so() -> None:
    assert not any(
        isinstance(step, PatchJob) and step.open_gate for step in steps(asked("False"), gated=False, suspended=True)
    )


def test_of_all_that_schedulers_write_into_a_groups_status_only_this_is_looked_at() -> None:
    assert not _same_but_status(group(), asked("True"))
    assert not _same_but_status(asked("True"), asked("False"))
    assert _same_but_status(group(), asked("False"))


def test_a_job_that_asked_for_it_is_suspended_without_a_gate_when_its_group_was_given_up() -> None:
    step, warning = steps(given_up("True"), gated=False, started=True)
    assert step == PatchJob(suspend=True)
    assert isinstance(warning, Warn)
    assert warning.note == "suspended: its pods found no place together within 10m; resume it to try again"
    seen = job("train", group=GROUP_NAME, gated=False)
    seen = msgspec.structs.replace(seen, metadata=msgspec.structs.replace(seen.metadata, generation=3, annotations={}))
    operations = job_patch(seen, PatchJob(suspend=True), None)
    assert {"op": "test", "path": "/metadata/generation", "value": 3} in operations
    changes = {each["path"]: each["value"] for each in operations if each["op"] != "test"}
    mark = "/metadata/annotations/tutti.scheduler~1suspended"
    assert changes == {mark: f"{seen.metadata.uid}/4", "/spec/suspend": True}


def test_it_stays_suspended_until_its_user_resumes_it() -> None:
    assert steps(given_up("True"), gated=False, suspended=True) == ()
    assert steps(given_up("False"), gated=False, suspended=True) == ()


def test_a_job_that_did_not_ask_for_it_is_left_running() -> None:
    assert steps(given_up("True", "stop"), gated=False, started=True) == ()


def test_a_group_that_is_given_up_is_looked_at() -> None:
    assert not _same_but_status(given_up("False"), given_up("True"))
    assert _same_but_status(given_up("False", "stop"), given_up("True", "stop"))

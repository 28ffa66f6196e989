"""Delegated Jobs of a JobSet that is suspended: its Workload may come later, and a gate is not opened against its will."""

import msgspec
import pytest

from api.constants import (
    DELEGATED_TEMPLATE,
    EVENT_NOT_ADMITTED_AS_GANG,
    EVENT_SCHEDULING_DEPENDENCY_NOT_FOUND,
    GATE,
    HELD,
)
from api.podgroup import Workload
from controllers.gangs.common_steps import Rules, Warn
from controllers.jobs.execute import job_patch
from controllers.jobs.observed import ObservedJob
from controllers.jobs.plan import plan
from controllers.jobs.steps import CreatePodGroup, PatchJob
from kube.groups.group_api import OWN
from providers.selection import standard_providers
from tests.controllers.builders import job, workload_manifest
from tests.controllers.test_delegation import PARENT

RULES = Rules(standard_providers(), OWN.workloads.api_version)


def child(**settings: object):  # type: ignore[no-untyped-def]
    return job("set-workers-0", owner=PARENT, annotations={DELEGATED_TEMPLATE: "workers"}, **settings)


def parents_workload() -> Workload:
    manifest = workload_manifest("of-set", templates=("workers",), ours=False, job_uid=None)
    manifest["spec"]["controllerRef"] = {"apiGroup": "jobset.x-k8s.io", "kind": "JobSet", "name": "set"}
    return msgspec.convert(manifest, Workload)


def test_a_suspended_job_whose_parent_has_no_workload_yet_stays_taken_in_and_nothing_is_said() -> None:
    assert plan(ObservedJob(child(gated=False, suspended=True)), RULES).steps == ()


def test_with_the_workload_there_it_gets_its_group() -> None:
    seen = ObservedJob(child(gated=False, suspended=True), workloads=(parents_workload(),))
    steps = plan(seen, RULES).steps
    assert any(isinstance(step, CreatePodGroup) for step in steps)
    assert steps[-1] == PatchJob(associate=True)


def test_a_gated_job_without_a_workload_falls_back_as_ever() -> None:
    patch, warning = plan(ObservedJob(child()), RULES).steps
    assert patch == PatchJob(unmanage=True, open_gate=True)
    assert isinstance(warning, Warn)
    assert warning.reason == EVENT_SCHEDULING_DEPENDENCY_NOT_FOUND


def test_a_plain_job_whose_parents_workload_came_later_is_not_told_that_admission_missed_it() -> None:
    seen = ObservedJob(child(managed=None, gated=False, suspended=False), workloads=(parents_workload(),))
    (warning,) = plan(seen, RULES).steps
    assert isinstance(warning, Warn)
    assert warning.reason == EVENT_NOT_ADMITTED_AS_GANG
    assert "or the Workload of its parent JobSet set came after it" in warning.note


@pytest.mark.parametrize("is_parent_suspended", [True, False])
def test_a_gate_is_opened_without_a_resume_when_the_parent_was_suspended_meanwhile(is_parent_suspended: bool) -> None:
    found = child()
    seen = ObservedJob(found, workloads=(parents_workload(),), is_parent_suspended=is_parent_suspended)
    step = plan(seen, RULES).steps[-1]
    assert isinstance(step, PatchJob)
    written = {each["path"] for each in job_patch(found, step, None) if each["op"] != "test"}
    gate = "/metadata/annotations/" + GATE.replace("/", "~1")
    assert gate in written
    assert ("/spec/suspend" in written) is not is_parent_suspended
    assert HELD not in str(written)

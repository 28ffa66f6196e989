"""UPDATE of a Job with a managed template."""

import copy
from typing import Any

import pytest

from api.constants import GATE, GATE_POD_GROUP, MANAGED, POD_GROUP, POD_GROUP_UID
from providers.selection import standard_providers
from tests.webhooks.builders import Object, job, patched, request
from webhooks.admission.config import AdmissionConfig
from webhooks.admission.review import ALLOWED, Request, Response
from webhooks.job.defaulter import default_job
from webhooks.job.update_defaulter import default_updated_job

GROUP = {POD_GROUP: "g", POD_GROUP_UID: "u"}


def keep(update: Request) -> Response:
    return default_updated_job(update, providers=standard_providers())


def gated(**shape: Any) -> Object:
    """A Job just after its admission."""
    new = job(**shape)
    response = default_job(request(new), AdmissionConfig(standard_providers()))
    return patched(new, response)


def opened(stored: Object) -> Object:
    """The same Job once the controllers have opened its gate."""
    result = copy.deepcopy(stored)
    result["spec"]["suspend"] = False
    result["spec"]["template"]["metadata"]["annotations"] = dict(GROUP)
    result["metadata"].get("annotations", {}).pop(GATE, None)
    return result


def updated(old: Object, new: Object) -> Object:
    """The Job as stored; a second pass of the webhook must change nothing."""
    stored = patched(new, keep(request(new, old)))
    assert keep(request(stored, old)).patch == ()
    return stored


def test_the_controllers_open_the_gate_unhindered() -> None:
    held = gated()
    assert updated(held, opened(held)) == opened(held)


def test_a_job_that_starts_before_its_group_exists_is_held_again() -> None:
    held = gated()
    eager = copy.deepcopy(held)
    eager["spec"]["suspend"] = False
    assert updated(held, eager) == held


def test_a_job_its_user_resumes_too_early_is_gated() -> None:
    suspended = gated(suspend=True)
    resumed = copy.deepcopy(suspended)
    resumed["spec"]["suspend"] = False
    stored = updated(suspended, resumed)
    assert stored["spec"]["suspend"] is True
    assert stored["metadata"]["annotations"][GATE] == GATE_POD_GROUP


def test_a_job_with_a_group_is_resumed_by_its_user() -> None:
    running = opened(gated())
    suspended = copy.deepcopy(running)
    suspended["spec"]["suspend"] = True
    assert updated(running, suspended) == suspended
    assert updated(suspended, running) == running


def test_a_job_that_runs_without_a_group_is_not_stopped() -> None:
    running = opened(gated())
    del running["spec"]["template"]["metadata"]["annotations"]
    changed = copy.deepcopy(running)
    changed["spec"]["activeDeadlineSeconds"] = 60
    assert updated(running, changed) == changed


def test_a_job_that_starts_carries_no_gate() -> None:
    held = gated()
    started = opened(held)
    started["metadata"]["annotations"] = {GATE: GATE_POD_GROUP}
    assert GATE not in updated(held, started)["metadata"]["annotations"]


@pytest.mark.parametrize(
    "manifest",
    [
        job(),
        job(scheduler_name=""),
        job(template_annotations={"mine": "1"}, template_labels={"app": "a"}),
    ],
)
@pytest.mark.parametrize("state", ["gated", "running", "suspended"])
def test_a_users_own_manifest_can_be_put_again(manifest: Object, state: str) -> None:
    held = gated()
    old = held if state == "gated" else opened(held)
    if state == "suspended":
        old["spec"]["suspend"] = True
    stored = updated(old, manifest)
    template = stored["spec"]["template"]
    assert template["spec"]["schedulerName"] == "tutti"
    assert template["metadata"]["labels"][MANAGED] == "embedded"
    assert stored["spec"]["podFailurePolicy"] == old["spec"]["podFailurePolicy"]
    assert stored["spec"]["podReplacementPolicy"] == "Failed"
    if state == "gated":
        assert stored["spec"]["suspend"] is True
        assert stored["metadata"]["annotations"][GATE] == GATE_POD_GROUP
    else:
        assert stored["spec"]["suspend"] is False
        assert template["metadata"]["annotations"].items() >= GROUP.items()


def test_what_the_user_changed_beside_is_kept() -> None:
    running = opened(gated())
    manifest = job(template_annotations={"mine": "1"}, activeDeadlineSeconds=60)
    stored = updated(running, manifest)
    assert stored["spec"]["activeDeadlineSeconds"] == 60
    assert stored["spec"]["template"]["metadata"]["annotations"]["mine"] == "1"


def test_a_replacement_policy_that_is_applied_again_gives_way_to_ours() -> None:
    running = opened(gated())
    applied = copy.deepcopy(running)
    applied["spec"]["podReplacementPolicy"] = "TerminatingOrFailed"
    assert updated(running, applied) == running


def test_a_failure_policy_of_the_users_own_is_not_touched() -> None:
    own = {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}]}
    running = opened(gated(podFailurePolicy=own, podReplacementPolicy="Failed"))
    dropped = copy.deepcopy(running)
    del dropped["spec"]["podFailurePolicy"]
    assert keep(request(dropped, running)).patch == ()


def test_the_controllers_can_fall_back_to_plain_scheduling() -> None:
    held = gated()
    plain = copy.deepcopy(held)
    del plain["spec"]["template"]["metadata"]["labels"][MANAGED]
    plain["spec"]["suspend"] = False
    del plain["metadata"]["annotations"][GATE]
    assert keep(request(plain, held)) == ALLOWED


def test_a_label_that_is_lost_while_the_job_runs_is_put_back() -> None:
    running = opened(gated())
    stripped = copy.deepcopy(running)
    del stripped["spec"]["template"]["metadata"]["labels"][MANAGED]
    assert updated(running, stripped) == running


def test_a_job_that_was_never_taken_in_is_none_of_our_business() -> None:
    old = job(suspend=True)
    assert keep(request(job(), old)) == ALLOWED

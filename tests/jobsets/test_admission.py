"""Admission of JobSets and of their Jobs: marks on templates, a name of the group on each Job, nothing that is held back."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from api.constants import (
    DELEGATED_TEMPLATE,
    ELASTIC,
    GATE,
    JOBSET_EXCLUSIVE_TOPOLOGY,
    JOBSET_NODE_SELECTOR,
    MANAGED,
    MIN_COUNT,
    ON_SCHEDULING_TIMEOUT,
    POD_GROUP,
    SCHEDULING_TIMEOUT,
    SCOPE,
    SLICE_SIZE,
    SLICE_TOPOLOGY,
    TOPOLOGY,
)
from api.job import Job
from api.parents.children import child_of
from providers.selection import standard_providers
from tests.jobsets.builders import Object, child, jobset, marked, part
from tests.webhooks.builders import apply
from webhooks.admission.config import AdmissionConfig
from webhooks.admission.review import GroupResource, Request, Response
from webhooks.job.defaulter import default_job
from webhooks.job.update_defaulter import default_updated_job
from webhooks.jobset import default_job_set, default_updated_job_set

LEFT, DRIVER = part("left", replicas=2, pods=3), part("driver", pods=1)
RESOURCES = {"JobSet": ("jobset.x-k8s.io", "v1alpha2", "jobsets"), "Job": ("batch", "v1", "jobs")}


def slices(size: int) -> Object:
    return {SLICE_SIZE: str(size), SLICE_TOPOLOGY: "example.com/rack"}


def config(**settings: Any) -> AdmissionConfig:
    return AdmissionConfig(providers=standard_providers(), **settings)


def request(new: Object, old: Object | None = None) -> Request:
    group, version, resource = RESOURCES[new["kind"]]
    return Request(
        uid="review",
        operation="CREATE" if old is None else "UPDATE",
        resource=GroupResource(group=group, version=version, resource=resource),
        object=msgspec.Raw(msgspec.json.encode(new)),
        old_object=msgspec.Raw(b"null" if old is None else msgspec.json.encode(old)),
    )


def admitted(new: Object, settings: AdmissionConfig | None = None) -> Object:
    response = default_job_set(request(new), settings or config())
    assert response.allowed, response.message
    return apply(new, response.patch)


def template_of(found: Object, number: int) -> Object:
    pods: Object = found["spec"]["replicatedJobs"][number]["template"]["spec"]["template"]
    return pods


def test_a_whole_set_has_all_its_pods_marked_and_nothing_suspended() -> None:
    found = admitted(jobset(DRIVER, LEFT, annotations={SCOPE: "set"}))
    for number in (0, 1):
        assert template_of(found, number)["metadata"]["labels"] == {MANAGED: "embedded"}
        assert template_of(found, number)["spec"]["schedulerName"] == "tutti"
        assert found["spec"]["replicatedJobs"][number]["template"]["metadata"]["annotations"] == {SCOPE: "set"}
    assert "suspend" not in found["spec"]
    assert GATE not in found["metadata"]["annotations"]


@pytest.mark.parametrize(
    "grouped",
    [
        part("left", pods=3, pod_spec={"schedulingGroup": {"podGroupName": "mine"}}),
        part("left", pods=3, annotations={DELEGATED_TEMPLATE: "workers"}),
    ],
)
def test_a_group_of_ones_own_that_may_wait_for_pods_that_its_leaders_keep_away_is_warned_about(grouped: Object) -> None:
    exclusive = {JOBSET_EXCLUSIVE_TOPOLOGY: "example.com/rack"}
    response = default_job_set(request(jobset(DRIVER, grouped, annotations=exclusive)), config())
    assert response.allowed
    (warning,) = response.warnings
    assert "a group with a minimum of more pods than these waits for ever" in warning
    at_once = jobset(DRIVER, grouped, annotations={**exclusive, JOBSET_NODE_SELECTOR: "true"})
    for quiet in (at_once, jobset(DRIVER, grouped), jobset(DRIVER, LEFT, annotations=exclusive)):
        assert not default_job_set(request(quiet), config()).warnings


def test_without_a_scope_only_jobs_that_are_gangs_by_their_shape_are_marked() -> None:
    found = admitted(jobset(DRIVER, LEFT))
    assert "metadata" not in template_of(found, 0)
    assert template_of(found, 1)["metadata"]["labels"] == {MANAGED: "embedded"}


def test_admitting_it_twice_changes_nothing() -> None:
    once = admitted(jobset(DRIVER, LEFT, annotations={SCOPE: "set"}))
    assert admitted(once) == once


def test_a_copied_manifest_loses_what_it_says_of_another_sets_groups() -> None:
    copied = jobset(marked(DRIVER, "set"), marked(LEFT, "set"))
    template_of(copied, 0)["metadata"]["annotations"] = {POD_GROUP: "of-another"}
    found = admitted(copied)
    assert template_of(found, 0)["metadata"] == {"labels": {}, "annotations": {}}
    assert found["spec"]["replicatedJobs"][1]["template"]["metadata"]["annotations"] == {SCOPE: "job"}


@pytest.mark.parametrize(
    ("annotations", "spec", "message"),
    [
        ({SCOPE: "all"}, {}, "set, replicated-job, job"),
        ({SCOPE: "set"}, {"startupPolicy": {"startupPolicyOrder": "InOrder"}}, "use replicated-job"),
        ({"tutti.scheduler/policy": "basic"}, {}, "a JobSet has gangs or none"),
        ({"tutti.scheduler/provider": "nobody"}, {}, "is not one of"),
        ({SCOPE: "job", **slices(2)}, {}, "a Job of left runs 3 pods, which is no whole number of slices of 2"),
        ({SCOPE: "set", **slices(3)}, {}, "a Job of driver runs 1 pods"),
        ({SCOPE: "job", TOPOLOGY: "preferred:block, rack"}, {}, "rack"),
    ],
)
def test_what_cannot_be_is_refused_with_what_would_do(
    annotations: Mapping[str, str], spec: Mapping[str, Any], message: str
) -> None:
    response = default_job_set(request(jobset(DRIVER, LEFT, annotations=annotations, **spec)), config())
    assert not response.allowed
    assert message in response.message


def test_slices_are_of_pods_with_ranks() -> None:
    loose = part("loose", pods=4)
    loose["template"]["spec"]["completionMode"] = "NonIndexed"
    response = default_job_set(request(jobset(loose, annotations={SCOPE: "job", **slices(2)})), config())
    assert "the pods of loose have none; set its completionMode to Indexed" in response.message


def test_slices_that_divide_each_job_are_taken() -> None:
    found = admitted(jobset(DRIVER, LEFT, annotations={SCOPE: "replicated-job", **slices(3)}))
    assert template_of(found, 1)["metadata"]["labels"] == {MANAGED: "embedded"}


def test_the_scope_of_the_namespace_counts_where_the_set_says_none() -> None:
    settings = config(namespace=lambda _: {SCOPE: "set"})
    found = admitted(jobset(DRIVER, LEFT), settings)
    assert found["metadata"]["annotations"] == {SCOPE: "set"}
    assert template_of(found, 0)["metadata"]["labels"] == {MANAGED: "embedded"}


def test_a_default_that_would_deadlock_is_left_out_with_a_warning() -> None:
    ordered = jobset(DRIVER, LEFT, startupPolicy={"startupPolicyOrder": "InOrder"})
    response = default_job_set(request(ordered), config(defaults={SCOPE: "set"}))
    assert response.allowed
    assert "a default of the configuration was left out" in response.warnings[0]
    assert apply(ordered, response.patch)["spec"]["replicatedJobs"][1]["template"]["metadata"]["annotations"] == {
        SCOPE: "job"
    }


def test_a_gang_scheduler_that_cannot_hold_its_pods_back_leaves_the_set_plain_and_says_so() -> None:
    asked = jobset(LEFT, annotations={SCOPE: "set", "tutti.scheduler/provider": "volcano"})
    response = default_job_set(request(asked), config())
    assert "cannot hold the pods of a JobSet back" in response.warnings[0]
    assert MANAGED not in str(apply(asked, response.patch))


@pytest.mark.parametrize(
    ("asked", "warned"),
    [
        ({MIN_COUNT: "2"}, (f"the annotation {MIN_COUNT} has no effect on a JobSet: its size is its minimum",)),
        ({ELASTIC: "true"}, (f"the annotation {ELASTIC} has no effect on a JobSet: its size is its minimum",)),
        (
            {SCHEDULING_TIMEOUT: "5m", ON_SCHEDULING_TIMEOUT: "suspend"},
            (f"{ON_SCHEDULING_TIMEOUT}: suspend has no effect on a JobSet: its pods stay when it gives up",),
        ),
        ({SCHEDULING_TIMEOUT: "5m", ON_SCHEDULING_TIMEOUT: "stop"}, ()),
    ],
)
def test_what_means_nothing_on_a_job_set_is_warned_about(asked: dict[str, str], warned: tuple[str, ...]) -> None:
    response = default_job_set(request(jobset(LEFT, annotations={SCOPE: "set", **asked})), config())
    assert response.allowed
    assert response.warnings == warned


def test_switched_off_a_new_set_is_plain() -> None:
    assert admitted(jobset(LEFT), config(gang_job_sets=False)) == jobset(LEFT)


def test_preempted_pods_stay_out_of_the_backoff_limit() -> None:
    found = admitted(jobset(LEFT, part("other", restart_policy="OnFailure")))
    assert "podFailurePolicy" in found["spec"]["replicatedJobs"][0]["template"]["spec"]
    assert "podFailurePolicy" not in found["spec"]["replicatedJobs"][1]["template"]["spec"]


def test_applied_again_its_manifest_loses_nothing_that_was_added() -> None:
    written = jobset(DRIVER, LEFT, annotations={SCOPE: "set"})
    stored = admitted(written)
    response = default_updated_job_set(request(written, stored))
    assert apply(written, response.patch)["spec"] == stored["spec"]


def test_a_scope_that_changes_later_changes_nothing_and_its_user_is_told() -> None:
    stored = admitted(jobset(DRIVER, LEFT, annotations={SCOPE: "set"}))
    changed = {**stored, "metadata": {**stored["metadata"], "annotations": {SCOPE: "job"}}}
    response: Response = default_updated_job_set(request(changed, stored))
    assert apply(changed, response.patch) == changed
    assert "new JobSets only" in response.warnings[0]


# --- its Jobs ----------------------------------------------------------------------------------------------------------------


def test_a_new_job_of_it_names_its_group_and_is_not_held() -> None:
    made = child()
    found = apply(made, default_job(request(made), config()).patch)
    known = child_of(msgspec.convert(made, Job))
    assert known is not None
    assert found["spec"]["template"]["metadata"]["annotations"] == {POD_GROUP: known.group_name}
    assert found["spec"]["suspend"] is False
    assert GATE not in found["metadata"]["annotations"]


def test_a_job_of_a_set_that_was_not_taken_in_stays_as_it_is() -> None:
    made = child(scope=None, managed=None)
    assert default_job(request(made), config()).patch == ()


def test_resumed_a_job_that_was_made_while_admission_was_down_learns_its_group() -> None:
    before = child()
    before["spec"]["suspend"] = True
    after = child()
    found = apply(after, default_updated_job(request(after, before), providers=standard_providers()).patch)
    assert POD_GROUP in found["spec"]["template"]["metadata"]["annotations"]
    assert found["spec"]["suspend"] is False

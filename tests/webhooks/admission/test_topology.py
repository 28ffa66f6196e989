"""Admission of what is said of the topology: on Jobs with defaults and `spec.scheduling`, on PodGroups, for other schedulers."""

from typing import Any

import pytest

from api.constants import MANAGED_BY, SLICE_SIZE, SLICE_TOPOLOGY, TOPOLOGY
from providers.selection import standard_providers
from tests.webhooks.builders import Object, job, patched, request
from webhooks.admission.config import AdmissionConfig, JobIntegration
from webhooks.admission.gang_defaults import GangDefaults
from webhooks.admission.review import Response
from webhooks.job.defaulter import default_job
from webhooks.podgroup import validate_pod_group

LEVELS = "block, preferred:rack"
SLICES = {SLICE_SIZE: "2", SLICE_TOPOLOGY: "rack"}
KUEUE = {"kueue.x-k8s.io/podset-preferred-topology": "rack"}


def admit(new: Object, *, topology: str | None = None, integration: JobIntegration = "tutti") -> Response:
    defaults = GangDefaults(topology=topology).annotations
    config = AdmissionConfig(standard_providers(built_in_groups=True), integration=integration, defaults=defaults)
    return default_job(request(new), config)


def annotations_of(stored: Object) -> dict[str, str]:
    return dict(stored["metadata"].get("annotations", {}))


def test_a_default_may_name_several_levels() -> None:
    new = job()
    assert annotations_of(patched(new, admit(new, topology=LEVELS)))[TOPOLOGY] == LEVELS
    with pytest.raises(ValueError, match="it names rack twice"):
        GangDefaults(topology="rack, rack")


def test_what_a_pod_template_says_to_kueue_comes_before_a_default() -> None:
    new = job(template_annotations=KUEUE)
    assert TOPOLOGY not in annotations_of(patched(new, admit(new, topology="zone")))


def test_a_mistake_is_refused_in_one_line() -> None:
    response = admit(job(annotations={**SLICES, TOPOLOGY: LEVELS}))
    assert not response.allowed
    assert "3 pods are no whole number of slices of 2; use a size that divides 3" in response.message


@pytest.mark.parametrize(
    ("integration", "topology", "has_field", "is_told"),
    [
        ("auto", "block", True, False),
        ("auto", LEVELS, False, False),
        ("kubernetes", "block", True, False),
        ("kubernetes", LEVELS, True, True),
    ],
)
def test_what_the_field_has_no_room_for_gets_a_group_of_ours_where_that_may_be(
    integration: JobIntegration, topology: str, *, has_field: bool, is_told: bool
) -> None:
    new = job(annotations={TOPOLOGY: topology})
    response = admit(new, integration=integration)
    stored = patched(new, response)
    assert ("scheduling" in stored["spec"]) == has_field
    if has_field:
        assert stored["spec"]["scheduling"]["schedulingConstraints"] == {"topology": [{"key": "block"}]}
    assert any("only one required level is observed" in text for text in response.warnings) == is_told


@pytest.mark.parametrize(
    ("scheduler", "annotations", "told"),
    [
        ("volcano", {TOPOLOGY: LEVELS}, "does not observe it"),
        ("volcano", SLICES, f"[{SLICE_SIZE}]: provider volcano does not observe it"),
        ("default-scheduler", {TOPOLOGY: LEVELS}, "knows one required level: the gang is inside one block"),
        (
            "default-scheduler",
            {TOPOLOGY: "preferred:rack"},
            "knows one required level: the gang is nowhere in particular",
        ),
    ],
)
def test_the_user_of_another_scheduler_is_told_what_it_leaves_out(
    scheduler: str, annotations: dict[str, str], told: str
) -> None:
    name = "kube-scheduler" if scheduler == "default-scheduler" else scheduler
    said = {**annotations, "tutti.scheduler/provider": name}
    response = admit(job(parallelism=4, completions=4, annotations=said))
    assert any(told in warning for warning in response.warnings), response


# --- PodGroups ---------------------------------------------------------------------------------------------------------


def group(annotations: dict[str, str], **spec: Any) -> Object:
    return {
        "apiVersion": "tutti.scheduler/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "g", "namespace": "team", "annotations": annotations},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 4}}, **spec},
    }


INSIDE_ONE_BLOCK = {"schedulingConstraints": {"topology": [{"key": "block"}]}}


@pytest.mark.parametrize(
    ("new", "why"),
    [
        (group({TOPOLOGY: "rack, rack"}), "it names rack twice"),
        (group({TOPOLOGY: "zone"}, **INSIDE_ONE_BLOCK), "keeps the group inside one block"),
        (group({**SLICES, SLICE_SIZE: "3"}), "minCount 4 is no whole number of slices of 3"),
        (group(SLICES, schedulingPolicy={"basic": {}}), "slices need a gang"),
    ],
)
def test_a_group_made_by_hand_is_refused_what_it_cannot_have(new: Object, why: str) -> None:
    response = validate_pod_group(request(new), classes=())
    assert not response.allowed
    assert why in response.message


@pytest.mark.parametrize(
    "new",
    [
        group({TOPOLOGY: LEVELS}, **INSIDE_ONE_BLOCK),
        group({**SLICES, MANAGED_BY: "tutti"}),
        group({}, **INSIDE_ONE_BLOCK),
    ],
)
def test_a_group_that_can_have_it_is_let_through(new: Object) -> None:
    assert validate_pod_group(request(new), classes=()).allowed

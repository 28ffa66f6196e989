"""CREATE of a PodGroup of our own CRDs: priority by the built-in rules."""

from typing import Any

import pytest

from api.constants import PARENT_COMPOSITE
from api.meta import Metadata
from api.priorityclass import PriorityClass
from tests.webhooks.builders import Object, patched, request
from webhooks.podgroup import default_pod_group, keep_parent


def priority_class(name: str, value: int, *, default: bool = False, preemption: str | None = None) -> PriorityClass:
    return PriorityClass(Metadata(name=name), value=value, global_default=default, preemption_policy=preemption)


HIGH = priority_class("high", 1000)
NEVER = priority_class("never", 10, preemption="Never")
SYSTEM = priority_class("system-cluster-critical", 2_000_000_000)
CLASSES = (HIGH, NEVER, SYSTEM)


def group(**spec: Any) -> Object:
    policy = {"schedulingPolicy": {"gang": {"minCount": 2}}}
    return {"kind": "PodGroup", "metadata": {"name": "g", "namespace": "team"}, "spec": {**policy, **spec}}


def resolved(new: Object, *classes: PriorityClass) -> Object:
    stored = patched(new, default_pod_group(request(new), classes=classes))
    assert default_pod_group(request(stored), classes=classes).patch == ()
    spec: Object = stored["spec"]
    return spec


def test_a_class_gives_its_value() -> None:
    assert resolved(group(priorityClassName="high"), *CLASSES)["priority"] == 1000


def test_without_a_class_and_a_default_the_priority_is_zero() -> None:
    spec = resolved(group(), *CLASSES)
    assert spec["priority"] == 0
    assert "priorityClassName" not in spec


def test_without_a_class_the_global_default_is_written_down() -> None:
    spec = resolved(group(), *CLASSES, priority_class("usual", 5, default=True))
    assert spec["priorityClassName"] == "usual"
    assert spec["priority"] == 5


def test_the_lowest_of_several_global_defaults_counts() -> None:
    defaults = [priority_class("b", 7, default=True), priority_class("a", 5, default=True)]
    assert resolved(group(), *defaults)["priority"] == 5


def test_the_right_number_may_be_stated() -> None:
    assert resolved(group(priorityClassName="high", priority=1000), *CLASSES)["priority"] == 1000


def test_a_class_that_preempts_nobody_makes_the_group_preempt_nobody() -> None:
    assert resolved(group(priorityClassName="never"), *CLASSES)["preemptionPolicy"] == "Never"
    assert "preemptionPolicy" not in resolved(group(priorityClassName="high"), *CLASSES)


@pytest.mark.parametrize(
    ("spec", "code", "message"),
    [
        ({"priorityClassName": "nope"}, 403, "no PriorityClass with name nope was found"),
        (
            {"priorityClassName": "high", "priority": 7},
            403,
            "priority set in the pod group (7) must match the priority computed (1000) based on the priority class set in",
        ),
        ({"priority": 7}, 403, "must match the priority computed (0)"),
        ({"priorityClassName": "system-cluster-critical"}, 422, "must be less than or equal to 1000000000"),
        (
            {"priorityClassName": "never", "preemptionPolicy": "PreemptLowerPriority"},
            403,
            "the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod group spec",
        ),
        ({"preemptionPolicy": "Never"}, 403, "gives PreemptLowerPriority"),
    ],
)
def test_what_contradicts_the_class_is_refused(spec: dict[str, Any], code: int, message: str) -> None:
    response = default_pod_group(request(group(**spec)), classes=CLASSES)
    assert not response.allowed
    assert response.code == code
    assert message in response.message


def test_before_the_classes_are_known_nothing_is_let_through() -> None:
    response = default_pod_group(request(group()), classes=None)
    assert not response.allowed
    assert response.code == 503


def test_the_parent_of_a_built_in_group_is_said_in_an_annotation_too() -> None:
    new = group(parentCompositePodGroupName="tree")
    stored = patched(new, keep_parent(request(new)))
    assert stored["metadata"]["annotations"] == {PARENT_COMPOSITE: "tree"}
    assert stored["spec"] == new["spec"]
    assert keep_parent(request(group())).patch == ()

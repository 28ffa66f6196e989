"""The preemption priority of a PodGroup is checked whenever it is said anew."""

from typing import Any

import pytest

from api.constants import PREEMPTION_PRIORITY_CLASS
from tests.webhooks.builders import Object, request
from tests.webhooks.test_manifests import is_sent
from tests.webhooks.test_podgroup_create import CLASSES
from webhooks.preemption_priority import validate_preemption_priority
from webhooks.review import Verdict


def group(name: str | None, **spec: Any) -> Object:
    annotations = {} if name is None else {"annotations": {PREEMPTION_PRIORITY_CLASS: name}}
    return {
        "kind": "PodGroup",
        "metadata": {"name": "g", **annotations},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}, **spec},
    }


def verdict(name: str | None, **spec: Any) -> Verdict:
    return validate_preemption_priority(request(group(name, **spec)), classes=CLASSES)


@pytest.mark.parametrize(("name", "priority"), [("high", 1000), ("high", 7), ("never", 0), (None, 1000)])
def test_a_class_that_is_not_below_the_groups_own_priority_is_taken(name: str | None, priority: int) -> None:
    assert verdict(name, priority=priority).allowed


def test_a_class_below_the_groups_own_priority_is_refused() -> None:
    found = verdict("high", priority=1001)
    assert not found.allowed
    assert found.message == (
        "metadata.annotations[tutti.scheduler/preemption-priority-class]: PriorityClass high has the value 1000, which is "
        "below 1001, the priority the group is scheduled with: groups could evict each other for ever"
    )


def test_a_class_that_does_not_exist_is_refused() -> None:
    found = verdict("nope", priority=0)
    assert found.code == 422
    assert found.message.endswith("no PriorityClass with name nope was found")


def test_before_the_classes_are_known_nothing_is_taken() -> None:
    assert validate_preemption_priority(request(group("high")), classes=None).code == 503


@pytest.mark.parametrize("entry", ["preemption-priority", "preemption-priority.built-in"])
def test_only_groups_that_say_something_new_are_asked_about(entry: str) -> None:
    name = f"{entry}.podgroups.tutti.scheduler"
    assert not is_sent(name, group(None))
    assert is_sent(name, group("high"))
    assert not is_sent(name, group("high", priority=1), group("high"))
    assert is_sent(name, group("high"), group("never"))
    assert is_sent(name, group("high"), group(None))
    assert not is_sent(name, group(None), group("high"))

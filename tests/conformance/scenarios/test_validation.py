"""Groups that are refused as a whole, because their members do not agree."""

import pytest

from tests.conformance.scenarios.preemption_stage import HIGH, LOW, NEVER, TOP
from tests.conformance.scenarios.scene import Scene
from verify.clusters.profiles import settings

OTHER_PROFILE: str = settings()["scheduler"]["profiles"][0]["scheduler_name"]
"""A second name to which the one scheduler of these tests answers."""


def test_members_of_two_profiles_of_one_scheduler_are_refused(scene: Scene) -> None:
    scene.node(4)
    scene.group("g", 2)
    scene.pod("g-0", priority=HIGH, group="g", scheduler="tutti")
    scene.pod("g-1", priority=HIGH, group="g", scheduler=OTHER_PROFILE)
    text = f'should have the same .spec.schedulerName set, got: "tutti" and "{OTHER_PROFILE}"'
    scene.group_error("g", f"all pods in a single pod group {text}")
    for name in ("g-0", "g-1"):
        assert text in scene.pod_error(name)
    scene.stays("g", 0)


def test_a_member_of_a_scheduler_that_is_not_ours_is_not_seen(scene: Scene) -> None:
    scene.node(4)
    scene.group("g", 2)
    scene.pod("g-0", priority=HIGH, group="g")
    scene.pod("g-1", priority=HIGH, group="g", scheduler="nobody")
    assert "1 of them exist" in scene.says_soon("g", "False", "WaitingForMembers")["message"]
    scene.pod("g-2", priority=HIGH, group="g")
    scene.started("g", 2)
    assert "g-1" not in scene.places("g")


def test_a_member_with_another_priority_than_its_group_is_refused(scene: Scene) -> None:
    scene.node(4)
    scene.group("g", 2, HIGH)
    scene.pod("g-0", priority=HIGH, group="g")
    scene.pod("g-1", priority=LOW, group="g")
    text = "all pods in a single pod group should have the same priority as the pod group's priority, got 10 and 100"
    scene.group_error("g", text)
    scene.stays("g", 0)


def test_a_running_member_with_another_priority_than_its_group_is_refused(scene: Scene) -> None:
    node = scene.node(4)
    scene.group("g", 1, HIGH)
    scene.pod("g-0", priority=TOP, group="g", on=node)
    scene.pod("g-1", priority=HIGH, group="g")
    scene.pod("g-2", priority=HIGH, group="g")
    scene.stays("g", 1)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_members_that_differ_in_preemption_are_refused(scene: Scene, order: tuple[int, int]) -> None:
    scene.node(4)
    scene.group("g", 2)
    classes = (HIGH, NEVER)
    for number in order:
        scene.pod(f"g-{number}", priority=classes[number], group="g")
    scene.group_error("g", "all pods in a single pod group should have the same preemption policy, got ")
    scene.stays("g", 0)

"""Groups and stand-alone pods in one queue.

Upstream drives its scheduler step by step. Here those that compete are refused first, without any node; then a node comes and
wakes all of them at once, so the order of the queue decides.
"""

import pytest

from tests.conformance.scenarios.preemption_stage import HIGH, LOW
from tests.conformance.scenarios.scene import TRUE, Scene


def gang_waits(scene: Scene, priority: str = LOW, cpu: int = 1, size: int = 3) -> None:
    """A gang that was refused."""
    scene.gang("gang", size, cpu, priority=priority)
    scene.refused("gang")


def pod_waits(scene: Scene, name: str, cpu: int, priority: str = LOW) -> None:
    """A stand-alone pod that was refused."""
    scene.pod(name, cpu, priority=priority)
    scene.pod_refused(name)


def test_a_more_important_pod_goes_before_an_older_gang(scene: Scene) -> None:
    gang_waits(scene)
    pod_waits(scene, "lone-0", 2, HIGH)
    scene.node(4)
    scene.runs("lone", 1)
    scene.refused("gang", "2 of 3 pods can be placed")
    scene.stays("gang", 0)


def test_a_more_important_gang_goes_before_older_pods(scene: Scene) -> None:
    pod_waits(scene, "lone-0", 1)
    pod_waits(scene, "lone-1", 1)
    gang_waits(scene, HIGH)
    scene.node(4)
    scene.started("gang", 3)
    scene.runs("lone", 1)
    scene.stays("lone", 1)


def test_an_older_pod_goes_before_an_equal_gang(scene: Scene) -> None:
    pod_waits(scene, "lone-0", 2)
    gang_waits(scene)
    scene.node(4)
    scene.runs("lone", 1)
    scene.refused("gang", "2 of 3 pods can be placed")
    scene.stays("gang", 0)


def test_an_older_gang_goes_before_equal_pods(scene: Scene) -> None:
    gang_waits(scene)
    pod_waits(scene, "lone-0", 1)
    pod_waits(scene, "lone-1", 1)
    scene.node(4)
    scene.started("gang", 3)
    scene.runs("lone", 1)
    assert "lone-0" in scene.places("lone")
    scene.stays("lone", 1)


@pytest.mark.parametrize("cpu", [2, 1])
def test_a_pod_does_not_wait_for_a_gang_that_is_not_complete(scene: Scene, cpu: int) -> None:
    scene.node(4)
    scene.group("gang", 3, LOW)
    scene.members("gang", 2, priority=LOW)
    scene.pod("lone-0", cpu)
    scene.runs("lone", 1)
    scene.pod("gang-2", group="gang")
    if cpu == 1:
        scene.started("gang", 3)
    else:
        scene.refused("gang", "2 of 3 pods can be placed")
        scene.stays("gang", 0)


@pytest.mark.parametrize("cpu", [2, 1])
def test_a_gang_that_becomes_complete_evicts_a_less_important_pod(scene: Scene, cpu: int) -> None:
    scene.node(4)
    scene.group("gang", 3)
    scene.members("gang", 2)
    scene.pod("lone-0", cpu)
    scene.runs("lone", 1)
    scene.pod("gang-2", priority=HIGH, group="gang")
    scene.started("gang", 3)
    if cpu == 1:
        scene.stays("lone", 1)
    else:
        scene.preempted("lone-0")


def test_a_refused_gang_holds_nothing_back(scene: Scene) -> None:
    scene.node(2)
    gang_waits(scene)
    scene.pod("lone-0", 1)
    scene.runs("lone", 1)
    scene.stays("gang", 0)


def test_a_head_that_cannot_be_placed_blocks_nobody(scene: Scene) -> None:
    scene.node(3)
    pod_waits(scene, "lone-0", 4, HIGH)
    scene.gang("gang", 3, priority=LOW)
    scene.started("gang", 3)


def test_what_a_basic_group_could_not_place_keeps_its_turn(scene: Scene) -> None:
    pod_waits(scene, "lone-0", 1)
    scene.group("gang", None, LOW)
    scene.members("gang", 3, 2, priority=LOW)
    scene.refused("gang")
    pod_waits(scene, "lone-1", 1)
    scene.node(4)
    scene.runs("lone", 2)
    scene.runs("gang", 1)
    assert scene.says_soon("gang", *TRUE)
    scene.node(2)
    scene.runs("gang", 2)


def test_a_gated_pod_blocks_nobody(scene: Scene) -> None:
    scene.node(2)
    scene.pod("lone-0", 2, priority=HIGH, schedulingGates=[{"name": "example.com/wait"}])
    scene.gang("gang", 2, priority=LOW)
    scene.started("gang", 2)
    scene.ungate("lone-0")
    scene.runs("lone", 1)
    scene.preempted("gang-0", "gang-1")

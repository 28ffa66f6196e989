"""Waiting beyond upstream's scenarios: two gangs that compete pod by pod, and a basic group that would like more than one pod."""

import random

import pytest

from tests.conformance.scenarios.preemption_stage import HIGH, SOON_SECONDS
from tests.conformance.scenarios.scene import REFUSED, TRUE, Scene
from tests.conformance.scenarios.test_topology import RACK, inside
from verify.clusters.eventually import eventually

REPEATS = 20


def test_two_gangs_of_60_percent_in_alternation_start_one_by_one(scene: Scene) -> None:
    """The same a thousand times in virtual time: tests/scheduler/shell/test_contention.py."""
    chance = random.Random(60)
    for _ in range(5):
        scene.node(1)
    for repeat in range(REPEATS):
        names = [f"a{repeat}", f"b{repeat}"]
        chance.shuffle(names)
        for name in names:
            scene.group(name, 3)
        for number in range(3):
            for name in names:
                scene.pod(f"{name}-{number}", priority=HIGH, group=name, terminationGracePeriodSeconds=0)
        eventually(lambda n=names: {scene.says(n[0]), scene.says(n[1])} == {TRUE, REFUSED}, within_seconds=SOON_SECONDS)  # type: ignore[misc]
        placed = sorted(len(scene.places(name)) for name in names)
        assert placed == [0, 3], f"repeat {repeat}: {placed}"
        scene.clear()


@pytest.mark.parametrize("comes", [True, False])
def test_a_basic_group_goes_where_as_many_fit_as_it_would_like(scene: Scene, comes: bool) -> None:
    for number, cpu in enumerate((2, 5), start=1):
        scene.labelled(cpu, {RACK: f"rack-{number}"})
    scene.group("g", None, annotations={"tutti.scheduler/desired-count": "4"}, **inside())
    scene.members("g", 2)
    if comes:
        for number in (2, 3):
            scene.pod(f"g-{number}", priority=HIGH, group="g")
    scene.started("g", 4 if comes else 2)
    assert scene.labels_of("g", RACK) == {"rack-2"}

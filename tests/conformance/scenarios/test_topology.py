"""A gang inside one value of a node label."""

from typing import Any

import pytest

from tests.conformance.scenarios.preemption_stage import HIGH, TOP
from tests.conformance.scenarios.scene import Scene

RACK, ZONE = "example.com/rack", "example.com/zone"


def inside(key: str = RACK) -> dict[str, Any]:
    """The field of a group that must stay inside one value of the label."""
    return {"schedulingConstraints": {"topology": [{"key": key}]}}


def racks(scene: Scene, *sizes: int, key: str = RACK) -> list[str]:
    """One node per rack, rack-1 and so on, with so many CPUs; their names."""
    return [scene.labelled(cpu, {key: f"rack-{number}"}) for number, cpu in enumerate(sizes, start=1)]


def gang(scene: Scene, name: str, size: int, *, need: int | None = None, cpu: int = 1, key: str = RACK) -> None:
    """A gang inside one value of the label; its pods are there first, so that they are placed together."""
    scene.members(name, size, cpu)
    scene.group(name, size if need is None else need, **inside(key))


def test_the_one_rack_that_fits_is_taken(scene: Scene) -> None:
    for rack, sizes in (("rack-1", (1, 1)), ("rack-2", (2, 1))):
        for cpu in sizes:
            scene.labelled(cpu, {RACK: rack})
    gang(scene, "g", 3)
    scene.started("g", 3)
    assert scene.labels_of("g", RACK) == {"rack-2"}


def test_room_over_several_racks_is_not_enough_until_one_has_it(scene: Scene) -> None:
    _, second = racks(scene, 2, 3)
    scene.pod("blocker", priority=TOP, on=second)
    gang(scene, "g", 3)
    scene.refused("g", "2 of 3 pods can be placed inside one example.com/rack")
    scene.stays("g", 0)
    scene.end("blocker")
    scene.started("g", 3)
    assert scene.labels_of("g", RACK) == {"rack-2"}


def test_of_racks_that_fit_the_one_that_is_fuller_afterwards_is_taken(scene: Scene) -> None:
    """The shares after the gang of two are 6/8, 5/6 and 4/6."""
    for node, used in zip(racks(scene, 8, 6, 6), (4, 3, 2), strict=True):
        scene.pod(f"filler-{used}", used, priority=TOP, on=node)
    gang(scene, "g", 2)
    scene.started("g", 2)
    assert scene.labels_of("g", RACK) == {"rack-2"}


def test_two_gangs_that_need_a_rack_each_get_different_ones(scene: Scene) -> None:
    racks(scene, 3, 3)
    gang(scene, "a", 3)
    gang(scene, "b", 3)
    scene.started("a", 3)
    scene.started("b", 3)
    assert scene.labels_of("a", RACK) | scene.labels_of("b", RACK) == {"rack-1", "rack-2"}


def test_two_gangs_that_fit_into_one_rack_share_it(scene: Scene) -> None:
    """The rack that is fuller afterwards is the one in use, so the other one stays whole for others."""
    racks(scene, 6, 6)
    gang(scene, "a", 2)
    scene.started("a", 2)
    gang(scene, "b", 2)
    scene.started("b", 2)
    assert scene.labels_of("a", RACK) == scene.labels_of("b", RACK)


def test_two_gangs_may_stay_inside_different_labels(scene: Scene) -> None:
    for zone in ("zone-1", "zone-2"):
        for number in range(2):
            scene.labelled(2, {RACK: f"{zone}-rack-{number}", ZONE: zone})
    gang(scene, "a", 2)
    gang(scene, "b", 4, key=ZONE)
    scene.started("a", 2)
    scene.started("b", 4)
    assert len(scene.labels_of("a", RACK)) == len(scene.labels_of("b", ZONE)) == 1
    assert not scene.labels_of("a", ZONE) & scene.labels_of("b", ZONE)


def test_of_two_gangs_only_one_fits(scene: Scene) -> None:
    racks(scene, 3, 2)
    gang(scene, "a", 3)
    scene.started("a", 3)
    gang(scene, "b", 3)
    scene.refused("b")
    scene.stays("b", 0)


def test_members_beyond_the_minimum_stay_in_the_rack_or_wait(scene: Scene) -> None:
    first, _ = racks(scene, 4, 2)
    scene.pod("blocker", priority=TOP, on=first)
    gang(scene, "g", 3, need=2)
    scene.started("g", 3)
    assert scene.labels_of("g", RACK) == {"rack-1"}
    scene.pod("g-3", priority=HIGH, group="g")
    scene.pod_refused("g-3")
    scene.stays("g", 3)
    scene.end("blocker")
    scene.runs("g", 4)
    assert scene.labels_of("g", RACK) == {"rack-1"}


def test_a_basic_group_stays_in_one_rack(scene: Scene) -> None:
    racks(scene, 3, 3)
    scene.members("g", 3)
    scene.group("g", None, **inside())
    scene.started("g", 3)
    assert len(scene.labels_of("g", RACK)) == 1


def test_a_basic_group_may_use_several_racks_of_its_zone(scene: Scene) -> None:
    for number in range(3):
        scene.labelled(1, {RACK: f"rack-{number}", ZONE: "zone-1"})
    scene.members("g", 3)
    scene.group("g", None, **inside(ZONE))
    scene.started("g", 3)
    assert len(scene.labels_of("g", RACK)) == 3


def test_of_a_basic_group_as_many_run_as_one_rack_takes(scene: Scene) -> None:
    """They come before their group: of a basic group the pod that is placed first fixes the rack."""
    racks(scene, 2, 1)
    scene.members("g", 3)
    scene.group("g", None, **inside())
    scene.started("g", 2)
    assert scene.labels_of("g", RACK) == {"rack-1"}
    scene.stays("g", 2)


def test_a_basic_group_without_room_in_any_rack_waits(scene: Scene) -> None:
    racks(scene, 1, 1)
    scene.members("g", 2, 2)
    scene.group("g", None, **inside())
    scene.refused("g", "minCount (1) cannot be satisfied")
    scene.stays("g", 0)


def test_pods_that_run_already_decide_which_rack_is_fuller(scene: Scene) -> None:
    _, second = racks(scene, 4, 4)
    scene.pod("filler", 2, priority=TOP, on=second)
    scene.members("g", 2)
    scene.group("g", None, **inside())
    scene.started("g", 2)
    assert scene.labels_of("g", RACK) == {"rack-2"}


def test_a_rack_counts_with_those_nodes_only_that_the_pods_select(scene: Scene) -> None:
    for rack, pools in (("rack-1", "aab"), ("rack-2", "aaa")):
        for pool in pools:
            labels = {RACK: rack, "example.com/pool": pool}
            scene.labelled(1, labels)
    scene.group("g", 3, **inside())
    scene.members("g", 3, nodeSelector={"example.com/pool": "a"})
    scene.started("g", 3)
    assert scene.labels_of("g", RACK) == {"rack-2"}


def test_nodes_without_the_label_are_never_used(scene: Scene) -> None:
    scene.node(8)
    gang(scene, "g", 2)
    scene.refused("g", "no node has the label example.com/rack")
    racks(scene, 2)
    scene.started("g", 2)
    assert scene.labels_of("g", RACK) == {"rack-1"}


@pytest.mark.parametrize("need", [2, None])
def test_members_in_two_racks_are_an_error(scene: Scene, need: int | None) -> None:
    first, second = racks(scene, 2, 2)
    scene.group("g", need, **inside())
    scene.pod("g-0", priority=HIGH, group="g", on=first)
    scene.pod("g-1", priority=HIGH, group="g", on=second)
    scene.pod("g-2", priority=HIGH, group="g")
    told = scene.pod_error("g-2")
    assert told == "members already run in more than one example.com/rack: rack-1, rack-2"

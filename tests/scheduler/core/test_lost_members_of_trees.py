"""Groups of a tree that lose members: the room of their replacements is kept for the tree, which places them."""

from collections.abc import Mapping, Sequence

import pytest

from api.constants import DEGRADED, REPAIR_TIMEOUT
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.reservations import lost_members
from scheduler.reservations.future_reservations import Places
from tests.scheduler.core import build
from tests.scheduler.core.stage import Stage

TREE = build.composite_key("tree")
ZONE = "topology.kubernetes.io/zone"


def kept(stage: Stage) -> int:
    """Places that are kept for replacements of the tree."""
    found = stage.state.future_reservations.of(TREE)
    return sum(sum(demands.values()) for demands in found.demands.values()) if found else 0


def started(*, annotations: Mapping[str, str] | None = None, **more: object) -> Stage:
    """Two zones of four nodes with one CPU each, on which a tree of two gangs of three runs, and two that are free."""
    stage = Stage()
    for zone in "ab":
        for number in range(4):
            stage.node(f"{zone}{number}", cpu=1, labels={ZONE: zone})
    stage.composite("tree", 2)
    for group in ("g", "h"):
        stage.gang(group, 3, parent="tree", annotations=dict(annotations or {}), **more)
    stage.run()
    assert len(stage.bound()) == 6
    return stage


def fill(stage: Stage) -> None:
    """What is free when nobody is missing is taken by others."""
    stage.pod("x")
    stage.pod("y")
    stage.run()
    assert len(stage.bound()) == 8


def test_a_younger_gang_of_equal_priority_does_not_take_the_room_of_the_lost() -> None:
    stage = started()
    fill(stage)
    stage.lose("g-0", "h-1")
    stage.gang("young", 2)
    stage.run()
    assert (kept(stage), stage.bound("young")) == (2, {})


def test_the_replacements_get_it_however_late_they_come_and_the_younger_gang_starts_after_them() -> None:
    stage = started()
    fill(stage)
    before = stage.bound()
    stage.lose("g-0", "h-1")
    stage.gang("young", 2)
    stage.wait(60)
    stage.pod("g-0-again", group="g")
    stage.run()
    assert ("g-0-again" in stage.bound(), kept(stage)) == (False, 2), "half of what is missing is as good as nothing"
    stage.pod("h-1-again", group="h")
    stage.run()
    after = stage.bound()
    assert {after["g-0-again"], after["h-1-again"]} == {before["g-0"], before["h-1"]}
    assert (kept(stage), stage.bound("young")) == (0, {})
    for name in ("n8", "n9"):
        stage.node(name, cpu=1)
    stage.run()
    assert len(stage.bound("young")) == 2


def test_a_group_stays_in_its_domain() -> None:
    stage = started(topology=ZONE)
    zone = stage.bound("g")["g-1"][0]
    stage.lose("g-0")
    stage.node_gone(stage.bound("g")["g-2"])
    stage.lose("g-2")
    stage.run()
    found = stage.state.future_reservations.of(TREE)
    assert found is not None
    assert {node[0] for node in found.demands} == {zone}
    assert kept(stage) == 2


def test_a_group_whose_siblings_suffice_is_repaired_by_itself() -> None:
    stage = Stage()
    for number in range(6):
        stage.node(f"n{number}", cpu=1)
    stage.composite("tree", 1)
    for group in ("g", "h"):
        stage.gang(group, 3, parent="tree")
    stage.run()
    before = stage.bound("g")["g-0"]
    stage.lose("g-0")
    stage.gang("young", 1)
    stage.wait(60)
    stage.pod("g-0-again", group="g")
    stage.run()
    assert (stage.bound("g")["g-0-again"], stage.bound("young")) == (before, {})


def test_room_is_kept_for_as_many_as_there_is_room_for_of_whichever_group() -> None:
    stage = started()
    fill(stage)
    nodes = [stage.bound()[name] for name in ("g-0", "h-0")]
    stage.lose("g-0", "h-0")
    stage.node_gone(nodes[0])
    stage.run()
    assert kept(stage) == 1
    stage.node("later", cpu=1)
    stage.gang("young", 1)
    stage.run()
    assert (kept(stage), stage.bound("young")) == (2, {})


def test_a_tree_looks_for_all_its_groups_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = started()
    looks: list[list[str]] = []
    look = lost_members.places_of_replacements

    def places_of_replacements(state: ClusterState, item: PodGroupState, short: Sequence[PodGroupState]) -> Places:
        looks.append([members.key.name for members in short])
        return look(state, item, short)

    monkeypatch.setattr(lost_members, "places_of_replacements", places_of_replacements)
    stage.lose("g-0", "h-0", "h-1")
    stage.run()
    assert looks == [["g", "h"]]


def test_the_time_of_one_group_is_not_that_of_another() -> None:
    stage = started(annotations={REPAIR_TIMEOUT: "60s"})
    fill(stage)
    stage.lose("g-0")
    stage.run()
    stage.wait(40)
    stage.lose("h-0")
    stage.run()
    assert kept(stage) == 2
    stage.wait(30)
    assert kept(stage) == 1
    stage.gang("young", 2)
    stage.run()
    stage.wait(40)
    assert (kept(stage), len(stage.bound("young"))) == (0, 2)


def test_nothing_is_kept_for_a_group_that_is_gone() -> None:
    stage = started()
    fill(stage)
    stage.lose("g-0", "h-0")
    stage.run()
    for name in ("g-0", "g-1", "g-2"):
        stage.pod_gone(name)
    stage.group_gone("g")
    stage.run()
    assert kept(stage) == 1


def test_nothing_is_kept_for_a_group_that_only_reports() -> None:
    stage = started(annotations={DEGRADED: "report"})
    stage.lose("g-0")
    stage.run()
    assert kept(stage) == 0


def test_after_a_restart_room_is_kept_again() -> None:
    stage = started()
    fill(stage)
    stage.lose("g-0", "g-1")
    stage.state.losses.forget(build.group_key("g"))
    stage.state.future_reservations.drop(TREE)
    stage.begin()
    stage.lost.restore()
    stage.run()
    assert kept(stage) == 2


def test_who_is_more_important_takes_the_room_all_the_same() -> None:
    stage = started()
    fill(stage)
    stage.lose("g-0", "h-0")
    stage.gang("vip", 2, priority=5)
    stage.run()
    assert len(stage.bound("vip")) == 2

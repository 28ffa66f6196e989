"""Groups of trees that could not be repaired in time: what leaves with them, once, and when nothing does."""

from collections.abc import Mapping
from typing import Any

import pytest

from api.constants import DEGRADED, REPAIR_TIMEOUT
from tests.scheduler.core import build
from tests.scheduler.core.stage import Stage

ANEW = {DEGRADED: "restart", REPAIR_TIMEOUT: "60s"}


def _started(
    *, leaves: Mapping[str, str] | None = None, need: int = 2, said: Mapping[str, dict[str, str]] | None = None
) -> Stage:
    """A tree with gangs of three: g directly below the root, h and i below a branch; all run.

    Args:
        leaves: disruption modes of root and branch by name, `single` where nothing is said.
        need: children of the root that must start together.
        said: annotations of groups by name, `ANEW` where nothing is said.
    """
    stage = Stage()
    for number in range(9):
        stage.node(f"n{number}", cpu=1)
    modes = {"tree": "single", "branch": "single", **(leaves or {})}
    stage.composite("tree", need, leaves=modes["tree"])
    stage.composite("branch", 2, parent="tree", leaves=modes["branch"])
    for group, parent in (("g", "tree"), ("h", "branch"), ("i", "branch")):
        stage.gang(group, 3, parent=parent, annotations=(said or {}).get(group, ANEW))
    stage.run()
    assert len(stage.bound()) == 9
    return stage


def _leaving_with(stage: Stage, group: str) -> tuple[str, list[str]]:
    """The CompositePodGroup below which all leaves when a group has to, and the groups that leave."""
    members = stage.state.item(build.group_key(group))
    assert members is not None
    tree, leaving = stage.state.entities.leaving_with(members)
    return tree.name if tree is not None else "", sorted(each.key.name for each in leaving)


@pytest.mark.parametrize(
    ("leaves", "group", "leaving"),
    [
        ({}, "g", ("", ["g"])),
        ({}, "h", ("", ["h"])),
        ({"branch": "all"}, "g", ("", ["g"])),
        ({"branch": "all"}, "h", ("branch", ["h", "i"])),
        ({"tree": "all"}, "h", ("tree", ["g", "h", "i"])),
        ({"tree": "all", "branch": "all"}, "h", ("tree", ["g", "h", "i"])),
    ],
)
def test_what_leaves_is_the_group_or_all_below_the_highest_level_that_leaves_whole(
    leaves: dict[str, str], group: str, leaving: tuple[str, list[str]]
) -> None:
    assert _leaving_with(_started(leaves=leaves), group) == leaving


def test_a_group_that_could_not_be_repaired_in_time_leaves_once_where_it_asks_for_that() -> None:
    stage = _started()
    stage.lose("g-0")
    stage.run()
    stage.wait(59)
    assert stage.restarted == []
    stage.wait(1)
    assert stage.restarted == [build.group_key("g")]
    stage.wait(600)
    assert stage.restarted == [build.group_key("g")]
    assert stage.lost.next_due_seconds() is None


@pytest.mark.parametrize("policy", ["repair", "report"])
def test_with_another_policy_it_stays(policy: str) -> None:
    stage = _started(leaves={"tree": "all"}, said={"g": {DEGRADED: policy}})
    stage.lose("g-0")
    stage.run()
    stage.wait(1200)
    assert stage.restarted == []


def test_each_group_that_leaves_by_itself_has_its_own_time() -> None:
    stage = _started()
    stage.lose("g-0", "h-0")
    stage.run()
    stage.wait(60)
    assert sorted(key.name for key in stage.restarted) == ["g", "h"]


def test_what_leaves_together_leaves_once_whoever_of_it_is_short() -> None:
    stage = _started(leaves={"tree": "all"}, said={"i": {DEGRADED: "restart", REPAIR_TIMEOUT: "5m"}})
    stage.lose("g-0", "h-0", "i-0")
    stage.run()
    stage.wait(60)
    assert len(stage.restarted) == 1
    stage.wait(600)
    assert len(stage.restarted) == 1


def test_no_room_is_kept_any_more_for_groups_that_leave_with_another() -> None:
    stage = _started(leaves={"tree": "all"}, said={"h": {DEGRADED: "repair"}})
    stage.lose("g-0", "h-0")
    stage.run()
    assert _kept(stage) == 2
    stage.wait(60)
    assert _kept(stage) == 0


def test_where_one_leaves_alone_the_room_of_another_is_kept_on() -> None:
    stage = _started(said={"h": {DEGRADED: "repair"}})
    stage.lose("g-0", "h-0")
    stage.run()
    stage.wait(60)
    assert (stage.restarted, _kept(stage)) == ([build.group_key("g")], 1)


@pytest.mark.parametrize(("leaves", "restarted"), [({}, ["g"]), ({"tree": "all"}, [])])
def test_nothing_leaves_that_has_finished_work_in_it(leaves: dict[str, str], restarted: list[str]) -> None:
    stage = _started(leaves=leaves)
    stage.lose("h-1", phase="Succeeded")
    stage.lose("g-0")
    stage.run()
    stage.wait(600)
    assert [key.name for key in stage.restarted] == restarted


def test_nothing_leaves_while_the_root_is_not_there_for_nothing_would_start_again() -> None:
    stage = _started()
    stage.lose("g-0")
    stage.run()
    stage.composite_gone("tree")
    stage.wait(600)
    assert (stage.restarted, stage.lost.next_due_seconds()) == ([], None)


def test_a_tree_that_has_left_starts_whole_and_has_all_its_time_again() -> None:
    stage = _started(leaves={"tree": "all"})
    node = stage.bound()["g-0"]
    stage.lose("g-0")
    stage.node_gone(node)
    stage.run()
    stage.wait(60)
    for group in "ghi":
        for number in range(3):
            stage.pod_gone(f"{group}-{number}")
    for group in "ghi":
        stage.pods(group, 3, first=10)
    stage.run()
    assert stage.bound() == {}, "there is room for eight of nine, and all of them are needed"
    stage.node("later", cpu=1)
    stage.run()
    assert len(stage.bound()) == 9
    stage.lose("g-10")
    stage.run()
    stage.wait(59)
    assert len(stage.restarted) == 1
    stage.wait(1)
    assert len(stage.restarted) == 2


def _kept(stage: Stage) -> int:
    found: Any = stage.state.future_reservations.of(build.composite_key("tree"))
    return sum(sum(demands.values()) for demands in found.demands.values()) if found else 0

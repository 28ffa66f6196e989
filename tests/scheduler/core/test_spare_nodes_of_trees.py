"""Room for nodes that groups of a tree may lose: kept for the tree, beside the nodes of all its groups that ask for it."""

import pytest

from api.constants import DEGRADED, SPARE_NODES
from tests.scheduler.core import build
from tests.scheduler.core.stage import Stage

SPARE = {SPARE_NODES: "1"}
TREE = build.composite_key("tree")
ZONE = "topology.kubernetes.io/zone"


def _started(
    *asking: str, free: int = 4, topology: str | None = None, said_of_others: dict[str, str] | None = None
) -> Stage:
    """A tree of two gangs of two fills a node with each; then nodes of that size come in another zone.

    Args:
        asking: names of the gangs, g and h, that want room for one node.
        free: how many nodes come.
        topology: inside one value of which label each gang must be.
        said_of_others: annotations of those that are not asking.
    """
    stage = Stage()
    for name in "gh":
        stage.node(f"with-{name}", cpu=2, labels={ZONE: name})
    stage.composite("tree", 2)
    more = {"topology": topology} if topology else {}
    for name in "gh":
        stage.gang(name, 2, parent="tree", annotations=SPARE if name in asking else said_of_others or {}, **more)
    stage.run()
    assert len(stage.bound()) == 4
    assert len(set(stage.bound("g").values())) == len(set(stage.bound("h").values())) == 1
    for number in range(free):
        stage.node(f"n{number}", cpu=2, labels={ZONE: "g" if number % 2 else "other"})
    stage.run()
    return stage


def _places(stage: Stage) -> dict[str, int]:
    """For how many pods room is kept on which node."""
    found = stage.state.future_reservations.of(TREE)
    return {node: demands.total() for node, demands in found.demands.items()} if found is not None else {}


@pytest.mark.parametrize(("asking", "pods"), [("", 0), ("g", 2), ("gh", 4)])
def test_room_for_a_node_of_each_group_that_asks_for_it_is_kept_for_the_tree(asking: str, pods: int) -> None:
    stage = _started(*asking)
    assert sum(_places(stage).values()) == pods
    assert not set(_places(stage)) & set(stage.bound().values())
    assert stage.spare.pods() == {"kept": pods, "missing": 0}
    assert [stage.kept(name) for name in "gh"] == [0, 0]


def test_it_is_kept_against_a_younger_gang_and_taken_by_a_more_important_one() -> None:
    stage = _started("g", "h", free=2)
    stage.gang("young", 2)
    stage.run()
    assert stage.bound("young") == {}
    stage.gang("vip", 2, priority=5)
    stage.run()
    assert len(stage.bound("vip")) == 2


def test_as_much_is_kept_as_there_is_room_for_and_more_when_room_appears() -> None:
    stage = _started("g", "h", free=1)
    assert stage.spare.pods() == {"kept": 2, "missing": 2}
    stage.node("later", cpu=2, labels={ZONE: "other"})
    stage.run()
    assert stage.spare.pods() == {"kept": 4, "missing": 0}


def test_when_a_node_is_lost_the_replacement_of_its_group_has_the_room_that_was_kept() -> None:
    stage = Stage()
    for number in range(4):
        stage.node(f"full-{number}", cpu=1)
    stage.composite("tree", 2)
    for name in "gh":
        stage.gang(name, 2, parent="tree", annotations=SPARE)
    stage.run()
    for number in range(2):
        stage.node(f"n{number}", cpu=1)
    stage.run()
    before = stage.bound()
    assert _places(stage) == {"n0": 1, "n1": 1}
    stage.gang("young", 1)
    stage.run()
    stage.lose("g-0")
    stage.node_gone(before["g-0"])
    stage.run()
    stage.pod("g-0-again", group="g")
    stage.run()
    after = stage.bound()
    assert after["g-0-again"] in {"n0", "n1"}
    assert {name: after[name] for name in ("g-1", "h-0", "h-1")} == {
        name: before[name] for name in ("g-1", "h-0", "h-1")
    }


def test_while_members_of_any_of_its_groups_are_missing_the_room_is_for_them() -> None:
    stage = _started("h")
    stage.lose("g-0")
    stage.run()
    assert sum(_places(stage).values()) == 1
    assert stage.spare.pods() == {"kept": 0, "missing": 0}
    stage.pod("g-0-again", group="g")
    stage.run()
    assert stage.spare.pods() == {"kept": 2, "missing": 0}


def test_where_the_missing_are_only_reported_nothing_is_kept_until_they_are_back() -> None:
    stage = _started("h", said_of_others={DEGRADED: "report"})
    assert stage.spare.pods() == {"kept": 2, "missing": 0}
    stage.lose("g-0")
    stage.run()
    assert (_places(stage), stage.spare.pods()) == ({}, {"kept": 0, "missing": 0})
    stage.pod("g-0-again", group="g")
    stage.run()
    assert stage.spare.pods() == {"kept": 2, "missing": 0}


def test_it_is_kept_inside_the_domain_of_the_group() -> None:
    stage = _started("g", "h", topology=ZONE)
    zones = {"with-g": "g", "with-h": "h"}
    group = next(name for name in "gh" if zones[stage.bound(name)[f"{name}-0"]] == "g")
    assert len(stage.bound(group)) == 2
    assert set(_places(stage)) <= {"n1", "n3"}
    assert stage.spare.pods() == {"kept": 2, "missing": 2}


def test_a_group_that_is_finishing_keeps_none_and_its_sibling_does() -> None:
    stage = _started("g", "h")
    stage.lose("g-0", phase="Succeeded")
    stage.run()
    assert stage.spare.pods() == {"kept": 2, "missing": 0}


def test_a_wish_that_changes_or_is_taken_back_counts_at_once() -> None:
    stage = _started("g", "h")
    stage.group("g", 2, parent="tree", priority=0)
    stage.run()
    assert stage.spare.pods() == {"kept": 2, "missing": 0}
    stage.group("h", 2, parent="tree", priority=0)
    stage.run()
    assert (_places(stage), stage.spare.pods()) == ({}, {"kept": 0, "missing": 0})


def test_nothing_is_kept_for_a_tree_whose_root_or_groups_are_gone() -> None:
    stage = _started("g", "h")
    stage.composite_gone("tree")
    stage.run()
    assert _places(stage) == {}
    stage.composite("tree", 2)
    stage.run()
    assert sum(_places(stage).values()) == 4
    for name in "gh":
        for number in range(2):
            stage.pod_gone(f"{name}-{number}")
        stage.group_gone(name)
    stage.run()
    assert len(stage.state.future_reservations) == 0


def test_a_scheduler_that_takes_over_keeps_it_again() -> None:
    stage = _started("g", "h")
    stage.state.future_reservations.drop(TREE)
    stage.begin()
    stage.lost.restore()
    stage.run()
    assert sum(_places(stage).values()) == 4


def test_groups_that_wait_of_the_tree_itself_may_use_it() -> None:
    stage = _started("g", "h", free=2)
    stage.gang("i", 2, parent="tree")
    stage.run()
    assert len(stage.bound("i")) == 2
    assert stage.spare.pods() == {"kept": 2, "missing": 2}

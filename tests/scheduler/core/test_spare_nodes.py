"""Room for nodes that a gang may lose: kept beside its own nodes while it runs whole, against its equals, without evictions."""

from itertools import count

import pytest

from api.constants import DEGRADED, SPARE_NODES
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.reservations import HeldDemands
from scheduler.reservations import spare_nodes
from scheduler.reservations.lost_members import is_short
from scheduler.reservations.spare_nodes import SpareNodes
from tests.scheduler.core import build
from tests.scheduler.core.stage import Stage

SPARE = {SPARE_NODES: "1"}


@pytest.fixture
def stage() -> Stage:
    """Six nodes with room for two pods each; a gang of four runs on two of them and wants room for one of these."""
    made = Stage()
    for number in range(6):
        made.node(f"n{number}", cpu=2, labels={"rack": f"r{number // 3}"})
    made.gang("g", 4, annotations=SPARE)
    made.run()
    assert len(set(made.bound("g").values())) == 4
    return made


@pytest.fixture
def packed() -> Stage:
    """Four nodes with room for two pods each; a gang of four fills two of them and wants room for one of these."""
    made = Stage()
    for number in range(2):
        made.node(f"n{number}", cpu=2, labels={"rack": "r0"})
    made.gang("g", 4, annotations=SPARE)
    made.run()
    assert len(set(made.bound("g").values())) == 2
    for number in range(2, 4):
        made.node(f"n{number}", cpu=2, labels={"rack": f"r{number - 2}"})
    made.run()
    return made


def places(stage: Stage, group: str = "g") -> HeldDemands:
    kept = stage.state.future_reservations.of(build.group_key(group))
    return kept.demands if kept is not None else {}


def test_room_for_the_members_of_one_node_is_kept_where_the_gang_does_not_run(packed: Stage) -> None:
    assert packed.kept() == 2
    assert not set(places(packed)) & set(packed.bound("g").values())
    assert packed.spare.pods() == {"kept": 2, "missing": 0}


def test_the_fullest_nodes_count() -> None:
    stage = Stage()
    stage.node("full", cpu=3)
    stage.node("half", cpu=1)
    stage.gang("g", 4, annotations=SPARE)
    stage.run()
    for number in range(4):
        stage.node(f"n{number}", cpu=1)
    stage.run()
    assert stage.kept() == 3


def test_it_is_kept_against_equals_and_less_important_ones_and_taken_by_more_important_ones(packed: Stage) -> None:
    packed.gang("young", 3)
    packed.gang("lesser", 3, priority=-1)
    packed.run()
    assert packed.bound("young") == packed.bound("lesser") == {}
    packed.gang("vip", 4, priority=5)
    packed.run()
    assert len(packed.bound("vip")) == 4
    assert packed.kept() == 0
    assert packed.spare.pods() == {"kept": 0, "missing": 2}


def test_when_a_node_dies_the_replacements_have_its_room_at_once_though_a_younger_gang_waits(packed: Stage) -> None:
    packed.gang("young", 3)
    packed.run()
    before, spare = packed.bound("g"), set(places(packed))
    dead = before["g-0"]
    lost = [name for name, node in before.items() if node == dead]
    packed.lose(*lost)
    packed.node_gone(dead)
    packed.run()
    assert packed.kept() == 2
    for name in lost:
        packed.pod(f"{name}-again", group="g")
    packed.run()
    after = packed.bound("g")
    assert {after[f"{name}-again"] for name in lost} <= spare
    assert {name: node for name, node in after.items() if name in before and name not in lost} == {
        name: node for name, node in before.items() if name not in lost
    }
    assert packed.bound("young") == {}
    assert packed.decisions[-1].bindings, "nobody is evicted and nobody waits"


def test_whole_again_it_has_room_for_the_next_node_if_there_is_some(packed: Stage) -> None:
    packed.node("n4", cpu=2)
    dead = packed.bound("g")["g-0"]
    lost = [name for name, node in packed.bound("g").items() if node == dead]
    packed.lose(*lost)
    packed.node_gone(dead)
    for name in lost:
        packed.pod(f"{name}-again", group="g")
    packed.run()
    assert len(packed.bound("g")) == 4 + len(lost)
    assert packed.kept() == 2
    assert not set(places(packed)) & {node for name, node in packed.bound("g").items() if name not in lost}


def test_a_gang_does_not_wait_for_it_to_start_and_has_it_as_room_appears() -> None:
    stage = Stage()
    stage.node("n0", cpu=2)
    stage.gang("g", 2, annotations=SPARE)
    stage.run()
    assert len(stage.bound("g")) == 2
    assert stage.spare.pods() == {"kept": 0, "missing": 2}
    stage.gang("young", 1)
    stage.run()
    stage.node("n1", cpu=1)
    stage.run()
    assert (stage.kept(), stage.bound("young")) == (1, {})
    stage.node("n2", cpu=2)
    stage.run()
    assert stage.kept() == 2
    assert len(stage.bound("young")) == 1


def test_it_is_inside_the_domain_that_the_gang_must_keep_to() -> None:
    stage = Stage()
    for number in range(4):
        stage.node(f"n{number}", cpu=1, labels={"rack": "r0" if number < 3 else "r1"})
    stage.gang("g", 2, annotations=SPARE, topology="rack")
    stage.run()
    rack = {f"n{number}" for number in range(3)}
    assert set(places(stage)) == rack - set(stage.bound("g").values())
    stage.gang("young", 1)
    stage.run()
    assert stage.bound("young") == {"young-0": "n3"}


def test_a_gang_that_is_finishing_keeps_nothing(packed: Stage) -> None:
    packed.lose("g-0", phase="Succeeded")
    packed.gang("young", 4)
    packed.run()
    assert packed.kept() == 0
    assert len(packed.bound("young")) == 4


@pytest.mark.parametrize("annotations", [{}, {SPARE_NODES: "0"}, {SPARE_NODES: "many"}, {**SPARE, DEGRADED: "report"}])
def test_who_does_not_ask_for_it_keeps_nothing(annotations: dict[str, str]) -> None:
    stage = Stage()
    for number in range(4):
        stage.node(f"n{number}", cpu=1)
    stage.gang("g", 2, annotations=annotations)
    stage.run()
    assert stage.kept() == 0
    assert stage.spare.pods() == {"kept": 0, "missing": 0}


def test_it_is_given_back_when_its_gang_is_gone_or_does_not_want_it_any_more(packed: Stage) -> None:
    packed.group("g", 4, priority=0)
    packed.run()
    assert packed.kept() == 0
    packed.group("g", 4, priority=0, annotations=SPARE)
    packed.run()
    assert packed.kept() == 2
    for number in range(4):
        packed.pod_gone(f"g-{number}")
    packed.group_gone("g")
    packed.gang("young", 8)
    packed.run()
    assert len(packed.bound("young")) == 8


def test_room_for_two_nodes_may_be_kept(stage: Stage) -> None:
    stage.group("g", 4, priority=0, annotations={SPARE_NODES: "2"})
    stage.run()
    assert stage.kept() == 2
    assert not set(places(stage)) & set(stage.bound("g").values())


def test_its_places_move_when_somebody_more_important_takes_them(packed: Stage) -> None:
    (where, *_) = places(packed)
    packed.node("elsewhere", cpu=2)
    packed.pod("vip-0", priority=5, on=where)
    packed.pod("vip-1", priority=5, on=where)
    packed.gang("young", 3)
    packed.run()
    assert packed.kept() == 2
    assert where not in places(packed)


def test_a_scheduler_that_takes_over_keeps_it_again(packed: Stage) -> None:
    packed.state.future_reservations.drop(build.group_key("g"))
    packed.begin()
    packed.gang("young", 3)
    packed.run()
    assert packed.kept() == 2
    assert packed.bound("young") == {}


def test_places_are_looked_for_again_only_when_something_has_changed(
    packed: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    monkeypatch.setattr(packed.spare, "_keep", lambda item, _asking, _before: looks.append(item.key.name))
    for _ in range(3):
        packed.spare.tick()
    assert looks == []
    packed.node("n9", cpu=1)
    packed.run()
    assert looks, "another node may have better ones"


def test_looking_for_what_is_not_there_takes_a_fifth_of_the_time_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    stage.node("n0", cpu=2)
    stage.gang("g", 2, annotations=SPARE)
    stage.run()
    keep, looks = stage.spare._keep, []

    def slowly(*args: object) -> None:
        looks.append(stage.now)
        stage.now += 1.0
        keep(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(stage.spare, "_keep", slowly)
    for number in range(5):
        stage.node(f"small-{number}", cpu=0)
        stage.spare.tick()
    assert len(looks) == 1
    stage.now += 5.0
    stage.spare.tick()
    assert len(looks) == 2


def test_room_that_appears_just_after_a_look_is_kept_before_a_younger_gang_is_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A node comes in steps: it is made, is ready, loses its taint."""
    stage = Stage()
    stage.node("n0", cpu=2)
    stage.gang("g", 2, annotations=SPARE)
    stage.run()
    keep = stage.spare._keep

    def taking_time(*args: object) -> None:
        stage.now += 0.01
        keep(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(stage.spare, "_keep", taking_time)
    stage.gang("young", 2)
    stage.node("n1", cpu=2, taints=[{"key": "not-ready", "effect": "NoSchedule"}])
    stage.run()
    stage.node("n1", cpu=2)
    stage.run()
    assert stage.bound("young") == {}
    assert stage.kept() == 2


# --- when gangs are looked at ----------------------------------------------------------------------------------------


def test_gangs_are_looked_at_when_something_has_changed_those_that_wait_too(
    packed: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed.gang("waits", 9, annotations=SPARE)
    packed.run()
    looked_at: list[str] = []

    def noting(members: PodGroupState) -> bool:
        looked_at.append(members.key.name)
        return is_short(members)

    monkeypatch.setattr(spare_nodes, "is_short", noting)
    spare = SpareNodes(packed.state, clock=lambda: packed.now, apply=packed.apply)
    spare.tick()
    spare.tick()
    assert looked_at == ["g", "waits"]
    packed.node("n9", cpu=1)
    spare.tick()
    assert sorted(looked_at) == ["g", "g", "waits", "waits"]


def test_when_the_last_gang_that_asks_is_gone_there_is_nothing_left_to_be_done() -> None:
    stage = Stage()
    stage.node("n0", cpu=1)
    stage.gang("waits", 2, annotations=SPARE)
    spare = SpareNodes(stage.state, clock=count().__next__, apply=stage.apply)
    spare.tick()
    stage.node("n1", cpu=0)
    spare.tick()
    assert spare.next_due_seconds() is not None
    stage.group_gone("waits")
    spare.tick()
    assert spare.next_due_seconds() is None

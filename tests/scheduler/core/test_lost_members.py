"""Members that are lost: the places of their replacements are kept from that moment, and survivors stay where they are."""

from collections.abc import Sequence

import pytest

from api.constants import DEGRADED, REPAIR_TIMEOUT
from api.degraded import DEFAULT_REPAIR_SECONDS
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.queue.settings import QueueSettings
from scheduler.reservations import lost_members
from scheduler.reservations.future_reservations import Places
from tests.scheduler.core import build
from tests.scheduler.core.stage import Stage


@pytest.fixture
def stage() -> Stage:
    """Eight nodes of one CPU each, on which a gang of eight runs, and two that are free."""
    made = Stage()
    for number in range(8):
        made.node(f"n{number}", cpu=1)
    made.gang("g", 8)
    made.run()
    assert len(made.bound("g")) == 8
    return made


def test_a_younger_gang_of_equal_priority_does_not_take_the_room_of_the_lost(stage: Stage) -> None:
    stage.lose("g-0", "g-1")
    stage.gang("young", 2)
    stage.run()
    assert stage.bound("young") == {}
    assert stage.kept() == 2


def test_the_replacements_get_it_however_late_they_come_and_the_younger_gang_starts_after_them(stage: Stage) -> None:
    before = stage.bound("g")
    stage.lose("g-0", "g-1")
    stage.gang("young", 2)
    stage.wait(60)
    stage.pod("g-0-again", group="g")
    stage.pod("g-1-again", group="g")
    stage.run()
    after = stage.bound("g")
    assert {after["g-0-again"], after["g-1-again"]} == {before["g-0"], before["g-1"]}
    assert {name: after[name] for name in before if name not in ("g-0", "g-1")} == {
        name: node for name, node in before.items() if name not in ("g-0", "g-1")
    }
    assert stage.kept() == 0
    assert stage.bound("young") == {}
    stage.node("n8", cpu=1)
    stage.node("n9", cpu=1)
    stage.run()
    assert len(stage.bound("young")) == 2


def test_who_is_more_important_takes_the_room_all_the_same(stage: Stage) -> None:
    stage.lose("g-0", "g-1")
    stage.gang("vip", 2, priority=5)
    stage.run()
    assert len(stage.bound("vip")) == 2


def test_a_node_that_is_gone_has_its_places_elsewhere(stage: Stage) -> None:
    stage.node("spare", cpu=1)
    gone = stage.bound("g")["g-3"]
    stage.lose("g-3")
    stage.node_gone(gone)
    stage.gang("young", 1)
    stage.run()
    kept = stage.state.future_reservations.of(build.group_key("g"))
    assert kept is not None
    assert set(kept.demands) == {"spare"}
    assert stage.bound("young") == {}


def _looks(stage: Stage, monkeypatch: pytest.MonkeyPatch, *, seconds: float = 0.0) -> list[str]:
    """The names of the gangs for which places are looked for from now on, which takes so long."""
    looks: list[str] = []
    look = lost_members.places_of_replacements

    def places_of_replacements(state: ClusterState, item: PodGroupState, short: Sequence[PodGroupState]) -> Places:
        looks.append(item.key.name)
        stage.now += seconds
        return look(state, item, short)

    monkeypatch.setattr(lost_members, "places_of_replacements", places_of_replacements)
    return looks


@pytest.mark.parametrize("look_seconds", [0.0, 0.01])
def test_room_that_appears_later_is_kept_before_a_younger_gang_is_tried(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, look_seconds: float
) -> None:
    _looks(stage, monkeypatch, seconds=look_seconds)
    nodes = [stage.bound("g")[name] for name in ("g-0", "g-1")]
    stage.lose("g-0", "g-1")
    for node in nodes:
        stage.node_gone(node)
    stage.gang("young", 1)
    stage.run()
    assert stage.kept() == 0
    stage.node("first", cpu=1)
    stage.run()
    assert (stage.kept(), stage.bound("young")) == (1, {})
    stage.node("second", cpu=1)
    stage.run()
    assert (stage.kept(), stage.bound("young")) == (2, {})
    stage.node("third", cpu=1)
    stage.run()
    assert stage.bound("young") == {"young-0": "third"}


def test_places_are_looked_for_again_when_room_appears_or_is_taken_where_it_was_kept_and_not_otherwise(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = _looks(stage, monkeypatch)
    stage.lose("g-0")
    stage.node("other", cpu=1)
    stage.node("third", cpu=1)
    stage.run()
    assert len(looks) == 1
    kept = stage.state.future_reservations.of(build.group_key("g"))
    assert kept is not None
    (where,) = kept.demands
    elsewhere = "other" if where == "third" else "third"
    stage.pod("somebody", on=elsewhere)
    stage.run()
    assert len(looks) == 1
    stage.pod("more-important", on=where)
    stage.run()
    assert len(looks) == 2
    assert stage.kept() == 1
    stage.pod_gone("somebody")
    stage.run()
    assert len(looks) == 3


def test_looking_again_takes_a_fifth_of_the_time_at_most_and_all_gangs_have_their_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = Stage()
    for number in range(6):
        stage.node(f"n{number}", cpu=1)
    for name in ("a", "b", "c"):
        stage.gang(name, 2)
    stage.run()
    nodes = stage.bound()
    looks = _looks(stage, monkeypatch, seconds=1.0)
    for name in ("a-0", "b-0", "c-0"):
        stage.lose(name)
        stage.node_gone(nodes[name])
    stage.run()
    assert sorted(looks) == ["a", "b", "c"], "who has just lost a member does not wait"
    looks.clear()
    begun = stage.now
    for _ in range(300):
        stage.state.losses.room_appeared()
        stage.lost.tick()
        stage.now += 0.1
    assert len(looks) <= (stage.now - begun) / 5 + 1
    turns = [looks.count(name) for name in ("a", "b", "c")]
    assert min(turns) >= 2
    assert max(turns) - min(turns) <= 1


def test_places_are_inside_the_topology_domain_in_which_the_others_run() -> None:
    stage = Stage()
    for rack, count in (("a", 4), ("b", 3)):
        for number in range(count):
            stage.node(f"{rack}{number}", cpu=1, labels={"rack": rack})
    stage.gang("g", 4, topology="rack")
    stage.run()
    assert {node[0] for node in stage.bound("g").values()} == {"a"}
    node = stage.bound("g")["g-2"]
    stage.lose("g-2")
    stage.node_gone(node)
    stage.gang("young", 1)
    stage.run()
    assert stage.kept() == 0, "room in another rack is no help"
    assert stage.bound("young")
    stage.node("a9", cpu=1, labels={"rack": "a"})
    stage.run()
    assert stage.kept() == 1


def test_where_the_lost_pod_could_run_decides_where_its_room_is_kept() -> None:
    stage = Stage()
    for number in range(3):
        stage.node(f"n{number}", cpu=1, labels={"pool": "fast" if number < 2 else "slow"})
    stage.gang("g", 2, spec={"nodeSelector": {"pool": "fast"}})
    stage.run()
    node = stage.bound("g")["g-0"]
    stage.lose("g-0")
    stage.node_gone(node)
    stage.run()
    assert stage.kept() == 0
    stage.node("fast-too", cpu=1, labels={"pool": "fast"})
    stage.run()
    kept = stage.state.future_reservations.of(build.group_key("g"))
    assert kept is not None
    assert set(kept.demands) == {"fast-too"}


def test_a_member_that_leaves_is_lost_as_soon_as_it_is_deleted_and_one_that_succeeded_is_not(stage: Stage) -> None:
    stage.node("n8", cpu=1)
    stage.pod("g-0", **{**stage._objects["g-0"], "deleted": True})
    stage.run()
    assert stage.kept() == 1
    stage.lose("g-1", "g-2", phase="Succeeded")
    stage.run()
    assert stage.kept() == 1


def _missing(stage: Stage) -> list[str]:
    return [pod.name for pod in stage.state.losses.of(build.group_key("g")).values()]


def test_who_is_missing_is_remembered_once_and_who_has_succeeded_is_not_missing(stage: Stage) -> None:
    stage.pod("g-0", **{**stage._objects["g-0"], "deleted": True})
    stage.lose("g-1", "g-2")
    stage.lose("g-3", phase="Succeeded")
    assert _missing(stage) == ["g-0", "g-1", "g-2"]
    stage.pod_gone("g-0")
    stage.pod_gone("g-3")
    assert _missing(stage) == ["g-0", "g-1", "g-2"]


def test_members_that_have_succeeded_are_not_replaced_and_not_missed_after_a_restart(stage: Stage) -> None:
    stage.lose("g-1", "g-2", phase="Succeeded")
    stage.begin()
    stage.lost.restore()
    assert len(stage.state.losses) == 0
    stage.lose("g-0")
    stage.pod("g-0-again", group="g")
    stage.run()
    assert len(stage.state.losses) == 0


def test_a_gang_whose_members_finish_one_after_the_other_keeps_nothing(stage: Stage) -> None:
    for number in range(8):
        stage.lose(f"g-{number}", phase="Succeeded")
        stage.run()
        assert stage.kept() == 0
    assert len(stage.state.losses) == 0


def test_a_node_that_is_not_ready_costs_nobody_anything(stage: Stage) -> None:
    stage.node("n0", cpu=1, taints=[{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}])
    stage.run()
    assert len(stage.state.losses) == 0
    assert len(stage.bound("g")) == 8


def test_of_a_gang_of_which_nobody_runs_any_more_nothing_is_kept(stage: Stage) -> None:
    stage.lose(*(f"g-{number}" for number in range(8)))
    stage.gang("young", 8)
    stage.run()
    assert len(stage.bound("young")) == 8
    assert len(stage.state.losses) == 0


def test_room_is_kept_for_as_long_as_the_group_says_and_no_longer() -> None:
    stage = Stage()
    for number in range(2):
        stage.node(f"n{number}", cpu=1)
    stage.gang("g", 2, annotations={REPAIR_TIMEOUT: "1m"})
    stage.run()
    stage.lose("g-0")
    stage.gang("young", 1)
    stage.wait(59)
    assert stage.bound("young") == {}
    stage.wait(2)
    stage.wait(60)
    assert len(stage.bound("young")) == 1
    assert stage.kept() == 0


def test_room_is_kept_for_longer_than_the_job_controller_ever_pauses(stage: Stage) -> None:
    stage.lose("g-0", "g-1")
    stage.gang("young", 2)
    for _ in range(21):
        stage.wait(30)
    assert stage.kept() == 2
    assert stage.bound("young") == {}


def test_with_the_policy_report_nothing_is_kept() -> None:
    stage = Stage()
    for number in range(2):
        stage.node(f"n{number}", cpu=1)
    stage.gang("g", 2, annotations={DEGRADED: "report"})
    stage.run()
    stage.lose("g-0")
    stage.gang("young", 1)
    stage.run()
    assert len(stage.bound("young")) == 1


def test_after_a_restart_room_is_kept_for_those_that_nobody_remembers(stage: Stage) -> None:
    stage.lose("g-0", "g-1")
    stage.run()
    stage.state.future_reservations.drop(build.group_key("g"))
    stage.state.losses.forget(build.group_key("g"))
    stage.begin()
    stage.lost.restore()
    stage.gang("young", 2)
    stage.run()
    assert stage.kept() == 2
    assert stage.bound("young") == {}


def test_of_members_that_differ_the_lost_one_is_what_room_is_kept_for() -> None:
    stage = Stage()
    stage.node("big", cpu=4)
    stage.node("small", cpu=1)
    stage.group("g", 2)
    stage.pod("g-big", group="g", cpu=4)
    stage.pod("g-small", group="g", cpu=1)
    stage.run()
    stage.lose("g-big")
    stage.gang("young", 1)
    stage.run()
    kept = stage.state.future_reservations.of(build.group_key("g"))
    assert kept is not None
    assert {node: sum(demands.values()) for node, demands in kept.demands.items()} == {"big": 1}
    assert stage.bound("young") == {}


def test_a_gang_that_is_gone_gives_the_room_back(stage: Stage) -> None:
    stage.lose("g-0", "g-1")
    stage.gang("young", 2)
    stage.run()
    for number in range(8):
        stage.pod_gone(f"g-{number}")
    stage.group_gone("g")
    stage.run()
    assert len(stage.bound("young")) == 2
    assert len(stage.state.losses) == len(stage.state.future_reservations) == 0
    assert stage.lost.next_due_seconds() is None


def test_a_group_that_is_gone_before_its_pods_are_leaves_nothing_that_is_ever_due(stage: Stage) -> None:
    stage.lose("g-0", "g-1")
    stage.run()
    assert stage.lost.next_due_seconds() == DEFAULT_REPAIR_SECONDS
    stage.group_gone("g")
    stage.run()
    assert stage.lost.next_due_seconds() is None
    assert stage.kept() == 0


def test_a_scheduler_that_stands_by_forgets_the_lost_with_their_group(stage: Stage) -> None:
    stage.lose("g-0", "g-1")
    assert len(stage.state.losses) == 1
    stage.group_gone("g")
    assert len(stage.state.losses) == 0


def test_groups_that_are_no_gangs_lose_nobody(stage: Stage) -> None:
    stage.node("more", cpu=1)
    stage.group("basic")
    stage.pods("basic", 1)
    stage.run()
    stage.lose("basic-0")
    assert len(stage.state.losses) == 0


def test_room_is_not_kept_twice_for_a_gang_whose_replacements_wait_for_long(stage: Stage) -> None:
    stage.node("busy", cpu=1)
    stage.pod("long", on="busy")
    node = stage.bound("g")["g-0"]
    stage.lose("g-0", "g-1")
    stage.node_gone(node)
    stage.pods("g", 2, first=10)
    stage.run()
    assert stage.kept() == 1
    for _ in range(40):
        stage.wait(10)
    assert stage.queue.refused_seconds(build.group_key("g")) > QueueSettings().reserve_after_seconds
    assert (stage.kept(), len(stage.state.reservations)) == (1, 0)

"""Which nominated room counts against whom, and when it is given up."""

from typing import Any

import pytest

from scheduler.cache.demand import Demand
from scheduler.cache.devices.records import DeviceId, HeldDevice
from scheduler.cache.nominator import Nomination, Nominator
from scheduler.cache.records import EntityKey
from tests.scheduler.core.build import pod_key
from tests.scheduler.core.world import World

FOREVER = 1e9


class Room:
    """A nominator, and pods of one CPU to be nominated to nodes."""

    def __init__(self) -> None:
        self.world = World()
        self.nominator = Nominator()

    def demand(self, name: str) -> Demand:
        self.world.pod(name)
        record = self.world.state.pod(f"uid-of-{name}")
        assert record is not None
        return record.demand

    def nominate(self, name: str, priority: int, *nodes: str, victims: tuple[str, ...] = ()) -> Nomination:
        """Pods `name-0`, `name-1`, ... one on each of the nodes."""
        places = {f"{name}-{number}": (node, self.demand(f"{name}-{number}")) for number, node in enumerate(nodes)}
        return self.nominator.nominate(pod_key(name), priority, places, frozenset(victims), FOREVER)

    def against(self, name: str, priority: int) -> dict[str, int]:
        """Pods held on each node against that item."""
        held = self.nominator.held_against(pod_key(name), priority)
        return {node: sum(demands.values()) for node, demands in held.items()}


@pytest.fixture
def room() -> Room:
    return Room()


def test_room_is_held_against_those_who_are_not_more_important_and_not_against_its_own_item(room: Room) -> None:
    room.nominate("lower", 1, "n0")
    room.nominate("equal", 5, "n0", "n1")
    room.nominate("higher", 9, "n1", "n1")

    assert room.against("other", 5) == {"n0": 1, "n1": 3}
    assert room.against("equal", 5) == {"n1": 2}
    assert room.against("other", 10) == {}
    assert [len(list(room.nominator.held_on(node, 5))) for node in ("n0", "n1", "n2")] == [1, 3, 0]


@pytest.mark.parametrize(
    ("name", "priority", "is_held"),
    [("other", 4, True), ("other", 5, True), ("other", 6, False), ("only", 5, False), ("only", 1, False)],
)
def test_whether_anything_is_held_against_somebody(room: Room, name: str, priority: int, is_held: bool) -> None:
    room.nominate("only", 5, "n0")

    assert room.nominator.is_held_against(pod_key(name), priority) == is_held


def test_of_two_equals_each_holds_room_against_the_other(room: Room) -> None:
    room.nominate("one", 5, "n0")
    room.nominate("two", 5, "n1")

    assert room.nominator.is_held_against(pod_key("one"), 5)
    room.nominator.withdraw(pod_key("two"))
    assert not room.nominator.is_held_against(pod_key("one"), 5)


def test_a_pod_that_has_its_place_or_is_gone_holds_nothing_any_more(room: Room) -> None:
    nomination = room.nominate("gang", 5, "n0", "n1")

    room.nominator.delete_pod("gang-0")
    assert (set(nomination.places), set(room.nominator.nodes), nomination.has_started) == ({"gang-1"}, {"n1"}, False)
    room.nominator.delete_pod("gang-1", has_place=True)
    assert (set(nomination.places), set(room.nominator.nodes), nomination.has_started) == (set(), set(), True)


def test_a_nominated_pod_that_is_assumed_has_its_room_and_holds_no_other(room: Room) -> None:
    world = room.world
    world.node("n0", cpu=4)
    demand = room.demand("gang-0")
    nomination = world.state.nominator.nominate(
        pod_key("gang-0"), 5, {"uid-of-gang-0": ("n0", demand)}, frozenset(), FOREVER
    )

    world.state.assume("uid-of-gang-0", "n0", FOREVER)

    assert list(world.state.nominator.held_on("n0", 0)) == []
    assert nomination.has_started


def test_a_new_nomination_takes_the_place_of_the_old_one(room: Room) -> None:
    room.nominate("gang", 5, "n0", victims=("a",))
    room.nominate("other", 5, "n2", victims=("c",))
    newer = room.nominate("gang", 7, "n1", victims=("b",))

    assert room.nominator.of(pod_key("gang")) is newer
    assert set(room.nominator.nodes) == {"n1", "n2"}
    assert (len(room.nominator), set(room.nominator.victims())) == (2, {"b", "c"})
    assert not room.nominator.is_held_against(pod_key("somebody"), 8)


def test_who_is_less_important_is_overtaken_on_the_nodes_that_are_taken(room: Room) -> None:
    lower, equal, elsewhere = (
        room.nominate(name, priority, node) for name, priority, node in (("a", 1, "n0"), ("b", 5, "n0"), ("c", 1, "n1"))
    )

    room.nominator.overtake({"n0"}, 5)

    assert [one.is_overtaken for one in (lower, equal, elsewhere)] == [True, False, False]


def test_who_follows_hears_of_every_node_on_which_more_or_less_is_held(room: Room) -> None:
    changed = room.nominator.follow()
    room.nominate("gang", 5, "n0", "n1")
    assert changed == {"n0", "n1"}
    changed.clear()
    room.nominator.delete_pod("gang-1")
    assert changed == {"n1"}
    changed.clear()
    room.nominator.unfollow(changed)
    room.nominator.withdraw(pod_key("gang"))
    assert changed == set()


def test_all_can_be_exchanged_at_once(room: Room) -> None:
    kept = room.nominate("kept", 5, "n0")
    room.nominate("dropped", 5, "n1")

    room.nominator.replace_all([kept])

    keys: list[EntityKey] = [nomination.key for nomination in room.nominator]
    assert (keys, set(room.nominator.nodes)) == ([pod_key("kept")], {"n0"})


def test_a_nomination_that_is_taken_up_again_takes_the_place_of_a_newer_one(room: Room) -> None:
    older = room.nominate("gang", 5, "n0")
    room.nominator.withdraw(pod_key("gang"))
    room.nominate("gang", 7, "n1")

    room.nominator.restore(older)

    assert room.nominator.of(pod_key("gang")) is older
    assert (len(room.nominator), set(room.nominator.nodes)) == (1, {"n0"})
    assert not room.nominator.is_held_against(pod_key("somebody"), 6)


# --- devices, and pods of other schedulers -----------------------------------------------------------------------------


def test_devices_are_kept_against_those_who_are_not_more_important_until_their_pod_has_its_place(room: Room) -> None:
    kept = HeldDevice(DeviceId("example.com", "pool", "gpu-0"))
    places = {"gang-0": ("n0", room.demand("gang-0"))}
    room.nominator.nominate(pod_key("gang"), 5, places, frozenset(), FOREVER, {"gang-0": (kept,)})
    room.nominate("without", 5, "n1")

    def against(name: str, priority: int) -> list[HeldDevice]:
        return list(room.nominator.devices_against(pod_key(name), priority))

    assert [against("other", priority) for priority in (4, 5, 6)] == [[kept], [kept], []]
    assert against("gang", 5) == []
    room.nominator.delete_pod("gang-0", has_place=True)
    assert against("other", 5) == []


def foreign(world: World, **more: Any) -> dict[str, str]:
    """The nodes on which room is held for pods of other schedulers, once one of them stands like this."""
    world.pod("theirs", **{"scheduler": "default-scheduler", "priority": 5, "nominated": "n0", **more})
    return {one.key.name: node for one in world.state.nominator for node, _ in one.places.values()}


def test_room_is_held_for_a_pod_of_another_scheduler_where_that_nominates_it(room: Room) -> None:
    world = room.world
    assert foreign(world, nominated="") == {}
    assert foreign(world) == {"theirs": "n0"}
    assert world.state.nominator.is_held_against(pod_key("other"), 5)
    assert not world.state.nominator.is_held_against(pod_key("other"), 6)
    assert foreign(world, nominated="n1") == {"theirs": "n1"}
    assert foreign(world, nominated="n1", cpu=2) == {"theirs": "n1"}
    ((_, demand),) = next(iter(world.state.nominator)).places.values()
    assert demand.amounts["cpu"] == 2000
    assert foreign(world, nominated="") == {}


@pytest.mark.parametrize(
    "more", [{"on": "n0"}, {"phase": "Succeeded"}, {"phase": "Failed"}, {"deleted": True}, {"scheduler": "tutti"}]
)
def test_no_room_is_held_for_a_foreign_pod_that_needs_none_or_for_one_of_ours(room: Room, more: dict[str, Any]) -> None:
    assert foreign(room.world, **more) == {}


@pytest.mark.parametrize("ends", ["bound", "gone", "elsewhere"])
def test_room_that_is_held_for_a_foreign_pod_no_longer_wakes_whoever_waits_for_it(room: Room, ends: str) -> None:
    world = room.world
    for name in ("n0", "n1"):
        world.node(name, cpu=1)
    foreign(world)
    world.pod("filler", on="n1", scheduler="other")
    world.pod("waits")
    world.run()
    assert "waits" not in world.bound()
    match ends:
        case "bound":
            world.pod_gone("filler")
            foreign(world, on="n1")
        case "gone":
            world.pod_gone("theirs")
        case _:
            foreign(world, nominated="n1")
    world.run()
    assert world.bound()["waits"] == "n0"


def test_a_nomination_has_cost_nobody_anything_when_it_is_made(room: Room) -> None:
    nomination = room.nominate("gang", 5, "n0")

    assert (nomination.evicted, nomination.has_started, nomination.is_overtaken) == (0, False, False)

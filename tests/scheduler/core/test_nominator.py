"""Which nominated room counts against whom, and when it is given up."""

import pytest

from scheduler.cache.demand import Demand
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

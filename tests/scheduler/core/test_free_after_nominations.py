"""What others leave to an item: whose room counts against it, on which nodes it has room itself, and for how long that is kept."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from scheduler.algorithm.free_after_nominations import (
    MOST_PRIORITIES,
    fits_after_nominations,
    is_room_held_against,
    nominated_slots,
    resources_left_to,
    snapshot_for,
)
from scheduler.cache.demand import Demand
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.records import EntityKey
from scheduler.cache.reservations import Reservation
from tests.scheduler.core.build import pod_key
from tests.scheduler.core.world import World

FOREVER = 1e9


class Held(World):
    """Three nodes of four CPUs, and pods of one CPU for which room is held."""

    def __init__(self) -> None:
        super().__init__()
        for number in range(3):
            self.node(f"n{number}", cpu=4)

    def item(self, name: str, priority: int = 0) -> PodGroupState:
        self.pod(name, priority=priority)
        found = self.state.item(pod_key(name))
        assert found is not None
        return found

    def nominate(self, name: str, priority: int, *nodes: str) -> None:
        places = {}
        for number, node in enumerate(nodes):
            self.pod(f"{name}-{number}", priority=priority)
            record = self.state.pod(f"uid-of-{name}-{number}")
            assert record is not None
            places[record.uid] = (node, record.demand)
        self.state.nominator.nominate(pod_key(f"{name}-0"), priority, places, frozenset(), FOREVER)

    def reserve(self, name: str, priority: int, node: str, pods: int = 1, *, is_to_come: bool = False) -> None:
        self.pod(name, priority=priority)
        record = self.state.pod(f"uid-of-{name}")
        assert record is not None
        kept = self.state.future_reservations if is_to_come else self.state.reservations
        kept.put(Reservation(pod_key(name), priority, {node: Counter({record.demand: pods})}, FOREVER))

    def left(self, members: PodGroupState) -> dict[str, int]:
        """Room for more of its pods by node."""
        (signature,) = members.pending
        room = snapshot_for(self.state, members).room(signature)
        return {name: int(room[slot]) for name, slot in sorted(self.state.nodes.slot_of.items())}


@pytest.fixture
def held() -> Held:
    return Held()


def test_without_anything_held_all_room_is_left_and_nothing_is_copied(held: Held) -> None:
    members = held.item("p")
    assert held.left(members) == {"n0": 4, "n1": 4, "n2": 4}
    assert not is_room_held_against(held.state, members)
    assert resources_left_to(held.state, members) is None


@pytest.mark.parametrize(("priority", "left"), [(4, 2), (5, 2), (6, 4)])
def test_nominations_and_reservations_count_against_those_who_are_not_more_important(
    held: Held, priority: int, left: int
) -> None:
    held.nominate("nominated", 5, "n0")
    held.reserve("waits", 5, "n0")
    held.reserve("to-come", 5, "n1", 2, is_to_come=True)
    members = held.item("p", priority)
    assert held.left(members) == {"n0": left, "n1": left, "n2": 4}
    assert is_room_held_against(held.state, members) is (left < 4)


@pytest.mark.parametrize("own", ["nomination", "reservation", "to come"])
def test_what_an_item_holds_itself_is_left_to_it_and_what_others_hold_is_not(held: Held, own: str) -> None:
    held.reserve("other", 5, "n0", 2)
    match own:
        case "nomination":
            held.nominate("own", 5, "n0", "n1")
        case "reservation":
            held.reserve("own-0", 5, "n0", 2)
        case _:
            held.reserve("own-0", 5, "n0", 2, is_to_come=True)
    members = held.state.item(pod_key("own-0"))
    assert members is not None
    assert held.left(members) == {"n0": 2, "n1": 4, "n2": 4}


def test_who_holds_room_where_nobody_else_does_has_all_of_it(held: Held) -> None:
    held.nominate("own", 5, "n0")
    members = held.state.item(pod_key("own-0"))
    assert members is not None
    assert held.left(members) == {"n0": 4, "n1": 4, "n2": 4}
    assert resources_left_to(held.state, members) is None


def test_room_on_a_node_that_is_gone_is_held_nowhere(held: Held) -> None:
    held.nominate("nominated", 5, "n0", "n1")
    held.reserve("waits", 5, "n0")
    held.node_gone("n0")
    members = held.item("p", 1)
    assert held.left(members) == {"n1": 3, "n2": 4}
    room = resources_left_to(held.state, members)
    assert room is not None
    assert np.flatnonzero(room.touched).tolist() == [held.state.nodes.slot_of["n1"]]


def test_the_nodes_on_which_an_item_has_room_are_those_of_its_nomination_and_of_its_pods_to_come(held: Held) -> None:
    assert nominated_slots(held.state, held.item("p")) is None
    held.nominate("own", 5, "n0", "gone")
    held.reserve("own-0", 5, "n2", is_to_come=True)
    members = held.state.item(pod_key("own-0"))
    assert members is not None
    allowed = nominated_slots(held.state, members)
    assert allowed is not None
    assert sorted(held.state.nodes.names[slot] for slot in np.flatnonzero(allowed)) == ["n0", "n2"]


def test_what_is_left_follows_when_room_is_given_up(held: Held) -> None:
    held.nominate("one", 5, "n0", "n0")
    held.reserve("two", 5, "n1", 3)
    members = held.item("p", 5)
    assert held.left(members) == {"n0": 2, "n1": 1, "n2": 4}
    held.state.nominator.delete_pod("uid-of-one-0")
    assert held.left(members) == {"n0": 3, "n1": 1, "n2": 4}
    held.state.reservations.drop(pod_key("two"))
    held.node("n3", cpu=2)
    held.pod("there", on="n2", cpu=3)
    assert held.left(members) == {"n0": 3, "n1": 4, "n2": 1, "n3": 2}


def test_views_are_kept_for_the_priorities_that_were_asked_for_last(held: Held) -> None:
    held.nominate("one", 99, "n0")
    made = {priority: fits_after_nominations(held.state, priority) for priority in range(MOST_PRIORITIES)}
    assert fits_after_nominations(held.state, 0) is made[0]
    fits_after_nominations(held.state, 50)
    assert [fits_after_nominations(held.state, one) is made[one] for one in (0, 2, 3)] == [True] * 3
    assert fits_after_nominations(held.state, 1) is not made[1]


def test_of_two_views_too_the_one_that_was_asked_for_last_is_kept_longer(held: Held) -> None:
    held.nominate("one", 99, "n0")
    first, second = (fits_after_nominations(held.state, priority) for priority in (0, 1))
    fits_after_nominations(held.state, 0)
    for priority in range(2, MOST_PRIORITIES + 1):
        fits_after_nominations(held.state, priority)
    assert fits_after_nominations(held.state, 0) is first
    assert fits_after_nominations(held.state, 1) is not second


def test_reservations_are_read_anew_only_after_they_changed(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    held.reserve("kept", 5, "n0", 2)
    fits_after_nominations(held.state, 5)
    read: list[int] = []
    against = held.state.reservations.against

    def noted(key: EntityKey, priority: int) -> Iterator[tuple[str, Counter[Demand]]]:
        read.append(priority)
        return iter(against(key, priority))

    monkeypatch.setattr(held.state.reservations, "against", noted)
    fits_after_nominations(held.state, 5)
    assert read == []
    held.reserve("more", 5, "n1")
    fits_after_nominations(held.state, 5)
    fits_after_nominations(held.state, 5)
    assert read == [5]

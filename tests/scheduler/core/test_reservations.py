"""Room that is kept for groups that have waited too long: a stream of small pods starves nobody, and nobody waits for ever."""

import random
from typing import Any

import pytest

from scheduler.queue.settings import QueueSettings
from scheduler.reservations.starvation import StarvationReservations
from tests.scheduler.core.build import group_key, pod_key
from tests.scheduler.core.world import World

SETTINGS = QueueSettings()
NODES, GANG, SMALL = 40, 24, 30


class Kept(World):
    """A world whose loop keeps room for those that wait too long, and in which pods end."""

    def __init__(self) -> None:
        super().__init__("tutti")
        self.starvation = StarvationReservations(self.state, self.queue, lambda: self.now, SETTINGS, apply=self.apply)
        self.ends: list[tuple[float, str]] = []
        self.smalls = 0

    def until(self, end: float, step: float = 1.0) -> None:
        """Lives through time as the loop does, in small steps; pods end when their time has come."""
        while self.now < end:
            self.now += step
            for due, name in [entry for entry in self.ends if entry[0] <= self.now]:
                self.ends.remove((due, name))
                self.pod_gone(name)
            self.starvation.tick()
            while (decision := self.step()) is not None:
                self.starvation.decided(decision)
                self.starvation.tick()

    def small(self, seconds: float) -> None:
        """A small pod that is there for so long."""
        self.smalls += 1
        self.pod(f"small-{self.smalls}")
        self.ends.append((self.now + seconds, f"small-{self.smalls}"))

    @property
    def kept(self) -> set[str]:
        """Nodes on which room is kept."""
        return {node for held in self.state.reservations for node in held.demands}


def _stream(world: Kept, end: float, seed: int) -> None:
    """Small pods come and go so that three quarters of the cluster are always in use."""
    chance = random.Random(seed)
    while world.now < end and not world.bound("g"):
        for _ in range(SMALL - len(world.ends)):
            world.small(chance.uniform(5, 40))
        world.until(world.now + 1)


@pytest.mark.parametrize("seed", range(3))
def test_a_stream_of_small_pods_does_not_starve_a_gang_of_60_percent(seed: int) -> None:
    world = Kept()
    for number in range(NODES):
        world.node(f"n{number}", cpu=1)
    _stream(world, world.now + 20, seed)
    world.group("g", GANG)
    world.pods("g", GANG)
    begin = world.now
    _stream(world, begin + SETTINGS.reserve_after_seconds + 200, seed)
    assert len(world.bound("g")) == GANG, f"seed {seed}"
    assert SETTINGS.reserve_after_seconds <= world.now - begin <= SETTINGS.reserve_after_seconds + 60
    assert world.kept == set()


def test_without_a_reservation_it_would_have_starved() -> None:
    """What the test above shows is not chance."""
    world = Kept()
    world.starvation = StarvationReservations(
        world.state, world.queue, lambda: world.now, QueueSettings(reserve_after_seconds=1e9), apply=world.apply
    )
    for number in range(NODES):
        world.node(f"n{number}", cpu=1)
    _stream(world, world.now + 20, 1)
    world.group("g", GANG)
    world.pods("g", GANG)
    _stream(world, world.now + 200, 1)
    assert world.bound("g") == {}


def _refused_for_long(world: Kept, size: int = 3, **more: Any) -> None:
    world.group("g", size, **more)
    world.pods("g", size)
    world.until(world.now + SETTINGS.reserve_after_seconds + 30)


def test_as_few_nodes_as_possible_are_kept_those_first_where_the_least_has_to_end() -> None:
    world = Kept()
    for number, busy in enumerate((4, 2, 3, 2)):
        world.node(f"n{number}", cpu=4)
        world.pod(f"busy-{number}", cpu=busy, on=f"n{number}")
    world.pod("also-busy", cpu=2, on="n3")
    world.group("g", 6)
    world.pods("g", 6)
    world.until(world.now + SETTINGS.reserve_after_seconds + 30)
    assert world.kept == {"n1", "n2"}
    world.pod("other", cpu=2)
    world.until(world.now + 5)
    assert "other" not in world.bound()
    _, message = world.held(pod_key("other"))
    assert message == "0/4 nodes are available: 4 Insufficient cpu. Some room is kept for other groups."
    world.pod_gone("busy-3")
    world.until(world.now + 15)
    assert world.bound()["other"] == "n3"
    assert world.bound("g") == {}
    world.pod_gone("busy-1")
    world.until(world.now + 5)
    assert world.bound("g") == {}
    world.pod_gone("busy-2")
    world.until(world.now + 1)
    assert len(world.bound("g")) == 6


def test_a_more_important_pod_takes_what_is_kept() -> None:
    world = Kept()
    world.node("n1", cpu=3)
    world.pod("busy", on="n1")
    _refused_for_long(world)
    assert world.kept == {"n1"}
    world.pod("equal")
    world.pod("urgent", priority=5)
    world.until(world.now + 1)
    assert set(world.bound()) == {"busy", "urgent"}


def test_nothing_is_kept_for_a_group_that_would_not_fit_anyhow() -> None:
    world = Kept()
    world.node("n1", cpu=3)
    world.pod("stays", cpu=1, on="n1", scheduler="other")
    _refused_for_long(world)
    assert world.kept == set()
    world.pod("small", cpu=2)
    world.until(world.now + 1)
    assert "small" in world.bound()


def test_what_is_kept_in_vain_is_given_back_and_the_pauses_grow() -> None:
    world = Kept()
    world.node("n1", cpu=3)
    world.pod("endless", on="n1")
    _refused_for_long(world)
    assert world.kept == {"n1"}
    begin = world.now
    world.pod("small", cpu=2)
    world.until(begin + SETTINGS.reserve_seconds + 2, step=2)
    assert world.bound()["small"] == "n1"
    world.until(begin + 2 * SETTINGS.reserve_seconds, step=5)
    assert world.kept == set()
    world.until(begin + 3.5 * SETTINGS.reserve_seconds, step=5)
    assert world.kept == {"n1"}


@pytest.mark.parametrize("end", ["group", "pods", "minimum"])
def test_what_is_kept_for_a_group_that_needs_it_no_more_is_given_back(end: str) -> None:
    world = Kept()
    world.node("n1", cpu=3)
    world.pod("busy", on="n1")
    _refused_for_long(world)
    world.pod("small", cpu=2)
    if end == "group":
        world.group_gone("g")
    elif end == "pods":
        for number in range(3):
            world.pod_gone(f"g-{number}")
    else:
        world.group("g", 4)
    world.until(world.now + 2)
    assert world.bound()["small"] == "n1"
    assert world.kept == set()


def test_a_node_that_goes_is_replaced_by_others() -> None:
    world = Kept()
    for number in range(3):
        world.node(f"n{number}", cpu=2)
        world.pod(f"busy-{number}", cpu=2, on=f"n{number}")
    world.group("g", 2)
    world.pods("g", 2)
    world.until(world.now + SETTINGS.reserve_after_seconds + 30)
    (kept,) = world.kept
    world.node_gone(kept)
    world.until(world.now + 30)
    assert world.kept
    assert kept not in world.kept


def test_a_group_inside_one_rack_has_room_kept_inside_one() -> None:
    world = Kept()
    for rack in ("r1", "r2"):
        for number in range(2):
            world.node(f"{rack}-{number}", cpu=2, labels={"rack": rack})
            world.pod(f"busy-{rack}-{number}", cpu=1, on=f"{rack}-{number}")
    _refused_for_long(world, topology="rack")
    assert {node.partition("-")[0] for node in world.kept} in ({"r1"}, {"r2"})
    assert len(world.kept) == 2


def test_groups_whose_pods_are_replaced_keep_their_room() -> None:
    world = Kept()
    world.node("n1", cpu=3)
    world.pod("busy", on="n1")
    _refused_for_long(world)
    world.pod_gone("g-0")
    world.pods("g", 1, first=7)
    world.pod("small", cpu=2)
    world.until(world.now + 3)
    assert world.kept == {"n1"}
    assert "small" not in world.bound()
    assert world.queue.refused_seconds(group_key("g")) > SETTINGS.reserve_after_seconds

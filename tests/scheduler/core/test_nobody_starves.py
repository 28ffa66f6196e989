"""However many hopeless items wait, and however dear it is to try them: what can be placed is, and priority wins where both could.

The clock moves with what attempts cost; nothing here depends on how fast this machine is.
"""

import pytest

from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.records import EntityKey
from scheduler.queue.settings import QueueSettings
from tests.scheduler.core.build import group_key, pod_key
from tests.scheduler.core.busy import BusyWorld

DEAR_SECONDS = 0.025
CHEAP_SECONDS = 0.0005
SHARE = 0.2
SAVED_SECONDS = 0.25
SOON_SECONDS = 0.5
"""A few attempts: what is saved up of the time for hopeless items, and one of each kind under way."""


def is_hopeless(key: EntityKey) -> bool:
    return key.name.startswith("hopeless")


def make_world() -> BusyWorld:
    return BusyWorld(lambda key: DEAR_SECONDS if is_hopeless(key) else CHEAP_SECONDS)


def too_large(world: BusyWorld, name: str) -> None:
    """No node is as large as its pods are: known beforehand on every event."""
    world.group(name, 2, priority=10)
    world.pods(name, 2, cpu=64, priority=10)


def of_two_sizes(world: BusyWorld, name: str) -> None:
    """Each pod would fit alone, both together do not: every event may have made room for them."""
    world.group(name, 2, priority=10)
    world.pod(f"{name}-0", group=name, cpu=3, priority=10)
    world.pod(f"{name}-1", group=name, cpu="2500m", priority=10)


def inside_one_rack(world: BusyWorld, name: str) -> None:
    """More than a rack has room for."""
    world.group(name, 3, priority=10, topology="rack")
    world.pods(name, 3, cpu=3, priority=10)


def lone(world: BusyWorld, name: str) -> None:
    world.pod(name, cpu=64, priority=10)


KINDS = (too_large, of_two_sizes, inside_one_rack, lone)


def crowd(count: int, kind: object = too_large) -> BusyWorld:
    """So many hopeless items, all of them tried already, in a cluster with room for small pods."""
    world = make_world()
    world.node("n0", cpu=4, labels={"rack": "r0"})
    assert callable(kind)
    for number in range(count):
        kind(world, f"hopeless-{number}")
    world.live_until(world.now + count * DEAR_SECONDS + 60)
    return world


def seconds_until_bound(world: BusyWorld, name: str, patience_seconds: float = 30.0) -> float:
    begun = world.now
    return world.live_until(begun + patience_seconds, is_over=lambda: name in world.bound()) - begun


def test_a_new_pod_with_room_waits_for_a_few_of_ten_thousand_hopeless_gangs() -> None:
    world = crowd(10_000)
    waited = []
    for number in range(20):
        world.pod(f"small-{number}", cpu="100m")
        waited.append(seconds_until_bound(world, f"small-{number}"))
        world.live_until(world.now + 0.3)
    assert max(waited) <= SOON_SECONDS


def test_ten_thousand_hopeless_gangs_that_come_at_once_hold_up_a_new_pod_no_longer() -> None:
    """As after a restart, when all of them are new to the scheduler."""
    world = make_world()
    world.node("n0", cpu=4)
    for number in range(10_000):
        too_large(world, f"hopeless-{number}")
    world.pod("small")
    assert seconds_until_bound(world, "small") <= SOON_SECONDS


def test_new_ones_without_room_are_tried_nevertheless_the_most_important_first() -> None:
    world = make_world()
    world.node("n0", cpu=4)
    for number in range(200):
        too_large(world, f"hopeless-{number}")
    world.pod("hopeless-but-urgent", cpu=64, priority=1000)
    world.live_until(world.now + 201 * DEAR_SECONDS)
    tried = [key.name for _, key, _ in world.attempts]
    assert tried[0] == "hopeless-but-urgent"
    assert len(set(tried)) == 201


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_pod_or_gang_starts_while_room_comes_and_goes(kind: object) -> None:
    world = crowd(500, kind)
    waited = []
    for number in range(40):
        # Room appears, too little for any of those who wait: it is an event for all of them.
        world.pod("comes-and-goes", cpu="100m", on="n0", scheduler="other")
        world.pod_gone("comes-and-goes")
        if number % 2:
            world.pod(f"small-{number}", cpu="10m")
            waited.append(seconds_until_bound(world, f"small-{number}"))
        else:
            world.group(f"small-{number}", 2)
            world.pods(f"small-{number}", 2, cpu="10m")
            waited.append(seconds_until_bound(world, f"small-{number}-1"))
        world.live_until(world.now + 0.1)
    assert max(waited) <= SOON_SECONDS


@pytest.mark.parametrize("kind", KINDS)
def test_those_that_change_all_the_time_hold_up_nobody(kind: object) -> None:
    world = crowd(40, kind)
    assert callable(kind)
    waited = []
    for number in range(20):
        for hopeless in range(40):
            world.queue.activate(group_key(f"hopeless-{hopeless}"), world.state)
            world.queue.activate(pod_key(f"hopeless-{hopeless}"), world.state)
        world.pod(f"small-{number}", cpu="10m")
        waited.append(seconds_until_bound(world, f"small-{number}"))
    assert max(waited) <= SOON_SECONDS


def test_retries_by_time_have_a_fifth_of_the_time_also_when_nothing_else_is_to_do() -> None:
    world = crowd(2_000)
    begun = world.now
    for number in range(100):
        # Something changes all the time, or there would be no retry at all.
        world.pod(f"elsewhere-{number}", cpu=0, on="n0", scheduler="other")
        world.live_until(world.now + 1)
    spent = world.spent_seconds(begun, is_hopeless)
    assert 0.9 * SHARE * 100 <= spent <= SHARE * 100 + SAVED_SECONDS + DEAR_SECONDS


def test_without_any_change_hopeless_items_cost_next_to_nothing() -> None:
    world = crowd(200)
    # Each is tried once more when it has waited so long that room could be reserved for it.
    world.live_until(world.now + 120)
    begun = world.now
    world.live_until(begun + 150)
    assert world.spent_seconds(begun, is_hopeless) == 0


def test_each_hopeless_item_has_its_turn() -> None:
    world = crowd(300)
    world.pod("hopeless-and-unimportant", cpu=64, priority=-5)
    world.live_until(world.now + 1)
    begun = world.now
    for number in range(120):
        world.pod(f"elsewhere-{number}", cpu=0, on="n0", scheduler="other")
        world.live_until(world.now + 1)
    tried = [key.name for at, key, _ in world.attempts if at >= begun]
    assert tried.count("hopeless-and-unimportant") >= 2
    assert len(set(tried)) == 301


@pytest.mark.parametrize("kind", [too_large, of_two_sizes, inside_one_rack])
def test_retries_of_gangs_do_not_starve_a_waiting_pod(kind: object) -> None:
    """KEP-4671; the pod has been refused, too, and there is room for it now."""
    world = crowd(500, kind)
    world.pod("takes-the-rest", cpu=4, on="n0", scheduler="other")
    world.pod("waits", cpu="10m")
    world.live_until(world.now + 5)
    assert "waits" not in world.bound()
    world.pod_gone("takes-the-rest")
    assert seconds_until_bound(world, "waits") <= 2 * SOON_SECONDS


def test_those_that_become_placeable_start_soon_and_in_the_order_of_priority() -> None:
    world = make_world()
    world.node("n0", cpu=1)
    for number in range(1_000):
        name = f"hopeless-{number}"
        world.group(name, 2, priority=number)
        world.pods(name, 2, cpu=4, priority=number)
    world.live_until(world.now + 60)
    begun = world.now
    for number in range(5):
        world.node(f"large-{number}", cpu=8)
        world.pod(f"small-{number}", cpu="100m", priority=-1)
    world.live_until(begun + SOON_SECONDS)
    started = [name for name in world.bound() if name.startswith("hopeless")]
    assert sorted(started) == sorted(f"hopeless-{number}-{pod}" for number in range(995, 1_000) for pod in (0, 1))


@pytest.mark.parametrize("kind", [too_large, of_two_sizes, inside_one_rack, lone])
def test_room_goes_to_the_more_important_one_that_waits_and_not_to_a_new_one(kind: object) -> None:
    world = make_world()
    world.node("n0", cpu=4, labels={"rack": "r0"})
    assert callable(kind)
    kind(world, "waits")
    world.live_until(world.now + 100)
    assert world.bound() == {}
    world.node("large", cpu=128, labels={"rack": "r0"})
    for number in range(130):
        world.pod(f"small-{number:03}", cpu=1)
    world.live_until(world.now + 1)
    assert any(name.startswith("waits") for name in world.bound())


def test_what_changes_while_an_item_is_tried_is_a_reason_to_try_it_again() -> None:
    world = make_world()
    too_large(world, "g")
    key = world.queue.pop(world.state)
    assert key is not None
    decision = decide(world.state, key)
    world.node("more", cpu=1)
    world.queue.done(key, decision, world.state)
    world.now += QueueSettings().reserve_after_seconds / 3
    assert world.queue.pop(world.state) == key
    world.queue.done(key, decide(world.state, key), world.state)
    world.now += QueueSettings().reserve_after_seconds / 3
    assert world.queue.pop(world.state) is None

"""Views that follow changes instead of looking at everything: each against the same thing made from scratch."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from scheduler.algorithm import node_fits
from scheduler.algorithm.free_after_nominations import SnapshotOnResources, resources_left_to, snapshot_for
from scheduler.algorithm.node_fits import FEW, FitCache, TopNodes, fits_of
from scheduler.algorithm.partition import partition_by_signature
from scheduler.algorithm.snapshot import SnapshotOverlay
from scheduler.algorithm.topology_domains import DomainTable
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_signature import PodSignature
from tests.scheduler.core import build
from tests.scheduler.core.world import World

NODES = 6
SLOTS = st.integers(0, 599)
CHANGES = st.lists(st.tuples(SLOTS, st.integers(0, 2), st.integers(0, 9)), max_size=400)


@settings(max_examples=40, deadline=None)
@given(changes=CHANGES, count=st.integers(1, 9), seed=st.integers(0, 99))
def test_leaders_are_the_best_nodes_after_any_changes(
    changes: list[tuple[int, int, int]], count: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    capacity, score = random.integers(0, 2, 600), random.integers(0, 10, 600)
    leaders = TopNodes()
    for at, (slot, room, merit) in enumerate([*changes, (0, 0, 0)]):
        if not at % 7:
            ranked = sorted((-int(score[slot]), slot) for slot in np.flatnonzero(capacity).tolist())
            assert leaders.best(count, capacity, score) == [slot for _, slot in ranked[:count]]
        capacity[slot], score[slot] = room, merit
        leaders.update(slot, room, merit)


def test_leaders_are_chosen_anew_only_after_many_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[int] = []
    sound = TopNodes._select

    def select(leaders: TopNodes, count: int, *figures: NDArray[np.int64]) -> None:
        chosen.append(count)
        sound(leaders, count, *figures)

    monkeypatch.setattr(TopNodes, "_select", select)
    capacity, score = np.ones(600, dtype=np.int64), np.zeros(600, dtype=np.int64)
    leaders = TopNodes()
    for _ in range(900):
        leaders.best(1, capacity, score)
        leaders.update(0, 1, 0)
    assert 2 <= len(chosen) <= 3


def test_leaders_notice_that_too_few_are_left() -> None:
    capacity, score = np.ones(600, dtype=np.int64), np.zeros(600, dtype=np.int64)
    leaders = TopNodes()
    for slot in range(599):
        assert leaders.best(1, capacity, score) == [slot]
        capacity[slot] = 0
        leaders.update(slot, 0, 0)
    assert leaders.best(2, capacity, score) == [599]


@pytest.mark.parametrize("seed", range(10))
def test_leaders_that_get_a_little_worse_are_leaders_still(seed: int) -> None:
    random = np.random.default_rng(seed)
    capacity, score = np.ones(2000, dtype=np.int64), 2 * random.permutation(2000).astype(np.int64)
    leaders = TopNodes()
    for slot in leaders.best(250, capacity, score):
        score[slot] -= 1
        leaders.update(slot, 1, int(score[slot]))
    ranked = sorted(range(2000), key=lambda slot: (-int(score[slot]), slot))
    assert leaders.best(250, capacity, score) == ranked[:250]


USED = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, 3), st.booleans()), max_size=30)


def _world() -> World:
    world = World()
    for index in range(NODES):
        labels = {"rack": f"r{index // 2}"} if index < NODES - 1 else {}
        world.node(f"n{index}", cpu=4 + index % 3, memory=f"{4 + index}Gi", labels=labels)
    return world


def _happen(world: World, index: int, event: tuple[int, int, bool]) -> None:
    """A pod comes or goes, or a node changes."""
    node, cpu, is_node = event
    name = f"used-{index % 10}"
    if is_node:
        world.node(f"n{node}", cpu=4 + cpu, memory=f"{4 + cpu}Gi", labels={"rack": f"r{cpu}"})
    elif world.state.pod(f"uid-of-{name}") is not None:
        world.pod_gone(name)
    else:
        world.pod(name, on=f"n{node}", cpu=cpu, scheduler="other")


@settings(max_examples=60, deadline=None)
@given(events=USED, count=st.integers(1, 5))
def test_a_small_gang_goes_where_it_would_without_any_memory(events: list[tuple[int, int, bool]], count: int) -> None:
    world = _world()
    world.group("g", count)
    world.pods("g", count)
    members = world.state.item(build.group_key("g"))
    assert members is not None
    (shape,) = members.pending
    for index, event in enumerate(events):
        _happen(world, index, event)
        state = world.state
        followed = SnapshotOverlay(state.nodes, state.ports, fits_of(state)).place(shape, count)
        fresh = SnapshotOverlay(
            state.nodes, state.ports, FitCache(state.nodes, state.ports), np.ones(state.nodes.slots, bool), ""
        )
        anew = fresh.place(shape, count)
        assert (followed.slots.tolist(), followed.counts.tolist()) == (anew.slots.tolist(), anew.counts.tolist())


@settings(max_examples=60, deadline=None)
@given(events=USED)
def test_sums_of_domains_follow_all_events(events: list[tuple[int, int, bool]]) -> None:
    world = _world()
    followed = DomainTable(world.state.nodes)
    followed.of("rack")
    for index, event in enumerate(events):
        _happen(world, index, event)
        kept, fresh = followed.of("rack"), DomainTable(world.state.nodes).of("rack")
        assert kept.free.tolist() == fresh.free.tolist()
        assert kept.offered.tolist() == fresh.offered.tolist()
        assert kept.nodes_in.tolist() == fresh.nodes_in.tolist()


def test_sums_of_domains_follow_when_much_changes_at_once() -> None:
    world = _world()
    followed = DomainTable(world.state.nodes)
    followed.of("rack")
    for number in range(world.state.nodes.slots):
        world.pod(f"used-{number}", on=f"n{number % NODES}", cpu="10m", scheduler="other")
    kept, fresh = followed.of("rack"), DomainTable(world.state.nodes).of("rack")
    assert kept.free.tolist() == fresh.free.tolist()
    assert kept.offered.tolist() == fresh.offered.tolist()


def _claim(world: World, name: str, priority: int, places: list[tuple[int, int]]) -> None:
    held: dict[str, Any] = {}
    for index, (node, cpu) in enumerate(places):
        made = world.pod(f"{name}-{index}", cpu=cpu, priority=priority)
        record = world.state.slim_pod(made)
        held[record.uid] = (f"n{node}", record.demand)
    world.state.nominator.nominate(build.pod_key(f"{name}-0"), priority, held, frozenset(), 1e9)


CLAIMS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b"]),
        st.integers(0, 2),
        st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(1, 2)), min_size=1, max_size=4),
        st.booleans(),
    ),
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(claims=CLAIMS, events=USED)
def test_room_that_is_held_for_others_is_the_same_followed_or_made_anew(
    claims: list[tuple[str, int, list[tuple[int, int]], bool]], events: list[tuple[int, int, bool]]
) -> None:
    world = _world()
    world.pod("plain", cpu=1, priority=1)
    for index, event in enumerate(events):
        _happen(world, index, event)
        if index < len(claims):
            name, priority, places, is_dropped = claims[index]
            _claim(world, name, priority, places)
            if is_dropped:
                world.state.nominator.delete_pod(f"uid-of-{name}-0")
                world.state.nominator.withdraw(build.pod_key("b-0"))
        members = world.state.item(build.pod_key("plain"))
        assert members is not None
        (shape,) = members.pending
        assert _room(world, members, shape) == _room_made_anew(world, members, shape)


def _room(world: World, members: PodGroupState, shape: PodSignature) -> list[int]:
    found: list[int] = snapshot_for(world.state, members).room(shape).tolist()
    return found


def _room_made_anew(world: World, members: PodGroupState, shape: PodSignature) -> list[int]:
    state = world.state
    fits = FitCache(state.nodes, state.ports)
    room = resources_left_to(state, members)
    snapshot = (
        SnapshotOverlay(state.nodes, state.ports, fits)
        if room is None
        else SnapshotOnResources(state.nodes, fits, room)
    )
    found: list[int] = snapshot.room(shape).tolist()
    return found


def test_a_claim_takes_nothing_from_those_above_it() -> None:
    world = _world()
    _claim(world, "a", 1, [(node, 4) for node in range(NODES)])
    world.pod("above", cpu=4, priority=2)
    world.pod("below", cpu=4, priority=1)
    above, below = (world.state.item(build.pod_key(name)) for name in ("above", "below"))
    assert above is not None
    assert below is not None
    (shape,) = above.pending
    assert sum(_room(world, above, shape)) == NODES
    assert sum(_room(world, below, shape)) == 0
    assert partition_by_signature(world.state, above).topology is None


def test_room_held_on_a_node_that_went_is_not_held_on_the_one_that_got_its_slot() -> None:
    world = _world()
    world.pod("plain", cpu=4, priority=1)
    _claim(world, "a", 1, [(0, 4)])
    plain = world.state.item(build.pod_key("plain"))
    assert plain is not None
    (shape,) = plain.pending
    slot = world.state.nodes.slot_of["n0"]
    assert _room(world, plain, shape)[slot] == 0
    for name, room in (("new", 1), ("n0", 0)):
        world.node_gone(world.state.nodes.names[slot])
        world.node(name, cpu=4)
        assert world.state.nodes.slot_of[name] == slot
        assert _room(world, plain, shape)[slot] == room


@pytest.mark.parametrize("pods", [FEW, FEW + 1])
def test_room_held_for_others_is_followed_when_few_nodes_change_and_when_many_do(pods: int) -> None:
    world = World()
    for index in range(9 * FEW):
        world.node(f"n{index}", cpu=4)
    world.pod("plain", cpu=1, priority=1)
    _claim(world, "a", 1, [(node, 1) for node in range(0, 2 * FEW, 2)])
    plain = world.state.item(build.pod_key("plain"))
    assert plain is not None
    (shape,) = plain.pending
    before = sum(_room(world, plain, shape))
    for index in range(pods):
        world.pod(f"used-{index}", on=f"n{index}", cpu=2, scheduler="other")
    assert sum(_room(world, plain, shape)) == before - 2 * pods
    assert _room(world, plain, shape) == _room_made_anew(world, plain, shape)


@pytest.mark.parametrize("pods", [1, FEW, FEW + 1, 9 * FEW])
def test_what_a_first_and_a_second_pod_score_is_followed_when_few_nodes_change_and_when_many_do(pods: int) -> None:
    world = World()
    for index in range(9 * FEW):
        world.node(f"n{index}", cpu=4 + index % 2, memory="8Gi")
    world.pod("plain", cpu=1, memory="3Gi")
    plain = world.state.item(build.pod_key("plain"))
    assert plain is not None
    (shape,) = plain.pending
    state = world.state
    fits, slots = FitCache(state.nodes, state.ports), np.flatnonzero(state.nodes.alive)
    for turn in range(4):
        fit = fits.of(shape)
        anew = SnapshotOverlay(state.nodes, state.ports, FitCache(state.nodes, state.ports)).scores_on(shape, slots, 2)
        assert fit.score[slots].tolist() == anew[:, 0].tolist()
        assert fits.total(shape) == fit.capacity.sum() == fits_of(state).of(shape).capacity.sum()
        for some in (slots[: FEW // 2], slots):
            assert fit.second(some).tolist() == anew[: len(some), 1].tolist()
        for index in range(pods):
            where, cpu, memory = f"n{(index + turn) % (9 * FEW)}", (index + turn) % 3, f"{1 + index % 3}Gi"
            world.pod(f"used-{turn}-{index}", on=where, cpu=cpu, memory=memory, scheduler="other")


@pytest.mark.parametrize("most", [1, 2])
def test_as_many_fits_are_kept_as_there_is_room_for_and_the_least_recently_used_goes(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(node_fits, "MOST_FITS", most)
    world = _world()
    first, second, third = _shapes(world, {"cpu": 1}, {"cpu": 2}, {"cpu": 3})
    fits = FitCache(world.state.nodes, world.state.ports)
    known = fits.of(first)
    fits.of(second)
    assert (fits.of(first) is known) is (most == 2)
    known, other = fits.of(first), fits.of(second)
    fits.of(third)
    assert (fits.of(second) is other) is (most == 2)
    assert fits.of(first) is not known


def test_a_node_with_a_host_port_takes_one_pod_that_asks_for_it() -> None:
    world = _world()
    ports = [{"containerPort": 80, "hostPort": 80}]
    world.pod("plain", cpu=1, ports=ports)
    plain = world.state.item(build.pod_key("plain"))
    assert plain is not None
    (shape,) = plain.pending
    fits = FitCache(world.state.nodes, world.state.ports)
    assert sorted(fits.of(shape).capacity.tolist())[-NODES:] == [1] * NODES
    world.pod("there", on="n0", cpu=1, ports=ports, scheduler="other")
    assert int(fits.of(shape).capacity.sum()) == fits.total(shape) == NODES - 1
    assert FitCache(world.state.nodes, world.state.ports).total(shape) == NODES - 1


def test_how_many_fit_in_all_follows_the_nodes_for_those_that_have_a_view_and_those_that_have_none() -> None:
    world = World()
    for name, zone in (("n0", "a"), ("n1", "a"), ("n2", "b")):
        world.node(name, cpu=4, labels={"zone": zone})
    shapes = _shapes(world, {"cpu": 1, "spec": {"nodeSelector": {"zone": "a"}}}, {"cpu": 1})
    fits = FitCache(world.state.nodes, world.state.ports)
    view = fits.of(shapes[1])
    assert [fits.total(shape) for shape in shapes] == [8, 12]
    world.pod("there", on="n1", cpu=3, scheduler="other")
    assert [fits.total(shape) for shape in shapes] == [5, 9]
    world.node_gone("n0")
    assert [fits.total(shape) for shape in shapes] == [1, 5]
    assert fits.of(shapes[1]) is view


def test_to_ask_how_many_fit_in_all_drives_no_view_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_fits, "MOST_FITS", 1)
    world = World()
    world.node("n0", cpu=6)
    first, *others = _shapes(world, {"cpu": 1}, {"cpu": 2}, {"cpu": 3})
    fits = FitCache(world.state.nodes, world.state.ports)
    view = fits.of(first)
    assert [fits.total(other) for other in others] == [3, 2]
    assert fits.of(first) is view


def _shapes(world: World, *pods: dict[str, Any]) -> list[PodSignature]:
    """The signatures of pods like these, one each."""
    found: list[PodSignature] = []
    for number, pod in enumerate(pods):
        world.pod(f"p{number}", **pod)
        item = world.state.item(build.pod_key(f"p{number}"))
        assert item is not None
        found += item.pending
    return found


def test_a_fit_that_nobody_asks_for_any_more_is_forgotten_and_made_anew_for_who_asks() -> None:
    world = _world()
    often, seldom = _shapes(world, {"cpu": 1}, {"cpu": 2})
    fits = FitCache(world.state.nodes, world.state.ports)
    kept, gone = fits.of(often), fits.of(seldom)
    fits.forget_unused()
    assert (fits.of(often), fits.of(seldom)) == (kept, gone), "both were asked for just before"

    fits.forget_unused()
    assert fits.of(often) is kept
    fits.forget_unused()
    assert fits.of(often) is kept
    anew = fits.of(seldom)
    assert anew is not gone
    assert anew.capacity.tolist() == gone.capacity.tolist()

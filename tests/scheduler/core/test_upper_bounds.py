"""What no placement can exceed: counted without placing anything, and never too low."""

from typing import Any

import numpy as np
import pytest

from scheduler.algorithm.free_after_nominations import snapshot_for
from scheduler.algorithm.partition import partition_by_signature
from scheduler.algorithm.snapshot import SnapshotOverlay
from scheduler.algorithm.upper_bound import by_base, most, most_in_domain, most_pods, most_pods_by_node
from tests.placement.case import HOSTNAME, ZONE, apart, near, selector, term
from tests.scheduler.core.build import group_key
from tests.scheduler.core.world import World

LABELS: dict[str, Any] = {"labels": {"app": "x"}}


def world_of(*cpus: int, zones: str = "", count: int = 9, **pod: Any) -> World:
    """A node for each number of CPUs, in the zones that the letters say, `-` for none; a gang of equal pods."""
    world = World()
    for index, cpu in enumerate(cpus):
        zone = {ZONE: zones[index]} if zones and zones[index] != "-" else {}
        world.node(f"n{index}", cpu=cpu, labels=zone)
    world.group("g", count)
    world.pods("g", count, **pod)
    return world


def looked_at(world: World) -> tuple[dict[Any, int], SnapshotOverlay]:
    members = world.state.item(group_key("g"))
    assert members is not None
    found = partition_by_signature(world.state, members)
    return dict(found.pending), snapshot_for(world.state, members, topology=found.topology)


def bound_of(world: World) -> int:
    pending, snapshot = looked_at(world)
    return most(pending, snapshot)


@pytest.mark.parametrize(("count", "bound"), [(4, 4), (5, 5), (9, 5)])
def test_room_and_pods_are_both_a_limit(count: int, bound: int) -> None:
    assert bound_of(world_of(2, 3, count=count)) == bound


def test_pods_of_two_sizes_are_counted_each_as_if_it_were_alone() -> None:
    world = world_of(2, 3, count=4)
    world.pod("g-large", group="g", cpu=3)
    assert bound_of(world) == 4 + 1


def test_pods_that_keep_apart_are_one_for_each_value_of_the_label() -> None:
    spec = apart(term(selector(app="x"), ZONE))
    assert bound_of(world_of(2, 3, 1, zones="aab", spec=spec, **LABELS)) == 2


def test_where_nodes_lack_the_label_keeping_apart_limits_nothing() -> None:
    spec = apart(term(selector(app="x"), ZONE))
    assert bound_of(world_of(2, 3, 4, zones="aa-", spec=spec, **LABELS)) == 1 + 4


def test_a_node_takes_one_of_pods_that_keep_apart_by_a_wider_label() -> None:
    spec = apart(term(selector(app="x"), ZONE))
    world = world_of(2, 0, 4, zones="ab-", spec=spec, **LABELS)
    pending, snapshot = looked_at(world)
    ((signature, _),) = pending.items()
    slots = [world.state.nodes.slot_of[f"n{index}"] for index in range(3)]
    assert most_pods_by_node(snapshot, signature)[slots].tolist() == [1, 0, 4]


def test_pods_that_gather_are_limited_by_the_roomiest_value() -> None:
    spec = near(term(selector(app="x"), ZONE))
    assert bound_of(world_of(2, 3, 4, zones="aab", spec=spec, **LABELS)) == 5
    assert bound_of(world_of(2, 3, 4, zones="aab", count=3, spec=spec, **LABELS)) == 3


def test_nodes_from_which_pods_that_run_keep_others_away_count_for_nothing() -> None:
    world = world_of(2, 3, **LABELS)
    world.pod("alone", cpu=0, on="n1", scheduler="other", spec=apart(term(selector(app="x"), HOSTNAME)))
    assert bound_of(world) == 2


def test_what_others_may_make_possible_is_no_limit() -> None:
    """Only a member that comes can let these in: a bound must not say that none can."""
    world = world_of(2, 3, count=1, labels={"app": "first"})
    world.pod("g-later", group="g", labels={"app": "later"}, spec=near(term(selector(app="first"), HOSTNAME)))
    assert bound_of(world) == 2


def test_inside_a_domain_signatures_are_counted_domain_by_domain() -> None:
    world = world_of(2, 3, 4, 9, zones="aab-", count=4)
    world.pod("g-large", group="g", cpu=3)
    pending, snapshot = looked_at(world)
    nodes = world.state.nodes
    values = nodes.label_column(ZONE).values
    found = dict(zip(values, most_in_domain(ZONE, None, pending, nodes, snapshot).tolist(), strict=True))
    assert (found["a"], found["b"], found[None]) == (4 + 1, 4 + 1, -1)
    pinned = dict(zip(values, most_in_domain(ZONE, "b", pending, nodes, snapshot).tolist(), strict=True))
    assert (pinned["a"], pinned["b"], pinned[None]) == (-1, 5, -1)


def test_pods_that_are_told_apart_by_nothing_but_other_pods_are_counted_together() -> None:
    pending, _ = looked_at(world_of(4, count=2, spec=apart(term(selector(app="x"), ZONE)), **LABELS))
    assert sum(by_base(pending).values()) == 2
    ((signature, count),) = pending.items()
    assert by_base({signature: count}) == {signature.base: count}


def test_a_bound_of_no_pods_is_none() -> None:
    pending, snapshot = looked_at(world_of(4, count=2))
    ((signature, _),) = pending.items()
    assert most_pods(snapshot, signature, 0) == 0
    assert np.array_equal(most_pods_by_node(snapshot, signature), snapshot.room(signature))

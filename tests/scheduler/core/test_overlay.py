"""Amounts with tentative pods counted: the same whichever way they are counted, and the table stays as it is."""

from collections.abc import Callable

import numpy as np
import pytest

from scheduler.algorithm.overlay import AssumedResources, Placed, ResourceOverlay
from scheduler.cache.pod_signature import PodSignature
from tests.scheduler.core.build import pod_key
from tests.scheduler.core.world import World

PORTS = [{"containerPort": 80, "hostPort": 80}]


def made() -> tuple[World, PodSignature]:
    world = World()
    for name in ("n0", "n1", "n2"):
        world.node(name, cpu=8, memory="16Gi")
    world.pod("p", requests={"cpu": "2", "memory": "4Gi"}, ports=PORTS)
    members = world.state.item(pod_key("p"))
    assert members is not None
    (signature,) = members.pending
    return world, signature


def slots_of(world: World, *names: str) -> np.ndarray:
    return np.array([world.state.nodes.slot_of[name] for name in names], dtype=np.intp)


def one_by_one(amounts: AssumedResources, signature: PodSignature, slots: np.ndarray) -> None:
    for slot in slots.tolist():
        amounts.count(signature.demand, slot)
    amounts.note_changed(slots)


def one_on_each(amounts: AssumedResources, signature: PodSignature, slots: np.ndarray) -> None:
    amounts.count_each(signature.demand, slots)
    amounts.note_changed(slots)


def all_at_once(amounts: AssumedResources, signature: PodSignature, slots: np.ndarray) -> None:
    amounts.count_all([Placed(signature, slots, np.ones(len(slots), dtype=np.int64))])


@pytest.mark.parametrize("count", [one_by_one, one_on_each, all_at_once])
def test_counted_pods_take_what_they_ask_for_and_their_ports(
    count: Callable[[AssumedResources, PodSignature, np.ndarray], None],
) -> None:
    world, signature = made()
    nodes = world.state.nodes
    before = nodes.free.copy(), nodes.scored.copy()
    amounts = AssumedResources(nodes, world.state.ports, nodes.free)
    cpu, memory, pods = (nodes.row_of[name] for name in ("cpu", "memory", "pods"))
    where, other = slots_of(world, "n0", "n2"), slots_of(world, "n1")
    count(amounts, signature, where)

    assert amounts.free[cpu, where].tolist() == [6000, 6000]
    assert amounts.free[memory, where].tolist() == [12 * 2**30] * 2
    assert amounts.free[pods, where].tolist() == [109, 109]
    assert amounts.free[:, other].tolist() == before[0][:, other].tolist()
    assert (amounts.scored[:, where] - before[1][:, where]).tolist() == [[2000, 2000], [4 * 2**30] * 2]
    assert amounts.scored[:, other].tolist() == before[1][:, other].tolist()
    assert sorted(amounts.changed.tolist()) == sorted(where.tolist())
    everywhere = slots_of(world, "n0", "n1", "n2")
    assert amounts.port_conflicts(signature.demand.ports, everywhere).tolist() == [True, False, True]
    assert nodes.free.tolist() == before[0].tolist()
    assert nodes.scored.tolist() == before[1].tolist()


def test_several_pods_of_one_signature_take_as_many_times_as_much() -> None:
    world, signature = made()
    nodes = world.state.nodes
    amounts = AssumedResources(nodes, world.state.ports, nodes.free)
    where = slots_of(world, "n0", "n1")
    amounts.count_all([Placed(signature, where, np.array([3, 1])), Placed(signature, where[:1], np.array([1]))])
    assert amounts.free[nodes.row_of["cpu"], where].tolist() == [0, 6000]
    assert amounts.scored[0, where].tolist() == [8000, 2000]


def test_the_total_of_a_placement_is_the_sum_of_its_counts() -> None:
    _, signature = made()
    assert Placed(signature, np.array([0, 1]), np.array([3, 1])).total == 4


def test_what_counts_before_the_first_pod_may_be_less_than_the_table_has() -> None:
    world, signature = made()
    nodes = world.state.nodes
    less = nodes.free - 1000
    amounts = AssumedResources(nodes, world.state.ports, less)
    (slot,) = slots_of(world, "n0").tolist()
    amounts.count(signature.demand, slot)
    assert amounts.free[nodes.row_of["cpu"], slot] == 5000
    assert less[nodes.row_of["cpu"], slot] == 7000


def test_room_that_is_given_back_is_more_to_use_and_less_that_is_taken() -> None:
    world, _ = made()
    world.pod("there", on="n1", requests={"cpu": "4", "memory": "8Gi"})
    nodes = world.state.nodes
    room = ResourceOverlay(nodes, world.state.ports)
    copied = room.copy()
    (slot,) = slots_of(world, "n1").tolist()
    cpu, memory = nodes.row_of["cpu"], nodes.row_of["memory"]
    given = np.zeros((len(nodes.free), 2), dtype=np.int64)
    given[cpu], given[memory] = (3000, 1000), (4 * 2**30, 2**30)
    room.add(np.array([slot, slot]), given)

    assert (room.free[cpu, slot], room.free[memory, slot]) == (8000, 13 * 2**30)
    assert room.scored[:, slot].tolist() == [0, 3 * 2**30]
    assert np.flatnonzero(room.touched).tolist() == [slot]
    for unchanged in (copied, nodes):
        assert unchanged.free[cpu, slot] == 4000
        assert unchanged.scored[0, slot] == 4000
    assert not copied.touched.any()
    assert copied.ports is room.ports

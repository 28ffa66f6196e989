"""What nodes have once some claims are released is the same whether it is summed or counted node by node."""

from collections.abc import Sequence

import hypothesis.strategies as st
import numpy as np
from hypothesis import given as for_all
from hypothesis import settings

from scheduler.algorithm.devices.counts import AskedClaims
from scheduler.algorithm.devices.holders import FAR, NOWHERE, HeldAfter, Holders
from scheduler.algorithm.devices.view import DeviceView
from scheduler.algorithm.partition import partition_by_signature
from scheduler.cache.devices.held import HeldDevices, HeldWithout
from scheduler.cache.devices.records import DeviceId, HeldDevice
from tests.devices.build import Json, asked, claim, device, device_class, resource_slice
from tests.devices.cluster import Cluster, gpu_template
from tests.devices.test_counts import offers, templates

NODES = ("n0", "n1", "n2")


def cluster_of(on_nodes: Sequence[list[Json]], holders: Sequence[tuple[int, set[int]]]) -> Cluster:
    """Nodes with these devices; each holder is a claim with devices of one node, the last node's are of all nodes."""
    cluster = Cluster()
    cluster.device_class(device_class("gpu"))
    for node, offer in zip(NODES, on_nodes, strict=False):
        cluster.node(node)
        cluster.offer(resource_slice(f"s-{node}", offer, node=node))
    for number, (at, numbers) in enumerate(holders):
        node = NODES[at % len(on_nodes)]
        cluster.holds(f"c{number}", node, *(f"s-{node}/g{one}" for one in sorted(numbers)), users=(f"p{number}",))
    return cluster


holding = st.tuples(st.integers(0, 2), st.sets(st.integers(0, 5), min_size=1, max_size=2))


@for_all(
    on_nodes=st.lists(offers(), min_size=1, max_size=3),
    holders=st.lists(holding, max_size=5),
    kept=st.sets(st.tuples(st.sampled_from(NODES), st.integers(0, 5)), max_size=2),
    template=templates(),
    data=st.data(),
)
@settings(max_examples=150, deadline=None)
def test_sums_are_what_counting_finds(
    on_nodes: list[list[Json]],
    holders: list[tuple[int, set[int]]],
    kept: set[tuple[str, int]],
    template: Json,
    data: st.DataObject,
) -> None:
    cluster = cluster_of(on_nodes, holders)
    state = cluster.state
    claims = list(state.devices.holding())
    mask = np.array([data.draw(st.booleans()) for _ in claims], dtype=np.bool_)
    others = tuple(HeldDevice(DeviceId("d", f"s-{node}", f"g{number}")) for node, number in sorted(kept))
    wanted = AskedClaims(tuple(asked(template)))
    summed = DeviceView(state, others).with_holders(Holders(state, claims)).after(mask)
    released = tuple(held for one, is_free in zip(claims, mask, strict=True) if is_free for held in one.held)
    counted = DeviceView(state, others, released)
    found, expected = summed.counts("kind", wanted), counted.counts("kind", wanted)
    assert found.pods.tolist() == expected.pods.tolist()
    assert found.crosses == expected.crosses
    assert set(found.refusals) == set(expected.refusals)
    for slot in np.flatnonzero(expected.pods).tolist():
        assert list(found.free_on(slot) or ()) == list(expected.free_on(slot) or ())


@for_all(holders=st.lists(holding, max_size=5), data=st.data())
@settings(max_examples=100, deadline=None)
def test_what_is_held_then_is_the_same_looked_up_or_written_down(
    holders: list[tuple[int, set[int]]], data: st.DataObject
) -> None:
    on_nodes = [[device(f"g{number}") for number in range(6)] for _ in NODES]
    state = cluster_of(on_nodes, holders).state
    claims = list(state.devices.holding())
    mask = np.array([data.draw(st.booleans()) for _ in claims], dtype=np.bool_)
    found = HeldAfter(state.devices.held, Holders(state, claims), mask)
    released = [held for one, is_free in zip(claims, mask, strict=True) if is_free for held in one.held]
    expected = HeldWithout(state.devices.held, released)
    for node in NODES:
        for number in range(6):
            one = DeviceId("d", f"s-{node}", f"g{number}")
            assert (one in found) == (one in expected)
            assert found.times(one) == expected.times(one)


def test_shares_that_are_released_give_back_what_they_took() -> None:
    cluster = Cluster()
    cluster.node("n1")
    nic = {**device("nic"), "allowMultipleAllocations": True, "capacity": {"bandwidth": {"value": "10"}}}
    cluster.offer(resource_slice("s", [nic], node="n1"))
    for number, amount in enumerate((3, 4)):
        result: Json = {"request": "r", "driver": "d", "pool": "s", "device": "nic", "shareID": f"share-{number}"}
        result["consumedCapacity"] = {"bandwidth": str(amount)}
        cluster.claim(claim(f"c{number}", status={"allocation": {"devices": {"results": [result]}}}))
    held, claims = cluster.state.devices.held, list(cluster.state.devices.holding())
    one = DeviceId("d", "s", "nic")
    then = HeldAfter(held, Holders(cluster.state, claims), np.array([True, False]))
    assert (then.shares(one), then.is_shared(one)) == (1, True)
    assert then.consumed(one) == {"bandwidth": 4 * 10**9}
    nobody = HeldAfter(held, Holders(cluster.state, claims), np.array([True, True]))
    assert (nobody.shares(one), nobody.is_shared(one)) == (0, False)
    assert not any(nobody.consumed(one).values())
    assert isinstance(then, HeldDevices)


def test_where_a_claim_matters_is_one_node_several_or_none() -> None:
    cluster = Cluster()
    cluster.node("n1")
    cluster.offer(resource_slice("near", [device("g0")], node="n1"), resource_slice("far", [device("g0")]))
    for name in ("near", "far", "gone"):
        cluster.holds(f"c-{name}", "n1", f"{name}/g0")
    holders = Holders(
        cluster.state, [cluster.state.devices.claims["team-a", f"c-{name}"] for name in ("near", "far", "gone")]
    )
    slot = cluster.state.nodes.slot_of["n1"]
    assert holders.slots.tolist() == [slot, FAR, NOWHERE]


def test_members_matter_to_each_other_once_there_is_a_device_that_each_of_them_could_have() -> None:
    cluster = Cluster()
    for name in NODES:
        cluster.node(name)
    cluster.offer(resource_slice("anywhere", [device("d0")]))
    cluster.runs("low", "n0", "anywhere/d0")
    members = cluster.state.item(cluster.gang("new", 2, gpu_template()))
    assert members is not None
    topology = partition_by_signature(cluster.state, members).topology
    assert topology is not None
    assert topology.device_claims is not None
    assert topology.are_fixed, "there is no device to be had"
    (holding,) = cluster.state.devices.holding()
    assert not topology.seeing(topology.device_claims.view.releasing(holding.held)).are_fixed

"""Counting gives what the search gives; whole gangs start exactly when their devices suffice; steps that run out lose nothing."""

from collections.abc import Sequence

import hypothesis.strategies as st
import pytest
from hypothesis import given as for_all
from hypothesis import settings

from scheduler.algorithm.devices.allocator import allocate
from scheduler.algorithm.devices.counts import AskedClaims, NodeDevices
from scheduler.algorithm.devices.solution import taints_of_slice
from scheduler.algorithm.devices.table import DeviceTable
from scheduler.cache.devices.held import HeldDevices
from scheduler.cache.devices.records import DeviceId, HeldDevice
from scheduler.cache.steps import OverBudgetError
from tests.devices.build import Json, asked, claim, device, node_facts, pools_of, request, resource_slice, slices
from tests.devices.cluster import Cluster, given, gpu_template

TAINT = {"key": "sick", "value": "", "effect": "NoSchedule"}


@st.composite
def offers(draw: st.DrawFn) -> list[Json]:
    found = []
    for number in range(draw(st.integers(0, 6))):
        one = device(f"g{number}", model=draw(st.sampled_from("ab")))
        if draw(st.integers(0, 3)):
            one["attributes"]["numa"] = {"int": draw(st.integers(0, 1))}
        if draw(st.integers(0, 5)) == 0:
            one["taints"] = [TAINT]
        found.append(one)
    return found


@st.composite
def templates(draw: st.DrawFn) -> Json:
    selector = draw(st.sampled_from([(), ('device.attributes["d"].model == "a"',)]))
    constraints = draw(st.sampled_from([[], [{"matchAttribute": "d/numa"}], [{"distinctAttribute": "d/model"}]]))
    return claim("t", request("r", draw(st.integers(1, 3)), *selector), constraints=constraints)


@for_all(offer=offers(), template=templates(), held=st.sets(st.integers(0, 5), max_size=3))
@settings(max_examples=200, deadline=None)
def test_a_node_has_devices_for_as_many_pods_as_the_search_finds(
    offer: list[Json], template: Json, held: set[int]
) -> None:
    node = node_facts()
    pools = pools_of(slices(resource_slice("s", offer, node="n1")), node)
    others = HeldDevices(HeldDevice(DeviceId("d", "s", f"g{number}")) for number in held)
    claims = tuple(asked(template))
    devices = NodeDevices(node, pools, AskedClaims(claims), others, taints_of_slice, {})
    counted = devices.count().pods
    found = 0
    while allocate(claims * (found + 1), node, pools, others) is not None:
        found += 1
    assert counted == found
    if counted:
        solution = devices.choose(counted)
        assert solution is not None
        names = [one.device.id for each in solution.devices for one in each]
        assert len(names) == len(set(names))
        assert not any(name in others for name in names)


@for_all(
    on_nodes=st.lists(offers(), min_size=1, max_size=3),
    pods=st.integers(1, 6),
    template=templates(),
)
@settings(max_examples=100, deadline=None)
def test_a_gang_starts_exactly_when_there_are_devices_for_all(
    on_nodes: Sequence[list[Json]], pods: int, template: Json
) -> None:
    cluster = Cluster()
    room = 0
    for number, offer in enumerate(on_nodes):
        name = f"n{number}"
        cluster.node(name, cpu=64)
        cluster.offer(resource_slice(f"s{number}", offer, node=name))
        pools = pools_of(slices(resource_slice(f"s{number}", offer, node=name)), node_facts(name))
        claims = AskedClaims(tuple(asked(template)))
        room += NodeDevices(node_facts(name), pools, claims, HeldDevices(), taints_of_slice, {}).count().pods
    decision = cluster.decide(cluster.gang("g", pods, template))
    assert len(decision.bindings) == (pods if room >= pods else 0)
    devices = [one for each in given(decision).values() for one in each]
    assert len(devices) == len(set(devices))
    assert len(given(decision)) == len(decision.bindings)


def test_counts_that_were_interrupted_go_on_where_they_were() -> None:
    cluster = Cluster()
    for number in range(50):
        cluster.node(f"n{number}")
        cluster.offer(resource_slice(f"s{number}", [device("g0")], node=f"n{number}"))
    table = cluster.state.derived(DeviceTable)
    claims = AskedClaims(tuple(asked(gpu_template())))
    steps = cluster.state.nodes.steps
    steps.most = 200_000
    calls = 0
    while True:
        calls += 1
        try:
            with steps.limited("decision"):
                counts = table.counts("kind", claims)
            break
        except OverBudgetError:
            assert calls < 20
    assert calls > 1
    assert int(counts.pods.sum()) == 50


def test_only_nodes_whose_devices_change_are_counted_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster()
    for number in range(5):
        cluster.node(f"n{number}")
        cluster.offer(resource_slice(f"s{number}", [device("g0")], node=f"n{number}"))
    table = cluster.state.derived(DeviceTable)
    claims = AskedClaims(tuple(asked(gpu_template())))
    assert int(table.counts("kind", claims).pods.sum()) == 5
    counted: list[str] = []
    count = NodeDevices.count

    def noted(self: NodeDevices) -> object:
        counted.append(self._node.name)
        return count(self)

    monkeypatch.setattr(NodeDevices, "count", noted)
    held = {"devices": {"results": [{"request": "r", "driver": "d", "pool": "s3", "device": "g0"}]}}
    cluster.claim(claim("other", request(), status={"allocation": held}))
    assert int(table.counts("kind", claims).pods.sum()) == 4
    assert counted == ["n3"]

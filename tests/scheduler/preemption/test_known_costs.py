"""What it takes to find out who leaves, in steps: so many suffice, and with one less nobody leaves.

Whoever is refused for want of steps is refused on every machine. The figures are those of the code as it is, on clusters that
nothing was computed for before. Where a search works otherwise or is charged for otherwise, they change, and are written down
anew: the message of the test tells the new one.
"""

from collections.abc import Callable
from typing import Any

import pytest

from scheduler.cache.cluster import ClusterState
from scheduler.preemption.dry_run import dry_run_preemption
from scheduler.preemption.victims import Candidate, Refusal, RefusalCode
from tests.devices.build import device, resource_slice
from tests.devices.cluster import Cluster, gpu_template
from tests.placement.case import HOSTNAME, ZONE, apart, even, near, selector, spread, term
from tests.scheduler.core import build
from tests.scheduler.core.costs import steps_of, within

PORT = [{"hostPort": 80, "containerPort": 80}]


def _full(nodes: int, pods: int, *, size: int = 1, **more: Any) -> ClusterState:
    """Nodes that have room for nobody else than `low-NODE-NUMBER`."""
    state = ClusterState(frozenset({"tutti"}))
    for node in range(nodes):
        labels = {ZONE: f"z{node % 2}", HOSTNAME: f"n{node}"}
        state.upsert_node(build.node(f"n{node}", cpu=pods * size, labels=labels))
    for node in range(nodes):
        for number in range(pods):
            state.upsert_pod(build.pod(f"low-{node}-{number}", cpu=size, on=f"n{node}", **more))
    return state


def _lone(state: ClusterState, **more: Any) -> ClusterState:
    state.upsert_pod(build.pod("new", priority=5, **more))
    return state


def _gang(state: ClusterState, *sizes: int, topology: str = "", **more: Any) -> ClusterState:
    constraint = {"topology": topology} if topology else {}
    state.upsert_group(build.group("new", len(sizes), priority=5, **constraint))
    for number, size in enumerate(sizes):
        state.upsert_pod(build.pod(f"new-{number}", cpu=size, group="new", priority=5, **more))
    return state


def a_pod() -> ClusterState:
    return _lone(_full(3, 2), cpu=2)


def a_pod_with_a_host_port() -> ClusterState:
    return _lone(_full(2, 1, ports=PORT), ports=PORT)


def a_gang_of_equal_pods() -> ClusterState:
    return _gang(_full(4, 3), 1, 1, 1, 1, 1)


def a_gang_in_a_zone() -> ClusterState:
    return _gang(_full(4, 2), 1, 1, topology=ZONE)


def a_gang_of_different_pods() -> ClusterState:
    return _gang(_full(4, 3), 3, 2, 1)


def a_gang_for_which_whole_gangs_leave() -> ClusterState:
    state = _full(0, 0)
    for node in range(4):
        state.upsert_node(build.node(f"n{node}", cpu=2))
    for number in range(3):
        state.upsert_group(build.group(f"g{number}", 2, priority=0, leaves="all"))
        for member in range(2):
            pod = build.pod(
                f"g{number}-{member}", on=f"n{(number + member) % 4}", group=f"g{number}", cpu=number % 2 + 1
            )
            state.upsert_pod(pod)
    return _gang(state, 2, 2)


def a_gang_for_which_one_gang_leaves_so_that_another_stays() -> ClusterState:
    state = _full(0, 0)
    for node in range(3):
        state.upsert_node(build.node(f"n{node}", cpu=2 if node else 4))
    for name, size, places in (("one", 2, "0"), ("four", 1, "1122")):
        state.upsert_group(build.group(name, len(places), priority=0, leaves="all"))
        for number, place in enumerate(places):
            state.upsert_pod(build.pod(f"{name}-{number}", cpu=size, on=f"n{place}", group=name))
    return _gang(state, 2, 2, 2)


def a_gang_whose_pods_keep_apart() -> ClusterState:
    rule = apart(term(selector(app="x"), HOSTNAME))
    return _gang(_full(3, 2, labels={"app": "x"}), 1, 1, 1, labels={"app": "x"}, spec=rule)


def a_gang_whose_pods_stay_near() -> ClusterState:
    rule = near(term(selector(app="x"), ZONE))
    return _gang(_full(4, 2, labels={"app": "x"}), 1, 1, labels={"app": "x"}, spec=rule)


def a_gang_from_which_others_keep_away() -> ClusterState:
    state = ClusterState(frozenset({"tutti"}))
    for node in range(4):
        state.upsert_node(build.node(f"n{node}", cpu=2, labels={ZONE: f"z{node % 2}", HOSTNAME: f"n{node}"}))
        rule = apart(term(selector(app="x"), ZONE if node == 0 else HOSTNAME))
        state.upsert_pod(build.pod(f"low-{node}", cpu=1, on=f"n{node}", spec=rule))
    return _gang(state, 1, 1, labels={"app": "x"})


def a_gang_that_spreads() -> ClusterState:
    rule = spread(even(selector(app="x"), ZONE), even(selector(app="x"), HOSTNAME))
    return _gang(_full(4, 2, labels={"app": "x"}), 1, 1, 1, labels={"app": "x"}, spec=rule)


def _holding(nodes: int, devices: int, wanted: int) -> ClusterState:
    """So many devices on each node, all of them held, and a gang that wants some."""
    cluster = Cluster()
    for name in (f"n{number}" for number in range(nodes)):
        cluster.node(name)
        cluster.offer(resource_slice(f"s-{name}", [device(f"g{number}") for number in range(devices)], node=name))
        for number in range(devices):
            cluster.runs(f"low-{name}-{number}", name, f"s-{name}/g{number}")
    cluster.gang("new", wanted, gpu_template(), priority=5)
    return cluster.state


def a_gang_that_needs_devices() -> ClusterState:
    return _holding(2, 2, 2)


def a_gang_that_needs_some_of_many_devices() -> ClusterState:
    return _holding(9, 8, 5)


def a_gang_that_needs_a_device_that_all_nodes_reach() -> ClusterState:
    cluster = Cluster()
    cluster.node("n0", cpu=4)
    cluster.offer(resource_slice("s", [device(f"g{number}") for number in range(2)]))
    for number in range(2):
        cluster.runs(f"low-{number}", "n0", f"s/g{number}")
        cluster.state.upsert_pod(build.pod(f"plain-{number}", on="n0"))
    cluster.gang("new", 1, gpu_template(), priority=5)
    return cluster.state


def found(state: ClusterState) -> Candidate | Refusal:
    members = state.item(build.group_key("new")) or state.item(build.pod_key("new"))
    assert members is not None
    return dry_run_preemption(state, members, lambda units: [False] * len(units))


@pytest.mark.parametrize(
    ("case", "steps"),
    [
        (a_pod, 377_984),
        (a_pod_with_a_host_port, 701_092),
        (a_gang_of_equal_pods, 404_656),
        (a_gang_in_a_zone, 520_032),
        (a_gang_of_different_pods, 1_684_540),
        (a_gang_for_which_whole_gangs_leave, 560_192),
        (a_gang_for_which_one_gang_leaves_so_that_another_stays, 559_636),
        (a_gang_whose_pods_keep_apart, 1_311_788),
        (a_gang_whose_pods_stay_near, 1_414_815),
        (a_gang_from_which_others_keep_away, 869_880),
        (a_gang_that_spreads, 1_779_946),
        (a_gang_that_needs_some_of_many_devices, 3_118_858),
        (a_gang_that_needs_devices, 1_619_455),
        (a_gang_that_needs_a_device_that_all_nodes_reach, 1_404_343),
    ],
)
def test_so_many_steps_suffice_and_with_one_less_nobody_leaves(case: Callable[[], ClusterState], steps: int) -> None:
    state = case()
    assert steps_of(state, lambda: found(state)) == steps
    state = case()
    assert isinstance(within(state, steps, lambda: found(state)), Candidate)
    state = case()
    assert within(state, steps - 1, lambda: found(state)) == Refusal(RefusalCode.OVER_BUDGET)

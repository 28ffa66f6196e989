"""Small random clusters whose devices are all held: victims suffice, none is superfluous, and nobody is refused without need."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import hypothesis.strategies as st
from hypothesis import given, settings

from scheduler.cache.records import EntityKey
from scheduler.plugins.gang_scheduling import missing_count
from scheduler.preemption.dry_run import dry_run_preemption
from scheduler.preemption.victims import Candidate
from tests.devices.build import claim, device, request, resource_slice
from tests.devices.cluster import Cluster, gpu_template
from tests.scheduler.core import build

PRIORITY = 3
MODEL_A = 'device.attributes["d"].model == "a"'

Device = tuple[str, str]
"""(node, name)."""


class Holder(NamedTuple):
    """A claim with devices and the pods that use it: (priority of the pod, number of its gang or 0)."""

    devices: tuple[Device, ...]
    users: tuple[tuple[int, int], ...]


class Case(NamedTuple):
    """A cluster, and a gang all of whose pods ask for so many devices each, or for so many together."""

    models: Mapping[Device, str]
    holders: Sequence[Holder]
    gang_priorities: tuple[int, int]
    pods: int
    need: int
    devices_each: int
    is_picky: bool
    is_shared: bool


@st.composite
def cases(draw: st.DrawFn) -> Case:
    models: dict[Device, str] = {}
    for node in range(draw(st.integers(1, 3))):
        for number in range(draw(st.integers(1, 3))):
            models[f"n{node}", f"g{number}"] = draw(st.sampled_from("ab"))
    holders = []
    left = sorted(models)
    while left:
        near = [one for one in left if one[0] == left[0][0]][: draw(st.integers(1, 2))]
        left = [one for one in left if one not in near]
        users = st.tuples(st.integers(0, 4), st.integers(0, 2))
        holders.append(Holder(tuple(near), tuple(draw(st.lists(users, max_size=2)))))
    pods = draw(st.integers(1, 3))
    return Case(
        models,
        holders,
        draw(st.tuples(st.integers(0, 4), st.integers(0, 4))),
        pods,
        draw(st.integers(1, pods)),
        draw(st.integers(1, 2)),
        draw(st.booleans()),
        draw(st.booleans()),
    )


def pod_name(holder: int, user: int) -> str:
    return f"low-{holder}-{user}"


def cluster_of(case: Case) -> tuple[Cluster, EntityKey]:
    cluster = Cluster()
    for number, priority in enumerate(case.gang_priorities, 1):
        cluster.state.upsert_group(build.group(f"gang-{number}", 1, priority=priority, leaves="all"))
    for node in sorted({node for node, _ in case.models}):
        cluster.node(node)
        here = [device(name, model=model) for (where, name), model in case.models.items() if where == node]
        cluster.offer(resource_slice(f"s-{node}", here, node=node))
    for index, holder in enumerate(case.holders):
        node, names = holder.devices[0][0], [f"s-{where}/{name}" for where, name in holder.devices]
        for user, (priority, gang) in enumerate(holder.users):
            group = f"gang-{gang}" if gang else ""
            name = pod_name(index, user)
            cluster.runs(name, node, *names, claim_name=f"held-{index}", group=group, priority=priority, cpu="1m")
        if holder.users:
            users = tuple(pod_name(index, user) for user in range(len(holder.users)))
            cluster.holds(f"held-{index}", node, *names, users=users)
    selectors = (MODEL_A,) if case.is_picky else ()
    templates = () if case.is_shared else (gpu_template(case.devices_each, *selectors),)
    if case.is_shared:
        cluster.claim(claim("together", request("r", case.devices_each, *selectors)))
    named = ("together",) if case.is_shared else ()
    key = cluster.gang("new", case.pods, *templates, named=named, need=case.need, cpu="1m", priority=PRIORITY)
    return cluster, key


@given(case=cases())
@settings(max_examples=300, deadline=None)
def test_victims_suffice_none_is_superfluous_and_nobody_is_refused_without_need(case: Case) -> None:
    cluster, key = cluster_of(case)
    if cluster.decide(key).bindings:
        return
    members = cluster.state.item(key)
    assert members is not None
    found = dry_run_preemption(cluster.state, members)
    if not isinstance(found, Candidate):
        assert most_that_fit(case, preemptible(case)) < missing_count(members)
        return
    nodes = [node for _, node in found.places]
    units = [frozenset(pod.name for pod in victim.pods) for victim in found.victims]
    leaving = frozenset().union(*units)
    assert leaving
    assert leaving <= preemptible(case)
    assert can_have(case, nodes, leaving)
    for unit in units:
        assert not can_have(case, nodes, leaving - unit), f"{sorted(unit)} need not leave"
    kept = [held.id for _, devices in found.devices for held in devices]
    assert len(kept) == len(set(kept)) == case.devices_each * (1 if case.is_shared else len(nodes))


def preemptible(case: Case) -> frozenset[str]:
    """All pods of lower priority; those of a gang have its priority."""
    return frozenset(
        pod_name(index, user)
        for index, holder in enumerate(case.holders)
        for user, (priority, gang) in enumerate(holder.users)
        if (case.gang_priorities[gang - 1] if gang else priority) < PRIORITY
    )


def usable(case: Case, gone: frozenset[str]) -> list[Device]:
    """Devices that the new claims may have once these pods have left."""
    held: set[Device] = set()
    for index, holder in enumerate(case.holders):
        if not {pod_name(index, user) for user in range(len(holder.users))} <= gone:
            held.update(holder.devices)
    return [one for one, model in case.models.items() if one not in held and (model == "a" or not case.is_picky)]


def can_have(case: Case, nodes: Sequence[str], gone: frozenset[str]) -> bool:
    """Whether pods on these nodes get their devices then: every way to give them some is tried."""
    free = usable(case, gone)
    if case.is_shared:
        return len(set(nodes)) == 1 and sum(node == nodes[0] for node, _ in free) >= case.devices_each
    return _give(case, list(nodes), free)


def _give(case: Case, nodes: list[str], free: list[Device]) -> bool:
    if not nodes:
        return True
    here = [one for one in free if one[0] == nodes[0]]
    return any(
        _give(case, nodes[1:], [one for one in free if one not in chosen])
        for chosen in combinations(here, case.devices_each)
    )


def most_that_fit(case: Case, gone: frozenset[str]) -> int:
    """How many of the pods can be placed then, on whatever nodes."""
    free = usable(case, gone)
    by_node = [sum(where == node for where, _ in free) for node in sorted({node for node, _ in case.models})]
    if case.is_shared:
        return case.pods if any(number >= case.devices_each for number in by_node) else 0
    return min(case.pods, sum(number // case.devices_each for number in by_node))

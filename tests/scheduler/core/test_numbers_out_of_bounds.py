"""Whatever numbers a user writes, and wherever: the item they belong to is refused with a reason or placed, nothing raises.

An API server refuses most of them in a pod; what an annotation announces has met no API server.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from api.constants import MANAGED_BY, MIN_RESOURCES
from scheduler.algorithm.decision import Decision
from tests.scheduler.core.build import group_key
from tests.scheduler.core.test_future_pods import Stage
from tests.scheduler.core.world import World

NUMBERS = (-(2**63), -1, 0, 2**31, 2**63 - 1, 2**63, 2**64 - 1, 2**70)
HOST = "kubernetes.io/hostname"
SELECTOR = {"matchLabels": {"app": "web"}}
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
WEIGHTS = ("weight of a node", "weight of a pod", "weight against a pod")


def placements(number: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Fields of a pod's spec that limit its place, each with the number in it."""
    on_host = {"matchExpressions": [{"key": HOST, "operator": "In", "values": ["n1"]}]}
    term = {"topologyKey": HOST, "labelSelector": SELECTOR}
    above = {"matchExpressions": [{"key": "size", "operator": "Gt", "values": [str(number)]}]}
    yield WEIGHTS[0], {"affinity": {"nodeAffinity": {PREFERRED: [{"weight": number, "preference": on_host}]}}}
    yield WEIGHTS[1], {"affinity": {"podAffinity": {PREFERRED: [{"weight": number, "podAffinityTerm": term}]}}}
    yield WEIGHTS[2], {"affinity": {"podAntiAffinity": {PREFERRED: [{"weight": number, "podAffinityTerm": term}]}}}
    yield "label above", {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [above]}}}}
    for strictness in ("DoNotSchedule", "ScheduleAnyway"):
        spread = {"maxSkew": 1, "topologyKey": HOST, "whenUnsatisfiable": strictness, "labelSelector": SELECTOR}
        yield f"maxSkew {strictness}", {"topologySpreadConstraints": [{**spread, "maxSkew": number}]}
        yield f"minDomains {strictness}", {"topologySpreadConstraints": [{**spread, "minDomains": number}]}
    yield "tolerationSeconds", {"tolerations": [{"operator": "Exists", "tolerationSeconds": number}]}


def amounts(number: int) -> Iterator[tuple[str, dict[str, str]]]:
    for resource in ("cpu", "memory", "pods", "example.com/gpu"):
        yield resource, {resource: str(number)}


def is_said(decision: Decision) -> bool:
    return decision.result == "scheduled" or bool(decision.condition_message)


def two_nodes(world: World) -> None:
    for name in ("n1", "n2"):
        world.node(name, cpu=8, labels={"size": "5"})


PLACES = {f"{name}={number}": spec for number in NUMBERS for name, spec in placements(number)}
AMOUNTS = {f"{name}={number}": asked for number in NUMBERS for name, asked in amounts(number)}

with_every_place = pytest.mark.parametrize("spec", PLACES.values(), ids=PLACES)
with_every_amount = pytest.mark.parametrize("asked", AMOUNTS.values(), ids=AMOUNTS)


@with_every_place
def test_in_a_waiting_pod(spec: dict[str, Any]) -> None:
    world = World()
    two_nodes(world)
    world.pod("p", spec=spec, labels={"app": "web"})
    world.pod("neighbour", labels={"app": "web"})
    decisions = world.run()
    assert all(map(is_said, decisions))
    assert "neighbour" in world.bound()


@with_every_place
def test_in_a_pod_that_runs(spec: dict[str, Any]) -> None:
    world = World()
    two_nodes(world)
    world.pod("p", spec=spec, labels={"app": "web"}, on="n1")
    world.group("g", 2)
    world.pods("g", 2, labels={"app": "web"})
    world.run()
    assert len(world.bound("g")) == 2


def announced(worker: dict[str, Any], *, is_managed: bool = True) -> Stage:
    """A leader that announces two workers of this kind."""
    stage = Stage()
    two_nodes(stage)
    roles = [{"role": "leader", "count": 1, "requests": {"cpu": "1"}}]
    roles.append({"role": "worker", "count": 2, "requests": {"cpu": "1"}, "labels": {"app": "web"}} | worker)
    annotations = {MIN_RESOURCES: json.dumps(roles), MANAGED_BY: "tutti" if is_managed else "somebody"}
    stage.group("r", 1, owner="uid-of-r-leader", annotations=annotations)
    return stage


@with_every_place
def test_in_what_a_group_announces(spec: dict[str, Any]) -> None:
    stage = announced({"placement": spec})
    stage.pod("r-leader", group="r")
    assert all(map(is_said, stage.run()))


@with_every_place
def test_in_what_a_group_announces_that_runs_at_a_start(spec: dict[str, Any]) -> None:
    stage = announced({"placement": spec})
    stage.pod("r-leader", group="r", on="n1")
    stage.future.restore()
    stage.pod("p")
    stage.run()
    assert "p" in stage.bound()


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("number", [0, 101, 2**64 - 1])
def test_a_weight_that_no_api_server_takes_is_named(name: str, number: int) -> None:
    stage = announced({"placement": dict(placements(number))[name]})
    stage.pod("r-leader", group="r")
    (decision,) = stage.run()
    assert decision.result == "error"
    assert "its placement rules cannot be read" in decision.condition_message
    assert "weight" in decision.condition_message


@pytest.mark.parametrize("port", [-1, 65536, 2**64 - 1])
def test_a_host_port_that_no_api_server_takes_is_named(port: int) -> None:
    stage = announced({"placement": {"hostPorts": [{"hostPort": port}]}})
    stage.pod("r-leader", group="r")
    (decision,) = stage.run()
    assert decision.result == "error"
    assert "hostPort" in decision.condition_message


@with_every_amount
def test_in_what_pods_ask_for(asked: dict[str, str]) -> None:
    world = World()
    two_nodes(world)
    world.pod("runs", requests=asked, on="n1")
    world.pod("p", requests=asked)
    world.pod("neighbour", cpu=1)
    assert all(map(is_said, world.run()))
    assert "neighbour" in world.bound()


@with_every_amount
@pytest.mark.parametrize("count", [2, 2**64 - 1])
def test_in_what_announced_pods_ask_for(asked: dict[str, str], count: int) -> None:
    stage = announced({"requests": asked, "count": count})
    stage.pod("r-leader", group="r")
    assert all(map(is_said, stage.run()))


@pytest.mark.parametrize("number", NUMBERS)
def test_in_priority_and_minimum_of_a_group(number: int) -> None:
    world = World()
    two_nodes(world)
    world.group("g", max(number, 1), priority=number)
    world.pod("runs", group="g", priority=number, on="n1")
    world.pods("g", 2, priority=number)
    world.pod("p", priority=5)
    world.run()
    assert "p" in world.bound()
    assert world.queue.status(group_key("g")) is not None or len(world.bound("g")) == 3


def test_only_a_group_that_tutti_made_announces_pods() -> None:
    worker = {"count": 1000}
    stage = announced(worker, is_managed=False)
    stage.pod("r-leader", group="r")
    stage.run()
    assert set(stage.bound()) == {"r-leader"}
    assert stage.kept() == 0
    stage = announced(worker)
    stage.pod("r-leader", group="r")
    stage.run()
    assert stage.bound() == {}

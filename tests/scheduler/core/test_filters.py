"""Which nodes take a pod, and what a refused pod is told."""

from typing import Any

import pytest

from api.node import Taint
from scheduler.cache.node_rules import Toleration
from scheduler.plugins.messages import sentence
from scheduler.plugins.taint_toleration import tolerated
from tests.scheduler.core.build import pod_key
from tests.scheduler.core.world import World

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _affinity(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}}


def _labels(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def _where(world: World, **spec: Any) -> str | None:
    world.pod("p", cpu=0, spec=spec)
    world.run()
    return world.bound().get("p")


def _refusal(world: World, **more: Any) -> str:
    world.pod("p", **more)
    world.run()
    return world.held(pod_key("p"))[1]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"nodeSelector": {"disk": "ssd"}}, "a"),
        ({"nodeSelector": {"disk": "ssd", "gen": "9"}}, None),
        (_affinity(_labels("disk", "In", "hdd", "tape")), "b"),
        (_affinity(_labels("disk", "NotIn", "ssd", "hdd")), "c"),
        (_affinity(_labels("only-b", "Exists")), "b"),
        (_affinity(_labels("disk", "DoesNotExist")), "c"),
        (_affinity(_labels("gen", "Gt", "5")), "b"),
        (_affinity(_labels("gen", "Lt", "5")), "a"),
        (_affinity(_labels("disk", "Gt", "5")), None),
        (_affinity({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["c"]}]}), "c"),
        (_affinity({"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["b", "c"]}]}), "a"),
        (_affinity(_labels("disk", "In", "none"), _labels("only-b", "Exists")), "b"),
        (_affinity({}), None),
        ({**_affinity(_labels("gen", "Exists")), "nodeSelector": {"disk": "hdd"}}, "b"),
    ],
)
def test_selector_and_required_affinity_choose_nodes(spec: dict[str, Any], expected: str | None) -> None:
    world = World()
    world.node("a", labels={"disk": "ssd", "gen": "4"})
    world.node("b", labels={"disk": "hdd", "gen": "10", "only-b": ""})
    world.node("c")
    assert _where(world, **spec) == expected
    if expected is None:
        message = world.held(pod_key("p"))[1]
        assert message == "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        (Toleration(operator="Exists"), True),
        (Toleration(key="k", operator="Exists"), True),
        (Toleration(key="k", operator="Exists", effect="NoSchedule"), True),
        (Toleration(key="k", operator="Exists", effect="NoExecute"), False),
        (Toleration(key="other", operator="Exists"), False),
        (Toleration(key="k", value="7"), True),
        (Toleration(key="k", operator="Equal", value="7"), True),
        (Toleration(key="k", operator="Equal", value="8"), False),
        (Toleration(key="k", operator="Lt", value="8"), True),
        (Toleration(key="k", operator="Gt", value="8"), False),
        (Toleration(key="k", operator="Gt", value="x"), False),
        (Toleration(key="k", operator="Wat", value="7"), False),
        (Toleration(), False),
    ],
)
def test_a_toleration_matches_by_key_effect_and_operator(toleration: Toleration, expected: bool) -> None:
    assert tolerated(Taint(key="k", value="7", effect="NoSchedule"), (toleration,)) is expected


def test_hard_taints_keep_pods_away_and_soft_ones_do_not() -> None:
    world = World()
    world.node("hard", taints=[{"key": "gpu", "value": "true", "effect": "NoSchedule"}])
    world.node("leaving", taints=[{"key": "gone", "effect": "NoExecute"}])
    assert _refusal(world) == (
        "0/2 nodes are available: 1 node(s) had untolerated taint {gone: }, 1 node(s) had untolerated taint {gpu: true}."
    )
    world.node("soft", taints=[{"key": "meh", "effect": "PreferNoSchedule"}])
    world.run()
    assert world.bound() == {"p": "soft"}


def test_many_different_taints_are_told_as_one() -> None:
    world = World()
    for index in range(5):
        world.node(f"n{index}", taints=[{"key": f"own-{index}", "effect": "NoSchedule"}])
    assert _refusal(world) == "0/5 nodes are available: 5 node(s) had untolerated taint(s)."


def test_cordoned_nodes_take_nobody_but_those_who_tolerate_it() -> None:
    world = World()
    world.node("n1", unschedulable=True)
    assert _refusal(world) == "0/1 nodes are available: 1 node(s) were unschedulable."
    world.pod("q", cpu=1, spec={"tolerations": [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]})
    world.run()
    assert world.bound() == {"q": "n1"}


def test_the_first_filter_that_refuses_a_node_gives_its_reason() -> None:
    world = World()
    taint = {"key": "k", "effect": "NoSchedule"}
    world.node("a", unschedulable=True, taints=[taint])
    world.node("b", taints=[taint], labels={"x": "y"})
    world.node("c")
    world.node("d", cpu=1, labels={"x": "y"})
    assert _refusal(world, cpu=2, spec={"nodeSelector": {"x": "y"}}) == (
        "0/4 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector, "
        "1 node(s) had untolerated taint {k: }, 1 node(s) were unschedulable."
    )


def test_every_short_resource_is_named_and_reasons_are_sorted_as_text() -> None:
    world = World()
    for index in range(11):
        world.node(f"n{index}", cpu=1, memory="1Gi", pods=0 if index < 2 else 5)
    assert _refusal(world, requests={"cpu": "2", "memory": "2Gi", "example.com/none": "1"}) == (
        "0/11 nodes are available: 11 Insufficient cpu, 11 Insufficient example.com/none, 11 Insufficient memory, "
        "2 Too many pods."
    )


def test_a_resource_nobody_asks_for_may_be_over_committed() -> None:
    world = World()
    world.node("n1", cpu=4, memory="1Gi")
    world.pod("hog", requests={"memory": "9Gi"}, on="n1", scheduler="other")
    world.pod("p", requests={"cpu": "1", "memory": "0"})
    world.run()
    assert world.bound() == {"hog": "n1", "p": "n1"}


def test_a_host_port_is_open_once_on_a_node() -> None:
    world = World()
    world.node("n1")
    world.node("n2")
    world.pod("web", ports=[{"containerPort": 80, "hostPort": 80}], on="n1", scheduler="other")
    world.group("g", 2)
    world.pods("g", 2, ports=[{"containerPort": 8080, "hostPort": 80}])
    (decision,) = world.run()
    assert decision.condition_message == (
        "minCount (2) cannot be satisfied: 1 of 2 pods can be placed; 0/2 nodes are available for the rest: "
        "2 node(s) didn't have free ports for the requested pod ports."
    )
    world.pod_gone("web")
    world.run()
    assert sorted(world.bound("g").values()) == ["n1", "n2"]


def test_host_ports_of_different_members_conflict_too() -> None:
    world = World()
    world.node("n1")
    world.group("g", 2)
    world.pod("g-0", group="g", ports=[{"containerPort": 80, "hostPort": 80}])
    world.pod("g-1", group="g", cpu=2, ports=[{"containerPort": 80, "hostPort": 80, "hostIP": "10.0.0.1"}])
    world.run()
    assert world.bound() == {}
    world.node("n2")
    world.run()
    assert sorted(world.bound().values()) == ["n1", "n2"]


def test_host_ports_on_other_addresses_or_protocols_do_not_conflict() -> None:
    world = World()
    world.node("n1")
    world.pod("a", ports=[{"containerPort": 80, "hostPort": 80, "hostIP": "10.0.0.1"}])
    world.pod("b", ports=[{"containerPort": 80, "hostPort": 80, "hostIP": "10.0.0.2"}])
    world.pod("c", ports=[{"containerPort": 80, "hostPort": 80, "protocol": "UDP"}])
    world.run()
    assert len(world.bound()) == 3


def test_pods_on_the_host_network_open_their_container_ports() -> None:
    world = World()
    world.node("n1")
    for name in ("a", "b"):
        world.pod(name, ports=[{"containerPort": 9100}], spec={"hostNetwork": True})
    world.run()
    assert len(world.bound()) == 1


@pytest.mark.parametrize(
    ("is_unknown", "why"),
    [
        (False, "the API server does not serve resource.k8s.io/v1"),
        (True, "nothing is known of devices"),
    ],
)
def test_resource_claims_are_refused_where_there_are_no_devices_to_know_of(is_unknown: bool, why: str) -> None:
    world = World()
    world.state.devices.is_unknown = is_unknown
    world.node("n1")
    world.pod("p", spec={"resourceClaims": [{"name": "gpu"}]})
    (decision,) = world.run()
    assert (decision.result, decision.bindings) == ("error", ())
    assert decision.condition_message.startswith(f"it has resource claims, and {why}")


def test_soft_constraints_and_harmless_volumes_are_no_reason_to_refuse() -> None:
    world = World()
    world.node("n1")
    soft = {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": {"topologyKey": "zone"}}]
    }
    spread = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}]
    volumes = [
        {"name": "v", "emptyDir": {}},
        {"name": "t", "projected": {"sources": []}},
        {"name": "i", "csi": {"driver": "inline.example.com"}},
    ]
    world.pod(
        "p", spec={"affinity": {"podAntiAffinity": soft}, "topologySpreadConstraints": spread, "volumes": volumes}
    )
    world.run()
    assert world.bound() == {"p": "n1"}


def test_a_node_change_reaches_shapes_that_are_known_already() -> None:
    world = World()
    world.node("n1", labels={"pool": "a"})
    world.pod("p", spec={"nodeSelector": {"pool": "b"}})
    world.run()
    assert world.bound() == {}
    world.node("n1", labels={"pool": "b"})
    world.run()
    assert world.bound() == {"p": "n1"}


def test_a_node_that_went_is_in_no_message() -> None:
    world = World()
    world.node("n1")
    world.node("n2")
    assert _refusal(world, cpu=9).startswith("0/2 nodes are available: 2 Insufficient cpu")
    world.node_gone("n2")
    (decision,) = world.wait(60)
    assert decision.condition_message == "0/1 nodes are available: 1 Insufficient cpu."


def test_a_sentence_without_reasons_is_still_one() -> None:
    assert sentence(3, {}) == "0/3 nodes are available."
    assert sentence(0, {}) == "no nodes available to schedule pods"

"""What strangers write never raises: it becomes an item whose decision is an error in one clear line."""

from typing import Any

import pytest

from scheduler.cache.demand import MAX_AMOUNT
from tests.scheduler.core.build import group_key
from tests.scheduler.core.world import World

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _affinity(operator: str, values: Any) -> dict[str, Any]:
    terms = [{"matchExpressions": [{"key": "k", "operator": operator, "values": values}]}]
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}}


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"requests": {"cpu": "1e1000000"}}, "its resource requests or ports cannot be read"),
        ({"requests": {"cpu": "many"}}, "its resource requests or ports cannot be read"),
        ({"requests": {"example.com/x": "8E"}}, "more than any node can have"),
        ({"requests": {"cpu": "-1"}}, "is negative"),
        (
            {"spec": {"containers": [{"resources": {"requests": {"cpu": 1}}}]}},
            "its resource requests or ports cannot be read",
        ),
        ({"spec": {"containers": [{"ports": [{"hostPort": "x"}]}]}}, "its resource requests or ports cannot be read"),
        ({"spec": {"nodeSelector": ["no", "map"]}}, "its placement rules cannot be read"),
        ({"spec": {"affinity": 7}}, "its placement rules cannot be read"),
        ({"spec": {"tolerations": [[]]}}, "its placement rules cannot be read"),
        ({"spec": _affinity("Near", ["x"])}, "its placement rules cannot be read"),
        ({"spec": _affinity("Gt", ["1", "2"])}, "needs exactly one whole number"),
        ({"spec": _affinity("Lt", ["9" * 400])}, "needs exactly one whole number"),
        ({"spec": {"affinity": {"nodeAffinity": {"x": "["}}, "topologySpreadConstraints": {}}}, "cannot be read"),
    ],
)
def test_a_pod_that_cannot_be_understood_is_an_error_of_its_item_only(more: dict[str, Any], what: str) -> None:
    world = World()
    world.node("n1")
    world.group("g", 2)
    world.pod("g-0", group="g")
    world.pod("g-1", group="g", **more)
    world.pod("sound")
    decisions = {decision.key.name: decision for decision in world.run()}
    assert decisions["g"].result == "error"
    assert decisions["g"].bindings == ()
    assert what in decisions["g"].condition_message
    assert decisions["g"].condition_message.startswith("pod g-1: ")
    assert "\n" not in decisions["g"].condition_message
    assert world.held(group_key("g"))[0] == "SchedulerError"
    assert world.bound() == {"sound": "n1"}


def test_an_absurd_pod_on_a_node_is_counted_within_bounds() -> None:
    world = World()
    world.node("n1")
    for index in range(20):
        world.pod(f"p{index}", requests={"cpu": "9E", "memory": "9E"}, on="n1", scheduler="other")
    table = world.state.nodes
    assert table.free[0, table.slot_of["n1"]] == 4000 - 20 * MAX_AMOUNT
    world.pod("p")
    world.run()
    assert "p" not in world.bound()
    for index in range(20):
        world.pod_gone(f"p{index}")
    world.run()
    assert world.bound() == {"p": "n1"}


def test_absurd_quantities_of_a_node_are_nothing_or_cut() -> None:
    world = World()
    world.node("n1", resources={"example.com/x": "1e1000000", "example.com/y": "99E", "example.com/z": "-5"})
    table = world.state.nodes
    slot = table.slot_of["n1"]
    offered = {name: int(table.allocatable[row, slot]) for name, row in table.row_of.items()}
    assert (offered["example.com/x"], offered["example.com/y"], offered["example.com/z"]) == (0, MAX_AMOUNT, 0)
    assert offered["cpu"] == 4000


def test_an_unreadable_time_stamp_is_no_reason_to_fail() -> None:
    world = World()
    world.node("n1")
    world.pod("p", created="yesterday")
    world.run()
    assert world.bound() == {"p": "n1"}


def test_a_broken_member_stops_blocking_when_it_goes() -> None:
    world = World()
    world.node("n1")
    world.group("g", 1)
    world.pod("g-0", group="g")
    world.pod("g-1", group="g", requests={"cpu": "many"})
    world.run()
    assert world.bound() == {}
    world.pod_gone("g-1")
    world.run()
    assert world.bound() == {"g-0": "n1"}

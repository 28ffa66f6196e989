"""Where the stand-in for the stock scheduler puts a pod."""

from typing import Any

import msgspec

from api.node import Node
from api.pod import Pod
from localcluster.controllers.placing.choice import Choice, Room, choose, demand_of, room_of


def room(name: str, *, cpu: str = "4", taken: int = 0, labels: dict[str, str] | None = None, **spec: Any) -> Room:
    body = {
        "metadata": {"name": name, "labels": labels or {}},
        "spec": spec,
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "10"}},
    }
    made = room_of(msgspec.convert(body, Node))
    made.taken["cpu"] = taken
    return made


def choice(*rooms: Room, cpu: str = "1", **spec: Any) -> Choice:
    container = {"resources": {"requests": {"cpu": cpu}}}
    text = msgspec.json.encode({"metadata": {"name": "p"}, "spec": {"containers": [container], **spec}})
    return choose(demand_of(msgspec.json.decode(text, type=Pod)), rooms)


TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}


def test_the_node_with_most_room_left_is_taken() -> None:
    assert choice(room("a", taken=2000), room("b", taken=1000), room("c", taken=3000)).node == "b"


def test_a_pod_that_fits_nowhere_is_told_the_reasons_with_counts() -> None:
    refusal = choice(
        room("a", taken=4000),
        room("b", taken=3500),
        room("c", unschedulable=True),
        room("d", taints=[TAINT]),
    ).refusal
    assert refusal == (
        "0/4 nodes are available: 2 Insufficient cpu, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable."
    )


def test_a_pod_with_device_claims_is_left_to_a_scheduler_that_can_allocate() -> None:
    claims = [{"name": "gpu", "resourceClaimTemplateName": "t"}]
    assert choice(room("a"), resourceClaims=claims) == Choice(
        None,
        "0/1 nodes are available: 1 pods with resource claims are placed by Tutti's scheduler only (spec.schedulerName: tutti).",
    )


def test_without_nodes_there_is_no_place() -> None:
    assert choice() == Choice(None, "no nodes available to schedule pods")


def test_a_toleration_opens_a_tainted_node() -> None:
    tainted = room("a", taints=[TAINT])
    assert choice(tainted).node is None
    assert choice(tainted, tolerations=[{"key": "k", "operator": "Exists"}]).node == "a"
    assert choice(tainted, tolerations=[{"key": "k", "value": "v"}]).node == "a"
    assert choice(tainted, tolerations=[{"key": "k", "value": "other"}]).node is None
    assert choice(tainted, tolerations=[{"operator": "Exists"}]).node == "a"


def test_a_node_selector_is_kept_to() -> None:
    rooms = room("a", labels={"zone": "x"}), room("b", labels={"zone": "y"})
    assert choice(*rooms, nodeSelector={"zone": "y"}).node == "b"
    assert choice(*rooms, nodeSelector={"zone": "z"}).node is None


def test_a_demand_that_cannot_be_read_is_refused_with_the_reason() -> None:
    assert "1e400" in choice(room("a"), cpu="1e400").refusal

"""What the demo shows of gangs, Jobs and nodes."""

from typing import Any

import msgspec

from api.constants import GATE, POD_GROUP
from api.node import Node
from api.pod import Pod
from api.podgroup import PodGroup
from localcluster.controllers.jobs.model import Job
from localcluster.demo.overview import DONE, FAILED, GATHERS, RUNS, WAITS, Members, NodeRow, Row, overview_of


def build(kind: Any, body: dict[str, Any]) -> Any:
    return msgspec.json.decode(msgspec.json.encode(body), type=kind)


def owner(name: str) -> list[dict[str, Any]]:
    return [{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": name, "controller": True}]


def group(
    name: str, *, need: int = 2, scheduled: str | None = None, message: str = "", of: str | None = None
) -> PodGroup:
    conditions = [{"type": "PodGroupInitiallyScheduled", "status": scheduled, "message": message}] if scheduled else []
    metadata = {"name": name, "namespace": "ns", "ownerReferences": owner(of) if of else None}
    spec = {"schedulingPolicy": {"gang": {"minCount": need}}}
    found: PodGroup = build(PodGroup, {"metadata": metadata, "spec": spec, "status": {"conditions": conditions}})
    return found


def job(name: str, *, ended: str | None = None, message: str = "", gated: bool = False, suspend: bool = False) -> Job:
    conditions = [{"type": ended, "status": "True", "message": message}] if ended else []
    metadata = {"name": name, "uid": name, "namespace": "ns", "annotations": {GATE: "pod-group"} if gated else {}}
    found: Job = build(Job, {"metadata": metadata, "spec": {"suspend": suspend}, "status": {"conditions": conditions}})
    return found


def pod(name: str, phase: str = "Pending", *, node: str = "", of: str | None = None, group: str | None = None) -> Pod:
    metadata = {
        "name": name,
        "namespace": "ns",
        "annotations": {POD_GROUP: group} if group else {},
        "ownerReferences": owner(of) if of else None,
    }
    container = {"resources": {"requests": {"cpu": "500m"}}}
    body = {"metadata": metadata, "spec": {"nodeName": node, "containers": [container]}, "status": {"phase": phase}}
    found: Pod = build(Pod, body)
    return found


def node(name: str) -> Node:
    found: Node = build(Node, {"metadata": {"name": name}, "status": {"allocatable": {"cpu": "4"}}})
    return found


def only(groups: list[PodGroup], jobs: list[Job], pods: list[Pod]) -> Row:
    (row,) = overview_of(groups, jobs, pods, []).rows
    return row


def test_a_gang_goes_by_its_jobs_name_and_counts_its_members() -> None:
    pods = [pod("a", group="g"), pod("b", "Running", node="n", group="g"), pod("c", "Succeeded", node="n", group="g")]
    row = only([group("g", of="j")], [job("j")], [*pods, pod("stranger", group="other")])
    assert (row.name, row.is_gang, row.need) == ("j", True, 2)
    assert row.members == Members(pending=1, bound=1, succeeded=1)


def test_a_gang_that_waits_says_why() -> None:
    row = only([group("g", scheduled="False", message="no room")], [], [pod("a", group="g")])
    assert (row.name, row.state, row.reason) == ("g", WAITS, "no room")


def test_a_gang_gathers_then_runs_then_is_done() -> None:
    assert only([group("g")], [], []).state == GATHERS
    bound = [pod("a", node="n", group="g"), pod("b", node="n", group="g")]
    assert only([group("g", scheduled="True")], [], bound).state == RUNS
    over = [pod("a", "Succeeded", node="n", group="g"), pod("b", "Succeeded", node="n", group="g")]
    assert only([group("g", scheduled="True")], [], over).state == DONE


def test_a_gang_that_has_started_shows_no_reason_of_earlier() -> None:
    bound = [pod("a", node="n", group="g"), pod("b", node="n", group="g")]
    row = only([group("g", scheduled="False", message="no room")], [], bound)
    assert (row.state, row.reason) == (RUNS, "")


def test_the_end_of_the_job_is_the_end_of_the_gang() -> None:
    assert only([group("g", of="j")], [job("j", ended="Complete")], []).state == DONE
    row = only([group("g", of="j")], [job("j", ended="Failed", message="too often")], [])
    assert (row.state, row.reason) == (FAILED, "too often")


def test_an_ordinary_job_is_no_gang() -> None:
    row = only([], [job("j")], [pod("a", "Running", node="n", of="j")])
    assert (row.is_gang, row.need, row.state, row.members) == (False, 1, RUNS, Members(bound=1))


def test_a_held_job_gathers_and_a_suspended_one_waits() -> None:
    assert only([], [job("j", gated=True, suspend=True)], []).state == GATHERS
    row = only([], [job("j", suspend=True)], [])
    assert (row.state, row.reason) == (WAITS, "suspended")


def test_nodes_are_in_order_of_their_numbers_with_what_is_used() -> None:
    pods = [pod("a", "Running", node="n-2"), pod("b", "Succeeded", node="n-2"), pod("c", node="n-2")]
    nodes = overview_of([], [], pods, [node("n-10"), node("n-2")]).nodes
    assert nodes == (NodeRow("n-2", 2, 1000, 4000), NodeRow("n-10", 0, 0, 4000))

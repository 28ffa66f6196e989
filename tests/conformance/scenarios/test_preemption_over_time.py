"""What limits a reprieve, what is said, and what happens while victims are on their way out."""

from typing import Any

import pytest

from tests.conformance.scenarios.preemption_stage import HIGH, LOW, MID, SOON_SECONDS, Stage
from verify.clusters.eventually import eventually, throughout

STAYS_SECONDS = 1.0

pytestmark = pytest.mark.usefixtures("nothing_wasted")


def keeps_off(app: str) -> dict[str, object]:
    """Required anti-affinity to pods with this label, per node."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": app}}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


@pytest.mark.parametrize("whose", ["preemptor", "victim"])
def test_a_pod_that_the_preemptor_keeps_off_is_not_reprieved(stage: Stage, whose: str) -> None:
    node = stage.node(4)
    rule: dict[str, Any] = {"affinity": keeps_off("loud" if whose == "preemptor" else "quiet")}
    nothing: dict[str, Any] = {}
    stage.pod("low-0", on=node, labels={"app": "loud"}, **(rule if whose == "victim" else nothing))
    stage.pod("low-1", on=node)
    stage.group("g", 1)
    stage.members("g", 1, labels={"app": "quiet"}, **(rule if whose == "preemptor" else nothing))
    stage.runs("g", 1)
    stage.preempted("low-0")


def test_the_nominated_node_is_taken_even_if_a_better_one_becomes_free(stage: Stage) -> None:
    node, larger = stage.node(1, tended=False), stage.node(64, tended=False)
    stage.pod("low-0", on=node)
    stage.pod("equal-0", 64, on=larger, priority=HIGH)
    stage.gang("g", 1)
    eventually(lambda: stage.leaving() == {"low-0"}, within_seconds=SOON_SECONDS)
    with stage.unnoticed():
        stage.end("low-0", "equal-0")
    stage.runs("g", 1)
    assert set(stage.places("g").values()) == {node}


def test_the_waiting_group_says_what_it_does(stage: Stage) -> None:
    node = stage.node(2, tended=False)
    for number in range(2):
        stage.pod(f"low-{number}", on=node)
    stage.gang("g", 2)
    said = stage.refused("g", "pod group preemption: ")
    assert "minCount (2) cannot be satisfied" in said
    assert "found a placement for podgroup, preempting 2 victims" in said or "ongoing preemption" in said
    stage.end("low-0", "low-1")
    stage.runs("g", 2)


def test_while_victims_leave_nobody_else_is_evicted_and_a_free_place_is_taken(stage: Stage) -> None:
    for number in range(2):
        stage.pod(f"low-{number}", on=stage.node(1, tended=False))
    stage.gang("g", 1)
    eventually(lambda: len(stage.leaving()) == 1, within_seconds=SOON_SECONDS)
    throughout(lambda: len(stage.leaving()) == 1, seconds=STAYS_SECONDS)
    free = stage.node(1)
    stage.runs("g", 1)
    assert set(stage.places("g").values()) == {free}
    assert len(stage.leaving()) == 1


def test_a_victim_that_leaves_already_is_not_deleted_again(stage: Stage) -> None:
    node = stage.node(2, tended=False)
    for number in range(2):
        stage.pod(f"low-{number}", on=node)
    stage.api.delete("pods", "low-0", stage.namespace)
    stage.gang("g", 2)
    eventually(lambda: stage.leaving() == {"low-0", "low-1"}, within_seconds=SOON_SECONDS)
    stage.preempted("low-1")
    stage.end("low-0", "low-1")
    stage.runs("g", 2)


def test_equals_never_leave(stage: Stage) -> None:
    stage.pod("low-0", on=stage.node(1), priority=HIGH)
    stage.gang("g", 1)
    stage.refused("g", "pod group preemption: No preemption victims found for incoming preemptor")
    throughout(lambda: not stage.leaving(), seconds=STAYS_SECONDS)


def test_of_two_groups_at_once_the_more_important_wins(stage: Stage) -> None:
    node = stage.node(2, tended=False)
    for number in range(2):
        stage.pod(f"low-{number}", on=node, priority=LOW)
    stage.gang("m", 2, priority=MID)
    stage.gang("g", 2, priority=HIGH)
    eventually(lambda: len(stage.leaving()) == 2, within_seconds=SOON_SECONDS)
    stage.refused("g")
    stage.end("low-0", "low-1")
    stage.runs("g", 2)
    eventually(lambda: stage.nominations("m") == {""}, within_seconds=SOON_SECONDS)
    assert stage.places("m") == {}

"""Inputs that were taken from a scheduler at work decide as it does: same nodes, same victims, same words, bit for bit."""

from typing import Any

import msgspec
import pytest

from api.constants import SCHEDULING_TIMEOUT
from scheduler.cache.records import EntityKey
from scheduler.recording.capture import take
from scheduler.recording.inputs import DecisionInputs
from scheduler.recording.outcome import DecisionOutcome, PreemptionOutcome, outcome_of, preemption_outcome_of
from scheduler.recording.restore import restore
from scheduler.recording.steps import OPERATIONS
from tests.recording.life import Life
from tests.scheduler.core import build
from tests.scheduler.core.world import World

WAITING = {"active", "waiting", "running"}


def taken(life: Life) -> DecisionInputs:
    """Taken, and as they come out of a file."""
    return msgspec.json.decode(msgspec.json.encode(take(life.core, life.moment()).inputs()), type=DecisionInputs)


def expected(inputs: DecisionInputs, key: EntityKey) -> list[DecisionOutcome | PreemptionOutcome]:
    outcome = restore(inputs).attempt(key)
    decided = outcome_of(outcome.found, outcome.future)
    return [decided] if outcome.preemption is None else [decided, preemption_outcome_of(outcome.preemption)]


@pytest.mark.parametrize("seed", range(12))
def test_every_decision_of_a_busy_cluster_is_made_again(seed: int) -> None:
    life = Life(seed)
    life.live(30)
    foreseen: list[DecisionOutcome | PreemptionOutcome] = []
    life.tried = lambda key: foreseen.extend(expected(taken(life), key))
    begun = len(life.outcomes)
    life.live(30)
    assert foreseen
    assert foreseen == life.outcomes[begun:]


@pytest.mark.parametrize("seed", range(6))
def test_what_was_restored_is_taken_again_as_it_was(seed: int) -> None:
    life = Life(seed)
    life.live(60)
    inputs = taken(life)
    assert comparable(take(restore(inputs).core, life.moment()).inputs()) == comparable(inputs)


def comparable(inputs: DecisionInputs) -> Any:
    """Without what may be numbered anew: in which order items move, and pods of different items are met."""
    plain = msgspec.json.decode(msgspec.json.encode(inputs))
    plain["objects"]["pods"].sort(key=lambda pod: pod["metadata"]["uid"])
    for entity in plain["scheduler"]["queue"].get("entities", ()):
        del entity["stamp"]
    return plain


@pytest.mark.parametrize("seed", range(3))
def test_pods_that_come_many_at_once_count_like_pods_that_come_one_by_one(seed: int) -> None:
    life = Life(seed)
    life.live(80)
    found = restore(take(life.core, life.moment()).inputs()).core.state
    nodes, rows = found.nodes, found.assigned_pods
    for name, slot in nodes.slot_of.items():
        there = life.state.nodes.slot_of[name]
        for resource, row in nodes.row_of.items():
            known = life.state.nodes.row_of[resource]
            assert nodes.free[row, slot] == life.state.nodes.free[known, there]
        assert nodes.scored[:, slot].tolist() == life.state.nodes.scored[:, there].tolist()
    assert len(rows) == len(life.state.assigned_pods) > 0
    for row, pod in enumerate(rows.pods):
        if pod is None:
            continue
        (before,) = [
            at for at, one in enumerate(life.state.assigned_pods.pods) if one is not None and one.uid == pod.uid
        ]
        was = life.state.assigned_pods
        for column in ("priorities", "leaving", "in_whole", "since", "slots"):
            assert getattr(rows, column)[row] == getattr(was, column)[before], column
        assert {name: rows.amounts[at, row] for name, at in nodes.row_of.items()} == {
            name: was.amounts[at, before] for name, at in life.state.nodes.row_of.items()
        }


def test_a_pod_may_change_and_go_while_many_come() -> None:
    world = World()
    world.node("n", cpu=8)
    with world.state.many_pods():
        for number in range(3):
            world.pod(f"p-{number}", on="n", cpu=1, priority=number)
        world.pod("p-0", on="n", cpu=2, priority=7)
        world.pod_gone("p-1")
    rows = world.state.assigned_pods
    cpu = world.state.nodes.row_of["cpu"]
    found = {pod.name: row for row, pod in enumerate(rows.pods) if pod is not None}
    assert {name: (int(rows.amounts[cpu, row]), int(rows.priorities[row])) for name, row in found.items()} == {
        "p-0": (2000, 7),
        "p-2": (1000, 2),
    }
    assert int(world.state.nodes.free[cpu, world.state.nodes.slot_of["n"]]) == 5000
    assert (rows.unit_of >= 0).sum() == 2


def test_a_tree_of_groups_is_restored_and_its_changes_are_repeated() -> None:
    life = Life(1)
    life.apply(life.state.upsert_node(build.node("for-the-tree", cpu=4)))
    for name, parent in (("root", {}), ("inner", {"parent": "root"})):
        life.apply(life.state.composites.upsert(build.composite(name, 1, **parent)))
    life.apply(life.state.upsert_group(build.group("leaf", 2, parent="inner")))
    for index in range(2):
        life.apply(life.state.upsert_pod(build.pod(f"leaf-{index}", group="leaf")))
    inputs = taken(life)
    assert sorted(each.metadata.name for each in inputs.objects.compositepodgroups) == ["inner", "root"]
    tree = restore(inputs).core.state.item(build.composite_key("root"))
    assert tree is not None
    assert tree.pending_count == 2
    assert {"composite", "composite gone"} <= OPERATIONS.keys()


def test_how_long_a_tree_waits_and_that_it_has_given_up_are_restored() -> None:
    life = Life(1)
    told = [
        {"type": "SchedulingTimedOut", "status": "True"},
        {"type": "CompositePodGroupInitiallyScheduled", "status": "False", "message": "gave up after 10 min"},
    ]
    said = {SCHEDULING_TIMEOUT: "10m"}
    life.apply(life.state.composites.upsert(build.composite("root", 1, annotations=said, conditions=told)))
    life.apply(life.state.upsert_group(build.group("leaf", 2, parent="root")))
    tree = restore(taken(life)).core.state.item(build.composite_key("root"))
    assert tree is not None
    assert tree.group is not None
    assert tree.group.waiting.timeout_seconds == 600.0
    assert (tree.group.has_timed_out, tree.group.condition_message) == (True, "gave up after 10 min")

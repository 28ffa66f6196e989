"""What users do and what goes wrong in a soak follows from the seed, stays within its bounds, and names what is there."""

import random
from collections import Counter

import pytest

from verify.faults.script import parse
from verify.soak.changes import MOST, MOST_CORDONED, Change, Changes
from verify.soak.faults import PROCESSES, TO_REQUESTS, draw, process_faults_seconds

NODES = ("n0", "n1", "n2")
MANY = 3_000


def drawn(seed: int, count: int = MANY) -> list[Change]:
    changes = Changes(random.Random(seed), NODES)
    return [changes.next() for _ in range(count)]


def test_the_same_seed_gives_the_same_changes() -> None:
    assert drawn(7) == drawn(7)
    assert drawn(7) != drawn(8)


def test_never_is_there_more_than_may_be_and_nothing_is_changed_that_is_not_there() -> None:
    there: dict[tuple[str, str], str] = {("nodes", name): "node" for name in NODES}
    for change in drawn(1):
        key = change.resource, change.name
        if change.verb == "create":
            assert key not in there
            there[key] = change.name.partition("-")[0]
        else:
            assert key in there, change
        if change.verb == "delete":
            del there[key]
        counts = Counter(there.values())
        assert all(counts[kind] <= most for kind, most in MOST.items())


def test_all_that_users_can_do_is_done() -> None:
    found = drawn(2)
    made = {change.name.partition("-")[0] for change in found if change.verb == "create"}
    assert made == set(MOST)
    assert {key for change in found if change.verb == "patch" for key in change.body.get("spec", {})} == {
        "completions",
        "parallelism",
        "replicas",
        "suspend",
        "unschedulable",
    }


def test_priorities_and_schedulers_are_of_all_kinds() -> None:
    pods = [change.body["spec"] for change in drawn(3) if change.verb == "create" and change.resource == "pods"]
    assert len({pod["priorityClassName"] for pod in pods}) == 3
    assert len({pod["schedulerName"] for pod in pods}) == 2


def test_few_nodes_are_closed_and_the_end_opens_all_of_them() -> None:
    changes = Changes(random.Random(4), NODES)
    closed: set[str] = set()

    def note(change: Change) -> None:
        spec = change.body.get("spec", {})
        if change.resource == "nodes" and "unschedulable" in spec:
            (closed.add if spec["unschedulable"] else closed.discard)(change.name)

    for _ in range(MANY):
        note(changes.next())
        assert len(closed) <= MOST_CORDONED
    for change in changes.reopened():
        note(change)
    assert not closed


def test_faults_follow_from_the_seed_and_scripts_can_be_read() -> None:
    def faults(seed: int) -> list[str]:
        chance = random.Random(seed)
        return [str(draw(chance, ends_processes=True)) for _ in range(200)]

    assert faults(5) == faults(5)
    kinds = {line.partition(" ")[0] for line in faults(5)}
    assert kinds == {*TO_REQUESTS, "kill", "kill-at-write", "pause-leaders"}
    assert {line.split()[1] for line in faults(5) if line.startswith("kill ")} == set(PROCESSES)
    assert all(parse(line.removeprefix("script ")).rules for line in faults(5) if line.startswith("script "))


def test_processes_live_on_when_they_are_to() -> None:
    chance = random.Random(6)
    assert {draw(chance, ends_processes=False).kind for _ in range(200)} == set(TO_REQUESTS)


@pytest.mark.parametrize(("soak_minutes", "minutes"), [(20, 5), (60, 15), (165, 15)])
def test_processes_are_ended_in_the_first_part_only_and_in_a_long_soak_live_on_for_nearly_all_of_it(
    soak_minutes: float, minutes: float
) -> None:
    assert process_faults_seconds(soak_minutes * 60) == minutes * 60

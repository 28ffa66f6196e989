"""Four gangs that each want 60 % of the room: one runs, the others wait whole, again and again."""

from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import CONDITION, Jobs, condition_entry, indexed_job
from verify.clusters.tutti_process import Tutti

ROUNDS = 20
CORES = 10
WORKERS = 6


def test_exactly_one_of_four_large_gangs_runs_and_no_gang_is_ever_partial(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti
) -> None:
    """The auditor watches every bind of every round; here only the outcome of each is judged."""
    nodes.add(5, cpu=str(CORES // 5))
    for number in range(ROUNDS):
        names = [f"round-{number}-gang-{letter}" for letter in "abcd"]
        for name in names:
            jobs.create(indexed_job(name, WORKERS))
        eventually(lambda all_of=names: settled(jobs, all_of), within_seconds=30)  # type: ignore[misc]
        throughout(lambda all_of=names: bound_counts(jobs, all_of) == [0, 0, 0, WORKERS], seconds=0.5)  # type: ignore[misc]
        for name in names:
            jobs.api.delete("jobs", name, jobs.namespace)
        eventually(lambda: not jobs.api.list("pods", jobs.namespace), within_seconds=30)


def test_the_gangs_that_waited_run_one_after_the_other(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> None:
    nodes.add(5, cpu=str(CORES // 5))
    names = [f"turn-{letter}" for letter in "abcd"]
    for name in names:
        jobs.create(indexed_job(name, WORKERS, run_seconds=0.5))
    eventually(lambda: all(jobs.succeeded(name) for name in names), within_seconds=60)


def settled(jobs: Jobs, names: list[str]) -> bool:
    """One gang is bound; every other has all its pods and has been refused, with a word why."""
    if not all(len(jobs.pods(name)) == WORKERS for name in names):
        return False
    verdicts = [condition_entry(jobs.group(name), CONDITION) for name in names]
    statuses = sorted(verdict["status"] if verdict else "" for verdict in verdicts)
    return statuses == ["False", "False", "False", "True"] and bound_counts(jobs, names) == [0, 0, 0, WORKERS]


def bound_counts(jobs: Jobs, names: list[str]) -> list[int]:
    return sorted(jobs.bound(name) for name in names)

"""`python -m verify.simulator.trace`: days of a recorded cluster in virtual time.

Reads the two tables of the OpenB trace (nodes; pods with their times of creation and deletion). The trace names no Jobs, so they
are guessed: pods that ask for the same and come soon after one another are one Job, and a gang when they are several; it comes
with the first of them and runs as long as the one that ran longest. A pod with several GPUs becomes a gang of pods with one each.
Every Nth node and pod is taken.
"""

import argparse
import csv
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from verify.shared_data import SHARED_DATA
from verify.simulator.actions import MOST_HASH_SEED, AddNode, AnyAction, CreateJob, Scenario
from verify.simulator.run import describe, simulate
from verify.simulator.workers import with_hash_seed

NODES: Final = SHARED_DATA / "openb" / "openb_node_list_gpu_node.csv"
PODS: Final = SHARED_DATA / "openb" / "openb_pod_list_default.csv"
DAY_SECONDS: Final = 86_400
MOST_CPU_MILLI: Final = 32_000
_ASKED: Final = ("cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec", "qos")
Row = dict[str, str]


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m verify.simulator.trace", description="Runs a trace.")
    parser.add_argument(
        "--nodes", type=Path, default=NODES, metavar="CSV", help=f"openb_node_list_*.csv (default {NODES})"
    )
    parser.add_argument(
        "--pods", type=Path, default=PODS, metavar="CSV", help=f"openb_pod_list_*.csv, with times (default {PODS})"
    )
    parser.add_argument("--days", type=float, default=7.0, help="how long; the busiest such time is taken (default 7)")
    parser.add_argument("--every", type=int, default=20, metavar="N", help="every Nth node and pod (default 20)")
    parser.add_argument("--every-node", type=int, metavar="N", help="every Nth node (default as --every)")
    parser.add_argument(
        "--together",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="pods that come so soon are one Job (default: none)",
    )
    parser.add_argument(
        "--hash-seed",
        type=int,
        default=0,
        metavar="N",
        help="of the order of sets of texts; the same is the same run (default 0)",
    )
    asked = parser.parse_args(arguments)
    if not 0 <= asked.hash_seed <= MOST_HASH_SEED:
        parser.error(f"--hash-seed: {asked.hash_seed} is not between 0 and {MOST_HASH_SEED}")
    return asked


def scenario_of(
    nodes: Iterable[Row],
    pods: Iterable[Row],
    *,
    days: float,
    every: int,
    every_node: int | None = None,
    together_seconds: float = 0.0,
) -> Scenario:
    """The run of the busiest time of so many days.

    Args:
        nodes: the table of nodes.
        pods: the table of pods.
        days: how long.
        every: of the pods every so-manieth is taken.
        every_node: the same of the nodes; None: as of the pods.
        together_seconds: a pod that asks for the same as another, no later than this after it, belongs to its Job; 0: none does.
    """
    begin: list[AnyAction] = [
        AddNode(0.0, number, max(int(row["cpu_milli"]) // 1000, 1), int(row["gpu"] or 0))
        for number, row in enumerate(list(nodes)[:: every_node or every])
    ]
    rows = sorted((row for row in pods if row["creation_time"]), key=lambda row: int(row["creation_time"]))
    seconds = days * DAY_SECONDS
    first = busiest([int(row["creation_time"]) for row in rows], seconds)
    taken = [row for row in rows if first <= int(row["creation_time"]) < first + seconds][::every]
    jobs: list[AnyAction] = []
    before = first
    for number, members in enumerate(in_jobs(taken, together_seconds)):
        created = int(members[0]["creation_time"])
        jobs.append(_job(number, members, created - before))
        before = created
    return Scenario(0, (*begin, *jobs))


def in_jobs(pods: Iterable[Row], together_seconds: float) -> list[list[Row]]:
    """The pods by the Jobs they are taken for, in the order in which these begin; `pods` are in the order of their creation."""
    jobs: list[list[Row]] = []
    latest: dict[tuple[str | None, ...], list[Row]] = {}
    for row in pods:
        asked = tuple(row.get(column) for column in _ASKED)
        job = latest.get(asked)
        if job is not None and 0 <= int(row["creation_time"]) - int(job[-1]["creation_time"]) < together_seconds:
            job.append(row)
        else:
            latest[asked] = [row]
            jobs.append(latest[asked])
    return jobs


def busiest(times: Sequence[int], seconds: float) -> int:
    """When the time of this length with the most entries begins; `times` are in order."""
    best, most, end = times[0] if times else 0, 0, 0
    for begin, moment in enumerate(times):
        while end < len(times) and times[end] < moment + seconds:
            end += 1
        if end - begin > most:
            best, most = moment, end - begin
    return best


def _job(number: int, pods: Sequence[Row], after_seconds: int) -> CreateJob:
    row = pods[0]
    gpus = int(row["num_gpu"] or 0)
    each = max(1, gpus)
    return CreateJob(
        float(after_seconds),
        number,
        pods=each * len(pods),
        cpu_milli=min(int(row["cpu_milli"]), MOST_CPU_MILLI) // each,
        gpus=min(gpus, 1),
        priority=1 if row.get("qos") == "LS" else 0,
        seconds=max(1, *(int(pod["deletion_time"] or 0) - int(pod["creation_time"]) for pod in pods)),
    )


def _rows(path: Path) -> list[Row]:
    with path.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; the exit code."""
    asked = parse_arguments(sys.argv[1:] if arguments is None else arguments)
    with_hash_seed(asked.hash_seed, "verify.simulator.trace")
    try:
        scenario = scenario_of(
            _rows(asked.nodes),
            _rows(asked.pods),
            days=asked.days,
            every=asked.every,
            every_node=asked.every_node,
            together_seconds=asked.together,
        )
    except (OSError, KeyError, ValueError) as error:
        sys.stderr.write(f"this is no trace: {type(error).__name__}: {error}\n")
        return 2
    begun = time.process_time()
    outcome = simulate(scenario)
    spent = time.process_time() - begun
    sys.stdout.write(f"{describe(outcome)}; {spent:.0f} s of CPU, {outcome.steps / spent:.0f} steps/s\n")
    for violation in outcome.violations:
        sys.stdout.write(f"  {violation}\n")
    return 1 if outcome.violations else 0


if __name__ == "__main__":
    sys.exit(main())

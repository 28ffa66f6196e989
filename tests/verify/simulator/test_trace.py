"""What a recorded cluster becomes in virtual time: nodes, Jobs and gangs, with the times of the trace."""

import csv
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from verify.simulator.actions import MOST_HASH_SEED, AddNode, CreateJob
from verify.simulator.trace import Row, busiest, parse_arguments, scenario_of
from verify.simulator.workers import HASH_SEED

NODES = [
    {"cpu_milli": "64000", "gpu": "2"},
    {"cpu_milli": "96000", "gpu": "8"},
    {"cpu_milli": "128000", "gpu": ""},
]


def _pod(created: int, *, ran: int = 100, cpu_milli: int = 4000, gpus: int = 1, qos: str = "BE") -> Row:
    return {
        "cpu_milli": str(cpu_milli),
        "memory_mib": "1024",
        "num_gpu": str(gpus),
        "gpu_milli": "1000",
        "gpu_spec": "",
        "qos": qos,
        "creation_time": str(created),
        "deletion_time": str(created + ran),
    }


def _jobs(*pods: Row, together_seconds: float = 0.0, every: int = 1, days: float = 1.0) -> list[CreateJob]:
    made = scenario_of(NODES, pods, days=days, every=every, together_seconds=together_seconds)
    return [action for action in made.actions if isinstance(action, CreateJob)]


def test_nodes_have_their_processors_and_gpus() -> None:
    made = scenario_of(NODES, [_pod(0)], days=1, every=1)
    assert [action for action in made.actions if isinstance(action, AddNode)] == [
        AddNode(node=0, cpu=64, gpus=2),
        AddNode(node=1, cpu=96, gpus=8),
        AddNode(node=2, cpu=128, gpus=0),
    ]


def test_of_nodes_and_pods_every_nth_is_taken_each_by_its_own_number() -> None:
    pods = [_pod(created) for created in range(10)]
    made = scenario_of(NODES, pods, days=1, every=5, every_node=2)
    assert [action.node for action in made.actions if isinstance(action, AddNode)] == [0, 1]
    assert len([action for action in made.actions if isinstance(action, CreateJob)]) == 2


def test_jobs_come_when_their_pods_came_and_run_as_long() -> None:
    first, second = _jobs(_pod(100, ran=30, qos="LS"), _pod(160, ran=5, gpus=0))
    assert first == CreateJob(after=0.0, job=0, pods=1, cpu_milli=4000, gpus=1, priority=1, seconds=30)
    assert second == CreateJob(after=60.0, job=1, pods=1, cpu_milli=4000, gpus=0, priority=0, seconds=5)


def test_a_pod_with_several_gpus_is_a_gang_with_one_each() -> None:
    (job,) = _jobs(_pod(0, gpus=8, cpu_milli=32000))
    assert (job.pods, job.gpus, job.cpu_milli) == (8, 1, 4000)


def test_equal_pods_that_come_soon_after_one_another_are_a_gang_that_runs_as_long_as_the_longest() -> None:
    (job,) = _jobs(_pod(0, ran=50), _pod(9, ran=80), _pod(18, ran=20), together_seconds=10)
    assert (job.pods, job.seconds, job.after) == (3, 80, 0.0)


def test_pods_that_come_later_or_ask_for_something_else_are_jobs_of_their_own() -> None:
    late = _jobs(_pod(0), _pod(10), together_seconds=10)
    others = _jobs(_pod(0), _pod(1, cpu_milli=500), _pod(2, qos="LS"), _pod(3), together_seconds=10)
    assert [job.pods for job in late] == [1, 1]
    assert [job.pods for job in others] == [2, 1, 1]
    assert [job.after for job in others] == [0.0, 1.0, 1.0]


def test_without_being_told_so_no_pods_are_taken_for_one_job() -> None:
    assert [job.pods for job in _jobs(_pod(0), _pod(0))] == [1, 1]


def test_the_time_with_the_most_pods_is_taken() -> None:
    assert busiest([0, 50, 60, 70, 200], 25) == 50
    assert len(_jobs(_pod(0), *(_pod(90_000 + each) for each in range(3)), days=0.5)) == 3


def test_the_same_trace_is_the_same_run(tmp_path: Path) -> None:
    nodes, pods = tmp_path / "nodes.csv", tmp_path / "pods.csv"
    _write(nodes, NODES * 2)
    _write(pods, [_pod(60 * number, gpus=1 + number % 4) for number in range(12)])
    told = [
        subprocess.run(
            [
                sys.executable,
                "-m",
                "verify.simulator.trace",
                "--every",
                "1",
                "--nodes",
                str(nodes),
                "--pods",
                str(pods),
            ],
            env=os.environ | {HASH_SEED: hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.partition(";")[0]
        for hash_seed in ("1", "2")
    ]
    assert told[0].count(", trace ") == 1
    assert told[0] == told[1]


@pytest.mark.parametrize("hash_seed", [-1, MOST_HASH_SEED + 1])
def test_a_hash_seed_that_no_interpreter_takes_is_told(hash_seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_arguments([f"--hash-seed={hash_seed}"])
    assert ended.value.code == 2
    assert f"--hash-seed: {hash_seed} is not between 0 and 4294967295" in capsys.readouterr().err


def _write(path: Path, rows: Sequence[Row]) -> None:
    with path.open("w", newline="", encoding="utf-8") as lines:
        table = csv.DictWriter(lines, list(rows[0]))
        table.writeheader()
        table.writerows(rows)

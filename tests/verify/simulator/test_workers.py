"""Seeds in processes of their own, with the order of sets of texts that belongs to each."""

import os
import subprocess
import sys

import pytest

from verify.simulator.actions import MOST_HASH_SEED, Scenario, written
from verify.simulator.generate import SEEDS_PER_HASH_SEED, hash_seed_of, scenario
from verify.simulator.main import main
from verify.simulator.workers import HASH_SEED, in_processes, with_hash_seed

SEEDS = range(SEEDS_PER_HASH_SEED - 2, SEEDS_PER_HASH_SEED + 2)


def hash_of_a_text(seed: int) -> tuple[int, int]:
    return seed, hash(f"pod-{seed}")


def test_each_seed_is_run_once_with_the_order_of_sets_that_belongs_to_it() -> None:
    expected = {}
    for seed in SEEDS:
        environment = os.environ | {HASH_SEED: str(hash_seed_of(seed))}
        told = subprocess.check_output([sys.executable, "-c", f"print(hash('pod-{seed}'))"], env=environment)
        expected[seed] = int(told)
    before = os.environ.get(HASH_SEED)
    done = list(in_processes(hash_of_a_text, SEEDS, workers=2))
    assert os.environ.get(HASH_SEED) == before
    assert len(done) == len(SEEDS)
    assert dict(done) == expected


def test_a_run_says_which_order_it_had_and_is_repeated_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    run = scenario(7 * SEEDS_PER_HASH_SEED)
    assert run.hash_seed == 7
    assert b'"hash_seed":7' in written(run)
    begun: list[str] = []
    monkeypatch.setattr(os, "execv", lambda program, _: begun.append(os.environ[HASH_SEED]))
    monkeypatch.setenv(HASH_SEED, "6")
    with_hash_seed(run.hash_seed)
    with_hash_seed(run.hash_seed)
    assert begun == ["7"]


@pytest.mark.parametrize("hash_seed", [-1, MOST_HASH_SEED + 1])
def test_an_order_that_no_interpreter_takes_is_no_run(hash_seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--scenario", f'{{"seed":1,"actions":[],"hash_seed":{hash_seed}}}']) == 2
    assert "--scenario: no run: " in capsys.readouterr().err


def test_a_run_that_says_none_has_the_first() -> None:
    assert Scenario(1, ()).hash_seed == 0

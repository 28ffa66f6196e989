"""What a soak counts, how it sees memory grow, and when it is not passed."""

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest

from tests.verify.auditor.histories import bind, evicted, group, pod, told, write
from verify.auditor.identities import SCHEDULER_USER
from verify.clusters.cluster_files import ADMIN, STOCK_SCHEDULER
from verify.soak.main import main, parse_arguments, settings_of
from verify.soak.memory import LEAST_SECONDS, MEBIBYTE, Sample, Trend, sample, trend
from verify.soak.outcome import Outcome
from verify.soak.tally import Calm, Tally

HOUR = 3600


def life(percent_per_hour: float, *, seconds: float = HOUR, pid: int = 1, begin: float = 0.0) -> list[Sample]:
    """A process that has grown much in its first tenth and goes on growing evenly."""
    size = 100 * MEBIBYTE
    moments = [begin + step * seconds / 200 for step in range(201)]
    return [
        Sample(when, pid, int(size * (1 + percent_per_hour / 100 * (when - begin) / HOUR)) if step > 20 else size // 2)
        for step, when in enumerate(moments)
    ]


@pytest.mark.parametrize(("percent", "grows"), [(0.0, False), (0.9, False), (1.2, True), (30.0, True)])
def test_memory_that_grows_by_more_than_a_percent_an_hour_is_seen_and_the_warm_up_does_not_count(
    percent: float, grows: bool
) -> None:
    found = trend(life(percent))
    assert found is not None
    assert found.percent_per_hour == pytest.approx(percent, rel=0.1, abs=0.05)
    assert found.grows is grows


@pytest.mark.parametrize(("grows_until_minute", "percent"), [(9, 0.0), (150, 9.5)])
def test_of_a_long_life_the_first_ten_minutes_do_not_count(grows_until_minute: int, percent: float) -> None:
    found = trend(
        [
            Sample(minute * 60.0, 1, int(100 * MEBIBYTE * (1 + min(minute, grows_until_minute) / 600)))
            for minute in range(150)
        ]
    )
    assert found is not None
    assert found.percent_per_hour == pytest.approx(percent, rel=0.1, abs=0.01)
    assert found.grows is (percent > 0)


def test_all_of_the_memory_is_judged_and_pages_of_files_are_told_apart() -> None:
    own, files = 80 * MEBIBYTE, 40 * MEBIBYTE
    found = trend(
        [
            Sample(minute * 60.0, 1, own + minute * MEBIBYTE // 60, files + minute * MEBIBYTE // 20)
            for minute in range(61)
        ]
    )
    assert found is not None
    assert found.grows
    assert f"{found}" == "+3.3 ± 0.0 %/h of 121 MiB in 50 min (its own +0.8, files +2.5)"


def test_a_process_has_memory_of_its_own_and_of_files_until_it_is_gone() -> None:
    mine = sample(os.getpid(), 1.0)
    assert mine is not None
    assert mine.own_bytes > MEBIBYTE
    assert mine.file_bytes > MEBIBYTE
    assert f"{Sample(1.0, 1, 3 * MEBIBYTE, MEBIBYTE)}" == "3.0 MiB and 1.0 of files"
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert sample(ended.pid, 1.0) is None


def test_nothing_is_concluded_from_a_short_time() -> None:
    found = trend(life(50.0, seconds=LEAST_SECONDS))
    assert found is not None
    assert not found.grows
    assert "too short" in f"{found}"
    assert trend(life(0.0)[:2]) is None


def test_of_several_processes_the_one_counts_that_lived_longest() -> None:
    found = trend([*life(50.0, seconds=600.0, pid=1), *life(0.0, pid=2, begin=600.0)])
    assert found is not None
    assert found.percent_per_hour == pytest.approx(0.0, abs=0.01)


def test_what_is_counted_of_the_log() -> None:
    tally = Tally()
    started = told("g", 2.0, PodGroupInitiallyScheduled=("True", "Scheduled", ""))
    by_other = bind("x", 1.0, user=STOCK_SCHEDULER)
    refused = bind("b", 1.0, code=409)
    renewed = write(SCHEDULER_USER, "update", "leases", "tutti-scheduler", 1.0)
    touched = write(ADMIN, "patch", "jobs", "train", 1.0)
    tally.take([group(2), pod("a"), bind("a", 1.0), refused, by_other, started, started, evicted("a", 3.0), renewed])
    assert (tally.gangs, tally.started, tally.binds, tally.other_binds, tally.evictions) == (1, 1, 1, 1, 1)
    assert "update leases" not in tally.writes
    assert tally.writes["create pods/binding"] == 2
    before = tally.others
    tally.take([touched, renewed])
    assert tally.others == before + 1


def test_rest_begins_when_nobody_has_changed_anything_for_long_enough_so_that_answers_to_changes_do_not_count() -> None:
    calm, changed, quiet = Calm(settle_seconds=20.0), Tally(others=1), Tally()
    answer = Tally(writes=Counter({"patch podgroups/status": 1}))
    told = [calm.is_rest(each, 10.0) for each in (quiet, changed, answer, quiet, quiet, answer)]
    assert told == [False, False, False, False, True, True]


def test_a_gang_that_starts_when_its_backoff_has_ended_is_no_rest_and_what_it_leads_to_a_minute_later_is_none() -> None:
    calm, quiet, start = Calm(settle_seconds=75.0), Tally(), Tally(binds=1, writes=Counter({"create pods/binding": 1}))
    hint = Tally(writes=Counter({"patch podgroups/status": 1}))
    assert not any(calm.is_rest(each, 10.0) for each in (*[quiet] * 7, start, *[quiet] * 5, hint, quiet, quiet))
    assert calm.is_rest(quiet, 10.0)


def passed() -> Outcome:
    tally = Tally()
    tally.take([told("g", 2.0, PodGroupInitiallyScheduled=("True", "Scheduled", ""))])
    return Outcome(1, seconds=60.0, tally=tally, rest_seconds=60.0)


@pytest.mark.parametrize(
    "change",
    [
        {"violations": ["I1: partial"]},
        {"orphans": ["podgroups/g"]},
        {"problems": ["Tutti was not ready"]},
        {"rest_writes": {"patch pods": 1}},
        {"rest_seconds": 0.0},
        {"trends": {"scheduler": Trend(2.0, 0.1, HOUR, 1.0)}},
        {"tally": Tally()},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_is_wrong_is_a_failure(change: dict[str, object]) -> None:
    assert passed().failures == []
    assert len(replace(passed(), **change).failures) == 1  # type: ignore[arg-type]


def test_violations_are_printed() -> None:
    shown = "\n".join(replace(passed(), violations=["I1: partial"]).lines())
    assert "violations        1" in shown
    assert "I1: partial" in shown


def test_a_run_without_binaries_ends_with_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    assert main(["--cluster", "real", "--seed", "1"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_seed_is_drawn_where_none_is_given_and_a_short_run_rests_shortly() -> None:
    assert settings_of(parse_arguments([])).seed > 0
    assert (
        settings_of(parse_arguments(["--minutes", "0.3"])).rest_seconds < settings_of(parse_arguments([])).rest_seconds
    )
    with pytest.raises(SystemExit):
        parse_arguments(["--minutes", "0"])

"""What was recorded is decided again exactly as it was, and other settings show where they make a difference."""

import msgspec
import pytest

from scheduler.recording import journal
from scheduler.recording.journal import Journal
from scheduler.recording.outcome import DecisionOutcome, PreemptionOutcome
from scheduler.recording.pods import PodWriter
from scheduler.recording.replay import Repeated, repeat
from tests.recording.life import Life

DECISIONS = 1000


def recorded(seed: int, turns: int, *, most: int = 10_000, before: int = 30) -> Life:
    life = Life(seed)
    life.live(before)
    life.outcomes.clear()
    life.journal = Journal(life.core, life.moment, lambda: life.now, most)
    life.live(turns)
    return life


def repeated(life: Life) -> list[Repeated]:
    assert life.journal is not None
    found = life.journal.recorded()
    writer = PodWriter(life.state.texts())
    return list(repeat(found.inputs.inputs(), tuple(found.each_step(writer))))


@pytest.mark.parametrize("seed", range(8))
def test_a_busy_run_is_repeated_bit_for_bit(seed: int) -> None:
    life = recorded(seed, 60)
    found = repeated(life)
    assert [one.was for one in found] == life.outcomes
    assert [one.now for one in found] == life.outcomes


def test_a_thousand_decisions_of_a_busy_run_are_repeated_with_preemption_topology_and_volumes() -> None:
    life = recorded(20, 0)
    while sum(isinstance(one, DecisionOutcome) for one in life.outcomes) < DECISIONS:
        life.live(50)
    found = repeated(life)
    assert len(found) >= DECISIONS
    assert [one.now for one in found] == life.outcomes
    assert any(isinstance(one, PreemptionOutcome) and one.candidate is not None for one in life.outcomes)
    assert life.journal is not None
    steps = msgspec.json.encode(list(life.journal.recorded().each_step(PodWriter(life.state.texts()))))
    for word in (b"persistentVolumeClaim", b"podAntiAffinity", b"topologySpreadConstraints"):
        assert word in steps, word


def test_only_the_last_decisions_are_kept() -> None:
    life = recorded(3, 60, most=10)
    found = repeated(life)
    decisions = [one for one in found if isinstance(one.was, DecisionOutcome)]
    assert 10 <= len(decisions) <= 20
    assert [one.now for one in found] == life.outcomes[-len(found) :]


@pytest.mark.parametrize("seed", range(4))
def test_a_recording_may_begin_with_any_change(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "CHANGES_OF_A_DECISION", 2)
    life = recorded(seed, 60, most=17)
    found = repeated(life)
    assert 0 < len(found) < len(life.outcomes)
    assert [one.now for one in found] == life.outcomes[-len(found) :]


def test_changes_without_any_decision_are_kept_in_a_bounded_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "CHANGES_OF_A_DECISION", 5)
    life = recorded(3, 0, most=10)
    for _ in range(300):
        life.node_comes()
    assert life.journal is not None
    assert 50 <= len(life.journal.recorded().steps) <= 100

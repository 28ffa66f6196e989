"""Due times: once per key, at the earliest time asked for."""

from scheduler.agenda import Agenda
from tests.scheduler.shell.clocks import FakeClock


def test_nothing_is_due_in_an_empty_agenda() -> None:
    agenda: Agenda[str] = Agenda(FakeClock())
    assert agenda.next_due_seconds() is None
    assert agenda.take_due() == []


def test_keys_come_due_in_order_and_once() -> None:
    clock = FakeClock()
    agenda: Agenda[str] = Agenda(clock)
    agenda.add("late", 5.0)
    agenda.add("early", 2.0)
    assert agenda.next_due_seconds() == 2.0
    clock.pass_seconds(6.0)
    assert agenda.next_due_seconds() == 0.0
    assert agenda.take_due() == ["early", "late"]
    assert agenda.take_due() == []


def test_a_key_keeps_its_earliest_time() -> None:
    clock = FakeClock()
    agenda: Agenda[str] = Agenda(clock)
    agenda.add("key", 5.0)
    agenda.add("key", 9.0)
    agenda.add("key", 3.0)
    clock.pass_seconds(3.0)
    assert agenda.take_due() == ["key"]
    clock.pass_seconds(10.0)
    assert agenda.take_due() == []


def test_a_discarded_key_is_not_due() -> None:
    clock = FakeClock()
    agenda: Agenda[str] = Agenda(clock)
    agenda.add("key", 1.0)
    agenda.discard("key")
    assert agenda.next_due_seconds() is None
    clock.pass_seconds(2.0)
    assert agenda.take_due() == []
    assert len(agenda) == 0

"""The Lease as a value: when it may be taken, and what is written into it."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from kube.client.times import micro_time
from kube.process.lease_record import LeaseRecord, may_be_taken, record_of, taken, with_record
from tests.kube.process.lease_server import lease_of


@pytest.mark.parametrize(
    ("holder", "duration", "unchanged_seconds", "expected"),
    [
        ("", 15, 0.0, True),
        ("other", 15, 14.9, False),
        ("other", 15, 15.0, True),
        ("other", 60, 30.0, False),
        ("other", 0, 14.9, False),
        ("other", 0, 15.0, True),
    ],
)
def test_a_lease_may_be_taken_when_nobody_can_still_believe_to_hold_it(
    holder: str, duration: int, unchanged_seconds: float, expected: bool
) -> None:
    record = LeaseRecord(holder, duration, "", "", 0)
    assert may_be_taken(record, unchanged_seconds, lease_seconds=15.0) is expected


def test_transitions_count_changes_of_the_holder_only() -> None:
    before = record_of(lease_of("a", transitions=3))
    assert taken(before, "b", "now", 15).transitions == 4
    assert taken(before, "a", "now", 15).transitions == 3
    assert taken(None, "a", "now", 15).transitions == 0


@pytest.mark.parametrize("lease", [{}, {"spec": None}, {"spec": {"holderIdentity": None}}])
def test_a_lease_with_nothing_in_it_is_free(lease: dict[str, Any]) -> None:
    assert record_of(lease) == LeaseRecord("", 0, "", "", 0)


def test_writing_keeps_what_others_put_into_the_lease() -> None:
    lease = lease_of("a")
    lease["metadata"]["resourceVersion"] = "7"
    lease["spec"]["strategy"] = "OldestEmulationVersion"
    written = with_record(lease, taken(record_of(lease), "b", "now", 14.2))
    assert written["metadata"]["resourceVersion"] == "7"
    assert written["spec"]["strategy"] == "OldestEmulationVersion"
    assert written["spec"]["leaseDurationSeconds"] == 15
    assert lease["spec"]["holderIdentity"] == "a"


def test_time_stamps_are_utc_whatever_the_local_zone() -> None:
    new_york = timezone(timedelta(hours=-5))
    moment = datetime(2026, 1, 1, 7, 0, 0, 12, tzinfo=new_york)
    assert micro_time(moment) == "2026-01-01T12:00:00.000012Z"
    assert micro_time(moment.astimezone(UTC)) == micro_time(moment)

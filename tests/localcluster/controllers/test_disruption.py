"""What the stand-in of the disruption controller counts."""

import datetime
from typing import Any

import pytest

from api.meta import Condition, Metadata
from localcluster.controllers.disruption.count import counted, members, needs_scales, refused
from localcluster.controllers.disruption.model import (
    Budget,
    BudgetMetadata,
    BudgetSpec,
    BudgetStatus,
    Member,
    MemberStatus,
)

NOW = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)
LATER = NOW + datetime.timedelta(seconds=5)
APP = {"matchLabels": {"app": "a"}}


def budget(status: BudgetStatus | None = None, **spec: Any) -> Budget:
    metadata = BudgetMetadata(name="b", namespace="ns", generation=3)
    return Budget(metadata, BudgetSpec(**{"selector": APP, **spec}), status or BudgetStatus())


def pod(name: str, *, ready: bool = True, going: bool = False, app: str = "a") -> Member:
    conditions = (Condition("Ready", "True" if ready else "False"),)
    stamp = "2026-01-01T11:59:00Z" if going else None
    metadata = Metadata(name=name, namespace="ns", labels={"app": app}, deletion_timestamp=stamp)
    return Member(metadata, MemberStatus(conditions))


def numbers(status: BudgetStatus) -> tuple[int, int, int, int]:
    return status.current_healthy, status.desired_healthy, status.expected_pods, status.disruptions_allowed


def test_healthy_pods_beyond_the_minimum_may_go() -> None:
    pods = [pod("one"), pod("two"), pod("three"), pod("sick", ready=False), pod("leaves", going=True)]
    status = counted(budget(min_available=2), pods, 0, NOW)
    assert numbers(status) == (3, 2, 5, 1)
    (condition,) = status.conditions
    assert (condition.status, condition.reason, condition.observed_generation) == ("True", "SufficientPods", 3)
    assert status.observed_generation == 3


@pytest.mark.parametrize(
    ("spec", "wanted", "expected"),
    [
        ({"min_available": 3}, 0, (3, 3, 3, 0)),
        ({"min_available": "50%"}, 5, (3, 3, 5, 0)),
        ({"max_unavailable": 1}, 3, (3, 2, 3, 1)),
        ({"max_unavailable": "34%"}, 3, (3, 1, 3, 2)),
        ({"max_unavailable": 9}, 3, (3, 0, 3, 3)),
        ({"max_unavailable": 1}, 0, (3, 0, 0, 0)),
    ],
)
def test_both_bounds_may_be_numbers_or_shares(
    spec: dict[str, Any], wanted: int, expected: tuple[int, int, int, int]
) -> None:
    pods = [pod("one"), pod("two"), pod("three")]
    assert numbers(counted(budget(**spec), pods, wanted, NOW)) == expected


def test_only_a_number_that_must_be_there_needs_no_scales() -> None:
    assert not needs_scales(budget(min_available=1))
    assert needs_scales(budget(min_available="10%"))
    assert needs_scales(budget(max_unavailable=1))


def test_an_evicted_pod_is_missed_for_two_minutes_or_until_it_is_gone() -> None:
    evicted = {"one": "2026-01-01T11:59:59Z", "two": "2026-01-01T11:00:00Z", "gone": "2026-01-01T11:59:59Z"}
    status = counted(
        budget(BudgetStatus(disrupted_pods=evicted), min_available=1), [pod("one"), pod("two"), pod("three")], 0, NOW
    )
    assert status.disrupted_pods == {"one": "2026-01-01T11:59:59Z"}
    assert status.current_healthy == 2


def test_no_selector_selects_nothing_and_an_empty_one_everything() -> None:
    pods = [pod("one"), pod("other", app="b")]
    assert members(budget(selector=None), pods) == []
    assert members(budget(selector={}), pods) == pods
    assert members(budget(), pods) == pods[:1]


def test_what_cannot_be_counted_allows_nothing_and_says_why() -> None:
    first = counted(budget(min_available=1), [pod("one"), pod("two")], 0, NOW)
    status = refused(budget(first, max_unavailable=1), "jobs.batch does not implement the scale subresource", LATER)
    assert numbers(status) == (2, 1, 2, 0)
    (condition,) = status.conditions
    assert (condition.status, condition.reason) == ("False", "SyncFailed")
    assert condition.message == "jobs.batch does not implement the scale subresource"
    assert condition.last_transition_time == "2026-01-01T12:00:05Z"


def test_the_time_of_a_condition_is_that_of_its_last_change() -> None:
    pods = [pod("one"), pod("two")]
    first = counted(budget(min_available=1), pods, 0, NOW)
    assert counted(budget(first, min_available=1), pods, 0, LATER) == first

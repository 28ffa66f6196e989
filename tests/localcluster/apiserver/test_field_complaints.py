"""Fields that a body names twice, times that are too coarse, budgets with two bounds."""

import pytest

from localcluster.apiserver.duplicates import duplicate_fields
from localcluster.apiserver.kinds.budgets import BudgetStrategy
from localcluster.apiserver.kinds.times import micro_time_problem


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"a":1,"b":{"c":2}}', []),
        (b'{"a":1,"a":2}', ["a"]),
        (b'{"a":{"b":1,"b":2,"b":3}}', ["a.b"]),
        (b'{"a":[{"b":1},{"b":1,"b":2}]}', ["a[1].b"]),
        (b'{"a":1,"a":{"b":1,"b":1}}', ["a", "a.b"]),
        (b"no json", []),
    ],
)
def test_fields_named_twice_are_told_by_their_path(body: bytes, told: list[str]) -> None:
    assert duplicate_fields(body) == [f'duplicate field "{path}"' for path in told]


@pytest.mark.parametrize("fine", ["2027-01-15T08:00:00.123456Z", "2027-01-15T08:00:00.123456+01:00"])
def test_times_with_six_digits_pass(fine: str) -> None:
    assert micro_time_problem(fine) == ""


@pytest.mark.parametrize(
    ("coarse", "told"),
    [
        ("2027-01-15T08:00:00Z", 'cannot parse "Z" as ".000000"'),
        ("soon", 'cannot parse "soon" as "2006"'),
    ],
)
def test_other_times_are_refused(coarse: str, told: str) -> None:
    assert micro_time_problem(coarse).endswith(told)


def test_a_budget_has_one_bound() -> None:
    rules = BudgetStrategy("PodDisruptionBudget", has_status=True)
    assert rules.validate({"spec": {"minAvailable": 1}}, None, "") == []
    (error,) = rules.validate({"spec": {"minAvailable": 1, "maxUnavailable": 1}}, None, "")
    assert "cannot be both set" in str(error)

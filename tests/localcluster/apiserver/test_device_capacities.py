"""Which policies a capacity that claims share may have; what a recording of a real server shows is in tests/parity."""

from typing import Any

import pytest

from localcluster.apiserver.kinds.devices.capacity import capacity_errors


def faults(value: str, **policy: Any) -> list[str]:
    capacity = {"value": value, "requestPolicy": policy}
    return [str(each) for each in capacity_errors(capacity, "c", is_shareable=True)]


@pytest.mark.parametrize(
    "policy",
    [
        {},
        {"default": "1"},
        {"default": "2", "validValues": ["1", "2", "10"]},
        {"default": "500m", "validRange": {"min": "500m", "step": "250m", "max": "2"}},
        {"default": "1Gi", "validRange": {"min": "1Gi"}},
    ],
)
def test_policies_that_fit(policy: dict[str, Any]) -> None:
    assert faults("10Gi", **policy) == []


def test_amounts_finer_than_thousandths_cannot_be_counted_in_steps() -> None:
    (fault,) = faults("1", default="500u", validRange={"min": "500u", "step": "1m"})[:1]
    assert "value cannot be represented as a milli value" in fault


def test_a_fractional_default_is_no_multiple_of_whole_steps() -> None:
    (fault,) = faults("10", default="1500m", validRange={"min": "1", "step": "1"})
    assert "value is not a multiple of a given step (1) from (1)" in fault


def test_whole_amounts_stay_within_what_a_number_holds() -> None:
    assert any(
        "must be greater than or equal to 0" in each
        for each in faults("10", default="-1", validRange={"min": "-1", "step": "1"})
    )


def test_one_that_only_one_claim_may_have_takes_no_policy() -> None:
    capacity = {"value": "1", "requestPolicy": {"default": "1"}}
    (fault,) = capacity_errors(capacity, "c", is_shareable=False)
    assert str(fault) == "c.requestPolicy: Forbidden: allowMultipleAllocations must be true"

"""Quantities are kept in their canonical form, as resource.Quantity writes them."""

import pytest

from api.errors import InvalidQuantity
from localcluster.apiserver.kinds.quantities import canonical
from tests.localcluster.apiserver.rest import PODS, Rest, pod


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("0", "0"),
        ("0Gi", "0"),
        ("4", "4"),
        ("+4", "4"),
        ("-1500m", "-1500m"),
        ("1000m", "1"),
        ("0.5", "500m"),
        (".5", "500m"),
        ("1.5", "1500m"),
        ("2000", "2k"),
        ("2500", "2500"),
        ("100000k", "100M"),
        ("1024", "1024"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("1025Ki", "1025Ki"),
        ("0.5Ki", "512"),
        ("0.0001Ki", "102400u"),
        ("1e3", "1e3"),
        ("1E3", "1e3"),
        ("1e2", "100"),
        ("12e4", "120e3"),
        ("1e-3", "1e-3"),
        ("0.1n", "1n"),
        ("1E", "1E"),
        ("100E", "9223372036854775807"),
    ],
)
def test_a_quantity_is_kept_in_its_canonical_form(written: str, kept: str) -> None:
    assert canonical(written) == kept


@pytest.mark.parametrize("text", ["", "x", "1x", "1.2.3", "--1", "1 Gi", "1e1000000"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(InvalidQuantity):
        canonical(text)


async def test_numbers_count_as_quantities_wherever_one_belongs(rest: Rest) -> None:
    amounts = {"cpu": 0.5, "memory": 2048, "example.com/device": 4}
    made = await rest.create(PODS, pod(container={"resources": {"limits": amounts, "requests": amounts}}))
    kept = {"cpu": "500m", "memory": "2048", "example.com/device": "4"}
    assert made["spec"]["containers"][0]["resources"] == {"limits": kept, "requests": kept}

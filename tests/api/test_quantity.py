"""Quantities: exact, rounded up, and bounded before any arithmetic."""

import time
from decimal import Context, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.errors import InvalidQuantity
from api.quantity import MAX_VALUE, parse_milli, parse_whole

EXACT = Context(prec=400, Emax=999999, Emin=-999999)
FACTORS = {
    "": Decimal(1),
    **{suffix: Decimal(1024) ** (n + 1) for n, suffix in enumerate(["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"])},
    **{
        s: Decimal(10) ** e
        for s, e in {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}.items()
    },
    **{f"e{e}": Decimal(10) ** e for e in range(-18, 19)},
    **{f"E{e:+}": Decimal(10) ** e for e in range(-18, 19)},
}


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("0", 0),
        ("1", 1),
        ("1.5", 2),
        (".5", 1),
        ("7.", 7),
        ("+3", 3),
        ("1Ki", 1024),
        ("1.5Gi", 1610612736),
        ("1Mi", 1024**2),
        ("2Ti", 2 * 1024**4),
        ("1Pi", 1024**5),
        ("1Ei", 1024**6),
        ("1k", 1000),
        ("1M", 10**6),
        ("1G", 10**9),
        ("1T", 10**12),
        ("1P", 10**15),
        ("1E", 10**18),
        ("500m", 1),
        ("1000m", 1),
        ("1001m", 2),
        ("1n", 1),
        ("1u", 1),
        ("1e3", 1000),
        ("1E3", 1000),
        ("1e-3", 1),
        ("12e+2", 1200),
        ("-1", -1),
        ("-1.5", -2),
        ("1.0000000000000000000000000000000001", 2),
    ],
)
def test_whole_units_are_rounded_away_from_zero(text: str, amount: int) -> None:
    assert parse_whole(text) == amount


@pytest.mark.parametrize(
    ("text", "amount"),
    [("1", 1000), ("250m", 250), ("0.1", 100), ("1u", 1), ("1500u", 2), ("1n", 1), ("2k", 2_000_000), ("-250m", -250)],
)
def test_thousandths_are_rounded_away_from_zero(text: str, amount: int) -> None:
    assert parse_milli(text) == amount


@pytest.mark.parametrize("text", ["9223372036854775808", "1e18", "8Ei", "99999Ei", "9" * 60])
def test_what_exceeds_an_int64_is_cut_to_it(text: str) -> None:
    assert parse_milli(text) == MAX_VALUE
    assert parse_milli(f"-{text}") == -MAX_VALUE


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "1 ",
        " 1",
        "1\n",
        "a",
        "1kk",
        "1ki",
        "1K",
        "1e",
        "1e+",
        "--1",
        "+-1",
        "1.2.3",
        ".",
        "Ki",
        "1Gi5",
        "0x10",
        "NaN",
        "Infinity",
        "inf",
        "1_000",
        "٣",
        "1,5",
        "1e1.5",
        "1Kie3",
    ],
)
def test_what_is_no_quantity_is_refused(text: str) -> None:
    for parse in (parse_milli, parse_whole):
        with pytest.raises(InvalidQuantity):
            parse(text)


@pytest.mark.parametrize(
    "text", ["1e1000000", "1e-1000000", "1e999", "1e19", "1E-19", "9" * 65, "0." + "0" * 63, "1" + "0" * 10**6]
)
def test_a_quantity_beyond_the_bounds_is_refused_at_once(text: str) -> None:
    started = time.process_time()
    with pytest.raises(InvalidQuantity) as refused:
        parse_milli(text)
    assert time.process_time() - started < 0.1
    assert len(str(refused.value)) < 200


@given(
    st.sampled_from(["", "+", "-"]),
    st.from_regex(r"([0-9]{1,20}(\.[0-9]{0,20})?|\.[0-9]{1,20})", fullmatch=True),
    st.sampled_from(sorted(FACTORS)),
)
def test_any_quantity_equals_exact_decimal_arithmetic(sign: str, digits: str, suffix: str) -> None:
    exact = EXACT.multiply(Decimal(digits), FACTORS[suffix])
    for parse, factor in ((parse_whole, 1), (parse_milli, 1000)):
        scaled = EXACT.multiply(exact, Decimal(factor))
        expected = min(int(scaled.to_integral_value("ROUND_CEILING", EXACT)), MAX_VALUE)
        assert parse(f"{sign}{digits}{suffix}") == (-expected if sign == "-" else expected)


@given(st.text(max_size=80))
def test_any_text_is_a_number_or_refused_in_one_line(text: str) -> None:
    try:
        assert isinstance(parse_whole(text), int)
    except InvalidQuantity as error:
        message = str(error)
    else:
        message = ""
    assert len(message.splitlines()) <= 1

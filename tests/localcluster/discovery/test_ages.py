"""Ages in tables."""

import pytest

from localcluster.apiserver.discovery.tables.age import age, moment


def test_an_age_counts_from_a_time_in_any_zone() -> None:
    assert age("1970-01-01T01:00:00+01:00", 30) == "30s"
    assert age("1970-01-01T00:00:10.500000Z", 30) == "19s"


@pytest.mark.parametrize("nothing", [None, "", "yesterday"])
def test_no_time_has_no_age(nothing: str | None) -> None:
    assert moment(nothing) is None
    assert age(nothing, 30) == "<unknown>"

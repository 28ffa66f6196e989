"""What annotations say of lost members: refused with a clear text on who makes the group, ignored when admission was away."""

import pytest

from api.constants import DEGRADED, REPAIR_TIMEOUT, SPARE_NODES
from api.degraded import WhenDegraded, check_degraded, when_degraded
from api.errors import InvalidGangSettings
from api.meta import Metadata
from api.waiting import carried


@pytest.mark.parametrize(
    ("annotations", "text"),
    [
        ({DEGRADED: "ignore"}, "'ignore' is not one of repair, restart, report"),
        ({DEGRADED: ""}, "'' is not one of repair, restart, report"),
        ({DEGRADED: "x" * 500}, "is not one of repair, restart, report"),
        ({REPAIR_TIMEOUT: "soon"}, "'soon' is not a duration above zero and up to a year, such as 10m or 1h30m"),
        ({SPARE_NODES: "9"}, "'9' is not a whole number from 0 to 8"),
        ({SPARE_NODES: "-1"}, "'-1' is not a whole number from 0 to 8"),
        ({SPARE_NODES: "some"}, "'some' is not a whole number from 0 to 8"),
        ({DEGRADED: "report", SPARE_NODES: "1"}, f"no room is kept where {DEGRADED} is report"),
        ({DEGRADED: "report", REPAIR_TIMEOUT: "1m"}, f"nothing is repaired where {DEGRADED} is report"),
    ],
)
def test_an_unusable_value_is_refused_with_what_would_do(annotations: dict[str, str], text: str) -> None:
    with pytest.raises(InvalidGangSettings, match=r"metadata\.annotations\[tutti\.scheduler/") as caught:
        check_degraded(Metadata(annotations=annotations))
    assert text in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("annotations", "meant"),
    [
        ({}, WhenDegraded("repair", 900.0)),
        ({DEGRADED: "repair", REPAIR_TIMEOUT: "90s"}, WhenDegraded("repair", 90.0)),
        ({DEGRADED: "restart"}, WhenDegraded("restart", 900.0)),
        ({SPARE_NODES: "0"}, WhenDegraded("repair", 900.0)),
        ({SPARE_NODES: "8"}, WhenDegraded("repair", 900.0, 8)),
        ({DEGRADED: "report"}, WhenDegraded("report", 900.0)),
    ],
)
def test_what_is_usable_is_taken(annotations: dict[str, str], meant: WhenDegraded) -> None:
    check_degraded(Metadata(annotations=annotations))
    assert when_degraded(Metadata(annotations=annotations)) == meant


def test_a_group_without_a_minimum_has_no_use_for_spare_nodes() -> None:
    with pytest.raises(InvalidGangSettings, match="needs a gang, and the policy is basic"):
        check_degraded(Metadata(annotations={SPARE_NODES: "1"}), is_basic=True)
    check_degraded(Metadata(annotations={SPARE_NODES: "0"}), is_basic=True)


def test_what_is_unusable_says_nothing() -> None:
    assert when_degraded(Metadata(annotations={DEGRADED: "x", REPAIR_TIMEOUT: "x", SPARE_NODES: "x"})) == WhenDegraded()


def test_a_group_takes_it_over() -> None:
    said = {DEGRADED: "restart", REPAIR_TIMEOUT: "1h", SPARE_NODES: "1"}
    assert carried(Metadata(annotations=said)) == said

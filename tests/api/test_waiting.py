"""What annotations say about waiting: refused with a clear text on a Job, ignored on a group when admission was away."""

import pytest

from api.constants import DESIRED_COUNT, ON_SCHEDULING_TIMEOUT, SCHEDULING_TIMEOUT
from api.durations import duration_seconds
from api.errors import InvalidGangSettings
from api.meta import Metadata
from api.waiting import Waiting, carried, carried_by_tree, check_waiting, waiting_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10m", 600),
        ("1h30m", 5400),
        ("1.5h", 5400),
        (".5s", 0.5),
        ("90s", 90),
        ("2m0.5s", 120.5),
        ("1500ms", 1.5),
        ("8760h", 31_536_000),
    ],
)
def test_durations_are_those_of_go(text: str, seconds: float) -> None:
    assert duration_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["", "10", "m", "-5m", "+5m", "0s", "0", "5 m", "5d", "1e3s", "٣m", "10m\n", "8761h", "1." * 40 + "s"]
)
def test_what_is_no_duration_of_use_is_none(text: str) -> None:
    assert duration_seconds(text) is None


@pytest.mark.parametrize(
    ("annotations", "text"),
    [
        ({SCHEDULING_TIMEOUT: "soon"}, "'soon' is not a duration above zero and up to a year, such as 10m or 1h30m"),
        ({SCHEDULING_TIMEOUT: "x" * 500}, "such as 10m"),
        ({SCHEDULING_TIMEOUT: "10m", ON_SCHEDULING_TIMEOUT: "delete"}, "'delete' is not one of stop, suspend"),
        ({ON_SCHEDULING_TIMEOUT: "suspend"}, f"it needs {SCHEDULING_TIMEOUT} beside it"),
        ({DESIRED_COUNT: "0"}, "'0' is not a whole number from 1 to 2147483647"),
        ({DESIRED_COUNT: "2147483648"}, "is not a whole number"),
    ],
)
def test_an_unusable_value_is_refused_with_what_would_do(annotations: dict[str, str], text: str) -> None:
    with pytest.raises(InvalidGangSettings, match=r"metadata\.annotations\[tutti\.scheduler/") as caught:
        check_waiting(Metadata(annotations=annotations), is_basic=True)
    assert text in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_desired_count_is_for_basic_groups() -> None:
    with pytest.raises(InvalidGangSettings, match="it is for the policy basic"):
        check_waiting(Metadata(annotations={DESIRED_COUNT: "4"}), is_basic=False)


def test_a_group_takes_over_what_is_said_and_nothing_else() -> None:
    said = {SCHEDULING_TIMEOUT: "10m", ON_SCHEDULING_TIMEOUT: "suspend"}
    assert carried(Metadata(annotations={**said, "example.com/other": "1"})) == said
    assert waiting_of(Metadata(annotations=said)) == Waiting(0, 600.0, is_suspended_on_timeout=True)


@pytest.mark.parametrize("value", ["", "soon", "-1s"])
def test_an_unusable_value_on_a_group_says_nothing(value: str) -> None:
    assert waiting_of(Metadata(annotations={SCHEDULING_TIMEOUT: value, DESIRED_COUNT: value})) == Waiting()


def test_the_root_of_a_tree_takes_over_what_is_about_its_waiting_and_nothing_about_single_groups() -> None:
    waits = {SCHEDULING_TIMEOUT: "10m"}
    said = {**waits, DESIRED_COUNT: "4", "tutti.scheduler/degraded": "restart", "example.com/other": "x"}
    assert carried_by_tree(Metadata(annotations=said)) == waits
    assert carried_by_tree(Metadata()) == {}

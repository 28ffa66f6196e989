"""How steps are filled with what earlier answers said, and what the scripts are made of."""

import re
from datetime import UTC, datetime

import pytest

from tests.parity.life import Kind, life, lives
from tests.parity.play import merged
from tests.parity.scripts import SCRIPTS
from tests.parity.steps import Step


def test_a_change_is_merged_into_what_was_read_and_leaves_that_alone() -> None:
    read = {"a": {"b": 1, "c": 2}, "d": [1], "e": 3}
    assert merged(read, {"a": {"b": 9}, "d": [2], "e": None, "f": 4}) == {"a": {"b": 9, "c": 2}, "d": [2], "f": 4}
    assert read == {"a": {"b": 1, "c": 2}, "d": [1], "e": 3}


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_step_of_a_script_has_a_name_of_its_own(name: str) -> None:
    names = [step.name for step in SCRIPTS[name].steps]
    assert [each for each in set(names) if names.count(each) > 1] == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_step_names_a_time_that_is_yet_to_come(name: str) -> None:
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    told = re.findall(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", repr([step.body for step in SCRIPTS[name].steps]))
    assert [time for time in told if time > now] == []


def methods(steps: list[Step]) -> set[tuple[str, str]]:
    return {(step.method, step.path.rpartition("/")[2]) for step in steps}


def test_a_kind_lives_through_its_status_and_its_scale_only_if_it_has_them() -> None:
    path = "/apis/a.org/v1/namespaces/{ns}/things"
    plain = methods(life(Kind(path, {}, {})))
    assert not {part for _, part in plain} & {"status", "scale"}
    full = methods(life(Kind(path, {}, {}, status={"status": {}}, replicas=True)))
    assert {(method, part) for method in ("GET", "PUT", "PATCH") for part in ("status", "scale")} <= full


def test_watches_come_last_so_that_they_are_held_together() -> None:
    steps = lives(*(Kind(f"/apis/a.org/v1/{plural}", {}, {}) for plural in ("ones", "twos")))
    assert [step.watch for step in steps[-3:]] == [False, True, True]
    assert {step.path for step in steps[-2:]} == {"/apis/a.org/v1/ones", "/apis/a.org/v1/twos"}

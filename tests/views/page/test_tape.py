"""A recording as the page plays it: changes with their times, a few of them together."""

import pytest

from tests.views.builders import cluster, group, machine, pod, refused, scheduled
from views.page.tape import STEP_MS, Moment, Tape, tape_of

BEGAN = 1_600_000_000_000


def tape(*moments: Moment) -> Tape:
    objects = cluster([group("g", refused())], [pod("a"), pod("b")], nodes=[machine("n"), machine("m")])
    return tape_of(objects, moments, BEGAN)


def bound(name: str, after_ms: int) -> Moment:
    return Moment(BEGAN + after_ms, "pod", pod(name, "Running", node="n"))


def test_it_begins_with_everything_as_it_was() -> None:
    found = tape(bound("a", 5_000))
    assert [row["state"] for row in found.full["gangs"]] == ["waiting"]
    assert [row["used"] for row in found.full["nodes"]] == [[0, 0], [0, 0]]


def test_what_happens_together_is_one_change() -> None:
    found = tape(bound("a", 5_000), bound("b", 5_000 + STEP_MS - 1), Moment(BEGAN + 9_000, "node", key=("", "n")))
    assert [delta["now"] - BEGAN for delta in found.deltas] == [5_000, 9_000]
    first, last = found.deltas
    assert first["nodes"][0]["used"] == [1_000, 2]
    assert first["gangs"][0]["state"] == "running"
    assert last["lost"] == ["n"]


def test_a_group_that_changes_and_goes_is_followed() -> None:
    found = tape(
        Moment(BEGAN + 1_000, "group", group("g", scheduled())),
        Moment(BEGAN + 2_000, "group", key=("ns", "g")),
        Moment(BEGAN + 3_000, "group", key=("ns", "never-there")),
    )
    assert [row["state"] for delta in found.deltas for row in delta.get("gangs", [])][-1] == "gone"
    assert found.deltas[-1]["now"] == BEGAN + 2_000


@pytest.mark.parametrize("kind", ["pod", "node", "group"])
def test_a_recording_without_changes_is_one_moment(kind: str) -> None:
    assert tape().deltas == []
    assert tape(Moment(BEGAN, kind, key=("ns", "nothing"))).deltas == []

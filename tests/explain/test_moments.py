"""A recording as the page plays it: at its end the page shows what the scheduler's cluster was then."""

from pathlib import Path
from typing import Any

from explain.moments import Moments, began_milliseconds, objects_of
from scheduler.recording.file import Recording
from tests.recording.test_live_scheduler import lived
from views.page.state import PageState
from views.page.tape import Tape, tape_of

DECISIONS = 150


def tape(recording: Recording) -> Tape:
    return tape_of(objects_of(recording), Moments(recording), began_milliseconds(recording))


def played(found: Tape) -> tuple[dict[str, Any], dict[str, Any]]:
    """Nodes and gangs by name, after all changes."""
    nodes = {row["name"]: row for row in found.full["nodes"]}
    gangs = {row["uid"]: row for row in found.full["gangs"]}
    for delta in found.deltas:
        if "resources" in delta:
            nodes.clear()
        nodes.update({row["name"]: row for row in delta.get("nodes", [])})
        for name in delta.get("lost", []):
            del nodes[name]
        gangs.update({row["uid"]: row for row in delta.get("gangs", [])})
        for uid in delta.get("forgotten", []):
            gangs.pop(uid)
    return nodes, gangs


def test_at_its_end_the_page_shows_the_cluster_as_it_was_then(tmp_path: Path) -> None:
    recorded, at_end = lived(5, DECISIONS, tmp_path)
    nodes, gangs = played(tape(recorded))
    known = objects_of(at_end)
    state = PageState(known, lambda: 0)
    state.everything_changed()
    state.delta()
    expected = state.full()
    assert {name: row["used"] for name, row in nodes.items()} == {row["name"]: row["used"] for row in expected["nodes"]}
    assert {uid for uid, row in gangs.items() if row["state"] != "gone"} == {row["uid"] for row in expected["gangs"]}


def test_gangs_wait_start_and_leave_for_others_in_it(tmp_path: Path) -> None:
    recorded, _ = lived(5, DECISIONS, tmp_path)
    found = tape(recorded)
    states = {row["state"] for delta in found.deltas for row in delta.get("gangs", [])}
    assert {"waiting", "running"} <= states
    times = [delta["now"] for delta in found.deltas]
    assert times == sorted(times)
    evictions = [each for delta in found.deltas for each in delta.get("evictions", [])]
    assert evictions
    assert all(each["node"] and each["for"] for each in evictions)
    assert any(row["message"] for delta in found.deltas for row in delta.get("gangs", []))


def test_a_snapshot_is_one_moment(tmp_path: Path) -> None:
    _, at_end = lived(5, DECISIONS, tmp_path)
    found = tape(at_end)
    assert found.deltas == []
    assert found.full["nodes"]

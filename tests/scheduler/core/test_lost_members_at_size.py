"""Looking after gangs that miss members takes a fifth of the time at most; who loses some just now does not wait for it."""

import pytest

from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.reservations import Reservation
from scheduler.reservations import future_reservations, lost_members
from scheduler.reservations.future_reservations import is_over
from scheduler.reservations.lost_members import is_short
from tests.scheduler.core.stage import Stage

LOOK_SECONDS = 0.1
"""As much as is saved up."""


@pytest.fixture
def looked_at() -> list[str]:
    """The gangs that were looked at, in order."""
    return []


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, looked_at: list[str]) -> Stage:
    """Three gangs of two on six nodes; from now on each look at one takes a tenth of a second."""
    made = Stage()
    for number in range(6):
        made.node(f"n{number}", cpu=1)
    for name in ("a", "b", "c"):
        made.gang(name, 2)
    made.run()

    def noting(members: PodGroupState) -> bool:
        looked_at.append(members.key.name)
        made.now += LOOK_SECONDS
        return is_short(members)

    monkeypatch.setattr(lost_members, "is_short", noting)
    return made


def test_gangs_that_miss_members_are_not_looked_at_before_every_decision(stage: Stage, looked_at: list[str]) -> None:
    stage.lose("a-0", "b-0")
    stage.lost.tick()
    looks = len(looked_at)
    rest_seconds = stage.lost.next_due_seconds()
    stage.lost.tick()
    assert len(looked_at) == looks
    stage.now += 4 * 2 * LOOK_SECONDS
    stage.lost.tick()
    assert looked_at[looks:] == ["a", "b"]
    assert rest_seconds is not None
    assert rest_seconds > 4 * 2 * LOOK_SECONDS


def test_who_loses_a_member_while_the_others_are_left_alone_has_its_room_kept_at_once(
    stage: Stage, looked_at: list[str]
) -> None:
    stage.lose("a-0", "b-0")
    stage.lost.tick()
    looked_at.clear()
    stage.lose("c-0")
    stage.lost.tick()
    assert looked_at == ["c"]
    assert stage.kept("c") == 1


def test_what_there_was_no_time_for_is_due_when_the_rest_is_over(stage: Stage) -> None:
    stage.lose("a-0", "b-0")
    stage.lost.tick()
    stage.pod("a-0-again", group="a", on=stage.bound()["a-1"])
    stage.lost.tick()
    assert len(stage.state.losses) == 2
    due_seconds = stage.lost.next_due_seconds()
    assert due_seconds is not None
    assert 0 < due_seconds <= 4 * 2 * LOOK_SECONDS
    stage.now += due_seconds
    stage.lost.tick()
    assert len(stage.state.losses) == 1


def test_what_is_kept_is_not_looked_through_before_every_decision(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []

    def noting(reservation: Reservation, state: ClusterState, now_seconds: float) -> bool:
        looks.append(reservation.key.name)
        stage.now += LOOK_SECONDS
        return is_over(reservation, state, now_seconds)

    monkeypatch.setattr(future_reservations, "is_over", noting)
    stage.lose("a-0", "b-0")
    stage.lost.tick()
    stage.future.tick()
    stage.group_gone("a")
    stage.future.tick()
    assert looks == ["a", "b"]
    due_seconds = stage.future.next_due_seconds()
    assert due_seconds is not None
    stage.now += due_seconds
    stage.future.tick()
    assert looks[2:] == ["a", "b"]
    assert stage.kept("a") == 0

"""What is known of the members of a group while they come, change and go."""

import msgspec
import pytest

from scheduler.cache.pod_group_state import MemberState, PodGroupState
from scheduler.cache.records import PodRecord
from tests.scheduler.core.build import group_key
from tests.scheduler.core.world import World


def record(name: str, created: str = "2026-01-01T00:00:00Z") -> PodRecord:
    world = World()
    world.pod(name, created=created)
    found = world.state.pod(f"uid-of-{name}")
    assert found is not None
    return found


@pytest.fixture
def members() -> PodGroupState:
    return PodGroupState(group_key("g"), lambda uid: False)


def test_nothing_is_left_of_members_that_went(members: PodGroupState) -> None:
    for name in ("a", "b"):
        members.put(record(name))
    members.drop("uid-of-a")
    assert [waiting.uids for waiting in members.pending.values()] == [["uid-of-b"]]
    members.drop("uid-of-b")
    members.drop("uid-of-b")
    assert (members.pending, dict(members.profiles), members.is_empty) == ({}, {}, True)


def test_a_record_is_exchanged_for_one_that_decides_alike(members: PodGroupState) -> None:
    before = record("a")
    members.put(before)
    after = msgspec.structs.replace(before, labels={"seen": "yes"})
    members.refresh(after)
    members.refresh(record("stranger"))
    assert list(members.pods()) == [after]
    assert [members.count(state) for state in MemberState] == [state is MemberState.PENDING for state in MemberState]


def test_members_wait_since_the_first_of_those_came_who_wait(members: PodGroupState) -> None:
    for hour in (5, 3, 7):
        members.put(record(f"p-{hour}", f"2026-01-01T0{hour}:00:00Z"))
    begins = record("x").created_seconds
    assert members.waits_since_seconds == begins + 3 * 3600
    members.drop("uid-of-p-5")
    assert members.waits_since_seconds == begins + 3 * 3600
    members.drop("uid-of-p-3")
    assert members.waits_since_seconds == begins + 7 * 3600

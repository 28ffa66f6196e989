"""How far a rollout may go now, as a table."""

import pytest

from localcluster.controllers.leaderworkersets.rollout import GroupState, Leaders, Target, most_unavailable, next_target
from tests.localcluster.leaderworkersets.values import viewed

DONE, OLD, NEW, NOTHING = GroupState(True, True), GroupState(True, False), GroupState(False, True), GroupState()


def test_the_first_leaders_are_made_as_wanted() -> None:
    assert next_target(viewed(replicas=4), None, [], is_new_revision=False) == Target(0, 4)
    assert next_target(viewed(replicas=4, rolling={"partition": 2}), None, [], is_new_revision=False) == Target(2, 4)


def test_a_new_revision_begins_with_nobody_updated() -> None:
    rest = Leaders(replicas=4, partition=0, wanted=4)
    assert next_target(viewed(), rest, [OLD] * 4, is_new_revision=True) == Target(4, 4)


def test_a_new_revision_begins_with_the_surge_groups() -> None:
    rest = Leaders(replicas=4, partition=0, wanted=4)
    view = viewed(rolling={"maxSurge": 2, "maxUnavailable": 2})
    assert next_target(view, rest, [OLD] * 4, is_new_revision=True) == Target(4, 6)


def test_there_are_no_more_surge_groups_than_groups() -> None:
    rest = Leaders(replicas=2, partition=0, wanted=2)
    view = viewed(replicas=2, rolling={"maxSurge": 5})
    assert next_target(view, rest, [OLD] * 2, is_new_revision=True) == Target(2, 3)


def test_a_new_revision_with_fewer_replicas_shrinks_at_once() -> None:
    rest = Leaders(replicas=4, partition=0, wanted=4)
    assert next_target(viewed(replicas=2), rest, [OLD] * 4, is_new_revision=True) == Target(2, 2)


def test_at_rest_nothing_changes() -> None:
    rest = Leaders(replicas=4, partition=0, wanted=4)
    assert next_target(viewed(), rest, [NOTHING] * 4, is_new_revision=False) == Target(0, 4)


@pytest.mark.parametrize(
    ("states", "partition", "expected"),
    [
        pytest.param([OLD] * 4, 4, 3, id="the highest goes first"),
        pytest.param([OLD, OLD, OLD, NEW], 3, 3, id="it is waited for"),
        pytest.param([OLD, OLD, OLD, DONE], 3, 2, id="then comes the next"),
        pytest.param([OLD, DONE, DONE, DONE], 1, 0, id="down to the first"),
        pytest.param([DONE] * 4, 1, 0, id="at the end all may follow"),
        pytest.param([NOTHING, OLD, OLD, OLD], 4, 4, id="another unready group uses up the allowance"),
        pytest.param([NOTHING] * 4, 4, 3, id="with no group ready all but the highest wait for it"),
        pytest.param([OLD, OLD, OLD, DONE], 2, 2, id="it never goes back"),
    ],
)
def test_one_group_at_a_time(states: list[GroupState], partition: int, expected: int) -> None:
    leaders = Leaders(replicas=4, partition=partition, wanted=4)
    assert next_target(viewed(), leaders, states, is_new_revision=False) == Target(expected, 4)


def test_as_many_at_a_time_as_may_be_unavailable() -> None:
    leaders = Leaders(replicas=4, partition=4, wanted=4)
    view = viewed(rolling={"maxUnavailable": 2})
    assert next_target(view, leaders, [OLD] * 4, is_new_revision=False) == Target(2, 4)
    half = viewed(rolling={"maxUnavailable": "50%"})
    assert next_target(half, leaders, [OLD] * 4, is_new_revision=False) == Target(2, 4)


def test_surge_groups_stand_in_for_what_is_unavailable() -> None:
    view = viewed(replicas=2, rolling={"maxUnavailable": 0, "maxSurge": 1})
    leaders = Leaders(replicas=3, partition=2, wanted=2)
    assert next_target(view, leaders, [OLD, OLD, NEW], is_new_revision=False) == Target(2, 3)
    assert next_target(view, leaders, [OLD, OLD, DONE], is_new_revision=False) == Target(1, 3)


def test_surge_groups_go_when_few_groups_are_left() -> None:
    view = viewed(replicas=4, rolling={"maxUnavailable": 1, "maxSurge": 2})
    leaders = Leaders(replicas=6, partition=2, wanted=4)
    three_left = [OLD, OLD, NEW, DONE, DONE, DONE]
    assert next_target(view, leaders, three_left, is_new_revision=False).replicas == 6
    two_left = [OLD, OLD, DONE, DONE, DONE, DONE]
    assert next_target(view, leaders, two_left, is_new_revision=False).replicas == 5
    none_left = [DONE] * 6
    assert next_target(view, leaders, none_left, is_new_revision=False) == Target(0, 4)


def test_a_change_of_replicas_keeps_the_partition_where_it_is() -> None:
    more = Leaders(replicas=3, partition=2, wanted=3)
    assert next_target(viewed(replicas=5), more, [OLD, OLD, DONE], is_new_revision=False) == Target(2, 5)
    fewer = Leaders(replicas=5, partition=4, wanted=5)
    states = [OLD, OLD, OLD, OLD, DONE]
    assert next_target(viewed(replicas=2), fewer, states, is_new_revision=False) == Target(2, 2)


def test_the_partition_of_the_set_is_the_lowest_there_is() -> None:
    leaders = Leaders(replicas=4, partition=4, wanted=4)
    view = viewed(rolling={"partition": 3, "maxUnavailable": 2})
    assert next_target(view, leaders, [OLD] * 4, is_new_revision=False) == Target(3, 4)


def test_no_leaders_at_all_are_no_trouble() -> None:
    leaders = Leaders(replicas=0, partition=0, wanted=0)
    assert next_target(viewed(replicas=0), leaders, [], is_new_revision=True) == Target(0, 0)
    assert next_target(viewed(replicas=2), leaders, [], is_new_revision=False) == Target(0, 2)


@pytest.mark.parametrize(
    ("rolling", "expected"),
    [
        ({}, 1),
        ({"maxUnavailable": 2, "maxSurge": 2}, 4),
        ({"maxUnavailable": "0%", "maxSurge": "0%"}, 1),
        ({"maxUnavailable": "49%", "maxSurge": "26%"}, 3),
    ],
)
def test_leaders_may_be_missing_for_both_limits_together(rolling: dict[str, int | str], expected: int) -> None:
    assert most_unavailable(viewed(replicas=4, rolling=dict(rolling))) == expected

"""What waiting gangs are told while room is kept for others by turns: nothing that only holds until the next turn."""

import json
from collections import Counter
from typing import Final

import pytest

from api.constants import MIN_RESOURCES
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.future_pods import ClusterWithFuturePods
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.demand import Demand
from scheduler.cache.records import EntityKey
from scheduler.cache.reservations import Reservation, Reservations
from scheduler.lasting_refusal import LastingRefusals
from scheduler.preemption.evaluator import Evaluator, PreemptionLimits
from scheduler.preemption.result import with_post_filter
from scheduler.reservations.future_reservations import of_existing_pods
from tests.scheduler.core.build import group_key, pod_key
from tests.scheduler.core.world import World

KEPT: Final = "Some room is kept for other groups"
HOLDER: Final = group_key("holder")


class Waiting(World):
    """A world in which items are refused, with and without preemption."""

    def __init__(self, *nodes: int) -> None:
        super().__init__()
        for number, cpu in enumerate(nodes):
            self.node(f"n{number}", cpu=cpu)
        seen = ClusterWithFuturePods(self.state)
        self.lasting = LastingRefusals(seen)
        self._seen = seen
        self._evaluator = Evaluator(seen.view, PreemptionLimits())

    def keep(
        self, node: str, cpu: int, *, beside: bool = False, key: EntityKey = HOLDER, priority: int = 0
    ) -> Reservations:
        """Room is kept on a node: by turns, or beside them for another reason."""
        kept = self.state.future_reservations if beside else self.state.reservations
        kept.put(Reservation(key, priority, {node: Counter({Demand({"cpu": 1000}): cpu})}, 1e9))
        return kept

    def refused(self, key: EntityKey, *, preempts: bool = False) -> Decision:
        """The refusal as it was decided."""
        decision, _ = of_existing_pods(decide(self._seen.view, key), self._seen)
        assert decision.result == "unschedulable"
        return with_post_filter(decision, self._evaluator.preempt(key, self.now)) if preempts else decision

    def told(self, key: EntityKey, *, preempts: bool = False) -> str:
        """What its condition says of that."""
        return self.lasting.of(self.refused(key, preempts=preempts), 0).condition_message


def _gang(world: Waiting, size: int, priority: int = 0) -> EntityKey:
    world.group("g", size)
    world.pods("g", size, priority=priority)
    return group_key("g")


@pytest.mark.parametrize("preempts", [False, True])
def test_who_fits_in_no_turn_is_told_the_same_in_each(preempts: bool) -> None:
    world = Waiting(4, 4)
    key = _gang(world, 12)
    alone = world.told(key, preempts=preempts)
    assert "8 of 12 pods can be placed" in alone

    for node, cpu in (("n0", 4), ("n0", 2), ("n1", 3)):
        kept = world.keep(node, cpu)
        assert KEPT in world.refused(key).condition_message
        assert world.told(key, preempts=preempts) == alone
        kept.drop(HOLDER)
        assert world.told(key, preempts=preempts) == alone


def test_what_it_would_be_with_everybody_less_important_gone_is_told_without_the_room_kept_by_turns() -> None:
    world = Waiting(4, 4)
    world.pod("low", cpu=2, on="n0", priority=-1)
    key = _gang(world, 12)
    alone = world.told(key, preempts=True)
    assert alone.endswith("minCount (12) cannot be satisfied: 8 scheduled, 4 remaining")

    world.keep("n1", 4)
    assert world.refused(key, preempts=True).condition_message.endswith("4 scheduled, 8 remaining")
    assert world.told(key, preempts=True) == alone


def test_a_lone_pod_and_the_members_are_told_alike() -> None:
    world = Waiting(4)
    world.pod("large", cpu=5)
    key = _gang(world, 5)
    pods = (world.told(pod_key("large")), world.lasting.of(world.refused(key), 0).pod_messages)

    world.keep("n0", 3)

    assert pods == (world.told(pod_key("large")), world.lasting.of(world.refused(key), 0).pod_messages)


@pytest.mark.parametrize("preempts", [False, True])
def test_who_waits_only_for_room_that_is_kept_by_turns_is_told_that(preempts: bool) -> None:
    world = Waiting(4)
    key = _gang(world, 4)
    world.keep("n0", 2)
    assert "2 of 4 pods can be placed" in world.told(key, preempts=preempts)
    assert KEPT in world.told(key, preempts=preempts)


def test_who_would_have_others_leave_but_for_room_kept_by_turns_is_told_of_that_room() -> None:
    world = Waiting(4)
    world.pod("low", cpu=3, on="n0", priority=-1)
    key = _gang(world, 4)
    world.keep("n0", 1)
    assert KEPT in world.told(key, preempts=True)


def test_room_that_is_kept_beside_turns_is_told_in_every_turn() -> None:
    world = Waiting(4, 4)
    key = _gang(world, 12)
    world.keep("n0", 3, beside=True)
    alone = world.told(key)
    assert KEPT in alone
    assert "5 of 12 pods can be placed" in alone

    world.keep("n1", 4)

    assert world.told(key) == alone


def test_after_a_change_of_the_cluster_the_new_counts_are_told() -> None:
    world = Waiting(4, 4)
    key = _gang(world, 12)
    world.keep("n0", 4)
    world.told(key)
    world.node("n2", cpu=2)
    world.state.nominator.nominate(pod_key("other"), 0, {"x": ("n1", Demand({"cpu": 1000}))}, frozenset(), 1e9, {})

    assert "9 of 12 pods can be placed" in world.told(key)


def test_its_own_turn_changes_nothing_either() -> None:
    world = Waiting(4, 4)
    key = _gang(world, 12)
    alone = world.told(key)
    world.keep("n0", 4, key=key)
    world.keep("n1", 4)
    assert world.told(key) == alone


def test_room_kept_for_less_important_ones_is_no_reason_to_decide_again() -> None:
    world = Waiting(4, 4)
    key = _gang(world, 12, priority=1)
    world.keep("n0", 4)
    refused = world.refused(key)
    assert world.lasting.of(refused, 0) is refused


def test_while_others_leave_for_it_that_is_what_it_is_told() -> None:
    world = Waiting(4, 4)
    world.pod("low", cpu=4, on="n0", priority=-1)
    key = _gang(world, 4)
    world.keep("n1", 4)
    refused = world.refused(key, preempts=True)
    assert world.state.nominator.of(key) is not None
    assert world.lasting.of(refused, 0) is refused


def test_pods_that_come_later_are_told_as_such() -> None:
    world = Waiting(4)
    roles = [{"role": role, "count": count, "requests": {"cpu": "1"}} for role, count in (("leader", 1), ("worker", 4))]
    announced = {"tutti.scheduler/managed-by": "tutti", MIN_RESOURCES: json.dumps(roles)}
    world.group("g", 1, owner="uid-of-g-leader", annotations=announced)
    world.pod("g-leader", group="g")
    key = group_key("g")
    alone = world.told(key)
    assert alone.startswith("minCount (1) and room for the 4 pods that come later cannot be satisfied")

    world.keep("n0", 2)

    assert world.told(key) == alone

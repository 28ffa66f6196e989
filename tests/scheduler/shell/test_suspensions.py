"""A follower sees groups long before pods: it takes no request back before it knows them."""

from typing import Any, cast

import msgspec
import pytest

from api.constants import CONDITION_DISRUPTION_TARGET, REASON_GANG_RESTART
from api.meta import Condition
from api.podgroup import PodGroup, PodGroupStatus
from scheduler.apicalls.group_conditions import GroupConditions
from scheduler.cache.cluster import ClusterState
from scheduler.cache.nominator import Nomination
from scheduler.cache.records import GroupRecord
from scheduler.preemption.suspensions import Suspensions
from tests.scheduler.core import build


class Said:
    """What is said on groups, in place of writing it."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def want(self, group: GroupRecord, wanted: Condition, **_: Any) -> bool:
        if wanted.type == CONDITION_DISRUPTION_TARGET:
            self.told.append((group.name, wanted.status))
        return True


def asked(*, reason: str = "PreemptionByScheduler", **more: Any) -> PodGroup:
    target = Condition(CONDITION_DISRUPTION_TARGET, "True", reason)
    return msgspec.structs.replace(build.group("v", 2, leaves="all", **more), status=PodGroupStatus((target,)))


def follower(*, owner: str = "job", reason: str = "PreemptionByScheduler") -> tuple[ClusterState, Said, Suspensions]:
    state, said = ClusterState(frozenset({"tutti"})), Said()
    suspensions = Suspensions(state, cast("GroupConditions", said))
    group = asked(owner=owner, reason=reason)
    state.upsert_group(group)
    suspensions.seen(group)
    return state, said, suspensions


def test_nothing_is_taken_back_before_the_pods_are_known() -> None:
    state, said, suspensions = follower()
    for number in range(2):
        state.upsert_pod(build.pod(f"v-{number}", group="v", on="n0", owner="job"))
        suspensions.review((build.group_key("v"),))
    assert said.told == []


def test_then_a_request_that_somebody_still_has_a_use_for_stands() -> None:
    state, said, suspensions = follower()
    for number in range(2):
        state.upsert_pod(build.pod(f"v-{number}", group="v", on="n0", owner="job"))
    claim: Nomination = state.nominator.nominate(build.pod_key("new"), 5, {}, frozenset({"uid-of-v-0"}), 1e9)
    suspensions.begin()
    assert said.told == []
    assert suspensions.untouched(claim) == 1
    state.nominator.withdraw(claim.key)
    suspensions.review()
    assert said.told == [("v", "False")]


def test_and_one_whose_pods_have_left_is_taken_back() -> None:
    _, said, suspensions = follower()
    suspensions.begin()
    assert said.told == [("v", "False")]


@pytest.mark.parametrize("reason", ["PreemptionByScheduler", REASON_GANG_RESTART])
def test_and_one_whose_pods_have_left_while_new_ones_came_and_found_room(reason: str) -> None:
    state, said, suspensions = follower(reason=reason)
    for number in range(2):
        state.upsert_pod(build.pod(f"v-{number}", group="v", on="n0", owner="job"))
    state.nominator.nominate(build.pod_key("other"), 5, {}, frozenset({"uid-of-v-0"}), 1e9)
    suspensions.begin()
    for number in range(2):
        state.upsert_pod(build.pod(f"new-{number}", group="v", on="n1", owner="job"))
        state.upsert_pod(build.pod(f"v-{number}", group="v", on="n0", owner="job", deleted=True))
    suspensions.review()
    assert said.told == []
    for number in range(2):
        state.remove_pod(build.NAMESPACE, f"v-{number}", f"uid-of-v-{number}")
    suspensions.review()
    assert said.told == [("v", "False")]


def test_what_somebody_else_asks_of_his_own_group_is_left_alone() -> None:
    _, said, suspensions = follower(owner="")
    suspensions.begin()
    assert said.told == []

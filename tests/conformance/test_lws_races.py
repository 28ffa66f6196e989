"""Deleting and creating replicas again and again on a cluster: nobody is left waiting for a group (LWS issue 1054)."""

import pytest

from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.lws import SETTLE_SECONDS, Sets, leader_worker_set

ROUNDS = 10


@pytest.mark.parametrize("policy", ["LeaderCreated", "LeaderReady"])
def test_leaders_deleted_and_recreated_in_the_same_revision_are_never_stuck(
    sets: Sets, nodes: HollowNodes, policy: str
) -> None:
    nodes.add(1, cpu="64")
    sets.create(leader_worker_set("serve", replicas=2, size=3, startupPolicy=policy))
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)
    for number in range(ROUNDS):
        index = number % 2
        old = sets.leader("serve", index)["metadata"]["uid"]
        sets.api.delete("pods", f"serve-{index}", sets.namespace, propagation="Foreground")

        def is_new_and_whole() -> bool:
            assert sets.leader("serve", index)["metadata"]["uid"] != old  # noqa: B023
            return sets.whole("serve", index)  # noqa: B023

        eventually(is_new_and_whole, within_seconds=SETTLE_SECONDS)
    minimum = 3 if policy == "LeaderCreated" else 1
    eventually(lambda: sets.whole("serve") and sets.sound("serve", min_count=minimum), within_seconds=SETTLE_SECONDS)


def test_a_set_replaced_by_force_again_and_again_starts_each_time(sets: Sets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu="64")
    for _ in range(ROUNDS):
        made = sets.create(leader_worker_set("serve", replicas=1, size=2))
        eventually(lambda: sets.whole("serve") and sets.sound("serve"), within_seconds=SETTLE_SECONDS)
        sets.api.delete("leaderworkersets", "serve", sets.namespace, propagation="Background")
        uid = made["metadata"]["uid"]

        def is_gone() -> bool:
            found = sets.api.find("leaderworkersets", "serve", sets.namespace)
            leaders = sets.api.find("statefulsets", "serve", sets.namespace)
            return leaders is None and (found is None or found["metadata"]["uid"] != uid)  # noqa: B023

        eventually(is_gone, within_seconds=SETTLE_SECONDS)

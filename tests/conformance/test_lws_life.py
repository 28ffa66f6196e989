"""A LeaderWorkerSet's life as far as its groups are concerned: scaling, restarts, rollouts, exclusive nodes, outages."""

import signal
from typing import Any

import pytest

from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import POD_GROUP
from verify.clusters.lws import INDEX, REVISION, SETTLE_SECONDS, WORKER, Sets, leader_worker_set
from verify.clusters.tutti_process import Tutti

ROOM = "64"
POOL = "cloud.google.com/gke-nodepool"
STAYS_SECONDS = 1.0


def by_index(sets: Sets, name: str) -> dict[str, str]:
    """UID of the group of each replica."""
    return {group["metadata"]["labels"][INDEX]: group["metadata"]["uid"] for group in sets.groups(name)}


def test_scale_up_and_down_makes_and_removes_exactly_the_groups_in_question(sets: Sets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu=ROOM)
    sets.create(leader_worker_set("serve", replicas=1, size=2))
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)
    first = by_index(sets, "serve")
    for replicas in (3, 2):
        sets.change("serve", replicas=replicas)
        eventually(lambda: set(by_index(sets, "serve")) == set("012"[:replicas]), within_seconds=SETTLE_SECONDS)  # noqa: B023
        eventually(lambda: sets.whole("serve") and sets.sound("serve"), within_seconds=SETTLE_SECONDS)
        assert by_index(sets, "serve")["0"] == first["0"]


def test_a_deleted_worker_set_and_a_deleted_leader_set_come_back_as_members(sets: Sets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu=ROOM)
    sets.create(leader_worker_set("serve", size=3))
    eventually(lambda: sets.available("serve"), within_seconds=SETTLE_SECONDS)
    for name in ("serve-0", "serve"):
        found = sets.api.get("statefulsets", name, sets.namespace)["metadata"]["uid"]
        sets.api.delete("statefulsets", name, sets.namespace)

        def is_back() -> bool:
            again = sets.api.find("statefulsets", name, sets.namespace)  # noqa: B023
            return again is not None and again["metadata"]["uid"] != found  # noqa: B023

        eventually(is_back, within_seconds=SETTLE_SECONDS)
        eventually(lambda: sets.whole("serve") and sets.sound("serve"), within_seconds=2 * SETTLE_SECONDS)


def test_recreate_group_on_pod_restart_ends_with_a_new_whole_group(sets: Sets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu=ROOM)
    sets.create(leader_worker_set("serve", size=3, template={"restartPolicy": "RecreateGroupOnPodRestart"}))
    eventually(lambda: sets.available("serve"), within_seconds=SETTLE_SECONDS)
    before = sets.group("serve")["metadata"]["uid"]
    sets.api.delete("pods", "serve-0-1", sets.namespace)
    eventually(lambda: before not in by_index(sets, "serve").values(), within_seconds=SETTLE_SECONDS)
    eventually(lambda: sets.whole("serve") and sets.sound("serve"), within_seconds=2 * SETTLE_SECONDS)


def test_restart_policy_none_a_worker_comes_back_into_the_same_group(sets: Sets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu=ROOM)
    sets.create(leader_worker_set("serve", size=3, template={"restartPolicy": "None"}))
    eventually(lambda: sets.available("serve"), within_seconds=SETTLE_SECONDS)
    before = sets.group("serve")["metadata"]["uid"]
    sets.api.delete("pods", "serve-0-1", sets.namespace)
    eventually(lambda: sets.whole("serve") and sets.sound("serve"), within_seconds=SETTLE_SECONDS)
    assert by_index(sets, "serve") == {"0": before}


@pytest.mark.parametrize(
    ("rollout", "name"),
    [
        ({"maxUnavailable": 2, "maxSurge": 0}, "unavailable"),
        ({"maxUnavailable": 0, "maxSurge": 1}, "surge"),
        ({"maxUnavailable": 5}, "all"),
    ],
)
def test_rolling_update_ends_with_every_replica_in_a_new_group(
    sets: Sets, nodes: HollowNodes, rollout: dict[str, Any], name: str
) -> None:
    nodes.add(1, cpu=ROOM)
    sets.create(leader_worker_set(name, replicas=3, size=2, rollout=rollout))
    eventually(lambda: sets.available(name), within_seconds=SETTLE_SECONDS)
    before = set(by_index(sets, name).values())
    sets.new_revision(name)
    surged: set[str] = set()

    def is_over() -> bool:
        now = by_index(sets, name)
        surged.update(now)
        return not before & set(now.values()) and set(now) == set("012")

    eventually(is_over, within_seconds=3 * SETTLE_SECONDS)
    eventually(lambda: sets.available(name) and sets.sound(name), within_seconds=SETTLE_SECONDS)
    assert ("3" in surged) == (name == "surge")


def test_partition_keeps_the_groups_below_it_and_a_recreated_leader_keeps_its_revision_and_size(
    sets: Sets, nodes: HollowNodes
) -> None:
    nodes.add(1, cpu=ROOM)
    sets.create(leader_worker_set("serve", replicas=3, size=2, rollout={"partition": 2, "maxUnavailable": 1}))
    eventually(lambda: sets.available("serve"), within_seconds=SETTLE_SECONDS)
    before = by_index(sets, "serve")
    revision = sets.leader("serve")["metadata"]["labels"][REVISION]
    sets.new_revision("serve", size=4)
    eventually(lambda: sets.bound("serve", 2) == 4, within_seconds=2 * SETTLE_SECONDS)
    now = by_index(sets, "serve")
    assert (now["0"], now["1"]) == (before["0"], before["1"])
    sets.api.delete("pods", "serve-0", sets.namespace)

    def is_old_and_whole() -> bool:
        found = [g for g in sets.groups("serve") if g["metadata"]["labels"][INDEX] == "0"]
        assert len(found) == 1, f"replica 0 has {len(found)} groups"
        (group,) = found
        is_new = group["metadata"]["uid"] != before["0"]
        return bool(is_new and sets.bound("serve", 0) == 2 == group["spec"]["schedulingPolicy"]["gang"]["minCount"])

    eventually(is_old_and_whole, within_seconds=2 * SETTLE_SECONDS)
    assert sets.leader("serve")["metadata"]["labels"][REVISION] == revision
    throughout(lambda: sets.bound("serve", 0) == 2, seconds=1, poll_seconds=0.2)


def test_exclusive_topology_a_replica_goes_where_all_of_it_fits_and_keeps_others_out(
    sets: Sets, nodes: HollowNodes
) -> None:
    nodes.add(2, cpu="1", labels={POOL: "small"})
    sets.create(
        leader_worker_set(
            "serve", replicas=2, size=3, annotations={"leaderworkerset.sigs.k8s.io/exclusive-topology": POOL}
        )
    )
    eventually(lambda: len(sets.pods("serve")) == 2, within_seconds=SETTLE_SECONDS)
    throughout(lambda: sets.bound("serve") == 0, seconds=1, poll_seconds=0.2)
    nodes.add(6, cpu="1", labels={POOL: "big"})
    eventually(lambda: sorted(sets.bound("serve", i) for i in (0, 1)) == [0, 3], within_seconds=SETTLE_SECONDS)
    nodes.add(3, cpu="1", labels={POOL: "other"})
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)
    pool_of = {node["metadata"]["name"]: node["metadata"]["labels"].get(POOL) for node in sets.api.list("nodes")}
    pools = [{pool_of[pod["spec"]["nodeName"]] for pod in sets.pods("serve", index)} for index in (0, 1)]
    assert sorted(map(sorted, pools)) == [["big"], ["other"]]


def test_an_old_set_without_our_label_is_left_alone_until_its_templates_change(
    sets: Sets, nodes: HollowNodes, tutti: Tutti
) -> None:
    nodes.add(1, cpu=ROOM)
    tutti.lose_child("webhooks", signal.SIGKILL)
    sets.create(leader_worker_set("old", size=2))
    tutti.ensure_running()
    eventually(lambda: sets.events("old", "NotAdmittedAsGang"), within_seconds=SETTLE_SECONDS)
    eventually(lambda: len(sets.pods("old")) == 2, within_seconds=SETTLE_SECONDS)
    uids = {pod["metadata"]["uid"] for pod in sets.pods("old")}
    sets.api.patch("leaderworkersets", "old", {"metadata": {"annotations": {"note": "x"}}}, sets.namespace)
    sets.change("old", replicas=2)
    eventually(lambda: len(sets.pods("old")) == 4, within_seconds=SETTLE_SECONDS)
    assert uids <= {pod["metadata"]["uid"] for pod in sets.pods("old")}
    assert sets.groups("old") == []
    sets.new_revision("old")
    eventually(lambda: len(sets.groups("old")) == 2, within_seconds=2 * SETTLE_SECONDS)
    eventually(lambda: sets.whole("old") and sets.sound("old"), within_seconds=SETTLE_SECONDS)


def test_replicas_born_while_admission_is_down_are_told_their_group(
    sets: Sets, nodes: HollowNodes, tutti: Tutti, group_api: str
) -> None:
    nodes.add(1, cpu=ROOM)
    sets.create(leader_worker_set("serve", replicas=1, size=3))
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)
    tutti.lose_child("webhooks", signal.SIGKILL)
    sets.change("serve", replicas=2)
    eventually(lambda: len(sets.pods("serve", 1)) == 3, within_seconds=SETTLE_SECONDS)
    if group_api == "own":
        # Our own PodGroups cannot be made without admission.
        throughout(lambda: sets.bound("serve", 1) == 0, seconds=STAYS_SECONDS)
    # Built-in ones can, and then the replica need not wait. Its binds are a request each, so a list may show some of them; that it
    # does not stay so is the auditor's to judge.
    tutti.ensure_running()
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)
    groups = {group["metadata"]["name"] for group in sets.groups("serve")}
    assert {pod["metadata"]["annotations"][POD_GROUP] for pod in sets.pods("serve", 1)} <= groups
    assert {pod["metadata"]["labels"][WORKER] for pod in sets.pods("serve", 1)} == {"0", "1", "2"}
    assert len(groups) == 2

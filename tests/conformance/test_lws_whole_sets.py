"""LeaderWorkerSets that start as a whole (annotation `scope: set`) on a whole server: all replicas together, or none."""

from pathlib import Path
from typing import Any

import pytest

from tests.conformance.lost_pods import bind, dies
from tests.conformance.test_lws_manifests import MANIFESTS, ROOM, documents, labels_of, provided
from verify.auditor.auditor import Auditor
from verify.clusters.client import Api, ApiError
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import condition_entry
from verify.clusters.lws import INDEX, SETTLE_SECONDS, Sets, leader_worker_set
from verify.clusters.tutti_process import Tutti

__all__ = ["provided"]

Object = dict[str, Any]

WHOLE = {"tutti.scheduler/scope": "set"}
REPLACED_SECONDS = 120
STARTED = "CompositePodGroupInitiallyScheduled"
WHOLE_MANIFESTS = [path for path in MANIFESTS if path.stem in {
    "lws-rollout-strategy", "lws-sglang", "lws-vllm-gpu", "lws-vllm-tpu", "lws-volume-claim-templates"
}]  # fmt: skip
"""Those of the recorded ones that may start as a whole: the others make workers after leaders, or have another scheduler."""


def tree(sets: Sets, name: str) -> Object:
    """The CompositePodGroup of a set."""
    owners = {sets.get(name)["metadata"]["uid"]}
    found = sets.api.list("compositepodgroups", sets.namespace)
    (mine,) = [each for each in found if {owner["uid"] for owner in each["metadata"]["ownerReferences"]} == owners]
    return mine


def minimum(sets: Sets, name: str) -> int:
    return int(tree(sets, name)["spec"]["schedulingPolicy"]["gang"]["minGroupCount"])


def has_started(sets: Sets, name: str) -> bool:
    entry = condition_entry(tree(sets, name), STARTED)
    return entry is not None and entry["status"] == "True"


def start(sets: Sets, nodes: HollowNodes, *, replicas: int = 2, cpu: str = "32", **more: Any) -> None:
    """A set of replicas of two pods that runs, and says so."""
    nodes.add(1, cpu=cpu)
    sets.create(leader_worker_set("serve", replicas=replicas, size=2, annotations=WHOLE, **more))
    eventually(lambda: sets.available("serve"), within_seconds=SETTLE_SECONDS)
    eventually(lambda: has_started(sets, "serve"), within_seconds=SETTLE_SECONDS)


def pods(sets: Sets, index: int) -> set[str]:
    return {pod["metadata"]["uid"] for pod in sets.pods("serve", index)}


def test_all_replicas_wait_together_say_why_and_start_together(sets: Sets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu="5")
    sets.create(leader_worker_set("serve", replicas=2, size=3, annotations=WHOLE))
    eventually(lambda: sets.waits("serve", 0) and sets.waits("serve", 1), within_seconds=SETTLE_SECONDS)

    def says_why() -> bool:
        entry = condition_entry(tree(sets, "serve"), STARTED)
        return entry is not None and "minGroupCount (2) cannot be satisfied: 1 of 2 groups" in entry["message"]

    eventually(says_why, within_seconds=SETTLE_SECONDS)
    eventually(lambda: sets.events("serve", "FailedScheduling"), within_seconds=SETTLE_SECONDS)
    throughout(lambda: sets.bound("serve") == 0, seconds=1, poll_seconds=0.1)
    nodes.add(1, cpu="1")
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)
    assert sets.sound("serve")
    eventually(lambda: has_started(sets, "serve"), within_seconds=SETTLE_SECONDS)


def test_of_two_whole_sets_one_starts_and_the_other_one_after_it(sets: Sets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu="10")
    names = ["one", "two"]
    for name in names:
        sets.create(leader_worker_set(name, replicas=2, size=3, annotations=WHOLE))
    eventually(lambda: sorted(sets.bound(name) for name in names) == [0, 6], within_seconds=SETTLE_SECONDS)
    eventually(lambda: all(len(sets.pods(name)) == 6 for name in names), within_seconds=SETTLE_SECONDS)
    throughout(lambda: sorted(sets.bound(name) for name in names) == [0, 6], seconds=1, poll_seconds=0.1)
    first, second = sorted(names, key=sets.bound, reverse=True)
    sets.remove(first)
    eventually(lambda: sets.bound(second) == 6, within_seconds=SETTLE_SECONDS)


def test_a_replica_that_restarts_starts_whole_again_beside_the_others(sets: Sets, nodes: HollowNodes) -> None:
    start(sets, nodes)
    known, left_alone = tree(sets, "serve")["metadata"]["uid"], pods(sets, 0)
    restarted = pods(sets, 1)
    sets.api.delete("pods", sets.leader("serve", 1)["metadata"]["name"], sets.namespace)
    eventually(lambda: not pods(sets, 1) & restarted, within_seconds=SETTLE_SECONDS)
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)
    eventually(lambda: sets.sound("serve"), within_seconds=SETTLE_SECONDS)
    assert pods(sets, 0) == left_alone
    found = tree(sets, "serve")
    assert found["metadata"]["uid"] == known
    assert has_started(sets, "serve")


def test_a_replica_that_restarts_without_room_waits_whole(sets: Sets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu="2")
    (lost,) = nodes.add(1, cpu="2")
    sets.create(leader_worker_set("serve", replicas=2, size=2, annotations=WHOLE))
    eventually(lambda: sets.available("serve"), within_seconds=SETTLE_SECONDS)
    sets.api.patch("nodes", lost, {"spec": {"unschedulable": True}})
    there = {pod["metadata"]["labels"][INDEX] for pod in sets.pods("serve") if pod["spec"]["nodeName"] == lost}
    index = int(max(there))
    sets.api.delete("pods", sets.leader("serve", index)["metadata"]["name"], sets.namespace)
    eventually(lambda: sets.waits("serve", index), within_seconds=SETTLE_SECONDS)
    throughout(lambda: sets.waits("serve", index), seconds=1, poll_seconds=0.1)
    sets.api.patch("nodes", lost, {"spec": {"unschedulable": None}})
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)


def test_a_rolling_update_goes_replica_by_replica_below_the_same_tree(sets: Sets, nodes: HollowNodes) -> None:
    start(sets, nodes, replicas=3, cpu="6")
    known, before = tree(sets, "serve")["metadata"]["uid"], {group["metadata"]["uid"] for group in sets.groups("serve")}
    sets.new_revision("serve")

    def is_updated() -> bool:
        assert sum(1 for index in range(3) if sets.bound("serve", index) == 2) >= 1, "more than was asked for is away"
        return sets.available("serve") and not {each["metadata"]["uid"] for each in sets.groups("serve")} & before

    eventually(is_updated, within_seconds=3 * SETTLE_SECONDS)
    assert sets.sound("serve")
    assert tree(sets, "serve")["metadata"]["uid"] == known
    assert minimum(sets, "serve") == 3
    assert has_started(sets, "serve")


def test_replicas_that_are_added_to_a_set_that_runs_join_one_by_one(sets: Sets, nodes: HollowNodes) -> None:
    start(sets, nodes, cpu="7")
    sets.change("serve", replicas=4)
    eventually(lambda: len(sets.pods("serve")) == 8, within_seconds=SETTLE_SECONDS)
    eventually(lambda: sets.bound("serve") == 6, within_seconds=SETTLE_SECONDS)
    throughout(lambda: sets.bound("serve") == 6, seconds=1, poll_seconds=0.1)
    assert minimum(sets, "serve") == 2
    nodes.add(1, cpu="1")
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)


def test_a_set_that_waits_is_scaled_and_waits_for_its_new_size(sets: Sets, nodes: HollowNodes, group_api: str) -> None:
    sets.create(leader_worker_set("serve", replicas=2, size=2, annotations=WHOLE))
    eventually(lambda: len(sets.groups("serve")) == 2, within_seconds=SETTLE_SECONDS)
    sets.change("serve", replicas=3)
    eventually(lambda: len(sets.pods("serve")) == 6, within_seconds=SETTLE_SECONDS)
    if group_api == "built-in":
        (told,) = eventually(lambda: sets.events("serve", "InvalidGangSettings"), within_seconds=SETTLE_SECONDS)
        assert told.startswith("2 replicas start together, as when it was created")
        return
    eventually(lambda: minimum(sets, "serve") == 3, within_seconds=SETTLE_SECONDS)
    nodes.add(1, cpu="5")
    throughout(lambda: sets.bound("serve") == 0, seconds=2, poll_seconds=0.1)
    nodes.add(1, cpu="1")
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)


def test_the_scope_of_a_set_that_exists_is_refused_and_nothing_is_left_of_one_that_is_deleted(
    sets: Sets, nodes: HollowNodes
) -> None:
    start(sets, nodes)
    with pytest.raises(ApiError, match="cannot be changed"):
        sets.api.patch(
            "leaderworkersets", "serve", {"metadata": {"annotations": {next(iter(WHOLE)): None}}}, sets.namespace
        )
    sets.remove("serve")
    eventually(lambda: not sets.api.list("compositepodgroups", sets.namespace), within_seconds=SETTLE_SECONDS)
    eventually(lambda: not sets.workloads("serve"), within_seconds=SETTLE_SECONDS)


def test_a_set_that_gives_up_says_so_and_starts_when_its_limit_is_taken_off(sets: Sets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu="3")
    limit = "tutti.scheduler/scheduling-timeout"
    sets.create(leader_worker_set("serve", replicas=2, size=2, annotations={**WHOLE, limit: "3s"}))
    eventually(lambda: len(sets.groups("serve")) == 2, within_seconds=SETTLE_SECONDS)

    def has_given_up() -> bool:
        entry = condition_entry(tree(sets, "serve"), "SchedulingTimedOut")
        return entry is not None and entry["status"] == "True"

    eventually(has_given_up, within_seconds=SETTLE_SECONDS)
    (told,) = eventually(lambda: sets.events("serve", "SchedulingTimeout"), within_seconds=SETTLE_SECONDS)
    assert "gave up after 3 s: minGroupCount (2) cannot be satisfied: 1 of 2 groups can start" in told
    nodes.add(1, cpu="1")
    throughout(lambda: sets.bound("serve") == 0, seconds=1, poll_seconds=0.1)
    root = tree(sets, "serve")["metadata"]["name"]
    sets.api.patch("compositepodgroups", root, {"metadata": {"annotations": {limit: None}}}, sets.namespace)
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)


def test_a_replica_of_a_set_that_cannot_be_repaired_in_time_is_made_anew_beside_the_others(
    sets: Sets, nodes: HollowNodes
) -> None:
    (lost,) = nodes.add(1, cpu="1")
    nodes.add(3, cpu="1")
    said = {**WHOLE, "tutti.scheduler/degraded": "restart", "tutti.scheduler/repair-timeout": "15s"}
    made = leader_worker_set("serve", replicas=2, size=2, annotations=said, template={"restartPolicy": "None"})
    sets.create(made)
    eventually(lambda: sets.available("serve"), within_seconds=SETTLE_SECONDS)
    (index,) = {int(pod["metadata"]["labels"][INDEX]) for pod in sets.pods("serve") if pod["spec"]["nodeName"] == lost}
    before, left_alone = pods(sets, index), pods(sets, 1 - index)
    dies(sets.api, lost, sets.namespace)
    eventually(lambda: not pods(sets, index) & before, within_seconds=2 * SETTLE_SECONDS)
    eventually(lambda: sets.waits("serve", index), within_seconds=SETTLE_SECONDS)
    nodes.add(1, cpu="1")
    eventually(lambda: sets.whole("serve") and sets.sound("serve"), within_seconds=2 * SETTLE_SECONDS)
    assert pods(sets, 1 - index) == left_alone


@pytest.mark.slow
def test_a_set_of_which_too_few_replicas_were_begun_leaves_after_a_minute_and_starts_together(
    sets: Sets, nodes: HollowNodes, tutti: Tutti, auditor: Auditor, control_plane: ControlPlane
) -> None:
    """One of its replicas is bound in the scheduler's name, as if it had been killed between two binds."""
    auditor.windows.widen(REPLACED_SECONDS)
    (node,) = nodes.add(1, cpu="2")
    sets.create(leader_worker_set("serve", replicas=2, size=2, annotations=WHOLE))
    eventually(lambda: sets.waits("serve", 0) and sets.waits("serve", 1), within_seconds=SETTLE_SECONDS)
    token = control_plane.token_of_account("tutti-scheduler")
    api = Api(control_plane.url, token=token, ca=control_plane.ca, group_api=control_plane.group_api)
    for pod in sets.pods("serve", 0):
        bind(api, pod, node)
    begun = pods(sets, 0)
    throughout(lambda: pods(sets, 0) == begun and sets.bound("serve") == 2, seconds=50)
    eventually(lambda: sets.waits("serve", 0) and not begun & pods(sets, 0), within_seconds=REPLACED_SECONDS)
    throughout(lambda: sets.bound("serve") == 0, seconds=2)
    nodes.add(1, cpu="2")
    eventually(lambda: sets.whole("serve") and sets.sound("serve"), within_seconds=REPLACED_SECONDS)
    eventually(lambda: has_started(sets, "serve"), within_seconds=SETTLE_SECONDS)


@pytest.mark.skipif(not WHOLE_MANIFESTS, reason="TUTTI_SHARED_DATA names no folder with public manifests")
@pytest.mark.parametrize("path", WHOLE_MANIFESTS, ids=lambda path: path.stem)
def test_of_a_recorded_set_all_replicas_start_or_none(
    sets: Sets, nodes: HollowNodes, provided: Any, path: Path
) -> None:
    lws, _ = documents(path)
    provided(lws)
    lws["metadata"].setdefault("annotations", {}).update(WHOLE)
    name, count = lws["metadata"]["name"], lws["spec"]["replicas"] * lws["spec"]["leaderWorkerTemplate"]["size"]
    place: Any = {"cpu": "200", "memory": "2Ti", "labels": labels_of(lws), "resources": {**ROOM, "pods": "1"}}
    nodes.add(count - 1, **place)
    sets.create(lws)
    eventually(lambda: len(sets.pods(name)) == count, within_seconds=SETTLE_SECONDS)
    throughout(lambda: sets.bound(name) == 0, seconds=2, poll_seconds=0.1)
    nodes.add(1, **place)
    eventually(lambda: sets.bound(name) == count, within_seconds=SETTLE_SECONDS)

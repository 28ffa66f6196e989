"""A large gang loses eight nodes at once: it is whole before a younger gang starts, two seconds after its replacements are made.

Whichever process is killed in the middle of it, the end is the same; with no room it starts anew as a whole, once.

`--log-cli-level=INFO` shows how long that took.
"""

import logging
import random
import time
from functools import partial

import pytest

from tests.conformance.lost_pods import alive, dies, waits_anew
from verify.auditor.auditor import Auditor
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, indexed_job
from verify.clusters.tutti_process import Tutti

_log = logging.getLogger(__name__)

NODES = 1000
MEMBERS = 500
FREE = 20
LOST = 8
SETTLE_SECONDS = 300
WHOLE_AGAIN_SECONDS = 2.0
BIND_SECONDS = 10.0
"""Some 160 binds a second are written on two processors that the API server shares: two gangs of 500 at once take 3.5 s."""

REPAIR_SECONDS = 15
REPLACED_SECONDS = 300
"""The old lease has to run out before anybody goes on, and 500 pods are made and bound on a machine that does much else."""

RESTART = {"tutti.scheduler/degraded": "restart", "tutti.scheduler/repair-timeout": f"{REPAIR_SECONDS}s"}
INDEX = "batch.kubernetes.io/job-completion-index"


def runs_on(
    nodes: HollowNodes, count: int, jobs: Jobs, auditor: Auditor, annotations: dict[str, str] | None = None
) -> dict[str, str]:
    """The large gang runs on so many nodes of its own; node name by UID of its pods."""
    auditor.windows.bind_seconds = BIND_SECONDS
    nodes.add(count, cpu="1")
    # A limit for each index: the Job controller's pause is then 10 s, and not ten minutes after eight pods.
    jobs.create(indexed_job("large", MEMBERS, annotations=annotations, backoffLimitPerIndex=9))
    eventually(partial(jobs.whole, "large"), within_seconds=SETTLE_SECONDS, poll_seconds=1.0)
    return alive(jobs, "large")


@pytest.mark.slow
def test_eight_nodes_die_under_a_gang_of_500_on_1000_nodes(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, auditor: Auditor
) -> None:
    before = runs_on(nodes, NODES, jobs, auditor)
    jobs.create(indexed_job("others", NODES - MEMBERS - FREE))
    eventually(partial(jobs.whole, "others"), within_seconds=SETTLE_SECONDS, poll_seconds=1.0)
    indexes = {pod["metadata"]["uid"]: pod["metadata"]["labels"][INDEX] for pod in jobs.pods("large")}
    lost = random.Random(LOST).sample(sorted(before), LOST)
    for uid in lost:
        dies(jobs.api, before[uid], jobs.namespace)
    # It would fit into what is free, were no room kept.
    jobs.create(indexed_job("young", FREE - LOST + 1))
    eventually(lambda: jobs.waits("young"), within_seconds=SETTLE_SECONDS)
    which = ",".join(indexes[uid] for uid in lost)
    labels = f"batch.kubernetes.io/job-name=large,{INDEX} in ({which})"

    def replacements() -> list[bool]:
        """Whether each of them has its node."""
        found = jobs.api.list("pods", jobs.namespace, labels=labels)
        return [bool(pod["spec"].get("nodeName")) for pod in found if pod["metadata"]["uid"] not in before]

    not_made = time.monotonic()

    def are_placed() -> bool:
        """Whether all have their nodes; notes when they did not all exist yet, so that what is measured is never too short."""
        nonlocal not_made
        asked = time.monotonic()
        found = replacements()
        not_made = asked if len(found) < LOST else not_made
        return found == [True] * LOST

    eventually(are_placed, within_seconds=SETTLE_SECONDS, poll_seconds=0.02)
    seconds = time.monotonic() - not_made
    said = "%d of %d nodes lost, %d pods: whole %.2f s at most after the pods were made"
    _log.info(said, LOST, NODES, MEMBERS, seconds)
    assert jobs.bound("young") == 0
    after = alive(jobs, "large")
    assert {uid: after.get(uid) for uid in before if uid not in lost} == {
        uid: node for uid, node in before.items() if uid not in lost
    }
    assert len(after) == MEMBERS
    assert seconds < WHOLE_AGAIN_SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("child", ["scheduler", "controllers", "webhooks"])
def test_a_process_is_killed_while_the_replacements_of_a_gang_of_500_are_not_there_yet(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, auditor: Auditor, child: str
) -> None:
    before = runs_on(nodes, MEMBERS + FREE, jobs, auditor)
    auditor.windows.widen(REPLACED_SECONDS)
    lost = random.Random(child).sample(sorted(before), LOST)
    for number, uid in enumerate(lost):
        if number == LOST // 2:
            tutti.kill_child(child)
        dies(jobs.api, before[uid], jobs.namespace)
    eventually(tutti.admits, within_seconds=REPLACED_SECONDS)
    jobs.create(indexed_job("young", FREE - LOST + 1))

    def is_whole() -> bool:
        assert jobs.bound("young") == 0, "somebody younger has taken the room of the lost"
        return len(alive(jobs, "large")) == MEMBERS

    eventually(is_whole, within_seconds=REPLACED_SECONDS, poll_seconds=0.5)
    after = alive(jobs, "large")
    survivors = {uid: node for uid, node in before.items() if uid not in lost}
    assert {uid: after.get(uid) for uid in survivors} == survivors
    eventually(tutti.ready, within_seconds=REPLACED_SECONDS)


@pytest.mark.slow
def test_a_gang_of_500_for_whose_lost_members_there_is_no_room_starts_anew_whole_and_once(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, auditor: Auditor
) -> None:
    before = runs_on(nodes, MEMBERS, jobs, auditor, RESTART)
    for uid in random.Random(LOST).sample(sorted(before), LOST):
        dies(jobs.api, before[uid], jobs.namespace)
    eventually(lambda: not set(before) & set(alive(jobs, "large")), within_seconds=REPLACED_SECONDS, poll_seconds=0.5)
    eventually(lambda: waits_anew(jobs, "large", MEMBERS), within_seconds=REPLACED_SECONDS, poll_seconds=0.5)
    throughout(lambda: jobs.bound("large") == 0, seconds=2)
    nodes.add(LOST, cpu="1")
    begun = time.monotonic()
    eventually(lambda: len(alive(jobs, "large")) == MEMBERS, within_seconds=REPLACED_SECONDS, poll_seconds=0.1)
    _log.info("%d pods: whole %.2f s at most after there was room for all again", MEMBERS, time.monotonic() - begun)
    whole = alive(jobs, "large")
    throughout(lambda: alive(jobs, "large") == whole, seconds=REPAIR_SECONDS + 5)
    assert len(jobs.events("Job", "large", "GangRestarted")) == 1


@pytest.mark.slow
@pytest.mark.parametrize("child", ["scheduler", "controllers", "webhooks"])
def test_a_process_is_killed_while_the_survivors_of_a_gang_of_500_leave_for_its_restart(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, auditor: Auditor, child: str
) -> None:
    before = runs_on(nodes, MEMBERS, jobs, auditor, RESTART)
    auditor.windows.widen(REPLACED_SECONDS)
    lost = random.Random(child).sample(sorted(before), LOST)
    for uid in lost:
        dies(jobs.api, before[uid], jobs.namespace)
    survivors = set(before) - set(lost)
    eventually(lambda: not survivors <= set(alive(jobs, "large")), within_seconds=REPLACED_SECONDS, poll_seconds=0.02)
    tutti.kill_child(child)
    eventually(lambda: not survivors & set(alive(jobs, "large")), within_seconds=REPLACED_SECONDS, poll_seconds=0.5)
    eventually(lambda: waits_anew(jobs, "large", MEMBERS), within_seconds=REPLACED_SECONDS, poll_seconds=0.5)
    throughout(lambda: jobs.bound("large") == 0, seconds=2)
    nodes.add(LOST, cpu="1")
    eventually(lambda: len(alive(jobs, "large")) == MEMBERS, within_seconds=REPLACED_SECONDS, poll_seconds=0.5)
    whole = alive(jobs, "large")
    throughout(lambda: alive(jobs, "large") == whole, seconds=REPAIR_SECONDS + 5)
    assert len(jobs.events("Job", "large", "GangRestarted")) == 1
    eventually(tutti.ready, within_seconds=REPLACED_SECONDS)

"""kill -9 of the scheduler in the middle of a preemption: the preemptor starts, nobody is evicted twice, nobody for nothing.

Moments are random from a seed that is printed; TUTTI_SEED repeats a run. Two gangs, or two nodes of lone pods, could give way, and
one of them is enough; somebody as unimportant as they are waits for any room that is given away.
"""

import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import cycle

import pytest

from tests.conformance.scenarios.preemption_stage import HIGH, LOW, SOON_SECONDS, Stage
from verify.auditor.audit_log import AuditLog
from verify.auditor.auditor import Auditor
from verify.auditor.identities import CONTROLLERS_USER, SCHEDULER_USER
from verify.clusters.client import Object
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, condition, indexed_job
from verify.clusters.tutti_process import Tutti

KILLS = 20
KILLS_IN_A_ROW = 4
"""The supervisor starts a process again ever later after each death, so after so many Tutti is started anew."""

SIZE = 4
SETTLE_SECONDS = 90
KILL_AFTER_SECONDS = (0.0, 1.0)
"""After the pods of the preemptor have been made; from then to its start it takes about as long."""

HASTY = {"lease_seconds": 3, "renew_seconds": 2, "retry_seconds": 0.3, "eviction_pause_seconds": 1}
GANGS, PODS, WITHDRAWN = "gangs", "pods", "the preemptor goes away"


@pytest.fixture
def hasty(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> Iterator[Stage]:
    """A stage whose scheduler waits only a moment for the lease of one that was killed."""
    with tutti.deciding_with(**HASTY):
        made = Stage(jobs, nodes, tutti)
        yield made
        made.clear()


def restart(tutti: Tutti) -> None:
    tutti.stop()
    tutti.ensure_running()


def gang(name: str, priority: str) -> Object:
    job = indexed_job(name, SIZE)
    job["spec"]["template"]["spec"]["priorityClassName"] = priority
    return job


@pytest.mark.slow
def test_the_preemptor_starts_and_nobody_is_evicted_twice_or_for_nothing_whenever_the_scheduler_is_killed(
    hasty: Stage, tutti: Tutti, auditor: Auditor, audit_log: AuditLog, chance: random.Random
) -> None:
    # A killed scheduler leaves its gang as it is until its successor may act.
    auditor.windows.widen(SETTLE_SECONDS)
    places = [hasty.node(SIZE) for _ in range(2)]
    for number, kind in zip(range(KILLS), cycle((GANGS, PODS, WITHDRAWN)), strict=False):
        if number and number % KILLS_IN_A_ROW == 0:
            restart(tutti)
        settle(hasty, kind, places)
        began = audit_log.position()
        hasty.jobs.create(gang("urgent", HIGH))
        eventually(lambda: len(hasty.jobs.pods("urgent")) == SIZE, within_seconds=SOON_SECONDS, poll_seconds=0.02)
        time.sleep(chance.uniform(*KILL_AFTER_SECONDS))
        tutti.kill_child("scheduler")
        sys.stdout.write(f"kill {number}, {kind}: {seen(hasty)}\n")
        sys.stdout.flush()
        if kind == WITHDRAWN:
            hasty.api.delete("jobs", "urgent", hasty.namespace)
        hasty.jobs.create(gang("late", LOW))
        eventually(tutti.ready, within_seconds=SETTLE_SECONDS)
        if kind == WITHDRAWN:
            nobody_is_suspended_for_nobody(hasty, audit_log)
        else:
            eventually(lambda: hasty.jobs.whole("urgent"), within_seconds=SETTLE_SECONDS)
            throughout(lambda: hasty.jobs.bound("late") == 0, seconds=1)
            one_gave_way(hasty, kind, audit_log, began)
        clear(hasty)


def settle(stage: Stage, kind: str, places: list[str]) -> None:
    """Both nodes are full, with two gangs or with lone pods."""
    if kind == PODS:
        for index in range(SIZE * len(places)):
            stage.pod(f"low-{index}", on=places[index % len(places)])
        return
    for name in ("first", "second"):
        stage.jobs.create(gang(name, LOW))
        eventually(lambda name=name: stage.jobs.whole(name), within_seconds=SETTLE_SECONDS)  # type: ignore[misc]


def seen(stage: Stage) -> str:
    """How far the preemption had come, for the reader of a run."""
    pods = stage.pods().values()
    nominated = sum(bool((pod.get("status") or {}).get("nominatedNodeName")) for pod in pods)
    return f"{nominated} nominated, {len(asked(stage))} groups asked, {len(stage.leaving())} pods leave"


def asked(stage: Stage) -> list[str]:
    groups = stage.api.list("podgroups", stage.namespace)
    return [group["metadata"]["name"] for group in groups if condition(group, "DisruptionTarget") == "True"]


def suspensions(log: AuditLog, since: int) -> Counter[str]:
    """How often the controllers suspended which Job."""
    return Counter(
        record.name
        for record in log.since(since)
        if (record.user, record.verb, record.resource) == (CONTROLLERS_USER, "patch", "jobs")
        and record.succeeded
        and record.response.get("spec", {}).get("suspend")
    )


def one_gave_way(stage: Stage, kind: str, log: AuditLog, began: int) -> None:
    """Exactly as many left as were in the way, each once; the others were never disturbed."""
    deletes = [
        record
        for record in log.since(began)
        if (record.user, record.verb, record.resource) == (SCHEDULER_USER, "delete", "pods")
    ]
    deleted = Counter(record.name for record in deletes if record.succeeded)
    # What the killed scheduler had asked for may be carried out, and nobody was told.
    perhaps = {record.name for record in deletes if record.is_unknown}
    suspended = suspensions(log, began)
    if kind == PODS:
        gone = {f"low-{index}" for index in range(2 * SIZE)} - stage.pods().keys()
        assert (len(gone), sorted(deleted.values()), suspended) == (SIZE, [1] * len(deleted), Counter())
        assert gone - perhaps <= deleted.keys() <= gone
        return
    (gave_way,) = suspended
    assert suspended[gave_way] == 1
    assert not deleted | Counter(perhaps)
    eventually(lambda: not asked(stage), within_seconds=SETTLE_SECONDS)
    (spared,) = {"first", "second"} - {gave_way}
    assert stage.jobs.whole(spared)


def nobody_is_suspended_for_nobody(stage: Stage, log: AuditLog) -> None:
    """Whoever was asked to leave is in its place again, or was never gone."""

    def are_whole() -> bool:
        return not asked(stage) and all(
            not stage.jobs.get(name)["spec"].get("suspend") and len(stage.jobs.pods(name)) == SIZE
            for name in ("first", "second", "late")
        )

    eventually(are_whole, within_seconds=SETTLE_SECONDS)
    settled = log.position()
    throughout(are_whole, seconds=2, poll_seconds=0.3)
    assert not suspensions(log, settled)


def clear(stage: Stage) -> None:
    for job in stage.api.list("jobs", stage.namespace):
        stage.api.delete("jobs", job["metadata"]["name"], stage.namespace)
    stage.clear()
    eventually(
        lambda: not stage.api.list("pods", stage.namespace) and not stage.api.list("podgroups", stage.namespace),
        within_seconds=SETTLE_SECONDS,
    )


def test_controllers_that_come_back_after_the_preemptor_is_gone_suspend_nobody(
    stage: Stage, tutti: Tutti, installation: Tutti, auditor: Auditor, audit_log: AuditLog
) -> None:
    auditor.windows.widen(SETTLE_SECONDS)
    stage.node(SIZE)
    stage.jobs.create(gang("first", LOW))
    eventually(lambda: stage.jobs.whole("first"), within_seconds=SOON_SECONDS)
    tutti.lose_child("controllers", signal.SIGKILL)
    began = audit_log.position()
    stage.gang("g", SIZE)
    eventually(lambda: asked(stage), within_seconds=SOON_SECONDS)
    tutti.kill_everything()
    stage.end(*(f"g-{number}" for number in range(SIZE)))
    stage.api.delete("podgroups", "g", stage.namespace)
    installation.ensure_running()
    eventually(lambda: not asked(stage), within_seconds=SETTLE_SECONDS)
    throughout(lambda: stage.jobs.whole("first"), seconds=2, poll_seconds=0.3)
    assert not suspensions(audit_log, began)

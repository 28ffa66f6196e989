"""kill -9 of any process at any moment, and outages of all of them, end in the state an undisturbed run has.

Moments and victims are random from a seed that is printed; TUTTI_SEED repeats a run.
"""

import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

import pytest

from verify.auditor.auditor import Auditor
from verify.clusters.client import Object
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import GATE, POD_GROUP, Jobs, indexed_job, is_gang
from verify.clusters.tutti_process import CHILDREN, Tutti

JOBS = 50
WORKERS = 3
KILLS_PER_PROCESS = 2
SETTLE_SECONDS = 120
CREATE_PAUSE_SECONDS = (0.0, 0.25)
KILL_PAUSE_SECONDS = (0.3, 2.5)
LEASE_SECONDS = 15


def test_kills_during_fifty_job_creations_change_nothing_in_the_end(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, auditor: Auditor, chance: random.Random
) -> None:
    # A killed scheduler leaves its gang as it is until its successor may act: the old lease has to run out first.
    auditor.windows.widen(SETTLE_SECONDS)
    nodes.add(10, cpu="16")
    names = [f"crash-{number}" for number in range(JOBS)]
    with killer(tutti, random.Random(chance.random())):
        for name in names:
            jobs.create(indexed_job(name, WORKERS))
            pause(chance.uniform(*CREATE_PAUSE_SECONDS))
    eventually(lambda: undisturbed(jobs, names), within_seconds=SETTLE_SECONDS, poll_seconds=1)
    eventually(tutti.ready, within_seconds=SETTLE_SECONDS)


def test_jobs_made_while_everything_was_down_run(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, auditor: Auditor, installation: Tutti
) -> None:
    auditor.windows.widen(SETTLE_SECONDS)
    nodes.add(2, cpu="16")
    jobs.create(indexed_job("before", WORKERS))
    tutti.lose_child("controllers", signal.SIGKILL)
    jobs.create(indexed_job("gated", WORKERS))
    assert jobs.get("gated")["metadata"]["annotations"][GATE] == "pod-group"
    tutti.kill_everything()
    jobs.create(indexed_job("unseen", WORKERS))
    assert not is_gang(jobs.get("unseen"))
    installation.ensure_running()
    for name in ("before", "gated", "unseen"):
        eventually(lambda each=name: jobs.whole(each), within_seconds=SETTLE_SECONDS)  # type: ignore[misc]
    assert all(POD_GROUP in pod["metadata"]["annotations"] for pod in jobs.pods("gated"))
    assert len(jobs.groups("gated")) == 1
    assert jobs.groups("unseen") == []
    eventually(lambda: jobs.events("Job", "unseen", "NotAdmittedAsGang"), within_seconds=30)


@pytest.mark.one_api
@pytest.mark.parametrize("child", CHILDREN)
def test_a_killed_process_is_started_again(tutti: Tutti, auditor: Auditor, child: str) -> None:
    old = tutti.children()[child]
    tutti.kill_child(child)
    eventually(lambda: tutti.children().get(child, old) != old, within_seconds=20)
    eventually(tutti.ready, within_seconds=LEASE_SECONDS * 3)


@contextmanager
def killer(tutti: Tutti, chance: random.Random) -> Iterator[None]:
    """Kills every process several times, in random order and at random moments, while the body runs; then one last time."""
    victims = [name for name in CHILDREN for _ in range(KILLS_PER_PROCESS)]
    chance.shuffle(victims)

    def kill() -> None:
        for victim in victims:
            pause(chance.uniform(*KILL_PAUSE_SECONDS))
            eventually(lambda name=victim: name in tutti.children(), within_seconds=SETTLE_SECONDS)  # type: ignore[misc]
            tutti.kill_child(victim)

    thread = Thread(target=kill)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def undisturbed(jobs: Jobs, names: list[str]) -> bool:
    """Every Job runs whole and resumed; the gangs among them have exactly one Workload and one PodGroup."""
    by_name = {job["metadata"]["name"]: job for job in jobs.api.list("jobs", jobs.namespace)}
    assert sorted(by_name) == sorted(names)
    suspended = [name for name, job in by_name.items() if job["spec"].get("suspend")]
    assert not suspended, f"suspended: {suspended}"
    gangs = {name for name, job in by_name.items() if is_gang(job)}
    pods = counted(jobs.api.list("pods", jobs.namespace), _bound_to)
    assert pods == dict.fromkeys(names, WORKERS), f"bound pods: {pods}"
    one_each = dict.fromkeys(gangs, 1)
    workloads = counted(jobs.api.list("workloads", jobs.namespace), lambda w: w["spec"]["controllerRef"]["name"])
    groups = counted(jobs.api.list("podgroups", jobs.namespace), _job_owner)
    assert workloads == one_each, f"Workloads: {workloads}"
    assert groups == one_each, f"PodGroups: {groups}"
    return True


def _bound_to(pod: Object) -> str | None:
    alive = pod["spec"].get("nodeName") and pod["status"]["phase"] != "Failed"
    return str(pod["metadata"]["labels"]["batch.kubernetes.io/job-name"]) if alive else None


def _job_owner(group: Object) -> str | None:
    return next((owner["name"] for owner in group["metadata"]["ownerReferences"] if owner["kind"] == "Job"), None)


def counted(objects: list[Object], owner: Callable[[Object], str | None]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in objects:
        name = owner(each)
        if name is not None:
            counts[name] = counts.get(name, 0) + 1
    return counts


def pause(seconds: float) -> None:
    """Spreads creations and kills over time; nothing is waited for."""
    time.sleep(seconds)

"""Gangs give way whole to more important ones, and ordinary Jobs survive it.

No failure is counted; the Job queues, runs again and completes (real Job controller).
"""

import os
import secrets
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from verify.clusters.client import Api
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import CONDITION, Jobs, condition_entry, indexed_job
from verify.clusters.tutti_process import Tutti

WORKERS = 8


class Classes:
    """Priority classes of one test."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._suffix = secrets.token_hex(3)
        self._made: list[str] = []

    def make(self, name: str, value: int, **more: Any) -> str:
        """A class; its full name."""
        full = f"{name}-{self._suffix}"
        self._api.create("priorityclasses", {"metadata": {"name": full}, "value": value, **more})
        self._made.append(full)
        return full

    def remove_all(self) -> None:
        """Deletes them."""
        for name in self._made:
            self._api.delete("priorityclasses", name)


@pytest.fixture
def classes(control_plane: ControlPlane, namespace: str) -> Iterator[Classes]:
    made = Classes(control_plane.admin)
    yield made
    made.remove_all()


def gang(
    name: str, priority: str, *, restart: str = "Never", workers: int = WORKERS, **settings: Any
) -> dict[str, Any]:
    """A gang Job of that class."""
    job = indexed_job(name, workers, **settings)
    job["spec"]["template"]["spec"] |= {"priorityClassName": priority, "restartPolicy": restart}
    return job


def lone_pod(name: str, priority: str, *, cpu: str) -> dict[str, Any]:
    """A pod of that class which is for Tutti and for no gang."""
    container = {"name": "work", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": {"cpu": cpu}}}
    spec = {"schedulerName": "tutti", "priorityClassName": priority, "containers": [container]}
    return {"metadata": {"name": name}, "spec": spec}


def failed(jobs: Jobs, name: str) -> int:
    return int(jobs.get(name).get("status", {}).get("failed") or 0)


@pytest.mark.parametrize("restart", ["Never", "OnFailure"])
def test_a_preempted_gang_job_counts_no_failure_runs_again_and_completes(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, classes: Classes, restart: str
) -> None:
    low, high = classes.make("low", 10), classes.make("high", 100)
    nodes.add(2, cpu="4")
    jobs.create(gang("early", low, restart=restart, run_seconds=20))
    eventually(lambda: jobs.whole("early"), within_seconds=15)
    jobs.create(gang("urgent", high, run_seconds=2))
    eventually(lambda: jobs.whole("urgent"), within_seconds=15)
    eventually(lambda: jobs.succeeded("urgent"), within_seconds=20)
    eventually(lambda: jobs.whole("early"), within_seconds=20)
    eventually(lambda: jobs.succeeded("early"), within_seconds=45, poll_seconds=0.5)
    assert failed(jobs, "early") == 0
    assert failed(jobs, "urgent") == 0


def test_victims_are_told_by_condition_and_event_who_took_their_place(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, classes: Classes
) -> None:
    low, high = classes.make("low", 10), classes.make("high", 100)
    nodes.add(1, cpu="4")
    jobs.create(gang("early", low, workers=4))
    eventually(lambda: jobs.whole("early"), within_seconds=15)
    victims = [pod["metadata"]["name"] for pod in jobs.pods("early")]
    jobs.create(gang("urgent", high, workers=4))
    eventually(lambda: jobs.whole("urgent"), within_seconds=15)
    group = jobs.group("urgent")["metadata"]
    for victim in victims:
        notes = eventually(lambda name=victim: jobs.events("Pod", name, "Preempted"), within_seconds=10)  # type: ignore[misc]
        assert notes == [f"Preempted by podgroup {group['uid']} on node cluster"]


def test_a_gang_that_its_job_left_behind_leaves_for_a_more_important_one(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, classes: Classes
) -> None:
    """`kubectl delete job --cascade=orphan`: there is no Job that could be suspended."""
    low, high = classes.make("low", 10), classes.make("high", 100)
    nodes.add(1, cpu="4")
    jobs.create(gang("early", low, workers=4))
    eventually(lambda: jobs.whole("early"), within_seconds=15)
    leave_behind(jobs, "early")
    jobs.create(gang("urgent", high, workers=4))
    eventually(lambda: jobs.whole("urgent"), within_seconds=15)


@pytest.mark.one_api
def test_so_does_one_that_was_asked_to_leave_before_its_job_left_it_behind(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, classes: Classes
) -> None:
    """Nobody carries the request out any more; once the victim's time is over it leaves by deletes."""
    low, high = classes.make("low", 10), classes.make("high", 100)
    nodes.add(1, cpu="4")
    with tutti.deciding_with(victim_deadline_seconds=5):
        jobs.create(gang("early", low, workers=4))
        eventually(lambda: jobs.whole("early"), within_seconds=15)
        controllers = tutti.children()["controllers"]
        os.kill(controllers, signal.SIGSTOP)
        try:
            jobs.api.create("pods", lone_pod("urgent", high, cpu="4"), jobs.namespace)
            eventually(lambda: condition_entry(jobs.group("early"), "DisruptionTarget"), within_seconds=15)
            leave_behind(jobs, "early")
        finally:
            os.kill(controllers, signal.SIGCONT)
        eventually(lambda: jobs.api.get("pods", "urgent", jobs.namespace)["spec"].get("nodeName"), within_seconds=60)


def leave_behind(jobs: Jobs, name: str) -> None:
    """Deletes the Job without its pods and its group."""
    jobs.api.delete("jobs", name, jobs.namespace, propagation="Orphan")
    eventually(lambda: jobs.api.find("jobs", name, jobs.namespace) is None, within_seconds=15)


@pytest.mark.parametrize(("value", "policy"), [(10, "PreemptLowerPriority"), (100, "Never")])
def test_equals_and_those_who_never_preempt_evict_nobody(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, classes: Classes, value: int, policy: str
) -> None:
    low = classes.make("low", 10)
    other = classes.make("other", value, preemptionPolicy=policy)
    nodes.add(1, cpu="4")
    jobs.create(gang("early", low, workers=4))
    eventually(lambda: jobs.whole("early"), within_seconds=15)
    jobs.create(gang("urgent", other, workers=4))
    eventually(lambda: condition_entry(jobs.group("urgent"), CONDITION), within_seconds=10)
    message = (condition_entry(jobs.group("urgent"), CONDITION) or {})["message"]
    assert "pod group preemption: " in message
    throughout(lambda: jobs.bound("early") == 4, seconds=3, poll_seconds=0.3)


def test_a_gang_that_would_not_fit_even_then_evicts_nobody(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, classes: Classes
) -> None:
    low, high = classes.make("low", 10), classes.make("high", 100)
    nodes.add(1, cpu="4")
    jobs.create(gang("early", low, workers=4))
    eventually(lambda: jobs.whole("early"), within_seconds=15)
    jobs.create(gang("urgent", high, workers=5))
    eventually(lambda: condition_entry(jobs.group("urgent"), CONDITION), within_seconds=10)
    throughout(lambda: jobs.bound("early") == 4 and jobs.bound("urgent") == 0, seconds=3, poll_seconds=0.3)


def test_a_budget_that_is_used_up_sends_others_away_first(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, classes: Classes
) -> None:
    low, high = classes.make("low", 10), classes.make("high", 100)
    nodes.add(2, cpu="4")
    jobs.create(gang("guarded", low, workers=4, template_labels={"app": "guarded"}))
    eventually(lambda: jobs.whole("guarded"), within_seconds=15)
    jobs.create(gang("plain", low, workers=4))
    eventually(lambda: jobs.whole("plain"), within_seconds=15)
    budget = {
        "metadata": {"name": "guard"},
        "spec": {"minAvailable": 4, "selector": {"matchLabels": {"app": "guarded"}}},
    }
    jobs.api.create("poddisruptionbudgets", budget, jobs.namespace)
    eventually(
        lambda: (
            jobs.api.get("poddisruptionbudgets", "guard", jobs.namespace).get("status", {}).get("expectedPods") == 4
        ),
        within_seconds=15,
    )
    jobs.create(gang("urgent", high, workers=4))
    eventually(lambda: jobs.whole("urgent"), within_seconds=15)
    assert jobs.bound("guarded") == 4

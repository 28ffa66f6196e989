"""Preemption of real containers: they are asked to end, have their time for it, and only then others take their place."""

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.containers import gang, running, started_at
from tests.e2e.node import SLOTS, Node
from verify.clusters.eventually import eventually
from verify.clusters.jobs import Jobs

SETTLE_SECONDS = 60.0
CLEANING_SECONDS = 6
ROUNDING = dt.timedelta(seconds=1)
GRACE = dt.timedelta(seconds=30)
CLEANS_UP = f"trap 'sleep {CLEANING_SECONDS}; exit 0' TERM; while :; do sleep 0.2; done"
IMPORTANT = "e2e-important"


@pytest.fixture
def important(tutti: Node) -> Iterator[str]:
    """A PriorityClass above that of pods that name none."""
    body = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": IMPORTANT},
        "value": 1000,
    }
    tutti.api.create("priorityclasses", body)
    yield IMPORTANT
    tutti.api.delete("priorityclasses", IMPORTANT)


def test_victims_have_their_grace_period_and_the_gang_starts_after_it(jobs: Jobs, important: str) -> None:
    jobs.create(gang("victim", SLOTS, CLEANS_UP))
    eventually(lambda: running(jobs, "victim") == SLOTS, within_seconds=SETTLE_SECONDS)
    victims = {pod["metadata"]["uid"] for pod in jobs.pods("victim")}

    jobs.create(gang("preemptor", SLOTS, "sleep 3", priorityClassName=important))
    leaving = eventually(lambda: asked_to_leave(jobs, victims), within_seconds=SETTLE_SECONDS)
    assert len(leaving) == SLOTS
    assert all(pod["metadata"]["deletionGracePeriodSeconds"] == GRACE.total_seconds() for pod in leaving)
    eventually(lambda: jobs.succeeded("preemptor"), within_seconds=SETTLE_SECONDS)
    first_start = min(started_at(pod) for pod in jobs.pods("preemptor"))
    # The time of deletion is the one at which the grace period would be over.
    asked = max(dt.datetime.fromisoformat(pod["metadata"]["deletionTimestamp"]) for pod in leaving) - GRACE
    assert (first_start - asked).total_seconds() >= CLEANING_SECONDS - 1

    # The victim has lost nothing but time: its Job is not failed and runs again.
    eventually(lambda: running(jobs, "victim") == SLOTS, within_seconds=SETTLE_SECONDS)
    assert not victims & {pod["metadata"]["uid"] for pod in jobs.pods("victim")}
    assert not jobs.get("victim")["status"].get("failed")


def test_a_container_that_ignores_the_signal_is_ended_after_its_grace_period(jobs: Jobs, important: str) -> None:
    grace_seconds = 3
    jobs.create(gang("deaf", SLOTS, "trap '' TERM; while :; do sleep 0.2; done", grace_seconds=grace_seconds))
    eventually(lambda: running(jobs, "deaf") == SLOTS, within_seconds=SETTLE_SECONDS)
    deaf = {pod["metadata"]["uid"] for pod in jobs.pods("deaf")}
    jobs.create(gang("preemptor", SLOTS, "sleep 1", priorityClassName=important))
    leaving = eventually(lambda: asked_to_leave(jobs, deaf), within_seconds=SETTLE_SECONDS)
    eventually(lambda: jobs.succeeded("preemptor"), within_seconds=SETTLE_SECONDS)
    over = max(dt.datetime.fromisoformat(pod["metadata"]["deletionTimestamp"]) for pod in leaving)
    assert min(started_at(pod) for pod in jobs.pods("preemptor")) >= over - ROUNDING


def asked_to_leave(jobs: Jobs, uids: set[str]) -> list[dict[str, Any]]:
    """These pods, once all of them are being deleted."""
    found = [pod for pod in jobs.api.list("pods", jobs.namespace) if pod["metadata"]["uid"] in uids]
    return found if found and all("deletionTimestamp" in pod["metadata"] for pod in found) else []

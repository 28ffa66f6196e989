"""While the webhook process is gone or hangs, bystanders notice nothing and the gangs that are known go on."""

import signal
import time

import pytest

from verify.clusters.client import ApiError
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, indexed_job, is_gang, plain_job, plain_pod
from verify.clusters.tutti_process import Tutti

UNDELAYED_SECONDS = 1.0
pytestmark = pytest.mark.one_api

LOST = pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "hanging"])


@LOST
def test_unrelated_pods_and_jobs_are_created_and_finish_without_delay(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, how: signal.Signals
) -> None:
    nodes.add(1, cpu="16")
    tutti.lose_child("webhooks", how)
    for number in range(5):
        begin = time.monotonic()
        jobs.api.create("pods", plain_pod(f"pod-{number}", run_seconds=0.1), jobs.namespace)
        jobs.create(plain_job(f"job-{number}", 2, run_seconds=0.1))
        assert time.monotonic() - begin < UNDELAYED_SECONDS
    eventually(lambda: all(jobs.succeeded(f"job-{number}") for number in range(5)), within_seconds=20)
    begin = time.monotonic()
    jobs.api.patch("jobs", "job-0", {"metadata": {"labels": {"touched": "yes"}}}, jobs.namespace)
    jobs.api.delete("jobs", "job-1", jobs.namespace)
    assert time.monotonic() - begin < UNDELAYED_SECONDS


@LOST
def test_gangs_already_known_go_on_to_their_end(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, how: signal.Signals
) -> None:
    nodes.add(1, cpu="4")
    jobs.create(indexed_job("running", 4, run_seconds=4))
    eventually(lambda: jobs.whole("running"), within_seconds=20)
    jobs.create(indexed_job("waiting", 4, run_seconds=0.2))
    eventually(lambda: jobs.waits("waiting"), within_seconds=20)
    tutti.lose_child("webhooks", how)
    for name in ("running", "waiting"):
        eventually(lambda each=name: jobs.succeeded(each), within_seconds=40)  # type: ignore[misc]
    jobs.api.delete("jobs", "running", jobs.namespace)
    pods_of_it = "batch.kubernetes.io/job-name=running"
    eventually(lambda: not jobs.api.list("pods", jobs.namespace, labels=pods_of_it), within_seconds=20)


@LOST
def test_a_known_gang_replaces_a_pod_it_lost(jobs: Jobs, nodes: HollowNodes, tutti: Tutti, how: signal.Signals) -> None:
    nodes.add(1, cpu="4")
    jobs.create(indexed_job("healing", 3, backoffLimit=6))
    eventually(lambda: jobs.whole("healing"), within_seconds=20)
    tutti.lose_child("webhooks", how)
    lost = jobs.pods("healing")[0]["metadata"]
    jobs.api.delete("pods", lost["name"], jobs.namespace)

    def replaced() -> bool:
        alive = [pod for pod in jobs.pods("healing") if pod["status"]["phase"] == "Running"]
        return len(alive) == 3 and lost["uid"] not in [pod["metadata"]["uid"] for pod in alive]

    eventually(replaced, within_seconds=60)


@LOST
def test_a_job_made_meanwhile_is_plain_and_said_to_be(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, how: signal.Signals
) -> None:
    nodes.add()
    tutti.lose_child("webhooks", how)
    jobs.create(indexed_job("missed", 2))
    assert not is_gang(jobs.get("missed"))
    eventually(lambda: jobs.whole("missed"), within_seconds=20)
    eventually(lambda: jobs.events("Job", "missed", "NotAdmittedAsGang"), within_seconds=20)


def test_the_size_of_a_known_gang_stays_guarded(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> None:
    jobs.create(indexed_job("guarded", 3))
    eventually(lambda: jobs.groups("guarded"), within_seconds=20)
    tutti.lose_child("webhooks", signal.SIGKILL)
    with pytest.raises(ApiError, match="webhook"):
        jobs.api.patch("jobs", "guarded", {"spec": {"parallelism": 2}}, jobs.namespace)

"""Replicas that come and go under load: in a rollout no Job is missed and no gang lost, after a sudden death for a moment."""

import sys
import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor

from tests.e2e.containers import gang
from tests.e2e.installation import wait_until_ready
from tests.e2e.node import SYSTEM, Node
from tests.e2e.stream import Stream, hollow_nodes
from verify.clusters.eventually import eventually
from verify.clusters.jobs import condition, is_gang

CLIENTS = 4
GONE_SECONDS = 60.0
NOTICED_SECONDS = 8.0
"""Until the kubelet has told of a container that is gone, and the node has learnt not to send anybody there."""

JOBS_PER_SECOND = 20.0
BEFORE_SECONDS = 3.0
ROLLOUT_SECONDS = 180.0
"""Two cores have all of it to do: start six processes and store 20 Jobs a second."""

DONE_SECONDS = 400.0
WEBHOOKS = "app.kubernetes.io/component=webhooks"


class Asking:
    """Clients that create Jobs for trial, one after the other, until they are told to stop."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(CLIENTS)
        self._clients: list[Future[list[bool]]] = []
        self.missed_at: list[float] = []
        """When a Job was not taken in, in monotonic seconds."""

    def start(self) -> None:
        """Lets them begin."""
        self._clients = [self._pool.submit(self._ask, number) for number in range(CLIENTS)]

    def answers(self) -> list[bool]:
        """Whether each of the Jobs was taken in."""
        self._stop.set()
        return [answer for client in self._clients for answer in client.result()]

    def _ask(self, number: int) -> list[bool]:
        answers: list[bool] = []
        while not self._stop.is_set():
            job = gang(f"trial-{number}-{len(answers)}", 2, "true")
            # Nothing is stored, but admission is asked as for any other.
            answers.append(is_gang(self._node.api.create("jobs", job, "default", dry_run=True)))
            if not answers[-1]:
                self.missed_at.append(time.monotonic())
            self._stop.wait(0.02)
        return answers


def test_no_job_is_missed_while_all_replicas_are_replaced(tutti: Node) -> None:
    asking = Asking(tutti)
    asking.start()
    for _ in range(2):
        tutti.kubectl("-n", SYSTEM, "rollout", "restart", "deployment", "tutti-webhooks")
        wait_until_ready(tutti)
        eventually(lambda: len(tutti.api.list("pods", SYSTEM, labels=WEBHOOKS)) == 2, within_seconds=GONE_SECONDS)
    answers = asking.answers()
    assert len(answers) > 100
    assert answers.count(False) == 0, f"{answers.count(False)} of {len(answers)} Jobs were missed"


def test_a_replica_that_dies_is_missed_for_a_moment_only(tutti: Node) -> None:
    asking = Asking(tutti)
    asking.start()
    victim = tutti.processes("webhooks")[0]
    begin = time.monotonic()
    tutti.inside("kill", "-KILL", victim)
    eventually(lambda: len(set(tutti.processes("webhooks")) - {victim}) == 2, within_seconds=GONE_SECONDS)
    wait_until_ready(tutti)
    answers = asking.answers()
    last = max(asking.missed_at, default=begin) - begin
    sys.stdout.write(
        f"\none of two webhooks killed: {answers.count(False)} of {len(answers)} Jobs missed, the last after {last:.1f} s\n"
    )
    assert last < NOTICED_SECONDS
    assert answers[-1]


def test_no_gang_is_lost_or_left_plain_while_all_deployments_are_replaced(tutti: Node, namespace: str) -> None:
    with hollow_nodes(tutti):
        with Stream(tutti, namespace, per_second=JOBS_PER_SECOND) as stream:
            eventually(lambda: len(stream.made) > JOBS_PER_SECOND * BEFORE_SECONDS, within_seconds=GONE_SECONDS)
            old = pods_of_ours(tutti)
            begin = time.monotonic()
            tutti.kubectl("-n", SYSTEM, "rollout", "restart", "deployment")
            eventually(lambda: not old & pods_of_ours(tutti), within_seconds=ROLLOUT_SECONDS, poll_seconds=0.5)
            wait_until_ready(tutti)
            took = time.monotonic() - begin
        sys.stdout.write(
            f"\nrollout of all Deployments in {took:.0f} s under {stream.rate:.0f} Jobs/s: {len(stream.made)} Jobs, "
            f"{len(stream.having('refused'))} refused, {len(stream.having('plain'))} plain, "
            f"slowest creation {max(one.took_seconds for one in stream.made):.1f} s\n"
        )
        assert not stream.having("refused")
        assert not stream.having("plain")
        eventually(lambda: all_done(tutti, namespace, stream), within_seconds=DONE_SECONDS, poll_seconds=3)
        sys.stdout.write(f"all {len(stream.made)} done {time.monotonic() - begin - took:.0f} s after the rollout\n")


def pods_of_ours(node: Node) -> set[str]:
    """The names of the pods that are there."""
    return {pod["metadata"]["name"] for pod in node.api.list("pods", SYSTEM)}


def all_done(node: Node, namespace: str, stream: Stream) -> bool:
    """Whether each Job is complete; a gang has one Workload and one PodGroup for as long as its Job is there."""
    jobs = {job["metadata"]["name"]: job for job in node.api.list("jobs", namespace)}
    assert set(jobs) == {one.name for one in stream.made}
    left = [name for name, job in jobs.items() if condition(job, "Complete") != "True"]
    assert not left, f"{len(left)} are not complete, such as {left[:3]}"
    owners = Counter(
        owner["name"]
        for group in node.api.list("podgroups", namespace)
        for owner in group["metadata"]["ownerReferences"]
        if owner["kind"] == "Job"
    )
    assert all(owners[one.name] <= 1 for one in stream.made), "a gang has two groups"
    return True

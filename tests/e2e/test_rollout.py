"""A rollout of the webhooks under load: no Job in it is missed."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor

from tests.conformance.eventually import eventually
from tests.conformance.jobs import is_gang
from tests.e2e.containers import gang
from tests.e2e.installation import wait_until_ready
from tests.e2e.node import SYSTEM, Node

CLIENTS = 4
GONE_SECONDS = 60.0
WEBHOOKS = "app.kubernetes.io/component=webhooks"


class Asking:
    """Clients that create Jobs for trial, one after the other, until they are told to stop."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(CLIENTS)
        self._clients: list[Future[list[bool]]] = []

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

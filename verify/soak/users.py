"""Carries out what users do, so many changes a second, until it is told to stop."""

import random
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import urllib3

from verify.clusters.client import Api, ApiError
from verify.clusters.eventually import eventually
from verify.soak.changes import Change, Changes
from verify.soak.cluster import NAMESPACE, Place

AT_ONCE = 4
MOST_BEHIND_SECONDS = 30.0
"""What users miss while a server is gone is made up for up to here, so that faults do not lower the rate that was asked for. Beyond
it they are slower: a server that cannot keep up is asked no more than it takes."""
CLUSTER_KINDS = {"nodes"}
CLEANED = ("leaderworkersets", "jobs", "pods")
CLEAN_SECONDS = 300.0


class Users:
    """Several people at once.

    Attributes:
        changes: how many requests they have made.
        refused: how many of them the server has refused, or not answered.

    Args:
        place: where.
        seed: of what they do.
        rate: changes a second.
    """

    def __init__(self, place: Place, seed: int, rate: float) -> None:
        self.changes = 0
        self.refused = 0
        self._place = place
        self._drawn = Changes(random.Random(seed), place.nodes)
        self._pause_seconds = 1.0 / rate
        self._lock = threading.Lock()
        self._last: dict[str, Future[None]] = {}
        """By object: its last change, while that is under way."""

    def run(self, stop: threading.Event) -> None:
        """Goes on until the event is set."""
        due = time.monotonic()
        room = threading.Semaphore(AT_ONCE)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            while not stop.wait(max(0.0, due - time.monotonic())):
                due = next_due(due, self._pause_seconds, time.monotonic())
                room.acquire()
                self.submit(pool, self._drawn.next()).add_done_callback(lambda _: room.release())

    def submit(self, pool: ThreadPoolExecutor, change: Change) -> Future[None]:
        """Has it carried out, after what was submitted of the same object: who deletes what is not there yet leaves it for good."""
        self._last = {name: each for name, each in self._last.items() if not each.done()}
        done = self._last[change.name] = pool.submit(self._do, change, self._last.get(change.name))
        return done

    def clean_up(self) -> None:
        """Deletes everything that is there, whoever it was that made it; a deletion may have been refused before.

        Raises:
            AssertionError: it is still there after a long time.
        """
        for change in self._drawn.reopened():
            eventually(lambda change=change: carry_out(self._place.api, change), within_seconds=CLEAN_SECONDS)  # type: ignore[misc]
        eventually(self._is_clean, within_seconds=CLEAN_SECONDS, poll_seconds=1.0)

    def _is_clean(self) -> bool:
        try:
            left = [(kind, each) for kind in CLEANED for each in self._place.api.list(kind, NAMESPACE)]
        except urllib3.exceptions.HTTPError:
            return False
        for kind, each in left:
            if "deletionTimestamp" not in each["metadata"]:
                carry_out(self._place.api, Change("delete", kind, str(each["metadata"]["name"])))
        return not left

    def _do(self, change: Change, before: Future[None] | None) -> None:
        if before is not None:
            before.result()
        is_done = carry_out(self._place.api, change)
        with self._lock:
            self.changes += 1
            self.refused += not is_done


def next_due(due: float, pause_seconds: float, now: float) -> float:
    """When the next change is due after one that was due then; in the past, where there is something to make up for."""
    return max(due + pause_seconds, now - MOST_BEHIND_SECONDS)


def carry_out(api: Api, change: Change) -> bool:
    """Whether the server has carried it out."""
    namespace = None if change.resource in CLUSTER_KINDS else NAMESPACE
    try:
        match change.verb:
            case "create":
                api.create(change.resource, change.body, namespace)
            case "patch":
                api.patch(change.resource, change.name, change.body, namespace)
            case _:
                api.delete(change.resource, change.name, namespace)
    except (ApiError, urllib3.exceptions.HTTPError):
        return False
    return True

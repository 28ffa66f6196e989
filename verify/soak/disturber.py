"""Carries out what goes wrong: scripts at the proxy, kills and stops of Tutti's processes."""

import random
import threading
from collections import Counter

from verify.clusters.disturbance import (
    WRITES,
    Disturbance,
    kill_when_injected,
    pause_leaders,
    pause_webhooks,
    to_each,
)
from verify.clusters.eventually import eventually
from verify.clusters.tutti_process import CHILDREN, Tutti
from verify.faults.proxy import FaultProxy
from verify.faults.script import Script, parse
from verify.soak.cluster import LEASE, Place
from verify.soak.faults import Fault, draw

ALL_RUN_SECONDS = 120.0
BEYOND_SECONDS = 3.0


class Disturber:
    """One fault after the other.

    Attributes:
        done: how many of each kind.
        told: each of them, as text.

    Args:
        place: where.
        seed: of what goes wrong.
        pause_seconds: how long a script is in force, and between two faults, on average.
    """

    def __init__(self, place: Place, seed: int, pause_seconds: float) -> None:
        self.done: Counter[str] = Counter()
        self.told: list[str] = []
        self._place = place
        self._chance = random.Random(seed)
        self._pause_seconds = pause_seconds
        self._proxy: FaultProxy = place.proxy
        self._tutti: Tutti = place.tutti

    def run(self, stop: threading.Event, processes_live_on: threading.Event) -> None:
        """Goes on until `stop` is set; from `processes_live_on` on no fault ends a process."""
        while not stop.wait(self._chance.uniform(0.5, 1.5) * self._pause_seconds):
            fault = draw(self._chance, ends_processes=not processes_live_on.is_set())
            if not self._all_run():
                continue
            self.told.append(str(fault))
            self.done[fault.kind] += 1
            self._disturb(fault, stop)
        self.end()

    def end(self) -> None:
        """Nothing is in force any more."""
        self._proxy.follow(Script())
        self._proxy.break_watches()

    def _all_run(self) -> bool:
        """Whether there are processes to be hurt: the supervisor takes its time after several deaths."""
        try:
            return eventually(lambda: set(self._tutti.children()) == set(CHILDREN), within_seconds=ALL_RUN_SECONDS)
        except AssertionError:
            return False

    def _disturb(self, fault: Fault, stop: threading.Event) -> None:
        disturbance = Disturbance(self._proxy, self._tutti)
        match fault.kind:
            case "script":
                self._proxy.follow(parse(fault.about))
                self._proxy.break_watches()
                stop.wait(self._pause_seconds)
                self.end()
            case "break-watches":
                self._proxy.break_watches()
            case "kill":
                self._tutti.kill_child(fault.about)
            case "kill-at-write":
                before = len(self._proxy.injected)
                self._proxy.follow(parse(to_each(fault.about, WRITES)))
                kill_when_injected(disturbance, since=before)
                self.end()
            case "pause-leaders":
                pause_leaders(disturbance, seconds=LEASE["lease_seconds"] + BEYOND_SECONDS)
            case "pause-webhooks":
                pause_webhooks(disturbance)

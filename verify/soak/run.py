"""The order of a soak: users and faults, then rest, then everything is deleted."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from verify.clusters.eventually import eventually
from verify.soak.cluster import Place, place
from verify.soak.disturber import Disturber
from verify.soak.faults import process_faults_seconds
from verify.soak.judge import Judge, left_of_gangs
from verify.soak.memory import Sample, take, trend
from verify.soak.outcome import Outcome
from verify.soak.tally import Calm, Tally
from verify.soak.users import Users

LOOK_SECONDS = 5.0
TOLD_SECONDS = 60.0
GONE_SECONDS = 180.0
READY_SECONDS = 300.0
MOST_REST_SECONDS = 480.0
"""So long rest is waited for: a Job that takes its time to make a pod anew is no rest, and somebody's end makes room for others."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """What is asked for.

    Attributes:
        cluster: `embedded` or `real`.
        seconds: how long users and faults go on.
        seed: of both.
        changes_per_second: by users.
        fault_seconds: about so long between two faults.
        settle_seconds: how long after the last change, by whomever, something may still be written, hints included.
        rest_seconds: how long nothing may be written then.
    """

    cluster: str
    seconds: float
    seed: int
    changes_per_second: float = 20.0
    fault_seconds: float = 15.0
    settle_seconds: float = 120.0
    rest_seconds: float = 60.0


def soak(settings: Settings, say: Say) -> Outcome:
    """Runs it; `say` is told now and then how far it has come.

    Raises:
        NoControlPlaneError: the real control plane is not there.
    """
    with place(settings.cluster) as where:
        run = _Run(settings, where, say)
        run.under_faults()
        run.at_rest()
        run.end()
        return run.outcome


class _Run:
    def __init__(self, settings: Settings, where: Place, say: Say) -> None:
        self.outcome = Outcome(settings.seed)
        self._settings = settings
        self._where = where
        self._say = say
        self._judge = Judge(where, say)
        self._users = Users(where, settings.seed, settings.changes_per_second)
        self._disturber = Disturber(where, settings.seed + 1, settings.fault_seconds)
        self._samples: dict[str, list[Sample]] = {}

    def under_faults(self) -> None:
        """Users and faults go on for as long as was asked for."""
        stop, live_on = threading.Event(), threading.Event()
        begin = time.monotonic()
        with ThreadPoolExecutor(2) as pool:
            running = [pool.submit(self._users.run, stop), pool.submit(self._disturber.run, stop, live_on)]
            try:
                self._look_on(begin, running, live_on)
            finally:
                stop.set()
        for each in running:
            each.result()
        found, users, disturber = self.outcome, self._users, self._disturber
        found.seconds = time.monotonic() - begin
        found.changes, found.refused = users.changes, users.refused
        found.faults, found.injected = disturber.done, len(self._where.proxy.injected)
        found.trends = {name: trend(samples) for name, samples in sorted(self._samples.items())}
        self._say("faults were: " + "; ".join(disturber.told))

    def _look_on(self, begin: float, running: list[Future[None]], live_on: threading.Event) -> None:
        told = begin
        while (passed := time.monotonic() - begin) < self._settings.seconds:
            time.sleep(min(LOOK_SECONDS, self._settings.seconds - passed))
            if passed >= process_faults_seconds(self._settings.seconds):
                live_on.set()
            self._judge.look()
            take(self._where.tutti.children(), time.monotonic(), self._samples)
            if time.monotonic() - told >= TOLD_SECONDS:
                told = time.monotonic()
                self._say(self._progress(passed))
            for each in running:
                if each.done():
                    each.result()

    def _progress(self, passed: float) -> str:
        tally = self._judge.tally
        counts = f"{self._users.changes} changes, {tally.started} gangs started, {tally.evictions} evictions"
        faults, broken = self._disturber.done.total(), len(self._judge.violations)
        memory = ", ".join(f"{name} {each[-1]}" for name, each in sorted(self._samples.items()))
        return (
            f"{passed / 60:.0f} min: {counts}, {faults} faults, {broken} violations; {self._judge.pods} pods; {memory}"
        )

    def at_rest(self) -> None:
        """Nobody does anything; what Tutti writes in a time in which nobody else wrote is counted."""
        with self._noted("Tutti was not ready once faults had ended"):
            eventually(self._where.tutti.ready, within_seconds=READY_SECONDS)
        self._judge.look()
        self.outcome.tally = self._judge.tally
        calm, tally = Calm(self._settings.settle_seconds), Tally()
        deadline = time.monotonic() + self._settings.settle_seconds + MOST_REST_SECONDS
        while time.monotonic() < deadline:
            tally = self._judge.tally = Tally()
            self._wait(self._settings.rest_seconds)
            if calm.is_rest(tally, self._settings.rest_seconds):
                self.outcome.rest_seconds = self._settings.rest_seconds
                break
        self.outcome.rest_writes = tally.writes
        # What is written while everything is deleted, which makes room for those who wait, is no write at rest.
        self._judge.tally = Tally()

    @contextmanager
    def _noted(self, what: str) -> Iterator[None]:
        try:
            yield
        except AssertionError as error:
            self.outcome.problems.append(f"{what}: {error}")

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(LOOK_SECONDS, left))
            self._judge.look()

    def end(self) -> None:
        """Everything is deleted; what is left is told."""
        with self._noted("users could not delete what they had made"):
            self._users.clean_up()
        with suppress(AssertionError):
            eventually(lambda: not left_of_gangs(self._where), within_seconds=GONE_SECONDS, poll_seconds=1.0)
        self.outcome.orphans = left_of_gangs(self._where)
        self._judge.look()
        self.outcome.violations = self._judge.violations

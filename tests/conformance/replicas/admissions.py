"""A steady stream of Jobs made for trial, and what became of each: taken in, left plain, or refused."""

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType

from urllib3.exceptions import HTTPError

from verify.clusters.client import Api, ApiError
from verify.clusters.jobs import indexed_job, is_gang

CLIENTS = 40
PER_SECOND = 100.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What one Job met; `at` in seconds since the stream began."""

    at: float
    took_seconds: float
    missed: str = ""


class Admissions:
    """So many Jobs a second are created with dry-run while the block runs: nothing is stored, but admission is asked."""

    def __init__(self, api: Api, *, per_second: float = PER_SECOND, namespace: str = "default") -> None:
        self._api = api
        self._pause = 1 / per_second
        self._namespace = namespace
        self._stop = threading.Event()
        self._turn = threading.Lock()
        self._next = 0
        self._began = 0.0
        self._pool = ThreadPoolExecutor(CLIENTS)
        self._clients: list[Future[list[Answer]]] = []
        self.answers: list[Answer] = []

    def __enter__(self) -> "Admissions":
        self._began = time.monotonic()
        self._clients = [self._pool.submit(self._ask) for _ in range(CLIENTS)]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop.set()
        self._pool.shutdown()
        self.answers = sorted((each for client in self._clients for each in client.result()), key=lambda one: one.at)

    @property
    def missed(self) -> list[Answer]:
        """Those that were refused or failed open."""
        return [each for each in self.answers if each.missed]

    @property
    def rate(self) -> float:
        """Jobs a second that were really asked for."""
        return len(self.answers) / (self.answers[-1].at - self.answers[0].at)

    def told(self) -> str:
        """The figures in one line."""
        took = sorted(each.took_seconds for each in self.answers)
        refused = sum(each.missed != PLAIN for each in self.missed)
        return (
            f"{len(took)} admissions, {self.rate:.0f}/s, {refused} refused, {len(self.missed) - refused} failed open, "
            f"p50 {took[len(took) // 2] * 1000:.0f} ms, p99 {took[len(took) * 99 // 100] * 1000:.0f} ms, "
            f"slowest {took[-1] * 1000:.0f} ms"
        )

    def _ask(self) -> list[Answer]:
        answers: list[Answer] = []
        while not self._stop.is_set():
            with self._turn:
                number, self._next = self._next, self._next + 1
            due = self._began + number * self._pause
            if self._stop.wait(max(0.0, due - time.monotonic())):
                break
            begin = time.monotonic()
            missed = self._create(f"trial-{number}")
            answers.append(Answer(begin - self._began, time.monotonic() - begin, missed))
        return answers

    def _create(self, name: str) -> str:
        try:
            job = self._api.create("jobs", indexed_job(name, 2), self._namespace, dry_run=True)
        except (ApiError, HTTPError) as error:
            return f"refused: {error}"
        return "" if is_gang(job) else PLAIN


PLAIN = "failed open"

"""Writes events.k8s.io/v1 events, for people who ask `kubectl describe`.

Events are the least important of our writes. Recording never blocks, never raises and never grows without bound: a full
queue drops its oldest entry and counts it, a failed write is counted and forgotten. An optional gate lets more important
writes go first.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final

from kube.client.client import Client
from kube.client.errors import AlreadyExists, KubeError, NotFound
from kube.client.event_series import (
    EventSeriesCache,
    EventType,
    ObjectReference,
    Occurrence,
    Series,
    event_body,
    event_name,
    may_patch,
    series_patch,
    short_note,
)
from kube.client.rate_limit import TokenBucket
from kube.client.resources import EVENTS
from kube.outside import monotonic_seconds, utc_now

__all__ = ["EventRecorder", "ObjectReference"]

_log = logging.getLogger(__name__)

_PER_SECOND: Final = 20.0
_BURST: Final = 100
_MAX_QUEUED: Final = 1000


async def _open_gate() -> None:
    return None


class EventRecorder:
    """Records events of one component; `run` writes them in the background (client-go's EventRecorder).

    Args:
        client: talks to the API server.
        component: `reportingController` of the events.
        instance: `reportingInstance` of the events.
        clock: monotonic seconds.
        wall_clock: the time of day.
        gate: awaited before each write.
        max_queued: events that may wait; a further one drops the oldest.

    Attributes:
        dropped: events given up because the queue was full.
        failed: events that the server did not take.
    """

    def __init__(
        self,
        client: Client,
        *,
        component: str,
        instance: str,
        clock: Callable[[], float] = monotonic_seconds,
        wall_clock: Callable[[], datetime] = utc_now,
        gate: Callable[[], Awaitable[None]] = _open_gate,
        max_queued: int = _MAX_QUEUED,
    ) -> None:
        self.dropped = 0
        self.failed = 0
        self._client = client
        self._component = component
        self._instance = instance
        self._clock = clock
        self._wall_clock = wall_clock
        self._gate = gate
        self._max_queued = max_queued
        self._bucket = TokenBucket(per_second=_PER_SECOND, burst=_BURST, clock=clock)
        self._series_cache = EventSeriesCache()
        self._last_nanoseconds = 0
        self._queue: deque[tuple[Occurrence, datetime]] = deque()
        self._filled = asyncio.Event()
        self._drained = asyncio.Event()
        self._drained.set()

    def record(
        self,
        regarding: ObjectReference,
        *,
        reason: str,
        note: str,
        type: EventType = "Normal",  # noqa: A002 (the API's own name)
        action: str,
        related: ObjectReference | None = None,
        reporter: str = "",
    ) -> None:
        """Remember to write this event. Only to be called from the loop that runs `run`.

        Args:
            regarding: the object it is about.
            reason: one word, for programs.
            note: a sentence, for people; cut to 1 KiB.
            type: `Normal` or `Warning`.
            action: what was done or tried.
            related: a second object, where there is one.
            reporter: who the event is from, where that is not the component itself (one profile of several, say).
        """
        if len(self._queue) >= self._max_queued:
            self._queue.popleft()
            self.dropped += 1
        occurrence = Occurrence(regarding, reason, short_note(note), type, action, related, reporter)
        self._queue.append((occurrence, self._wall_clock()))
        self._drained.clear()
        self._filled.set()

    async def flush(self, timeout: float) -> None:  # noqa: ASYNC109 (a bound, not a failure: what is left is dropped)
        """Wait until everything recorded so far is written, for so many seconds at most."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._drained.wait(), timeout)

    async def run(self) -> None:
        """Write events until cancelled."""
        while True:
            await self._filled.wait()
            if not self._queue:
                self._filled.clear()
                self._drained.set()
                continue
            await self._gate()
            if self._queue:
                await self._write(*self._queue.popleft())

    async def _write(self, occurrence: Occurrence, happened: datetime) -> None:
        series = self._series_cache.repeated(occurrence, self._clock())
        if series is not None and not may_patch(series, self._clock()):
            return
        await asyncio.sleep(self._bucket.take())
        try:
            if series is None:
                await self._create(occurrence, happened)
            else:
                await self._continue(occurrence, series, happened)
        except KubeError as error:
            self.failed += 1
            _log.debug("event %s was not written: %s", occurrence.reason, error)

    async def _create(self, occurrence: Occurrence, happened: datetime) -> None:
        nanoseconds = self._nanoseconds(occurrence, happened)
        name = event_name(occurrence, nanoseconds)
        body = event_body(occurrence, name, self._component, self._instance, happened)
        self._series_cache.started(occurrence, nanoseconds, self._clock())
        try:
            await self._client.create(EVENTS, body, occurrence.namespace, parse=False)
        except AlreadyExists:
            return
        except KubeError as error:
            if not error.outcome_unknown:
                self._series_cache.forget(occurrence)
            raise

    async def _continue(self, occurrence: Occurrence, series: Series, happened: datetime) -> None:
        name = event_name(occurrence, series.nanoseconds)
        try:
            await self._client.patch(EVENTS, series_patch(series, happened), name, occurrence.namespace, parse=False)
        except NotFound:
            self._series_cache.forget(occurrence)
            await self._create(occurrence, happened)

    def _nanoseconds(self, occurrence: Occurrence, happened: datetime) -> int:
        """The end of a new event's name.

        The clock has microseconds. What is below them tells apart what other processes write about the object just then; and
        the time is later than that of the last name, so no two of this recorder are the same.
        """
        nanoseconds = int(happened.timestamp() * 1_000_000) * 1000 + (hash(occurrence.key) & 0x3FF)
        self._last_nanoseconds = max(nanoseconds, self._last_nanoseconds + 1)
        return self._last_nanoseconds

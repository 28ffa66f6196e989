"""Three lanes on one pool of requests: binds first, then evictions, everything else when none of these waits.

Writes are what limits a scheduler, so the order in which they go out is a decision of its own:

- binds are sent in the order they were handed in, up to `concurrency` at once;
- evictions are sent in their order, one after every few binds: whoever has room starts before room is made for the next one;
- status writes are sent only when neither of these is queued, nor expected within a moment. They are coalesced per object
  (the latest wins) and dropped when overtaken. One that has waited for `patience_seconds` may use one connection all the
  same, so that a steady stream of binds cannot silence the scheduler for ever;
- two writes for one key are never under way at once, so an older one can not arrive after a newer one;
- nothing starts while `may_write` says no: what was queued then is dropped, because whoever holds the lease now decides
  anew.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Final

_log = logging.getLogger(__name__)

Job = Callable[[], Awaitable[str]]
"""Sends one write and deals with its answer; returns the outcome as a metric label and does not raise."""

BIND_LANE: Final = "bind"
EVICTION_LANE: Final = "eviction"
BINDS_IN_A_ROW: Final = 4
"""How many binds may be sent while an eviction waits, so that a steady stream of small pods cannot hold up a preemption."""

STATUS_LANE: Final = "status"
OUTCOME_CRASHED: Final = "crashed"
OUTCOME_NO_LEASE: Final = "no_lease"


@dataclass(frozen=True, slots=True)
class _Waiting:
    job: Job
    since_seconds: float


class APIDispatcher:
    """The pool. Belongs to one event loop; all methods but `idle`, `quiet` and `close` return at once."""

    def __init__(
        self,
        *,
        concurrency: int,
        may_write: Callable[[], bool],
        clock: Callable[[], float],
        patience_seconds: float = 10.0,
        count: Callable[[str, str], None] | None = None,
    ) -> None:
        self._concurrency = concurrency
        self._may_write = may_write
        self._clock = clock
        self._patience_seconds = patience_seconds
        self._count = count or (lambda _lane, _outcome: None)
        self._binds: deque[Job] = deque()
        self._evictions: deque[Job] = deque()
        self._in_a_row = 0
        self._statuses: dict[Hashable, _Waiting] = {}
        self._under_way: dict[asyncio.Task[None], Hashable | None] = {}
        self._busy_keys: set[Hashable] = set()
        self._overdue_key: Hashable | None = None
        self._expecting: set[object] = set()
        self._no_binds = asyncio.Event()
        self._no_binds.set()
        self._nothing = asyncio.Event()
        self._nothing.set()

    # --- handing in --------------------------------------------------------------------------------------------------

    def bind(self, job: Job) -> None:
        """Queue a write that starts pods."""
        self._binds.append(job)
        self._pump()

    def evict(self, job: Job) -> None:
        """Queue a write that makes room."""
        self._evictions.append(job)
        self._pump()

    def expect(self, seconds: float) -> Callable[[], None]:
        """Binds are about to come: whatever would give way to them gives way until what is returned is called, or so long."""
        token = object()

        def expect_no_more() -> None:
            self._expecting.discard(token)
            self._pump()

        self._expecting.add(token)
        asyncio.get_running_loop().call_later(seconds, expect_no_more)
        self._pump()
        return expect_no_more

    def status(self, key: Hashable, job: Job) -> None:
        """Queue a write that says something about an object; replaces one with the same key that has not started."""
        overtaken = self._statuses.get(key)
        since = overtaken.since_seconds if overtaken else self._clock()
        self._statuses[key] = _Waiting(job, since)
        self._pump()

    def drop(self, key: Hashable) -> None:
        """Forget a status write that has not started: what it says is not true any more."""
        self._statuses.pop(key, None)

    # --- watching ----------------------------------------------------------------------------------------------------

    @property
    def queued_binds(self) -> int:
        """Binds that have not been sent yet."""
        return len(self._binds)

    @property
    def queued_evictions(self) -> int:
        """Writes that make room and have not been sent yet."""
        return len(self._evictions)

    @property
    def queued_statuses(self) -> int:
        """Status writes that have not been sent yet."""
        return len(self._statuses)

    async def quiet(self) -> None:
        """Return when no bind and no eviction is queued or expected; lets writers outside the pool (events) give way."""
        await self._no_binds.wait()

    async def idle(self) -> None:
        """Return when nothing is queued or under way."""
        await self._nothing.wait()

    async def close(self, timeout_seconds: float) -> None:
        """Drop what is queued, wait for what was sent, and cut it off after `timeout_seconds`."""
        self._binds.clear()
        self._evictions.clear()
        self._statuses.clear()
        if self._under_way:
            _, late = await asyncio.wait(self._under_way, timeout=timeout_seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    # --- running -----------------------------------------------------------------------------------------------------

    def _pump(self) -> None:
        while len(self._under_way) < self._concurrency and (found := self._next()) is not None:
            lane, job, key = found
            task = asyncio.get_running_loop().create_task(self._run(lane, job))
            self._under_way[task] = key
            if key is not None:
                self._busy_keys.add(key)
            task.add_done_callback(self._ended)
        _set(self._no_binds, not self._is_busy)
        _set(self._nothing, not (self._binds or self._evictions or self._statuses or self._under_way))

    @property
    def _is_busy(self) -> bool:
        return bool(self._binds or self._evictions or self._expecting)

    def _next(self) -> tuple[str, Job, Hashable | None] | None:
        """The write to be started now: its lane, what sends it, and the key of a status write; None while all must wait."""
        overdue = self._overdue_status() if self._is_busy and self._overdue_key is None else None
        if overdue is not None:
            self._overdue_key = overdue
            return STATUS_LANE, self._statuses.pop(overdue).job, overdue
        if self._binds and (not self._evictions or self._in_a_row < BINDS_IN_A_ROW):
            self._in_a_row += 1
            return BIND_LANE, self._binds.popleft(), None
        if self._evictions:
            self._in_a_row = 0
            return EVICTION_LANE, self._evictions.popleft(), None
        key = None if self._expecting else self._next_status()
        return None if key is None else (STATUS_LANE, self._statuses.pop(key).job, key)

    def _next_status(self) -> Hashable | None:
        return next((key for key in self._statuses if key not in self._busy_keys), None)

    def _overdue_status(self) -> Hashable | None:
        key = self._next_status()
        if key is None or self._clock() - self._statuses[key].since_seconds < self._patience_seconds:
            return None
        return key

    async def _run(self, lane: str, job: Job) -> None:
        outcome = OUTCOME_NO_LEASE
        if self._may_write():
            try:
                outcome = await job()
            except Exception:  # noqa: BLE001 (logged; one bad write must not stop the others)
                _log.exception("a %s write ended with an unexpected error", lane)
                outcome = OUTCOME_CRASHED
        self._count(lane, outcome)

    def _ended(self, task: asyncio.Task[None]) -> None:
        key = self._under_way.pop(task)
        if key is not None:
            self._busy_keys.discard(key)
            if key == self._overdue_key:
                self._overdue_key = None
        self._pump()


def _set(event: asyncio.Event, value: bool) -> None:
    if value:
        event.set()
    else:
        event.clear()

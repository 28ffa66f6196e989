"""In which order writes go out: what is urgent first (binds), then evictions, everything else when none of these waits.

Writes are what limits a scheduler, so the order in which they go out is a decision of its own:

- what pods wait for is urgent: binds, the volumes of their claims, nominations before an eviction, and reads that must end before
  room can be given to others. Urgent calls are sent in the order they were handed in, up to `concurrency` at once;
- evictions are sent in their order, one after every few binds: whoever has room starts before room is made for the next one;
- status writes are sent only when neither of these is queued, nor expected within a moment. They are coalesced per object
  (the latest wins) and dropped when overtaken. One that has waited for `patience_seconds` may use one connection all the
  same, so that a steady stream of binds cannot silence the scheduler for ever;
- two writes for one key are never under way at once, so an older one can not arrive after a newer one;
- nothing starts while `may_write` says no: what was queued then is dropped, because whoever holds the lease now decides
  anew.

A write that failed for a passing reason is handed in again by whoever sent it, after a pause (`Retries`).
"""

import asyncio
import logging
import random
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Final

from kube.backoff import Backoff
from kube.client.errors import AnsweredError, KubeError

_log = logging.getLogger(__name__)

APICall = Callable[[], Awaitable[str]]
"""Sends one write and deals with its answer; returns the outcome as a metric label and does not raise."""

Later = Callable[[float, Callable[[], None]], object]
"""Calls something back after so many seconds; `loop.call_later` in the process, a list in tests."""

URGENT_LANE: Final = "bind"
"""Called so in the metrics, after what most of its calls are."""

EVICTION_LANE: Final = "eviction"
STATUS_LANE: Final = "status"
URGENT_IN_A_ROW: Final = 4
"""How many urgent calls may be sent while an eviction waits, so that a steady stream of small pods cannot hold up a preemption."""

OUTCOME_CRASHED: Final = "crashed"
OUTCOME_NO_LEASE: Final = "no_lease"


@dataclass(frozen=True, slots=True)
class _Waiting:
    call: APICall
    since_seconds: float


class APIDispatcher:
    """Sends API calls (upstream: APIDispatcher). Belongs to one event loop; all but `idle`, `quiet` and `close` return at once.

    Args:
        concurrency: calls under way at most.
        may_write: asked before each call whether this process holds the lease.
        clock: monotonic seconds.
        patience_seconds: how long a status write gives way to the others.
        count: told the lane and the outcome of each call.
    """

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
        self._urgent: deque[APICall] = deque()
        self._evictions: deque[APICall] = deque()
        self._in_a_row = 0
        self._statuses: dict[Hashable, _Waiting] = {}
        self._under_way: dict[asyncio.Task[None], Hashable | None] = {}
        self._busy_keys: set[Hashable] = set()
        self._overdue_key: Hashable | None = None
        self._expecting: set[object] = set()
        self._is_quiet = asyncio.Event()
        self._is_quiet.set()
        self._is_idle = asyncio.Event()
        self._is_idle.set()

    # --- handing in --------------------------------------------------------------------------------------------------

    def add_urgent(self, call: APICall) -> None:
        """Queue a bind, or what else pods wait for."""
        self._urgent.append(call)
        self._pump()

    def add_eviction(self, call: APICall) -> None:
        """Queue a write that makes room."""
        self._evictions.append(call)
        self._pump()

    def expect_urgent(self, seconds: float) -> Callable[[], None]:
        """Binds are about to come: status writes wait for them as if they were queued.

        Args:
            seconds: how long at most.

        Returns:
            A function that ends the wait before that.
        """
        token = object()

        def expect_no_more() -> None:
            self._expecting.discard(token)
            self._pump()

        self._expecting.add(token)
        asyncio.get_running_loop().call_later(seconds, expect_no_more)
        self._pump()
        return expect_no_more

    def add_status(self, key: Hashable, call: APICall) -> None:
        """Queue a write that says something about an object.

        Args:
            key: of the object; a call with the same key that has not started is replaced, and never are two under way at once.
            call: what writes.
        """
        overtaken = self._statuses.get(key)
        since = overtaken.since_seconds if overtaken else self._clock()
        self._statuses[key] = _Waiting(call, since)
        self._pump()

    def drop(self, key: Hashable) -> None:
        """Forget a status write that has not started: what it says is not true any more."""
        self._statuses.pop(key, None)

    # --- watching ----------------------------------------------------------------------------------------------------

    @property
    def queued_urgent(self) -> int:
        """Urgent calls that have not been sent yet."""
        return len(self._urgent)

    @property
    def queued_evictions(self) -> int:
        """Writes that make room and have not been sent yet."""
        return len(self._evictions)

    @property
    def queued_statuses(self) -> int:
        """Status writes that have not been sent yet."""
        return len(self._statuses)

    async def quiet(self) -> None:
        """Return when nothing urgent and no eviction is queued or expected; lets writers outside the pool (events) give way."""
        await self._is_quiet.wait()

    async def idle(self) -> None:
        """Return when nothing is queued or under way."""
        await self._is_idle.wait()

    async def close(self, timeout_seconds: float) -> None:
        """Drop what is queued, wait for what was sent, and cut it off after `timeout_seconds`."""
        self._urgent.clear()
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
            lane, call, key = found
            task = asyncio.get_running_loop().create_task(self._run(lane, call))
            self._under_way[task] = key
            if key is not None:
                self._busy_keys.add(key)
            task.add_done_callback(self._ended)
        _set(self._is_quiet, not self._is_busy)
        _set(self._is_idle, not (self._urgent or self._evictions or self._statuses or self._under_way))

    @property
    def _is_busy(self) -> bool:
        return bool(self._urgent or self._evictions or self._expecting)

    def _next(self) -> tuple[str, APICall, Hashable | None] | None:
        """The write to be started now: its lane, what sends it, and the key of a status write; None while all must wait."""
        overdue = self._overdue_status() if self._is_busy and self._overdue_key is None else None
        if overdue is not None:
            self._overdue_key = overdue
            return STATUS_LANE, self._statuses.pop(overdue).call, overdue
        if self._urgent and (not self._evictions or self._in_a_row < URGENT_IN_A_ROW):
            self._in_a_row += 1
            return URGENT_LANE, self._urgent.popleft(), None
        if self._evictions:
            self._in_a_row = 0
            return EVICTION_LANE, self._evictions.popleft(), None
        key = None if self._expecting else self._next_status()
        return None if key is None else (STATUS_LANE, self._statuses.pop(key).call, key)

    def _next_status(self) -> Hashable | None:
        return next((key for key in self._statuses if key not in self._busy_keys), None)

    def _overdue_status(self) -> Hashable | None:
        key = self._next_status()
        if key is None or self._clock() - self._statuses[key].since_seconds < self._patience_seconds:
            return None
        return key

    async def _run(self, lane: str, call: APICall) -> None:
        outcome = OUTCOME_NO_LEASE
        if self._may_write():
            try:
                outcome = await call()
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


class Retries:
    """Jittered pauses that double from `base_seconds` to `max_seconds` for each key that keeps failing; no connection is held.

    A key is remembered until `forget`: whoever calls `add` calls that as well, however the write ends, or it is kept for ever.
    """

    def __init__(
        self, later: Later, jitter: random.Random, *, base_seconds: float = 0.2, max_seconds: float = 10.0
    ) -> None:
        self._later = later
        self._jitter = jitter
        self._base_seconds = base_seconds
        self._max_seconds = max_seconds
        self._backoffs: dict[Hashable, Backoff] = {}

    def add(self, key: Hashable, action: Callable[[], None], error: KubeError | None = None) -> float:
        """Call `action` after this key's next pause.

        Args:
            key: of what is repeated.
            action: hands it in again.
            error: why it failed; the pause is never shorter than what the server asked for in it.

        Returns:
            The pause in seconds.
        """
        if key not in self._backoffs:
            self._backoffs[key] = Backoff(self._base_seconds, self._max_seconds, self._jitter)
        pause = self._backoffs[key].next_seconds()
        if isinstance(error, AnsweredError) and error.retry_after_seconds is not None:
            pause = max(pause, error.retry_after_seconds)
        self._later(pause, action)
        return pause

    def forget(self, key: Hashable) -> None:
        """The write is over, done or not: start from the smallest pause the next time."""
        self._backoffs.pop(key, None)


def _set(event: asyncio.Event, value: bool) -> None:
    if value:
        event.set()
    else:
        event.clear()

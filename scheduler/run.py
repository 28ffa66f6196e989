"""The scheduling loop: take the most urgent item, schedule it, take the next; beside that, whatever is due.

It waits for no write. It gives way to the rest of the process (watches, answers, probes) after every few milliseconds of
deciding, and sleeps until something happened or is due: there is no polling.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from scheduler.algorithm.future_pods import ClusterWithFuturePods
from scheduler.queue.item_errors import ItemErrors, Stage
from scheduler.queue.scheduling_queue import SchedulingQueue
from scheduler.schedule_one import ItemScheduler

_SHORTEST_PAUSE_SECONDS: Final = 0.001
_DECIDING: Final = "queue"
_NEWS: Final = "news"
_KEEPING: Final = "repair"

REST_SECONDS: Final = 1.0
"""How long a part that raised is left alone."""


class Waker:
    """A flag that anything may set and the loop waits for."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def __call__(self) -> None:
        """Make the loop look again."""
        self._event.set()

    async def wait(self, timeout_seconds: float | None) -> None:
        """Return when somebody woke us since the last time, or after so many seconds."""
        with contextlib.suppress(TimeoutError):
            # Not wait_for: before Python 3.12 it swallows a cancellation that comes together with the event.
            async with asyncio.timeout(timeout_seconds):
                await self._event.wait()
        self._event.clear()


@dataclass(frozen=True, slots=True)
class Pace:
    """How the loop shares the process with everything else.

    Attributes:
        slice_seconds: how long it decides before it gives way.
        bind_backlog: it pauses while so many binds have not ended.
        open_binds: how many have not, those aside that wait for volumes.
        clock: monotonic seconds.
    """

    slice_seconds: float
    bind_backlog: int
    open_binds: Callable[[], int]
    clock: Callable[[], float]

    @property
    def is_backlogged(self) -> bool:
        """Whether nothing is to be decided until some binds have ended."""
        return self.open_binds() >= self.bind_backlog


class Stages:
    """Parts of the work, each with what it does and when that is due next; one that raises rests and stops no other.

    `clock` gives monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float], errors: ItemErrors) -> None:
        self._clock: Final = clock
        self._errors: Final = errors
        self._parts: list[tuple[Stage, Callable[[], object], Callable[[], float | None]]] = []
        self._rests_until: dict[Stage, float] = {}

    def add(self, stage: Stage, run: Callable[[], object], next_due_seconds: Callable[[], float | None]) -> None:
        """One part more; `stage` names it among exceptions."""
        self._parts.append((stage, run, next_due_seconds))

    def run_due(self) -> None:
        """Let every part do what is due."""
        for stage, run, _ in self._parts:
            self.attempt(stage, run)

    def attempt(self, stage: Stage, run: Callable[[], object]) -> None:
        """Do something once, unless its stage rests."""
        # Done before each item: what is usual costs next to nothing.
        if stage in self._rests_until and self.rests_seconds(stage) > 0:
            return
        try:
            run()
        except Exception as error:  # noqa: BLE001 (noted, and said by who collects the notes)
            self._note(stage, error)

    @contextlib.contextmanager
    def contained(self, stage: Stage) -> Iterator[None]:
        """An exception in the body is noted and goes no further; the stage rests after it."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 (noted, and said by who collects the notes)
            self._note(stage, error)

    def _note(self, stage: Stage, error: Exception) -> None:
        self._errors.note(None, stage, error)
        self._rests_until[stage] = self._clock() + REST_SECONDS

    def rests_seconds(self, stage: Stage) -> float:
        """How much longer a stage is left alone, 0 when it is not."""
        until = self._rests_until.get(stage)
        return max(until - self._clock(), 0.0) if until is not None else 0.0

    def next_due_seconds(self) -> float | None:
        """Seconds until something is due, None when nothing is."""
        dues = [
            max(due, self.rests_seconds(stage))
            for stage, _, next_due_seconds in self._parts
            if (due := next_due_seconds()) is not None
        ]
        return min(dues, default=None)


class SchedulingLoop:
    """One scheduler at work. `run` may only start once the lease is held and the caches are synced.

    Args:
        scheduler: schedules a popped item.
        seen: the cluster to decide on.
        queue: which item is next.
        stages: what is done beside deciding, whenever it is due.
        at_start: what is done once before anything else, by stage.
        before_each: what is done before each item is taken: room that others must not take is kept.
        collect_news: called after every slice: items may have another reason to wait now.
        pace: how long it decides at a time, and when not at all.
        waker: set whenever something happened.
    """

    def __init__(  # noqa: PLR0913 (the parts it ties together)
        self,
        *,
        scheduler: ItemScheduler,
        seen: ClusterWithFuturePods,
        queue: SchedulingQueue,
        stages: Stages,
        at_start: dict[Stage, Callable[[], object]],
        before_each: Callable[[], None],
        collect_news: Callable[[], None],
        pace: Pace,
        waker: Waker,
    ) -> None:
        self._scheduler = scheduler
        self._seen = seen
        self._queue = queue
        self._stages = stages
        self._at_start = at_start
        self._before_each = before_each
        self._collect_news = collect_news
        self._pace = pace
        self._clock = pace.clock
        self._waker = waker

    async def run(self) -> None:
        """Schedule until cancelled."""
        for stage, work in self._at_start.items():
            self._stages.attempt(stage, work)
        while True:
            self._stages.run_due()
            has_more = False
            if not self._stages.rests_seconds(_DECIDING):
                with self._stages.contained(_DECIDING):
                    has_more = await self._schedule_for_a_while()
            self._stages.attempt(_NEWS, self._collect_news)
            self._scheduler.set_aside_failed()
            if has_more:
                await asyncio.sleep(0)
            else:
                await self._waker.wait(self._pause_seconds())

    async def _schedule_for_a_while(self) -> bool:
        """Schedule until nothing is ready or the slice is over; True when there may be more."""
        end = self._clock() + self._pace.slice_seconds
        while not self._pace.is_backlogged:
            self._stages.attempt(_KEEPING, self._before_each)
            key = self._queue.pop(self._seen.view)
            if key is None:
                break
            await self._scheduler.schedule_one(key)
            if self._clock() >= end:
                return True
        return False

    def _pause_seconds(self) -> float | None:
        dues = [self._stages.next_due_seconds()]
        if not self._pace.is_backlogged:
            due = self._queue.next_due_seconds()
            dues.append(None if due is None else max(due, self._stages.rests_seconds(_DECIDING)))
        soonest = min((due for due in dues if due is not None), default=None)
        return None if soonest is None else max(soonest, _SHORTEST_PAUSE_SECONDS)

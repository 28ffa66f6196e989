"""An event loop in virtual time, and the processes that share it.

Time passes only when nothing is left to do at the present moment, and then at once up to the next timer. There are no sockets, no
signals and no threads; what is given to an executor is done on the spot. A turn of the loop does what asyncio's does, in the same
order, but for timers of the very same moment, which ring in the order in which they were set: comparing numbers takes a tenth of
the time that comparing handles takes.

Every process of the simulated cluster is a context: whatever is begun in it, tasks and timers alike, belongs to it. A process
that is killed does nothing any more, not even what stands in a `finally`, as after SIGKILL; one that is stopped does later what
fell due.
"""

import asyncio
import contextvars
import heapq
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Executor
from enum import Enum
from typing import Any, Final, TypeVar

T = TypeVar("T")

START_SECONDS: Final = 1000.0
TURN_SECONDS: Final = 1e-5
"""What one turn of the loop takes. Time that stood still would have whoever waits for a rounding error wait for ever."""

CLOCK_RESOLUTION_SECONDS: Final = 1e-9
"""A timer may ring so much too early, as it may on asyncio's loops."""

MOST_CANCELLED_TIMERS: Final = 100
"""So many timers that were cancelled may stay among those that will ring."""


class Stalled(RuntimeError):
    """Everybody waits, and nothing will ever happen."""


class State(Enum):
    """What a process does."""

    RUNS = "runs"
    STOPPED = "stopped"
    DEAD = "dead"
    ENDING = "ending"
    """It may clean up, but reaches nobody any more."""


class Process:
    """One process of the simulated cluster.

    Attributes:
        name: no other process has it.
        meets_faults: whether anything goes wrong between it and the server.
    """

    def __init__(self, name: str, *, meets_faults: bool = True) -> None:
        self.name = name
        self.meets_faults = meets_faults
        self.state = State.RUNS
        self._held: list[asyncio.Handle] = []

    @property
    def is_cut_off(self) -> bool:
        """Whether nothing it does reaches anybody any more."""
        return self.state in {State.DEAD, State.ENDING}

    def stop(self) -> None:
        """Let it do nothing for a while (SIGSTOP)."""
        if self.state is State.RUNS:
            self.state = State.STOPPED

    def go_on(self) -> None:
        """Let it do what fell due meanwhile (SIGCONT)."""
        if self.state is State.STOPPED:
            self.state = State.RUNS
            self._catch_up()

    def kill(self) -> None:
        """End it for good (SIGKILL)."""
        self.state = State.DEAD

    def clean_up(self) -> None:
        """Let what is left of it end in order, when the simulation is over."""
        self.state = State.ENDING
        self._catch_up()

    def _catch_up(self) -> None:
        held, self._held = self._held, []
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)  # noqa: S101 (there is no other loop here)
        loop.put_back(held)

    def holds(self, handle: asyncio.Handle) -> bool:
        """Whether this is not to be done now; then it is kept for later."""
        if self.state is State.RUNS or self.state is State.ENDING:
            return False
        self._held.append(handle)
        return True


_current: contextvars.ContextVar[Process | None] = contextvars.ContextVar("process", default=None)
NOBODY: Final = contextvars.Context()
"""The context of what belongs to no process: the API server, the wires, the user."""


def context_of(process: Process) -> contextvars.Context:
    """A context in which everything belongs to the process."""
    context = contextvars.Context()
    context.run(_current.set, process)
    return context


def _process_of(context: contextvars.Context | None) -> Process | None:
    return _current.get() if context is None else context.get(_current)


class _Handle(asyncio.Handle):
    """Something to be done, unless its process does nothing at the moment."""

    __slots__ = ("_process",)

    def __init__(self, process: Process | None, callback: Callable[..., object], *others: Any) -> None:
        super().__init__(callback, *others)
        self._process = process

    def _run(self) -> None:
        if self._process is None or not self._process.holds(self):
            super()._run()


class _TimerHandle(asyncio.TimerHandle):
    """The same at a certain time."""

    __slots__ = ("_process",)

    def __init__(self, process: Process | None, when: float, callback: Callable[..., object], *others: Any) -> None:
        super().__init__(when, callback, *others)
        self._process = process
        self._scheduled = True

    def _run(self) -> None:
        if self._process is None or not self._process.holds(self):
            super()._run()


class VirtualLoop(asyncio.BaseEventLoop):
    """A loop in virtual time.

    Attributes:
        steps: callbacks that were run.
    """

    def __init__(self) -> None:
        super().__init__()
        self.steps = 0
        self._now = START_SECONDS
        self._ready: deque[asyncio.Handle]
        self._stopping: bool
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._cancelled_timers = 0

    def time(self) -> float:
        """Seconds; they pass only while everybody waits."""
        return self._now

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        """As on any loop, for the process whose context it is."""
        handle = _Handle(_process_of(context), callback, args, self, context)
        self._ready.append(handle)
        self.steps += 1
        return handle

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.TimerHandle:
        """As on any loop, for the process whose context it is."""
        timer = _TimerHandle(_process_of(context), when, callback, args, self, context)
        self.steps += 1
        heapq.heappush(self._timers, (when, self.steps, timer))
        return timer

    def put_back(self, handles: Iterable[asyncio.Handle]) -> None:
        """Do this in the next turn."""
        self._ready.extend(handles)

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        """Done on the spot, so that it is always done at the same moment."""
        del executor
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 (whoever awaits it is told)
            future.set_exception(error)
        return future

    def _run_once(self) -> None:
        """One turn: the clock moves on, timers that fell due join what is ready, and that much is done."""
        ready, timers = self._ready, self._timers
        if self._cancelled_timers:
            self._drop_cancelled()
        pause_seconds = 0.0
        if not ready and not self._stopping:
            if not timers:
                raise Stalled("everybody waits and nothing will ever happen")
            pause_seconds = timers[0][0] - self._now
        self._now += max(pause_seconds, TURN_SECONDS)
        due = self._now + CLOCK_RESOLUTION_SECONDS
        while timers and timers[0][0] < due:
            timer = heapq.heappop(timers)[2]
            timer._scheduled = False  # type: ignore[attr-defined]  # noqa: SLF001 (asyncio's own mark: it is not in the heap any more)
            ready.append(timer)
        for _ in range(len(ready)):
            handle = ready.popleft()
            if not handle.cancelled():
                handle._run()  # noqa: SLF001 (as asyncio's loop does)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Told by timers that are cancelled before they ring."""
        del handle
        self._cancelled_timers += 1

    def _drop_cancelled(self) -> None:
        timers = self._timers
        if self._cancelled_timers > MOST_CANCELLED_TIMERS and self._cancelled_timers * 2 > len(timers):
            timers[:] = [each for each in timers if not each[2].cancelled()]
            heapq.heapify(timers)
            self._cancelled_timers = 0
        while timers and timers[0][2].cancelled():
            heapq.heappop(timers)
            self._cancelled_timers -= 1

    def _process_events(self, event_list: list[object]) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        """There is no other thread."""


def run_virtually(work: Coroutine[Any, Any, T]) -> T:
    """The result of the work, done in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)

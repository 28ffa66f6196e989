"""The loop: take the most urgent item, decide, assume, hand its binds to the pool, take the next.

It waits for no write. It gives way to the rest of the process (watches, answers, probes) after every few milliseconds of
deciding, and sleeps until something happened or is due: there is no polling. A defect met in one decision is that item's
error and nobody else's.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass

from scheduler.assumptions import Assumptions
from scheduler.cycle.decide import decide
from scheduler.cycle.decision import Decision
from scheduler.cycle.remainder import RemainderKeeper
from scheduler.cycle.reserver import Reserver
from scheduler.preemptor import Preemptor
from scheduler.queue.queue import Queue
from scheduler.reporting.reporter import Reporter
from scheduler.state.cluster import ClusterState
from scheduler.state.errors import UnknownPod
from scheduler.state.records import ItemKey
from scheduler.writes.binder import Bind, Binder
from scheduler.writes.volume_binding import VolumeBinding

_log = logging.getLogger(__name__)

_SHORTEST_PAUSE_SECONDS = 0.001


Observe = Callable[[str, str, float, float], None]
"""Called after every attempt with the item's kind, the verdict, the seconds of the attempt and those of the decision in it."""


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
        clock: monotonic seconds.
    """

    slice_seconds: float
    bind_backlog: int
    clock: Callable[[], float]


class SchedulingLoop:
    """One scheduler at work. `run` may only start once the lease is held and the caches are synced."""

    def __init__(  # noqa: PLR0913 (the parts it ties together)
        self,
        *,
        state: ClusterState,
        queue: Queue,
        binder: Binder,
        volumes: VolumeBinding,
        assumptions: Assumptions,
        reporter: Reporter,
        preemptor: Preemptor | None,
        reserver: Reserver,
        keeper: RemainderKeeper,
        observe: Observe,
        pace: Pace,
        waker: Waker,
    ) -> None:
        self._state = state
        self._queue = queue
        self._binder = binder
        self._volumes = volumes
        self._assumptions = assumptions
        self._reporter = reporter
        self._preemptor = preemptor
        self._reserver = reserver
        self._keeper = keeper
        self._seen = keeper.view
        self._observe = observe
        self._pace = pace
        self._waker = waker
        self._clock = pace.clock

    async def run(self) -> None:
        """Schedule until cancelled."""
        self._reporter.start()
        self._keeper.restore()
        while True:
            self._reporter.say_what_is_due()
            self._assumptions.recheck_old()
            self._reserver.tick()
            self._keeper.tick()
            if self._decide_for_a_while():
                await asyncio.sleep(0)
            else:
                await self._waker.wait(self._pause_seconds())

    def storage_changed(self) -> None:
        """Something that pods wait for before they are bound may have happened."""
        self._volumes.noticed()

    # --- deciding ----------------------------------------------------------------------------------------------------

    def _decide_for_a_while(self) -> bool:
        """Decide until nothing is ready or the slice is over; True when there may be more."""
        end = self._clock() + self._pace.slice_seconds
        while not self._is_backlogged():
            key = self._queue.pop(self._seen)
            if key is None:
                break
            self._attempt(key)
            if self._clock() >= end:
                self._reporter.collect_news()
                return True
        self._reporter.collect_news()
        return False

    def _attempt(self, key: ItemKey) -> None:
        started = self._clock()
        decision, binds = self._decide(key)
        decided = self._clock()
        for bind in binds:
            self._assumptions.assume(bind)
        self._keeper.decided(decision)
        if self._preemptor is not None:
            self._preemptor.decided(decision)
        self._queue.done(key, decision, self._state)
        self._reserver.decided(decision)
        if decision.carries:
            self._volumes.submit(decision, binds)
        else:
            for bind in binds:
                self._binder.submit(bind)
        self._reporter.decided(decision)
        self._observe(key.kind, decision.verdict, self._clock() - started, decided - started)

    def _decide(self, key: ItemKey) -> tuple[Decision, list[Bind]]:
        try:
            decision = decide(self._seen, key, self._queue.aim(key, self._state))
            if self._preemptor is not None and not decision.is_hope:
                decision = self._preemptor.refused(decision)
            decision = self._keeper.real_part(decision)
            return decision, [self._bind(*binding) for binding in decision.bindings]
        except Exception as error:  # noqa: BLE001 (logged; one object that meets a defect must not stop the others)
            _log.exception("deciding on %s %s/%s failed", key.kind, key.namespace, key.name)
            return _internal_error(key, error), []

    def _bind(self, pod_uid: str, node_name: str) -> Bind:
        pod, node_uid = self._state.pod(pod_uid), self._state.node_uid(node_name)
        if pod is None or node_uid is None or pod.is_bound:
            raise UnknownPod(f"decided to put pod {pod_uid} on node {node_name}, and one of them is not there")
        return Bind(pod.namespace, pod.name, pod.uid, node_name, node_uid, self._clock())

    # --- waiting -----------------------------------------------------------------------------------------------------

    def _is_backlogged(self) -> bool:
        # Who waits for volumes keeps no connection and may do so for minutes.
        return self._assumptions.open_binds - self._volumes.waiting >= self._pace.bind_backlog

    def _pause_seconds(self) -> float | None:
        dues = [
            self._reporter.next_due_seconds(),
            self._assumptions.next_due_seconds(),
            self._reserver.next_due_seconds(),
            self._keeper.next_due_seconds(),
            None if self._is_backlogged() else self._queue.next_due_seconds(),
        ]
        soonest = min((due for due in dues if due is not None), default=None)
        return None if soonest is None else max(soonest, _SHORTEST_PAUSE_SECONDS)


def _internal_error(key: ItemKey, error: Exception) -> Decision:
    return Decision(
        key=key,
        verdict="error",
        bindings=(),
        failures=(),
        condition_message=f"internal error: {type(error).__name__}",
        scheduled_so_far=0,
        need=0,
    )

"""The loop: take the most urgent item, decide, assume, hand its binds to the pool, take the next.

It waits for no write. It gives way to the rest of the process (watches, answers, probes) after every few milliseconds of
deciding, and sleeps until something happened or is due: there is no polling. A defect that one item brings to light, at whatever
stage, is that item's error and nobody else's: it is set aside and the loop goes on.
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
from scheduler.item_errors import ItemErrors
from scheduler.preemptor import Preemptor
from scheduler.queue.queue import Queue
from scheduler.reporting.reporter import Reporter
from scheduler.set_aside import SetAside, refusal_of
from scheduler.state.cluster import ClusterState, UnknownPod
from scheduler.state.records import ItemKey
from scheduler.ticks import Ticks
from scheduler.writes.binder import Bind, Binder
from scheduler.writes.volume_binding import VolumeBinding

_log = logging.getLogger(__name__)

_SHORTEST_PAUSE_SECONDS = 0.001
_DECIDING = "queue"
_NEWS = "news"


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
        preemptor: Preemptor,
        reserver: Reserver,
        keeper: RemainderKeeper,
        errors: ItemErrors,
        set_aside: SetAside,
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
        self._given_seconds = 0.0
        """Of the attempt under way: how long others had their turn in it."""
        self._errors = errors
        self._set_aside = set_aside
        self._ticks = Ticks(pace.clock, errors)
        self._ticks.add("report", reporter.say_what_is_due, reporter.next_due_seconds)
        self._ticks.add("recheck", assumptions.recheck_old, assumptions.next_due_seconds)
        self._ticks.add("reserve", reserver.tick, reserver.next_due_seconds)
        self._ticks.add("keep", keeper.tick, keeper.next_due_seconds)

    async def run(self) -> None:
        """Schedule until cancelled."""
        self._ticks.attempt("report", self._reporter.start)
        self._ticks.attempt("restore", self._keeper.restore)
        self._ticks.attempt("recover", self._preemptor.restore)
        while True:
            self._ticks.run()
            has_more = await self._ticks.attempt_in_turns(_DECIDING, self._decide_for_a_while)
            self._ticks.attempt(_NEWS, self._reporter.collect_news)
            self._set_aside.look()
            if has_more:
                await asyncio.sleep(0)
            else:
                await self._waker.wait(self._pause_seconds())

    def storage_changed(self) -> None:
        """Something that pods wait for before they are bound may have happened."""
        self._volumes.noticed()

    # --- deciding ----------------------------------------------------------------------------------------------------

    async def _decide_for_a_while(self) -> bool:
        """Decide until nothing is ready or the slice is over; True when there may be more."""
        end = self._clock() + self._pace.slice_seconds
        while not self._is_backlogged():
            key = self._queue.pop(self._seen)
            if key is None:
                break
            await self._attempt(key)
            if len(self._errors):
                self._set_aside.look()
            if self._clock() >= end:
                return True
        return False

    async def _attempt(self, key: ItemKey) -> None:
        self._given_seconds = 0.0
        started = self._clock()
        try:
            decision, binds = await self._decide(key)
            decided = self._clock()
            self._assume(binds)
        except Exception as error:  # noqa: BLE001 (noted; one object that meets a defect must not stop the others)
            self._errors.note(key, "decide", error)
            decision, decided = refusal_of(key, ""), self._clock()
        else:
            await self._carry_out(decision, binds, decided)
        self._queue.spent(key, self._clock() - started - self._given_seconds)
        with self._errors.about(key, "report"):
            self._observe(key.kind, decision.verdict, self._clock() - started, decided - started)

    async def _give_way(self, since_seconds: float) -> None:
        """Lets everybody else have a turn between two long computations about one item; only while nothing is half done."""
        begun = self._clock()
        if begun - since_seconds >= self._pace.slice_seconds:
            await asyncio.sleep(0)
            self._given_seconds += self._clock() - begun

    async def _decide(self, key: ItemKey) -> tuple[Decision, list[Bind]]:
        started = self._clock()
        decision = decide(self._seen, key, self._queue.aim(key, self._state))
        if not decision.is_hope:
            if decision.verdict == "unschedulable":
                await self._give_way(started)
            decision = self._preemptor.refused(decision)
        decision = self._keeper.real_part(decision)
        return decision, [self._bind(*binding) for binding in decision.bindings]

    def _assume(self, binds: list[Bind]) -> None:
        """All of them or, when one cannot be assumed, none."""
        try:
            for bind in binds:
                self._assumptions.assume(bind)
        except Exception:
            self._give_back(binds)
            raise

    async def _carry_out(self, decision: Decision, binds: list[Bind], decided_seconds: float) -> None:
        """Whoever has to hear of a decision does, whatever goes wrong with another; without a bind nothing stays assumed."""
        key, errors = decision.key, self._errors
        with errors.about(key, "keep"):
            self._keeper.decided(decision)
        with errors.about(key, "preempt"):
            self._preemptor.decided(decision)
        with errors.about(key, "queue"):
            self._queue.done(key, decision, self._state)
        if not binds:
            await self._give_way(decided_seconds)
        with errors.about(key, "reserve"):
            self._reserver.decided(decision)
        try:
            self._submit(decision, binds)
        except Exception as error:  # noqa: BLE001 (noted, as above)
            errors.note(key, "bind", error)
            self._give_back(binds)
        with errors.about(key, "report"):
            self._reporter.decided(decision)

    def _submit(self, decision: Decision, binds: list[Bind]) -> None:
        if decision.carries:
            self._volumes.submit(decision, binds)
        else:
            for bind in binds:
                self._binder.submit(bind)

    def _give_back(self, binds: list[Bind]) -> None:
        """Nothing of these has been sent, and what is queued is refused when its turn comes: it is not assumed any more."""
        for bind in binds:
            with self._errors.about(self._state.item_of(bind.uid), "give back"):
                self._assumptions.failed(bind, "the attempt met a defect")

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
        dues = [self._ticks.next_due_seconds()]
        if not self._is_backlogged():
            due = self._queue.next_due_seconds()
            dues.append(None if due is None else max(due, self._ticks.rests_seconds(_DECIDING)))
        soonest = min((due for due in dues if due is not None), default=None)
        return None if soonest is None else max(soonest, _SHORTEST_PAUSE_SECONDS)

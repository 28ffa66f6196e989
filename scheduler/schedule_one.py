"""One cycle for one item: decide, apply what was decided, hand over the binds (upstream: schedule_one.go).

`_scheduling_cycle` changes nothing: its result says what is to change, and `schedule_one` alone applies it. No write is waited for.
A defect that one item brings to light, at whatever stage, is that item's error and nobody else's: it is set aside, and tried again
when it changes, or rarely.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from scheduler.algorithm.decision import Decision
from scheduler.algorithm.future_pods import ClusterWithFuturePods
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.binding.assumptions import Assumptions
from scheduler.binding.binder import Bind
from scheduler.binding.claim_binding import ClaimBinding
from scheduler.binding.permit import Permit
from scheduler.binding.volume_binding import VolumeBinding
from scheduler.cache.cluster import ClusterState, UnknownPod
from scheduler.cache.records import EntityKey
from scheduler.lasting_refusal import LastingRefusals
from scheduler.plugins.status import Code, Status
from scheduler.preemption.manager import PreemptionManager
from scheduler.queue.active import Cause
from scheduler.queue.item_errors import ItemError, ItemErrors
from scheduler.queue.scheduling_queue import SchedulingQueue
from scheduler.recording.journal import Journal
from scheduler.reporting.reporter import Reporter
from scheduler.reservations.future_reservations import FutureReservations, Places, of_existing_pods
from scheduler.reservations.starvation import StarvationReservations

_log = logging.getLogger(__name__)

ObserveAttempt = Callable[[str, str, float, float], None]
"""Called after every attempt with the item's kind, the result, the seconds of the attempt and those of the decision in it."""


@dataclass(frozen=True, slots=True)
class CycleResult:
    """What one scheduling cycle wants to be changed.

    Attributes:
        decision: as far as it is about pods that exist.
        binds: one for each of its bindings.
        future: the room it counts on for pods that will be created later.
        aim: the members that were to be placed together, 0 for as few as must.
    """

    decision: Decision
    binds: tuple[Bind, ...]
    future: Places
    aim: int


class _Stopwatch:
    """Times one attempt, and lets everybody else have a turn in it when it has become long."""

    def __init__(self, clock: Callable[[], float], slice_seconds: float) -> None:
        self._clock: Final = clock
        self._slice_seconds: Final = slice_seconds
        self._yielded_seconds = 0.0
        self.started_seconds: Final = clock()

    async def give_way(self, since_seconds: float) -> None:
        """Between two long computations about one item; only while nothing is half done."""
        begun = self._clock()
        if begun - since_seconds >= self._slice_seconds:
            await asyncio.sleep(0)
            self._yielded_seconds += self._clock() - begun

    def seconds(self) -> float:
        """Since the attempt began, without the turns of others."""
        return self._clock() - self.started_seconds - self._yielded_seconds


class ItemScheduler:
    """Schedules one item at a time. Its parts are shared with the rest of the process.

    Args:
        state: the cluster as it is.
        seen: the cluster to decide on: as it is, with pods to come.
        observe: hears of every attempt.
        spent: hears what caused each attempt, and how much of the loop's time it took.
        count: told in which stage each exception was met.
        clock: monotonic seconds.
        slice_seconds: after so long others get a turn.
    """

    journal: Journal | None = None
    """Hears of every decision, where decisions are recorded."""

    def __init__(  # noqa: PLR0913 (the parts it ties together)
        self,
        *,
        state: ClusterState,
        seen: ClusterWithFuturePods,
        queue: SchedulingQueue,
        assumptions: Assumptions,
        volumes: VolumeBinding,
        claims: ClaimBinding,
        permit: Permit,
        preemption: PreemptionManager,
        starvation: StarvationReservations,
        future: FutureReservations,
        reporter: Reporter,
        errors: ItemErrors,
        observe: ObserveAttempt,
        spent: Callable[[str, float], None],
        count: Callable[[str], None],
        clock: Callable[[], float],
        slice_seconds: float,
    ) -> None:
        self._state = state
        self._seen = seen
        self._queue = queue
        self._assumptions = assumptions
        self._volumes = volumes
        self._claims = claims
        self._permit = permit
        self._preemption = preemption
        self._lasting = LastingRefusals(seen)
        self._starvation = starvation
        self._future = future
        self._reporter = reporter
        self._errors = errors
        self._observe = observe
        self._spent = spent
        self._count = count
        self._clock = clock
        self._slice_seconds = slice_seconds

    async def schedule_one(self, key: EntityKey) -> None:
        """Try the popped item, and put it back into the queue."""
        watch = _Stopwatch(self._clock, self._slice_seconds)
        cause, tried_for = None, self._queue.cause(key)
        try:
            result = self._scheduling_cycle(key)
            decision = result.decision
            awaited = self._preemption.awaited(key)
            if decision.result == "unschedulable" and not decision.is_hope:
                await watch.give_way(watch.started_seconds)
            # Where some of whom it waits for have left meanwhile, the refusal is older than their room. That is no reason to give
            # the room up, and the item is tried again because of it.
            if not decision.is_hope and self._preemption.awaited(key) == awaited:
                # Takes back claims that nobody uses, or begins a preemption, where that helps (upstream: PostFilter).
                decision = self._claims.post_filter(decision) or await self._post_filter(decision, result.aim, watch)
            decided = self._clock()
            self._assumptions.assume(result.binds)
        except Exception as error:  # noqa: BLE001 (noted; one object that meets a defect must not stop the others)
            self._errors.note(key, "decide", error)
            decision, decided = _defect(key, ""), self._clock()
        else:
            cause = await self._apply(decision, result, watch, decided)
        self._queue.charge(cause, watch.seconds())
        self._spent(tried_for.value, watch.seconds())
        with self._errors.about(key, "report"):
            self._observe(
                key.kind, decision.result, self._clock() - watch.started_seconds, decided - watch.started_seconds
            )
        if len(self._errors):
            self.set_aside_failed()

    def _scheduling_cycle(self, key: EntityKey) -> CycleResult:
        """Where the item's pods go, or why they go nowhere. Changes nothing."""
        aim = self._queue.aim(key, self._state)
        decision, future = of_existing_pods(decide(self._seen.view, key, aim), self._seen)
        if self.journal is not None:
            self.journal.decided(key, aim, decision, future)
        return CycleResult(decision, tuple(self._bind(*binding) for binding in decision.bindings), future, aim)

    async def _post_filter(self, decision: Decision, aim: int, watch: _Stopwatch) -> Decision:
        begun = self._clock()
        decision = self._preemption.post_filter(decision)
        if self._lasting.may_differ(decision):
            await watch.give_way(begun)
            decision = self._lasting.of(decision, aim)
        return decision

    def _bind(self, pod_uid: str, node_name: str) -> Bind:
        pod, node_uid = self._state.pod(pod_uid), self._state.node_uid(node_name)
        if pod is None or node_uid is None or pod.is_bound:
            raise UnknownPod(f"decided to put pod {pod_uid} on node {node_name}, and one of them is not there")
        return Bind(pod.namespace, pod.name, pod.uid, node_name, node_uid, self._clock())

    async def _apply(
        self, decision: Decision, result: CycleResult, watch: _Stopwatch, decided_seconds: float
    ) -> Cause | None:
        """Everything that a decision changes, its pods assumed: whatever goes wrong with one thing, the others are done.

        Returns what the time of the attempt is to be charged to.
        """
        key, errors, cause = decision.key, self._errors, None
        with errors.about(key, "keep"):
            if decision.bindings:
                self._future.reserve(key, result.future)
        with errors.about(key, "preempt"):
            self._preemption.after_decision(decision)
            if decision.bindings:
                # The watch shows these pods bound without a word about their item: nobody else would ask again soon.
                self._preemption.items_changed((key,))
        with errors.about(key, "queue"):
            cause = self._queue.done(key, decision, self._state)
        if not result.binds:
            await watch.give_way(decided_seconds)
        with errors.about(key, "reserve"):
            self._starvation.decided(decision)
        self._binding_cycle(decision, result.binds)
        with errors.about(key, "report"):
            self._reporter.decided(decision)
        return cause

    def _binding_cycle(self, decision: Decision, binds: Sequence[Bind]) -> None:
        """Hands the binds over; without a bind nothing stays assumed."""
        try:
            if decision.claims:
                self._claims.submit(decision, binds, self._with_volumes)
            else:
                self._with_volumes(decision, binds)
        except Exception as error:  # noqa: BLE001 (noted, as above)
            self._errors.note(decision.key, "bind", error)
            self._assumptions.give_back(binds)

    def _with_volumes(self, decision: Decision, binds: Sequence[Bind]) -> None:
        if decision.carries:
            self._volumes.submit(decision, binds)
            return
        self._permit.submit(binds, decision.need - decision.scheduled_so_far)

    # --- defects -----------------------------------------------------------------------------------------------------

    def set_aside_failed(self) -> None:
        """Take care of every exception that was noted since the last time: counted, logged, its item set aside and told."""
        for met in self._errors.take():
            self._count(met.stage)
            if met.key is None:
                _log.error("an exception in the stage %r of scheduling", met.stage, exc_info=met.error)
            else:
                self._set_aside(met.key, met)

    def _set_aside(self, key: EntityKey, met: ItemError) -> None:
        name = f"{key.kind} {key.namespace}/{key.name}"
        _log.error("setting %s aside, stage %r: exception", name, met.stage, exc_info=met.error)
        message = f"internal error: {type(met.error).__name__}; it is set aside until it changes"
        if not self._queue.set_aside(key, message, self._state):
            return
        try:
            self._reporter.decided(_defect(key, message))
        except Exception:  # noqa: BLE001 (logged; it has been set aside all the same)
            _log.exception("%s cannot be told that it is set aside", name)


def _defect(key: EntityKey, message: str) -> Decision:
    """What is said of an item that met a defect."""
    return Decision(key=key, status=Status(Code.ERROR, message), need=0)

"""Between the loop and preemption: asks whether somebody should leave for a refused item, and sees to it.

What is decided is decided in `scheduler.preemption`; here plans become writes, events and metrics, and what was claimed is
given back when it is not needed any more.
"""

from collections.abc import Callable
from functools import partial

import msgspec

from api.podgroup import PodGroup
from scheduler.cycle.decision import Decision
from scheduler.preemption.candidate import Candidate, Code, found_message
from scheduler.preemption.evaluator import Evaluator, PreemptionResult
from scheduler.queue.queue import Queue
from scheduler.reporting.preemption_metrics import PreemptionMetrics
from scheduler.reporting.voice import Voice
from scheduler.state.claims import Claim
from scheduler.state.cluster import ClusterState
from scheduler.state.records import ItemKey, PodRecord, StateChange
from scheduler.suspensions import Suspensions
from scheduler.victim_priorities import VictimPriorities
from scheduler.writes.evictions import Eviction, Evictor

_ROOM_GIVEN_BACK = StateChange(freed=(0,))
_OF_GROUP = "pod group is unschedulable, "


class Preemptor:
    """Belongs to the scheduling loop, which calls it after its decisions."""

    def __init__(  # noqa: PLR0913 (the parts it ties together)
        self,
        *,
        state: ClusterState,
        queue: Queue,
        evaluator: Evaluator,
        evictor: Evictor,
        voice: Voice,
        suspensions: Suspensions,
        priorities: VictimPriorities,
        metrics: PreemptionMetrics,
        clock: Callable[[], float],
        wake: Callable[[], None],
        scheduler_name: str,
        may_evict: bool,
    ) -> None:
        self._state = state
        self._queue = queue
        self._evaluator = evaluator
        self._evictor = evictor
        self._voice = voice
        self._priorities = priorities
        self._suspensions = suspensions
        self._may_evict = may_evict
        self._metrics = metrics
        self._clock = clock
        self._wake = wake
        self._scheduler_name = scheduler_name

    def refused(self, decision: Decision) -> Decision:
        """The item found no place: begin a preemption if that helps; the decision with what came of it in its message.

        Whatever an earlier attempt nominated its pods for is cleared, unless it is still being made (KEP-4671).
        """
        if decision.verdict == "error" or not self._may_evict:
            claim = self._evaluator.unresolvable(decision.key)
            if claim is not None:
                self._give_back(claim)
            return decision
        if decision.verdict != "unschedulable":
            return decision
        begun = self._clock()
        result = self._evaluator.preempt(decision.key, begun)
        self._metrics.searched(result.result, self._clock() - begun)
        for claim in result.given_up:
            self._give_back(claim, now=result.nomination)
        if result.candidate is not None and result.nomination is not None:
            self._carry_out(result.candidate, result.nomination)
        return _worded(decision, result)

    def decided(self, decision: Decision) -> None:
        """A decision was carried out: an item that has all its places claims none any more."""
        if decision.bindings:
            members = self._state.item(decision.key)
            if members is not None and len(self._state.claims):
                self._state.claims.taken({node for _, node in decision.bindings}, members.priority)
            claim = self._evaluator.started(decision.key)
            if claim is not None:
                self._suspensions.look()
                self._room_is_free()

    def gone(self, keys: tuple[ItemKey, ...]) -> None:
        """These items are gone."""
        self._suspensions.look(keys)
        for key in keys:
            claim = self._evaluator.gone(key)
            if claim is not None:
                self._give_back(claim)

    def restore(self) -> None:
        """All caches are filled: goes on with what a predecessor began, and takes back what nobody wants any more."""
        try:
            for pod in self._evaluator.restore(self._clock(), may_evict=self._may_evict):
                self._evictor.withdraw(pod)
        finally:
            self._suspensions.begin()

    def _carry_out(self, candidate: Candidate, claim: Claim) -> None:
        self._metrics.planned(len(candidate.pods), candidate.cost.violations)
        group = self._state.group(candidate.key)

        def evicted(pod: PodRecord) -> None:
            claim.evicted += 1
            self._metrics.evicted()
            self._voice.pod_preempted(pod, candidate.key, group)

        def begun() -> bool:
            self._voice.preempts(candidate.key, group, found_message(len(candidate.pods), candidate.key.kind))
            suspended = [victim for victim in candidate.victims if victim.leaves_by_suspension]
            for victim in suspended:
                self._suspensions.ask(victim, candidate.key, message)
                for pod in victim.pods:
                    evicted(pod)
            return bool(suspended)

        what = "podgroup" if group is not None else "pod"
        name = self._state.items.scheduler_name(candidate.key) or self._scheduler_name
        message = f"{name}: preempting to accommodate a higher priority {what}"
        nominees = ((self._state.pod(uid), node) for uid, node in candidate.places)
        self._evictor.submit(
            Eviction(
                nominations=tuple((pod, node) for pod, node in nominees if pod is not None),
                units=tuple(victim.pods for victim in candidate.victims if not victim.leaves_by_suspension),
                message=message,
                obstacle=partial(self._evaluator.obstacle, claim),
                begun=begun,
                is_current=partial(self._evaluator.is_current, claim),
                is_leaving=self._is_leaving,
                evicted=evicted,
                cancelled=partial(self._cancelled, claim),
            )
        )

    # --- what changes ------------------------------------------------------------------------------------------------

    def group_seen(self, group: PodGroup) -> None:
        """A PodGroup came or changed."""
        metadata = group.metadata
        self._priorities.look(ItemKey("group", metadata.namespace, metadata.name, metadata.uid))
        self._suspensions.seen(group)

    def changed(self, keys: tuple[ItemKey, ...]) -> None:
        """Something happened to the pods of these items: one that has too few of them left to start claims nothing any more."""
        for key in keys:
            group = self._state.group(key)
            if group is not None and group.preemption_class:
                self._priorities.look(key)
        for key in keys if len(self._state.claims) else ():
            claim = self._state.claims.of(key)
            if claim is not None and not self._evaluator.is_wanted(claim):
                self.gone((key,))
        self._suspensions.look(keys)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _is_leaving(self, victim: PodRecord) -> bool:
        pod = self._state.pod(victim.uid)
        return pod is None or pod.terminating or pod.is_terminal

    def _cancelled(self, claim: Claim) -> None:
        """Nobody was asked to leave: the plan makes no sense any more."""
        if self._state.claims.of(claim.key) is claim:
            self._state.claims.drop(claim.key)
            self._give_back(claim)
            self._queue.touch(claim.key, self._state)

    def _give_back(self, claim: Claim, *, now: Claim | None = None) -> None:
        """This claim holds no room any more; `now` is the one that takes its place, whose pods are nominated anew."""
        wasted = claim.evicted - self._suspensions.untouched(claim) if claim.evicted else 0
        if wasted > 0 and not (claim.has_started or claim.is_overtaken):
            self._metrics.wasted(wasted)
        for uid in claim.places.keys() - (now.places.keys() if now is not None else set()):
            pod = self._state.pod(uid)
            if pod is not None and not pod.is_bound:
                self._evictor.withdraw(pod)
        self._suspensions.look()
        self._room_is_free()

    def _room_is_free(self) -> None:
        self._queue.woken(_ROOM_GIVEN_BACK, self._state)
        self._wake()


def _worded(decision: Decision, result: PreemptionResult) -> Decision:
    if result.refusal is not None and result.refusal.code is Code.ITEM_GONE:
        return decision
    message = result.message
    decision = msgspec.structs.replace(decision, depends_on_time=result.result == "paused")
    if decision.key.kind == "pod":
        said = f"{decision.condition_message} preemption: {message}"
        return msgspec.structs.replace(
            decision, condition_message=said, failures=tuple((uid, said) for uid, _ in decision.failures)
        )
    refusal = decision.condition_message.removesuffix(".")
    said = f"{refusal}, pod group preemption: {message}"
    failures = ((uid, f"{_OF_GROUP}{said}" if text.startswith(_OF_GROUP) else text) for uid, text in decision.failures)
    return msgspec.structs.replace(decision, condition_message=said, failures=tuple(failures))

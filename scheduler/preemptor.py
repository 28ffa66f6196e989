"""Between the loop and preemption: asks whether somebody should leave for a refused item, and sees to it.

What is decided is decided in `scheduler.preemption`; here plans become writes, events and metrics, and what was claimed is
given back when it is not needed any more.
"""

from collections.abc import Callable
from functools import partial

import msgspec

from api.constants import CONDITION_DISRUPTION_TARGET, REASON_PREEMPTION_BY_SCHEDULER
from api.meta import Condition, condition_of
from api.podgroup import PodGroup
from scheduler.cycle.decision import Decision
from scheduler.preemption.campaign import Campaigns
from scheduler.preemption.plan import Plan, VictimUnit
from scheduler.queue.queue import Queue
from scheduler.reporting.preemption_metrics import PreemptionMetrics
from scheduler.reporting.voice import Voice
from scheduler.state.claims import Claim
from scheduler.state.cluster import ClusterState
from scheduler.state.records import ItemKey, PodRecord, StateChange
from scheduler.victim_priorities import VictimPriorities
from scheduler.writes.condition_rules import TRUE, condition
from scheduler.writes.evictions import Eviction, Evictor
from scheduler.writes.group_conditions import GroupConditions

_ROOM_GIVEN_BACK = StateChange(freed=(0,))
_OF_GROUP = "pod group is unschedulable, "


class Preemptor:
    """Belongs to the scheduling loop, which calls it after its decisions."""

    def __init__(  # noqa: PLR0913 (the parts it ties together)
        self,
        *,
        state: ClusterState,
        queue: Queue,
        campaigns: Campaigns,
        evictor: Evictor,
        voice: Voice,
        groups: GroupConditions,
        priorities: VictimPriorities,
        metrics: PreemptionMetrics,
        clock: Callable[[], float],
        wake: Callable[[], None],
        scheduler_name: str,
    ) -> None:
        self._state = state
        self._queue = queue
        self._campaigns = campaigns
        self._evictor = evictor
        self._voice = voice
        self._groups = groups
        self._priorities = priorities
        self._suspended: set[ItemKey] = set()
        self._metrics = metrics
        self._clock = clock
        self._wake = wake
        self._scheduler_name = scheduler_name

    def refused(self, decision: Decision) -> Decision:
        """The item found no place: begin a preemption if that helps; the decision with what came of it in its message."""
        if decision.verdict != "unschedulable":
            return decision
        begun = self._clock()
        verdict = self._campaigns.look(decision.key, begun)
        self._metrics.searched(verdict.result, self._clock() - begun)
        for claim in verdict.given_up:
            self._give_back(claim)
        if verdict.plan is not None and verdict.claim is not None:
            self._carry_out(verdict.plan, verdict.claim)
        return _worded(decision, verdict.message, depends_on_time=verdict.result == "paused")

    def decided(self, decision: Decision) -> None:
        """A decision was carried out: an item that has all its places claims none any more."""
        if decision.bindings:
            members = self._state.item(decision.key)
            if members is not None and len(self._state.claims):
                self._state.claims.taken({node for _, node in decision.bindings}, members.priority)
            claim = self._campaigns.started(decision.key)
            if claim is not None:
                self._room_is_free()

    def gone(self, keys: tuple[ItemKey, ...]) -> None:
        """These items are gone."""
        self._suspended.difference_update(keys)
        for key in keys:
            claim = self._campaigns.gone(key)
            if claim is not None:
                self._give_back(claim)

    def _carry_out(self, plan: Plan, claim: Claim) -> None:
        self._metrics.planned(len(plan.pods), plan.cost.violations)
        group = self._state.group(plan.key)

        def evicted(pod: PodRecord) -> None:
            claim.evicted += 1
            self._metrics.evicted()
            self._voice.pod_preempted(pod, plan.key, group)

        def suspend() -> bool:
            suspended = [victim for victim in plan.victims if victim.leaves_by_suspension]
            for victim in suspended:
                self._ask_to_suspend(victim, message)
                for pod in victim.pods:
                    evicted(pod)
            return bool(suspended)

        what = "podgroup" if group is not None else "pod"
        name = self._state.items.scheduler_name(plan.key) or self._scheduler_name
        message = f"{name}: preempting to accommodate a higher priority {what}"
        nominees = ((self._state.pod(uid), node) for uid, node in plan.places)
        self._evictor.submit(
            Eviction(
                nominations=tuple((pod, node) for pod, node in nominees if pod is not None),
                units=tuple(victim.pods for victim in plan.victims if not victim.leaves_by_suspension),
                message=message,
                obstacle=partial(self._campaigns.obstacle, claim),
                begun=suspend,
                is_current=partial(self._campaigns.is_current, claim),
                is_leaving=self._is_leaving,
                evicted=evicted,
                cancelled=partial(self._cancelled, claim),
            )
        )

    # --- groups whose Job is suspended -------------------------------------------------------------------------------

    def group_seen(self, group: PodGroup) -> None:
        """A PodGroup came or changed: one that was asked to leave is watched until its pods have left, after a restart too."""
        metadata = group.metadata
        key = ItemKey("group", metadata.namespace, metadata.name, metadata.uid)
        self._priorities.look(key)
        asked = condition_of(group.status.conditions or (), CONDITION_DISRUPTION_TARGET)
        if asked is not None and asked.status == TRUE:
            self._suspended.add(key)
            self.changed((key,))

    def changed(self, keys: tuple[ItemKey, ...]) -> None:
        """Something happened to the pods of these items.

        One that has too few of them left to start claims nothing any more; a group all of whose pods have left queues again.
        """
        for key in keys:
            group = self._state.group(key)
            if group is not None and group.preemption_class:
                self._priorities.look(key)
        for key in keys if len(self._state.claims) else ():
            claim = self._state.claims.of(key)
            if claim is not None and not self._campaigns.is_wanted(claim):
                self.gone((key,))
        for key in self._suspended.intersection(keys):
            members, group = self._state.item(key), self._state.group(key)
            if members is None or group is None:
                self._suspended.discard(key)
            elif not any(pod.is_bound and not pod.is_terminal for pod in members.pods()):
                self._suspended.discard(key)
                self._groups.want(group, _disruption(is_true=False, message="all its pods have left; it queues again"))

    def _ask_to_suspend(self, victim: VictimUnit, message: str) -> None:
        if victim.unit.group is not None:
            self._groups.want(victim.unit.group, _disruption(is_true=True, message=message))

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

    def _give_back(self, claim: Claim) -> None:
        if claim.evicted and not (claim.has_started or claim.is_overtaken):
            self._metrics.wasted(claim.evicted)
        for uid in claim.places:
            pod = self._state.pod(uid)
            if pod is not None and not pod.is_bound:
                self._evictor.withdraw(pod)
        self._room_is_free()

    def _room_is_free(self) -> None:
        self._queue.woken(_ROOM_GIVEN_BACK, self._state)
        self._wake()


def _disruption(*, is_true: bool, message: str) -> Condition:
    return condition(
        CONDITION_DISRUPTION_TARGET, is_true=is_true, reason=REASON_PREEMPTION_BY_SCHEDULER, message=message
    )


def _worded(decision: Decision, message: str, *, depends_on_time: bool) -> Decision:
    if not message:
        return decision
    decision = msgspec.structs.replace(decision, depends_on_time=depends_on_time)
    if decision.key.kind == "pod":
        said = f"{decision.condition_message} preemption: {message}"
        return msgspec.structs.replace(
            decision, condition_message=said, failures=tuple((uid, said) for uid, _ in decision.failures)
        )
    refusal = decision.condition_message.removesuffix(".")
    said = f"{refusal}, pod group preemption: {message}"
    failures = ((uid, f"{_OF_GROUP}{said}" if text.startswith(_OF_GROUP) else text) for uid, text in decision.failures)
    return msgspec.structs.replace(decision, condition_message=said, failures=tuple(failures))

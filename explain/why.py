"""Why one item waits, what keeps it from starting, and what would be enough: decided on a copy of the cluster."""

from collections.abc import Callable, Iterator
from typing import Final

from api.errors import TuttiError
from explain.answer import Answer, Item, Members, Preemption, Turn, Verdict
from explain.blocking import Blocking, smallest_blocking
from explain.device_room import asks_devices
from explain.hint import Hint
from explain.hints import gate_hints, hints, timeout_hints
from explain.item_change import Change
from explain.item_hints import min_count_hints
from explain.names import item_name
from explain.obstacles import obstacles
from explain.preempting import preempt, victim_names
from explain.reasons import Reason
from explain.relaxations import relaxations
from explain.targets import queued_items
from explain.tree_groups import group_answers
from explain.trials import MOST_DECISIONS, NoMoreTrials, Trials
from scheduler.algorithm.decision import Decision
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_group_tree import TreeState
from scheduler.cache.records import EntityKey
from scheduler.plugins.gang_scheduling import pre_enqueue
from scheduler.plugins.messages import message
from scheduler.plugins.status import Code, PodGroupDiagnosis, Status
from scheduler.preemption.victims import Candidate, Refusal, RefusalCode

_PRE_ENQUEUE: Final = {
    Code.WAITING_FOR_POD_GROUP: Reason.POD_GROUP,
    Code.WAITING_FOR_MEMBERS: Reason.MEMBERS,
    Code.SCHEDULING_GATED: Reason.GATES,
    Code.INVALID: Reason.INVALID,
}
_NOTHING_FOUND: Final = Blocking()
_TOPOLOGY: Final = "TopologyPlacementGenerator"


class UnknownItem(TuttiError):
    """Nothing of that name waits for a place, or has one."""


def why(
    state: ClusterState,
    key: EntityKey,
    now_seconds: float,
    *,
    preempts: bool = True,
    most_decisions: int = MOST_DECISIONS,
    before_each: Callable[[], None] | None = None,
) -> Answer:
    """Why an item waits and what would help.

    Args:
        state: a copy of the cluster that nobody else uses: nodes and pods come and go in it, and it is as before at the end.
        key: the item.
        now_seconds: since 1970.
        preempts: whether the scheduler may evict anybody.
        most_decisions: after so many no further hint is looked for.
        before_each: called before each decision.

    Raises:
        UnknownItem: the key is no item.
    """
    trials = Trials(state, key, most_decisions, before_each)
    members = trials.members
    if members is None:
        raise UnknownItem(f"{key.kind} {key.namespace}/{key.name} is not known")
    return _Question(trials, members, now_seconds, preempts=preempts).answer()


class _Question:
    def __init__(self, trials: Trials, members: PodGroupState, now_seconds: float, *, preempts: bool) -> None:
        self._trials = trials
        self._members = members
        self._now_seconds = now_seconds
        self._preempts = preempts

    def answer(self) -> Answer:
        """The answer for an item, from what it must have before it is tried to what a decision says."""
        members = self._members
        gate = pre_enqueue(members)
        if gate is None and not members.pending_count:
            return self._told(Verdict.STARTED, None, f"{members.scheduled_count} pods have their nodes")
        if gate is not None:
            return self._gated(gate)
        if members.group is not None and members.group.has_timed_out and not members.scheduled_count:
            hint = self._first(timeout_hints(self._trials))
            return self._told(Verdict.WAITS, Reason.TIMED_OUT, members.group.condition_message, hint=hint)
        return self._decided(self._trials.decide())

    def _gated(self, gate: Status) -> Answer:
        reason = _PRE_ENQUEUE[gate.code]
        found: Iterator[Hint] = iter(())
        if reason is Reason.GATES:
            found = gate_hints(self._trials)
        elif reason is Reason.MEMBERS:
            found = min_count_hints(self._trials, Decision(self._trials.key, gate), least_share=0.0)
        # No room and no time mends a tree that is none.
        verdict = Verdict.NEVER if reason is Reason.INVALID else Verdict.WAITS
        return self._told(verdict, reason, message(gate), hint=self._first(found))

    def _decided(self, decision: Decision) -> Answer:
        if decision.result == "scheduled":
            is_rest = self._members.scheduled_count >= self._members.min_count
            text = "its remaining pods have room now" if is_rest else "there is room for it now"
            return self._told(Verdict.STARTS, Reason.TURN, f"{text}: it waits for its turn", decision=decision)
        if decision.is_over_budget:
            return self._told(Verdict.WAITS, Reason.TOO_LONG, decision.condition_message)
        if decision.status.code is Code.ERROR and decision.status.plugin != _TOPOLOGY:
            if self._trials.state.devices.is_unknown and asks_devices(self._trials.state, self._members):
                return self._told(Verdict.WAITS, Reason.DEVICES, decision.condition_message)
            return self._told(Verdict.NEVER, Reason.INVALID, decision.condition_message)
        found = preempt(self._trials) if self._preempts else None
        if isinstance(found, Candidate):
            names = victim_names(found)
            text = f"it starts when {', '.join(names[:3])}{' and others' if len(names) > 3 else ''} have left for it"
            leaving = Preemption(text, "", names, tuple(pod.uid for pod in found.pods))
            return self._told(Verdict.STARTS, Reason.LEAVING, text, decision=decision, preemption=leaving)
        if isinstance(found, Refusal) and found.code is RefusalCode.ONGOING:
            leaving = _refused(found)
            return self._told(Verdict.STARTS, Reason.LEAVING, found.message, decision=decision, preemption=leaving)
        return self._blocked(decision, found)

    def _blocked(self, decision: Decision, refusal: Refusal | None) -> Answer:
        trials = self._trials
        blocking, hint, verdict = Blocking(), None, Verdict.WAITS
        try:
            candidates = relaxations(trials.seen.view, self._members)
            blocking = smallest_blocking(candidates, lambda some: trials.starts(*(one.change for one in some)))
            waits_for_claims = any(one.reason is Reason.CLAIMS for one in candidates)
            if not trials.starts(Change(is_alone=True, ignores_volumes=True, ignores_devices=waits_for_claims)):
                verdict = Verdict.NEVER
            hint = next(hints(trials, decision, blocking), None)
        except NoMoreTrials:
            pass
        reasons = blocking.reasons
        return self._told(
            verdict,
            reasons[0].reason if reasons else Reason.NO_NODES if not len(trials.state.nodes) else Reason.ROOM,
            decision.condition_message,
            decision=decision,
            preemption=_refused(refusal) if refusal is not None else None,
            hint=hint,
            blocking=blocking,
        )

    def _first(self, found: Iterator[Hint]) -> Hint | None:
        try:
            return next(found, None)
        except NoMoreTrials:
            return None

    def _told(
        self,
        verdict: Verdict,
        reason: Reason | None,
        text: str,
        *,
        decision: Decision | None = None,
        preemption: Preemption | None = None,
        hint: Hint | None = None,
        blocking: Blocking = _NOTHING_FOUND,
    ) -> Answer:
        members, key = self._members, self._trials.key
        told = obstacles(self._trials, decision, blocking.reasons) if decision is not None else ()
        tree = members if isinstance(members, TreeState) else None
        root = tree.branch.record if tree is not None and tree.branch is not None else None
        groups = group_answers(self._trials, decision) if verdict is not Verdict.STARTED else ()
        waits = 0.0 if verdict is Verdict.STARTED else max(self._now_seconds - members.waits_since_seconds, 0.0)
        return Answer(
            item=Item(key.kind, key.namespace, key.name, item_name(key, members.group)),
            verdict=verdict,
            reason=reason,
            message=text,
            waiting_seconds=waits,
            certainty=_certainty(decision) if verdict is Verdict.WAITS else "",
            members=_members(members, decision),
            groups=groups,
            min_group_count=root.min_group_count if root is not None and root.is_gang else 0,
            turn=turn_of(self._trials.state, key),
            blocking=told,
            together=blocking.together,
            preemption=preemption,
            hint=hint,
            decisions=self._trials.made,
        )


def _refused(refusal: Refusal) -> Preemption:
    return Preemption(refusal.message, refusal.code.name.lower().replace("_", "-"))


def _certainty(decision: Decision | None) -> str:
    found = decision.status.diagnosis if decision is not None else None
    return found.certainty.value if isinstance(found, PodGroupDiagnosis) else ""


def _members(members: PodGroupState, decision: Decision | None) -> Members:
    counts = members.counts()
    found = decision.status.diagnosis if decision is not None else None
    placeable = found.placed if isinstance(found, PodGroupDiagnosis) else 0
    if decision is not None and decision.bindings:
        placeable = len(decision.bindings)
    return Members(
        need=members.min_count,
        pending=counts.pending,
        scheduled=counts.scheduled_count,
        missing=max(members.min_count - counts.known, 0),
        gated=counts.gated,
        placeable=placeable,
    )


def turn_of(state: ClusterState, key: EntityKey) -> Turn:
    """The place of an item among all that may be tried, in the order in which the queue tries them."""
    waiting = {}
    for other in queued_items(state):
        members = state.item(other)
        if members is not None and members.pending_count and pre_enqueue(members) is None:
            waiting[other] = (-members.priority, members.waits_since_seconds, other.uid)
    own = waiting.get(key)
    return Turn(1 + sum(one < own for one in waiting.values()) if own is not None else 0, len(waiting))

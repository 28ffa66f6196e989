"""Between the scheduling loop and preemption: whether somebody leaves for a refused item, and what becomes of nominations.

What is decided is decided by the evaluator; here candidates become writes, events and metrics, and room that was nominated for an
item is given back when it is not needed any more.
"""

from collections.abc import Callable

from api.podgroup import PodGroup
from scheduler.algorithm.decision import Decision
from scheduler.cache.cluster import ClusterState
from scheduler.cache.nominator import Nomination
from scheduler.cache.pod_group_tree import queued_item
from scheduler.cache.records import EntityKey, StateChange
from scheduler.preemption.evaluator import Evaluator
from scheduler.preemption.executor import Executor
from scheduler.preemption.result import with_post_filter
from scheduler.preemption.suspensions import Suspensions
from scheduler.queue.scheduling_queue import ROOM_APPEARED, SchedulingQueue
from scheduler.reporting.metrics import PreemptionMetrics
from scheduler.reporting.preemption_priority import PreemptionPriorityReporter


class PreemptionManager:
    """Belongs to the scheduling loop, which calls it after its decisions."""

    def __init__(  # noqa: PLR0913 (the parts it ties together)
        self,
        *,
        state: ClusterState,
        queue: SchedulingQueue,
        evaluator: Evaluator,
        executor: Executor,
        suspensions: Suspensions,
        priorities: PreemptionPriorityReporter,
        metrics: PreemptionMetrics,
        clock: Callable[[], float],
        apply: Callable[[StateChange], None],
        may_evict: bool,
    ) -> None:
        self._state = state
        self._queue = queue
        self._evaluator = evaluator
        self._executor = executor
        self._suspensions = suspensions
        self._priorities = priorities
        self._metrics = metrics
        self._clock = clock
        self._apply = apply
        self._may_evict = may_evict

    # --- for the loop ------------------------------------------------------------------------------------------------

    def post_filter(self, decision: Decision) -> Decision:
        """The item found no place: begin a preemption if that helps; the decision with what came of it in its message.

        Whatever an earlier attempt nominated its pods for is cleared, unless it is still being made (KEP-4671).
        """
        if decision.result == "error" or not self._may_evict:
            nomination = self._evaluator.unresolvable(decision.key)
            if nomination is not None:
                self._release(nomination)
            return decision
        if decision.result != "unschedulable":
            return decision
        begun = self._clock()
        result = self._evaluator.preempt(decision.key, begun)
        self._metrics.searched(result.result, self._clock() - begun)
        for nomination in result.given_up:
            self._release(nomination, successor=result.nomination)
        if result.candidate is not None and result.nomination is not None:
            self._executor.execute(result.candidate, result.nomination, self._cancelled)
        return with_post_filter(decision, result)

    def awaited(self, key: EntityKey) -> tuple[str, ...]:
        """UIDs of the pods whose leaving the item waits for."""
        return self._evaluator.awaited(key)

    def after_decision(self, decision: Decision) -> None:
        """A decision was carried out: an item that has all its places is nominated for none any more."""
        if decision.bindings:
            members = self._state.item(decision.key)
            if members is not None and len(self._state.nominator):
                self._state.nominator.overtake({node for _, node in decision.bindings}, members.priority)
            if self._evaluator.started(decision.key) is not None:
                self._suspensions.review()
                self._apply(ROOM_APPEARED)

    def restore(self) -> None:
        """All caches are filled: goes on with what a predecessor began, and takes back what nobody wants any more."""
        try:
            for pod in self._evaluator.restore(self._clock(), may_evict=self._may_evict):
                self._executor.withdraw(pod)
        finally:
            self._suspensions.begin()

    # --- what changes ------------------------------------------------------------------------------------------------

    def items_gone(self, keys: tuple[EntityKey, ...]) -> None:
        """These items are gone."""
        self._suspensions.review(keys)
        for key in keys:
            nomination = self._evaluator.gone(key)
            if nomination is not None:
                self._release(nomination)

    def items_changed(self, keys: tuple[EntityKey, ...]) -> None:
        """Something happened to the pods of these items: one with too few of them left to start is nominated no longer."""
        for key in keys:
            group = self._state.group(key)
            if group is not None and group.preemption_class:
                self._priorities.review(key)
        for key in self._queued(keys) if len(self._state.nominator) else ():
            nomination = self._state.nominator.of(key)
            if nomination is not None and not self._evaluator.is_wanted(nomination):
                self.items_gone((key,))
        self._suspensions.review(keys)

    def pod_group_seen(self, group: PodGroup) -> None:
        """A PodGroup came or changed."""
        metadata = group.metadata
        self._priorities.review(EntityKey("group", metadata.namespace, metadata.name, metadata.uid))
        self._suspensions.seen(group)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _queued(self, keys: tuple[EntityKey, ...]) -> set[EntityKey]:
        """The items that are scheduled for these: trees in the place of their groups."""
        found = ((key, self._state.item(key)) for key in keys)
        return {queued_item(members) if members is not None else key for key, members in found}

    def _cancelled(self, nomination: Nomination) -> None:
        """Nobody was asked to leave: the candidate makes no sense any more."""
        if self._state.nominator.of(nomination.key) is nomination:
            self._state.nominator.withdraw(nomination.key)
            self._release(nomination)
            self._queue.activate(nomination.key, self._state)

    def _release(self, nomination: Nomination, *, successor: Nomination | None = None) -> None:
        """This nomination holds no room any more; the pods of its successor, if there is one, are nominated anew."""
        wasted = nomination.evicted - self._suspensions.untouched(nomination) if nomination.evicted else 0
        if wasted > 0 and not (nomination.has_started or nomination.is_overtaken):
            self._metrics.wasted(wasted)
        for uid in nomination.places.keys() - (successor.places.keys() if successor is not None else set()):
            pod = self._state.pod(uid)
            if pod is not None and not pod.is_bound:
                self._executor.withdraw(pod)
        self._suspensions.review()
        self._apply(ROOM_APPEARED)

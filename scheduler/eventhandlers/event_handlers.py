"""What the informers see goes into the cluster's state, and what that changes goes to everybody who must hear of it.

Handlers are synchronous and quick: they run once per watch event of the whole cluster. Nothing is written from here. An exception
about one object is noted as that item's, and the next event is taken in.
"""

from collections.abc import Callable

import msgspec

from api.compositepodgroup import CompositePodGroup
from api.meta import NO_METADATA
from api.namespace import Namespace
from api.node import Node
from api.pod import Pod
from api.podgroup import PodGroup
from api.priorityclass import PriorityClass
from kube.cache.informer import Change
from scheduler.apicalls.composite_objects import as_group
from scheduler.apicalls.conditions import PodConditions
from scheduler.apicalls.group_conditions import GroupConditions
from scheduler.cache.cluster import ClusterState
from scheduler.cache.disruption_budgets import Budget
from scheduler.cache.records import EntityKey, PodRecord, StateChange
from scheduler.preemption.manager import PreemptionManager
from scheduler.queue.item_errors import TAKE_IN, ItemErrors
from scheduler.queue.scheduling_queue import SchedulingQueue
from scheduler.reporting.preemption_priority import PreemptionPriorityReporter
from scheduler.reporting.reporter import Reporter


class FanOut:
    """The one way by which a change of the cluster's state reaches those who must hear of it.

    Every change that can give or take room, or a reason to wait, goes through here whoever caused it: a watch event, a pod that is
    assumed or forgotten, a bind that failed, a read after a lost answer, something about storage, room that is reserved no longer.
    What only the next decision looks at (PriorityClasses, disruption budgets, default spread constraints) wakes nobody.
    """

    def __init__(
        self,
        *,
        state: ClusterState,
        queue: SchedulingQueue,
        reporter: Reporter,
        preemption: PreemptionManager,
        errors: ItemErrors,
        wake: Callable[[], None],
    ) -> None:
        """`wake` makes the scheduling loop look again."""
        self._state = state
        self._queue = queue
        self._reporter = reporter
        self._preemption = preemption
        self._errors = errors
        self._wake = wake

    def apply(self, change: StateChange) -> None:
        """Tell queue, reporter and preemption, in this order; what one of them raises is noted and the others still hear."""
        if not change:
            return
        if change.freed:
            self._state.losses.room_appeared()
        concerned = next(iter((*change.items, *change.gone, *change.bound)), None)
        with self._errors.about(concerned, TAKE_IN):
            self._queue.move_all_to_active(change, self._state)
        with self._errors.about(concerned, TAKE_IN):
            self._reporter.changed(change)
        with self._errors.about(concerned, TAKE_IN):
            self._preemption.items_gone(change.gone)
            self._preemption.items_changed(change.items)
        self._wake()


class EventHandlers:
    """Handlers for the informers of pods, nodes, groups, namespaces, PriorityClasses and disruption budgets."""

    def __init__(  # noqa: PLR0913 (what hears of events)
        self,
        *,
        state: ClusterState,
        changes: FanOut,
        queue: SchedulingQueue,
        groups: GroupConditions,
        pods: PodConditions,
        preemption: PreemptionManager,
        priorities: PreemptionPriorityReporter,
        errors: ItemErrors,
        composites: GroupConditions | None = None,
    ) -> None:
        """`composites` writes to CompositePodGroups; None where the server has none."""
        self._composites = composites
        self._state = state
        self._changes = changes
        self._queue = queue
        self._groups = groups
        self._pods = pods
        self._preemption = preemption
        self._priorities = priorities
        self._errors = errors

    def pod_record(self, pod: Pod) -> PodRecord:
        """The record to keep of a pod, once per decoded pod; what it says about waiting is remembered beside it.

        Raises:
            ValidationError: it cannot be kept; to whoever follows pods it is one that cannot be read.
        """
        try:
            record = self._state.slim_pod(pod)
            if record.signature is not None:
                self._pods.observe(pod)
        except Exception as error:
            self._errors.note(None, TAKE_IN, error)
            raise msgspec.ValidationError(f"internal error: {type(error).__name__}") from error
        return record

    def pod_changed(self, change: Change[PodRecord]) -> None:
        """A pod came, changed or went."""
        with self._errors.about(self._item_of(change.new or change.old), TAKE_IN):
            if change.new is not None:
                self._changes.apply(self._state.upsert_pod(change.new))
                if change.new.is_bound or change.new.is_terminal:
                    self._pods.gone(change.new.uid)
            elif change.old is not None:
                self._pods.gone(change.old.uid)
                self._changes.apply(self._state.remove_pod(change.old.namespace, change.old.name, change.old.uid))

    def node_changed(self, change: Change[Node]) -> None:
        """A node came, changed or went."""
        with self._errors.about(None, TAKE_IN):
            if change.new is not None:
                self._changes.apply(self._state.upsert_node(change.new))
            elif change.old is not None:
                self._changes.apply(self._state.remove_node(change.old.metadata.name, change.old.metadata.uid))

    def group_changed(self, change: Change[PodGroup]) -> None:
        """A PodGroup came, changed (by our own status writes too) or went."""
        group = change.new or change.old
        metadata = group.metadata if group is not None else NO_METADATA
        with self._errors.about(EntityKey("group", metadata.namespace, metadata.name, metadata.uid), TAKE_IN):
            if change.new is not None:
                self._groups.seen(change.new)
                self._changes.apply(self._state.upsert_group(change.new))
                self._preemption.pod_group_seen(change.new)
            elif change.old is not None:
                self._groups.gone(metadata.uid)
                self._changes.apply(self._state.remove_group(metadata.namespace, metadata.name, metadata.uid))

    def composite_changed(self, change: Change[CompositePodGroup]) -> None:
        """A CompositePodGroup came, changed (by our own status writes too) or went."""
        group = change.new or change.old
        metadata = group.metadata if group is not None else NO_METADATA
        with self._errors.about(EntityKey("composite", metadata.namespace, metadata.name, metadata.uid), TAKE_IN):
            if change.new is not None:
                if self._composites is not None:
                    self._composites.seen(as_group(change.new))
                self._changes.apply(self._state.composites.upsert(change.new))
            elif change.old is not None:
                if self._composites is not None:
                    self._composites.gone(metadata.uid)
                self._changes.apply(self._state.composites.remove(metadata.namespace, metadata.name, metadata.uid))

    def namespace_changed(self, change: Change[Namespace]) -> None:
        """A namespace came, changed or went: rules about other pods may choose by its labels."""
        with self._errors.about(None, TAKE_IN):
            if change.new is not None:
                metadata = change.new.metadata
                self._changes.apply(self._state.upsert_namespace(metadata.name, metadata.labels))
            elif change.old is not None:
                self._changes.apply(self._state.remove_namespace(change.old.metadata.name))

    def controller_changed(self, uid: str, pod_uid: str) -> None:
        """A controller of pods is itself controlled by a pod, or no longer ("")."""
        with self._errors.about(None, TAKE_IN):
            self._changes.apply(self._state.set_controller(uid, pod_uid))

    def priority_class_changed(self, change: Change[PriorityClass]) -> None:
        """A PriorityClass came, changed or went: it counts for the next decision, and the groups that name it say so."""
        with self._errors.about(None, TAKE_IN):
            concerned: tuple[EntityKey, ...] = ()
            if change.new is not None:
                concerned = self._state.set_priority_class(change.new)
            elif change.old is not None:
                concerned = self._state.remove_priority_class(change.old)
            for key in concerned:
                self._priorities.review(key)

    def budget_changed(self, change: Change[Budget]) -> None:
        """A disruption budget came, changed or went; it is looked at when somebody is to leave."""
        with self._errors.about(None, TAKE_IN):
            if change.new is not None:
                self._state.budgets.upsert(change.new)
            elif change.old is not None:
                self._state.budgets.remove(change.old)
        self._queue.noticed()

    def _item_of(self, pod: PodRecord | None) -> EntityKey | None:
        if pod is None:
            return None
        members = self._state.entities.of_pod(pod)
        return members.key if members is not None else EntityKey("pod", pod.namespace, pod.name, pod.uid)

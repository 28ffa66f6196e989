"""What the informers see goes into the core's state, and what that changes wakes the queue.

Handlers are synchronous and quick: they run once per watch event of the whole cluster. Nothing is written from here.
"""

from collections.abc import Callable

from api.namespace import Namespace
from api.node import Node
from api.pod import Pod
from api.podgroup import PodGroup
from kube.cache.informer import Change
from scheduler.preemptor import Preemptor
from scheduler.queue.queue import Queue
from scheduler.reporting.reporter import Reporter
from scheduler.state.budgets import Budget
from scheduler.state.cluster import ClusterState
from scheduler.state.records import PodRecord, StateChange
from scheduler.writes.group_conditions import GroupConditions
from scheduler.writes.pod_conditions import PodConditions


class Ingest:
    """Handlers for the informers."""

    def __init__(
        self,
        *,
        state: ClusterState,
        queue: Queue,
        reporter: Reporter,
        groups: GroupConditions,
        pods: PodConditions,
        preemptor: Preemptor,
        wake: Callable[[], None],
    ) -> None:
        self._state = state
        self._queue = queue
        self._reporter = reporter
        self._groups = groups
        self._pods = pods
        self._preemptor = preemptor
        self._wake = wake

    def slim(self, pod: Pod) -> PodRecord:
        """The record to keep of a pod, once per decoded pod; what it says about waiting is remembered beside it."""
        record = self._state.slim_pod(pod)
        if record.shape is not None:
            self._pods.observe(pod)
        return record

    def pod_changed(self, change: Change[PodRecord]) -> None:
        """A pod came, changed or went."""
        if change.new is not None:
            self._apply(self._state.upsert_pod(change.new))
            if change.new.is_bound or change.new.is_terminal:
                self._pods.gone(change.new.uid)
        elif change.old is not None:
            self._pods.gone(change.old.uid)
            self._apply(self._state.remove_pod(change.old.namespace, change.old.name, change.old.uid))

    def node_changed(self, change: Change[Node]) -> None:
        """A node came, changed or went."""
        if change.new is not None:
            self._apply(self._state.upsert_node(change.new))
        elif change.old is not None:
            self._apply(self._state.remove_node(change.old.metadata.name, change.old.metadata.uid))

    def group_changed(self, change: Change[PodGroup]) -> None:
        """A PodGroup came, changed (by our own status writes too) or went."""
        if change.new is not None:
            self._groups.seen(change.new)
            self._apply(self._state.upsert_group(change.new))
            self._preemptor.group_seen(change.new)
        elif change.old is not None:
            metadata = change.old.metadata
            self._groups.gone(metadata.uid)
            self._apply(self._state.remove_group(metadata.namespace, metadata.name, metadata.uid))

    def namespace_changed(self, change: Change[Namespace]) -> None:
        """A namespace came, changed or went: rules about other pods may choose by its labels."""
        if change.new is not None:
            self._apply(self._state.upsert_namespace(change.new.metadata.name, change.new.metadata.labels))
        elif change.old is not None:
            self._apply(self._state.remove_namespace(change.old.metadata.name))

    def controller_changed(self, uid: str, pod_uid: str) -> None:
        """A controller of pods is itself controlled by a pod, or no longer ("")."""
        self.apply(self._state.set_controller(uid, pod_uid))

    def budget_changed(self, change: Change[Budget]) -> None:
        """A disruption budget came, changed or went; it is looked at when somebody is to leave."""
        if change.new is not None:
            self._state.budgets.upsert(change.new)
        elif change.old is not None:
            self._state.budgets.remove(change.old)

    def apply(self, change: StateChange) -> None:
        """Something that pods wait for changed."""
        self._apply(change)

    def _apply(self, change: StateChange) -> None:
        if change:
            self._queue.woken(change, self._state)
            self._reporter.changed(change)
            self._preemptor.gone(change.gone)
            self._preemptor.changed(change.items)
            self._wake()

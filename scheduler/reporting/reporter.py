"""Turns decisions, refusals and confirmed binds into conditions and events.

It decides nothing and keeps nothing that could not be found out again: what stands on the objects is compared with what
the state says now. So it may be called as often as anything changes, and after a restart it writes only what is missing.
"""

from collections.abc import Callable
from typing import Final

from api.constants import (
    CONDITION_SCHEDULED,
    REASON_INVALID,
    REASON_SCHEDULER_ERROR,
    REASON_SCHEDULING_GATED,
    REASON_UNSCHEDULABLE,
    REASON_WAITING_FOR_CLAIMS,
    REASON_WAITING_FOR_MEMBERS,
    REASON_WAITING_FOR_POD_GROUP,
)
from kube.client.rate_limit import TokenBucket
from kube.process.trace import trace
from scheduler.algorithm.decision import Decision
from scheduler.apicalls.conditions import PodConditions, condition
from scheduler.apicalls.group_conditions import GroupConditions
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_tree import queued_item
from scheduler.cache.records import EntityKey, GroupRecord, StateChange
from scheduler.plugins.messages import member_message, message
from scheduler.plugins.status import Status
from scheduler.queue.delay_queue import DelayQueue
from scheduler.queue.item_errors import ItemErrors
from scheduler.queue.scheduling_queue import SchedulingQueue
from scheduler.reporting.begun_trees import BegunTrees
from scheduler.reporting.events import EventWriter
from scheduler.reporting.hints import Hints
from scheduler.reporting.progress import Progress
from scheduler.reporting.timeouts import Timeouts
from scheduler.reporting.trees import TreeReporter
from scheduler.settings import SchedulerSettings

GATES: Final = frozenset(
    {REASON_WAITING_FOR_MEMBERS, REASON_WAITING_FOR_POD_GROUP, REASON_SCHEDULING_GATED, REASON_INVALID}
)
"""Reasons for which an item is not even tried."""

_STAGE: Final = "report"
_NEXT_TURN_SECONDS: Final = 10.0
"""When a group without pods is looked at again that would have said so too early after others."""


class Reporter:
    """Says how every item is doing, with as few writes as that takes. Belongs to one event loop."""

    def __init__(  # noqa: PLR0913 (what it tells from, and how)
        self,
        *,
        state: ClusterState,
        queue: SchedulingQueue,
        groups: GroupConditions,
        pods: PodConditions,
        event_writer: EventWriter,
        progress: Progress,
        clock: Callable[[], float],
        settings: SchedulerSettings,
        errors: ItemErrors,
        hints: Hints,
        trees: TreeReporter,
        begun_trees: BegunTrees,
        group_error_reason: str = REASON_SCHEDULER_ERROR,
    ) -> None:
        self._hints = hints
        self._trees = trees
        self._begun_trees = begun_trees
        self._group_error_reason = group_error_reason
        self._errors = errors
        self._state = state
        self._queue = queue
        self._groups = groups
        self._pods = pods
        self._event_writer = event_writer
        self._progress = progress
        self._timeouts = Timeouts(
            state=state, queue=queue, groups=groups, pods=pods, event_writer=event_writer, trees=trees
        )
        self._held_due: DelayQueue[EntityKey] = DelayQueue(clock)
        self._settings = settings
        per_second = settings.empty_reports_per_second
        self._empty_reports = TokenBucket(per_second=per_second, burst=max(1, int(per_second)), clock=clock)
        self._said_held: set[EntityKey] = set()
        self._has_looked = False

    # --- what happened -----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """The caches are filled: say what a predecessor did not come to say."""
        for key in list(self._state.entities):
            with self._errors.about(key, _STAGE):
                self._progress.start(key)
                self._tree_changed(key)

    def decided(self, decision: Decision) -> None:
        """A cycle ended."""
        for pod_uid, _ in decision.bindings:
            self._pods.withdraw(pod_uid)
        if decision.result == "scheduled":
            self._trace(decision)
            self._hints.forget(decision.key)
            self._said_held.discard(decision.key)
            self._timeouts.update(decision.key)
            self._tell_pods(decision, REASON_UNSCHEDULABLE, others=None)
        elif decision.result == "unschedulable":
            self._refused(decision, REASON_UNSCHEDULABLE)
        elif decision.result == "error":
            self._refused(decision, REASON_SCHEDULER_ERROR)

    def _trace(self, decision: Decision) -> None:
        group = self._state.group(decision.key)
        if group is not None and decision.bindings:
            pods = len(decision.bindings)
            trace("decided", group.owner.uid, namespace=group.namespace, group=group.name, pods=pods)

    def changed(self, change: StateChange) -> None:
        """The cluster's state changed."""
        for key in change.gone:
            self._forget(key)
        for key in change.bound:
            with self._errors.about(key, _STAGE):
                self._progress.update(key)
                self._tree_changed(key)
        for key in change.items:
            with self._errors.about(key, _STAGE):
                self._item_changed(key)

    def _item_changed(self, key: EntityKey) -> None:
        if key.kind == "group":
            self._progress.update(key)
            self._tree_changed(key)
            key = self._queued(key)
        if key in self._said_held:
            self._held_due.add(key, self._settings.held_update_seconds)
        elif key in self._held_due:
            # The first member may have come: what a group without any would wait is too long now.
            self._held_due.add(key, self._patience_seconds(key))

    def _tree_changed(self, key: EntityKey) -> None:
        """Something about a group changed; it may be below a tree."""
        self._trees.started(key)
        self._begun_trees.update(key)

    def _queued(self, key: EntityKey) -> EntityKey:
        """The key under which a group is scheduled."""
        members = self._state.item(key)
        return queued_item(members) if members is not None else key

    def bound(self, pod_uid: str, node_name: str) -> None:
        """The server answered that a pod is bound; the watch may have shown it already."""
        self._pods.gone(pod_uid)
        pod, key = self._state.pod(pod_uid), self._state.item_of(pod_uid)
        if pod is None:
            return
        if not pod.group:
            self._event_writer.pod_scheduled(EntityKey("pod", pod.namespace, pod.name, pod.uid), pod, node_name)
        elif key is not None:
            self._progress.answered(key, pod_uid)
            self._tree_changed(key)

    def forbidden(self, pod_uid: str, reason: str, message: str) -> None:
        """The server forbids the bind of a pod.

        Args:
            pod_uid: the pod.
            reason: of the condition `PodGroupSatisfied` of its group.
            message: for its group, or for itself if it has none.
        """
        key = self._state.item_of(pod_uid)
        pod = self._state.pod(pod_uid)
        if key is None or pod is None:
            return
        if key.kind == "group":
            self._progress.forbidden(key, reason, message)
            self._begun_trees.forbidden(key)
        else:
            self._pods.want(pod, reason=REASON_SCHEDULER_ERROR, message=message)

    def collect_news(self) -> None:
        """Items whose reason to wait changed: those that are held get time to be complete before they say so."""
        if not self._has_looked:
            # Not before the queue has judged everybody once, or what a predecessor said would be taken back first.
            self._has_looked = True
            for key in dict.fromkeys(map(self._queued, self._state.entities)):
                with self._errors.about(key, _STAGE):
                    self._timeouts.update(key)
        for key, status in self._queue.changed_statuses():
            with self._errors.about(key, _STAGE):
                self._timeouts.update(key)
                if status is not None and status.reason in GATES:
                    self._held_due.add(key, self._patience_seconds(key))

    def _patience_seconds(self, key: EntityKey) -> float:
        """How long an item may be held before it says so."""
        settings = self._settings
        return settings.held_report_seconds if self._state.entities.counts(key).known else settings.empty_report_seconds

    # --- what is due -------------------------------------------------------------------------------------------------

    def next_due_seconds(self) -> float | None:
        """When `say_what_is_due` has something to do."""
        due = (self._held_due, self._progress, self._begun_trees)
        dues = (each.next_due_seconds() for each in due)
        return min((due for due in dues if due is not None), default=None)

    def say_what_is_due(self) -> None:
        """The time given to held items has passed: those that are still held say what they wait for."""
        self._progress.say_degraded()
        self._begun_trees.look()
        for key in self._held_due.take_due():
            with self._errors.about(key, _STAGE):
                self._held_is_due(key)

    def _held_is_due(self, key: EntityKey) -> None:
        status = self._queue.status(key)
        if status is None or status.reason not in GATES:
            self._said_held.discard(key)
        elif self._state.entities.counts(key).known or self._empty_reports.try_take():
            self._say_held(key, status)
        else:
            self._held_due.add(key, _NEXT_TURN_SECONDS)

    # --- saying it ---------------------------------------------------------------------------------------------------

    def _say_held(self, key: EntityKey, status: Status) -> None:
        if key.kind == "composite":
            self._said_held.add(key)
            self._trees.held(key, status.reason, message(status))
            return
        group, pods = self._state.group(key), self._state.entities.waiting(key)
        if group is None:
            self._event_writer.pods_wait(key, pods, message(status))
            return
        if group.is_foreign or (not pods and self._state.foreign_groups.name(group.namespace, group.name)):
            # Another scheduler places its pods, and says so itself.
            return
        if not pods and self._groups.is_scheduled(group):
            # It has had its start, and nothing of it waits now.
            return
        self._said_held.add(key)
        self._hints.forget(key)
        text = message(status)
        self._set_group(
            key, group, status.reason, text, lambda: self._event_writer.group_waits(key, group, status.reason, text)
        )

    def _refused(self, decision: Decision, reason: str) -> None:
        key, text = decision.key, decision.condition_message
        self._said_held.discard(key)
        group = self._state.group(key)
        if key.kind == "composite":
            self._trees.refused(key, self._group_error_reason if decision.status.is_group_error else reason, text)
            self._tell_pods(decision, reason, others=member_message(text))
            return
        if group is not None:
            group_reason = self._group_error_reason if decision.status.is_group_error else reason
            hint = self._hints.refused(key, text)
            self._set_group(
                key, group, group_reason, text + hint, lambda: self._event_writer.group_refused(key, group, text)
            )
            self._tell_pods(decision, reason, others=member_message(text))
            return
        pod = self._state.pod(key.uid)
        if pod is not None and key.kind == "pod":
            told = REASON_WAITING_FOR_CLAIMS if decision.status.waits_for_claims else reason
            self._pods.want(pod, reason=told, message=text, or_blockers=True)
            self._event_writer.pod_refused(key, pod, text)

    def advised(self, key: EntityKey) -> None:
        """A hint was found for a group that has been refused: its condition has it from now on."""
        status, group = self._queue.status(key), self._state.group(key)
        if status is None or group is None or status.reason != REASON_UNSCHEDULABLE:
            return
        text = message(status)
        hint = self._hints.refused(key, text)
        if hint:
            self._set_group(key, group, status.reason, text + hint, lambda: None)

    def _set_group(
        self, key: EntityKey, group: GroupRecord, reason: str, message: str, then: Callable[[], None]
    ) -> None:
        wanted = condition(CONDITION_SCHEDULED, is_true=False, reason=reason, message=message)
        if not self._progress.has_started(key) and self._groups.want(group, wanted, then=then):
            return
        then()

    def _tell_pods(self, decision: Decision, reason: str, *, others: str | None) -> None:
        """Every waiting member gets its own message, or what was said about the group; `others` None leaves those be."""
        messages = dict(decision.pod_messages)
        if not messages and others is None:
            return
        for_claims = {uid for uid, status in decision.failures if status is not None and status.waits_for_claims}
        for pod in self._state.entities.waiting(decision.key):
            message = messages.get(pod.uid, others)
            if message is not None:
                told = REASON_WAITING_FOR_CLAIMS if pod.uid in for_claims else reason
                self._pods.want(pod, reason=told, message=message)

    def _forget(self, key: EntityKey) -> None:
        self._said_held.discard(key)
        self._held_due.discard(key)
        self._event_writer.forget(key)
        self._hints.forget(key)
        self._progress.forget(key)
        self._timeouts.forget(key)
        self._trees.forget(key)

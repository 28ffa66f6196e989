"""Events: which object is told what, once.

The object that the user owns (the Job) hears about its gang, so that `kubectl describe job` answers "why does it not
start"; the PodGroup hears the same; members hear nothing by event (their condition says it), or a gang of a thousand would
be a thousand events. Lone pods hear for themselves, as from the stock scheduler.
"""

from collections.abc import Callable, Hashable
from functools import partial
from typing import Final

from api.compositepodgroup import COMPOSITE_KIND
from api.constants import (
    EVENT_FAILED_SCHEDULING,
    EVENT_GANG_DEGRADED,
    EVENT_GANG_RESTARTED,
    EVENT_PREEMPTED,
    EVENT_PREEMPTING,
    EVENT_SCHEDULED,
    EVENT_WAITING_FOR_POD_GROUP,
)
from api.podgroup import POD_GROUP_KIND
from kube.client.event_series import EventType
from kube.client.events import EventRecorder, ObjectReference
from kube.client.resources import Resource
from scheduler.apicalls.conditions import blockers
from scheduler.cache.records import EntityKey, GroupRecord, Owner, PodRecord

_MAX_TOLD_PODS: Final = 20
"""Bare pods without a group that are told one by one; a thousand of them would be a thousand events saying the same."""


class EventDeduplicator:
    """The last saying per subject, so that it is said once and not with every retry.

    Two sayings are the same when they differ in numbers only: how many nodes lack what changes all the time, what they lack is the
    news. A saying that stays true for very long is said again, because the API server forgets events.
    """

    def __init__(self, clock: Callable[[], float], *, repeat_seconds: float) -> None:
        """`clock` gives monotonic seconds."""
        self._clock = clock
        self._repeat_seconds = repeat_seconds
        self._said: dict[Hashable, tuple[str, str, float]] = {}

    def is_news(self, subject: Hashable, reason: str, message: str) -> bool:
        """Whether this is worth saying about the subject; if so it counts as said.

        Args:
            subject: what it is about.
            reason: of the event.
            message: another one is news if it differs in more than its numbers.
        """
        now = self._clock()
        essence = blockers(message)
        last = self._said.get(subject)
        if last is not None and last[:2] == (reason, essence) and now - last[2] < self._repeat_seconds:
            return False
        self._said[subject] = (reason, essence, now)
        return True

    def forget(self, subject: Hashable) -> None:
        """The subject is gone, or its situation is a new one."""
        self._said.pop(subject, None)


class EventWriter:
    """Says things about items by events."""

    def __init__(
        self,
        recorder: EventRecorder,
        pod_groups: Resource,
        *,
        scheduler_name: Callable[[EntityKey], str],
        clock: Callable[[], float],
        repeat_seconds: float,
        composites: Resource | None = None,
    ) -> None:
        """`scheduler_name` says by which name the pods of an item know this scheduler, "" when it has none.

        `composites` are the CompositePodGroups, where there are some.

        Of several profiles, each speaks under its own name, as those of kube-scheduler do.
        """
        self._recorder = recorder
        self._pod_groups = pod_groups
        self._composites = composites
        self._scheduler_name = scheduler_name
        self._once = EventDeduplicator(clock, repeat_seconds=repeat_seconds)

    def group_refused(
        self, key: EntityKey, group: GroupRecord, message: str, reason: str = EVENT_FAILED_SCHEDULING
    ) -> None:
        """A cycle found no place for the group, or it is not tried any more."""
        if self._once.is_news(key, reason, message):
            self._tell_group(key, group, reason, message, "Scheduling")

    def group_waits(self, key: EntityKey, group: GroupRecord, reason: str, message: str) -> None:
        """The group is held for this reason, and not tried; said once per reason, whatever the message."""
        if self._once.is_news(key, reason, ""):
            self._tell_group(key, group, reason, message, "Waiting", kind="Normal")

    def group_scheduled(self, key: EntityKey, group: GroupRecord) -> None:
        """As many members of the group are bound as must start together."""
        self._once.forget(key)
        note = f"at least {group.min_count} members are bound, the minimum of the group"
        self._recorder.record(
            self._reference(group),
            reason=EVENT_SCHEDULED,
            note=note,
            action="Binding",
            related=owner_reference(group.owner, group.namespace),
            reporter=self._scheduler_name(key),
        )

    def tree_scheduled(self, key: EntityKey, tree: GroupRecord, min_group_count: int) -> None:
        """As many children of a root have had their start as must start together."""
        self._once.forget(key)
        note = f"at least {min_group_count} of its groups have started, the minimum"
        self._tell_group(key, tree, EVENT_SCHEDULED, note, "Binding", kind="Normal")

    def group_degraded(self, key: EntityKey, group: GroupRecord, message: str) -> None:
        """A started gang has fallen below its minimum; said once until it is whole again."""
        if self._once.is_news(("degraded", key), EVENT_GANG_DEGRADED, ""):
            self._tell_group(key, group, EVENT_GANG_DEGRADED, message, "Repairing")

    def group_restarts(self, key: EntityKey, group: GroupRecord, message: str) -> None:
        """Members were missing for too long: the whole gang leaves."""
        self._tell_group(key, group, EVENT_GANG_RESTARTED, message, "Restarting")

    def group_whole_again(self, key: EntityKey) -> None:
        """It has its minimum again: the next loss is news."""
        self._once.forget(("degraded", key))

    def pod_refused(self, key: EntityKey, pod: PodRecord, message: str) -> None:
        """A cycle found no place for a lone pod."""
        if self._once.is_news(key, EVENT_FAILED_SCHEDULING, message):
            self._recorder.record(
                pod_reference(pod),
                reason=EVENT_FAILED_SCHEDULING,
                note=message,
                type="Warning",
                action="Scheduling",
                reporter=pod.profile.scheduler_name,
            )

    def pod_scheduled(self, key: EntityKey, pod: PodRecord, node_name: str) -> None:
        """A lone pod is bound."""
        self._once.forget(key)
        note = f"Successfully assigned {pod.namespace}/{pod.name} to {node_name}"
        reporter = pod.profile.scheduler_name
        self._recorder.record(
            pod_reference(pod), reason=EVENT_SCHEDULED, note=note, action="Binding", reporter=reporter
        )

    def preempts(self, key: EntityKey, group: GroupRecord | None, message: str) -> None:
        """Others are about to leave for this item; the same of them is not said again for a while."""
        if not self._once.is_news(("preempts", key), EVENT_PREEMPTING, message):
            return
        if group is not None:
            self._tell_group(key, group, EVENT_PREEMPTING, message, "Preempting", kind="Normal")
            return
        regarding = ObjectReference("v1", "Pod", key.namespace, key.name, key.uid)
        self._recorder.record(
            regarding,
            reason=EVENT_PREEMPTING,
            note=message,
            action="Preempting",
            reporter=self._scheduler_name(key),
        )

    def pod_preempted(self, pod: PodRecord, preemptor: EntityKey, group: GroupRecord | None) -> None:
        """A pod was asked to leave; the words are upstream's.

        Args:
            pod: the victim.
            preemptor: the item it leaves for.
            group: of the preemptor, None for a lone pod.
        """
        if group is not None:
            related = self._reference(group)
            kind = "compositepodgroup" if group.is_tree else "podgroup"
            note = f"Preempted by {kind} {group.uid} on node cluster"
        else:
            related = ObjectReference("v1", "Pod", preemptor.namespace, preemptor.name, preemptor.uid)
            note = f"Preempted by pod {preemptor.uid} on node {pod.node_name}"
        self._recorder.record(
            pod_reference(pod),
            reason=EVENT_PREEMPTED,
            note=note,
            action="Preempting",
            related=related,
            reporter=self._scheduler_name(preemptor),
        )

    def pods_wait(self, key: EntityKey, pods: list[PodRecord], message: str) -> None:
        """Pods are held although there is no group that could say so: their controller is told, or they themselves."""
        if not pods or not self._once.is_news(key, EVENT_WAITING_FOR_POD_GROUP, message):
            return
        told: set[str] = set()
        for pod in pods:
            regarding = owner_reference(pod.owner, pod.namespace) or pod_reference(pod)
            if regarding.uid not in told and len(told) < _MAX_TOLD_PODS:
                told.add(regarding.uid)
                related = pod_reference(pod) if pod.owner.uid else None
                self._recorder.record(
                    regarding,
                    reason=EVENT_WAITING_FOR_POD_GROUP,
                    note=message,
                    action="Waiting",
                    related=related,
                    reporter=pod.profile.scheduler_name,
                )

    def forget(self, key: EntityKey) -> None:
        """The item is gone."""
        self._once.forget(key)
        self._once.forget(("preempts", key))
        self._once.forget(("degraded", key))

    def _tell_group(
        self, key: EntityKey, group: GroupRecord, reason: str, message: str, action: str, *, kind: EventType = "Warning"
    ) -> None:
        itself = self._reference(group)
        owner = owner_reference(group.owner, group.namespace)
        record = partial(
            self._recorder.record, reason=reason, type=kind, action=action, reporter=self._scheduler_name(key)
        )
        if owner is not None:
            what = "composite pod group" if group.is_tree else "pod group"
            record(owner, note=f"{what} {group.name}: {message}", related=itself)
        record(itself, note=message, related=owner)

    def _reference(self, group: GroupRecord) -> ObjectReference:
        """The PodGroup, in the group API in force, or the CompositePodGroup."""
        kind, resource = POD_GROUP_KIND, self._pod_groups
        if group.is_tree and self._composites is not None:
            kind, resource = COMPOSITE_KIND, self._composites
        return ObjectReference(resource.api_version, kind, group.namespace, group.name, group.uid)


def pod_reference(pod: PodRecord) -> ObjectReference:
    """The pod itself."""
    return ObjectReference("v1", "Pod", pod.namespace, pod.name, pod.uid)


def owner_reference(owner: Owner, namespace: str) -> ObjectReference | None:
    """The controller of an object (a Job, say), None when it has none."""
    if not owner.uid:
        return None
    return ObjectReference(owner.api_version, owner.kind, namespace, owner.name, owner.uid)

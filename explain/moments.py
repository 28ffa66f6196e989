"""What happened in a recording, as the page shows it: objects that come, change and go, and who left for whom."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from api.constants import CONDITION_SCHEDULED, REASON_SCHEDULED, REASON_SCHEDULER_ERROR, REASON_UNSCHEDULABLE
from api.meta import Condition, Metadata
from api.pod import Pod, PodSpec
from api.podgroup import PodGroup, PodGroupStatus
from scheduler.cache.records import EntityKey
from scheduler.recording.file import Recording
from scheduler.recording.steps import OPERATIONS, Changed, Decided, Preempted
from views.model.eviction import EvictionEvent, Reference
from views.model.objects import Objects
from views.model.records import Member, machine_of, member_of
from views.page.tape import Moment

_SHOWN: Final = frozenset(
    {
        *("node", "node gone", "group", "group gone", "composite", "composite gone"),
        *("pod", "pod gone", "assume", "forget"),
    }
)
_DECODERS: Final = {name: msgspec.json.Decoder(OPERATIONS[name].types) for name in _SHOWN}
_REASONS: Final = {
    "scheduled": REASON_SCHEDULED,
    "unschedulable": REASON_UNSCHEDULABLE,
    "error": REASON_SCHEDULER_ERROR,
}


def objects_of(recording: Recording) -> Objects:
    """The objects with which a recording begins."""
    objects = Objects()
    found = recording.inputs.objects
    for group in found.podgroups:
        objects.groups.put(group)
    for composite in found.compositepodgroups:
        objects.composites.put(composite)
    for member in _members(recording).values():
        objects.members.put(member)
    for node in found.nodes:
        objects.nodes.put(machine_of(node))
    return objects


def began_milliseconds(recording: Recording) -> int:
    """When it begins, since 1970."""
    return round(recording.inputs.epoch_seconds * 1000)


class Moments:
    """The moments of a recording, in their order. A change has the time of the decision before it."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._now = began_milliseconds(recording)
        self._members = _members(recording)
        self._groups = {group.metadata.key: group for group in recording.inputs.objects.podgroups}
        self._evictions = 0

    def __iter__(self) -> Iterator[Moment]:
        for step in self._recording.steps:
            if isinstance(step, Changed):
                if step.operation in _SHOWN:
                    yield from self._changed(step.operation, _DECODERS[step.operation].decode(step.arguments))
                continue
            self._now = max(self._now, self._milliseconds(step.now_seconds))
            yield from self._decided(step) if isinstance(step, Decided) else self._preempted(step)

    def _milliseconds(self, monotonic_seconds: float) -> int:
        inputs = self._recording.inputs
        return round((inputs.epoch_seconds + monotonic_seconds - inputs.monotonic_seconds) * 1000)

    def _changed(self, operation: str, arguments: tuple[Any, ...]) -> Iterator[Moment]:
        match operation:
            case "node":
                yield Moment(self._now, "node", machine_of(arguments[0]))
            case "node gone":
                yield Moment(self._now, "node", key=("", arguments[0]))
            case "group":
                yield self._group(arguments[0])
            case "group gone":
                namespace, name, _ = arguments
                self._groups.pop((namespace, name), None)
                yield Moment(self._now, "group", key=(namespace, name))
            case "composite":
                yield Moment(self._now, "composite", arguments[0])
            case "composite gone":
                yield Moment(self._now, "composite", key=(arguments[0], arguments[1]))
            case "pod":
                yield self._pod(_member(arguments[0]))
            case "assume":
                uid, node, _ = arguments
                yield from self._bound(uid, node)
            case "forget":
                yield from self._bound(arguments[0], "")
            case _:
                namespace, name, uid = arguments
                self._members.pop(uid, None)
                yield Moment(self._now, "pod", key=(namespace, name))

    def _pod(self, member: Member) -> Moment:
        self._members[member.metadata.uid] = member
        return Moment(self._now, "pod", member)

    def _bound(self, uid: str, node: str) -> Iterator[Moment]:
        """The scheduler counts the pod as bound before the cluster does; that is what its next decision sees."""
        member = self._members.get(uid)
        if member is not None:
            yield self._pod(msgspec.structs.replace(member, node=node, phase="Running" if node else "Pending"))

    def _group(self, group: PodGroup) -> Moment:
        """What was decided of it stays until something else is; a recording has no conditions that only people read."""
        known = self._groups.get(group.metadata.key)
        if known is not None and known.metadata.uid == group.metadata.uid and not group.status.conditions:
            group = msgspec.structs.replace(group, status=known.status)
        self._groups[group.metadata.key] = group
        return Moment(self._now, "group", group)

    def _decided(self, step: Decided) -> Iterator[Moment]:
        group = self._group_of(step.key)
        reason = _REASONS.get(step.outcome.result)
        if group is None or reason is None:
            return
        is_scheduled = reason == REASON_SCHEDULED
        told = Condition(CONDITION_SCHEDULED, str(is_scheduled), reason, "" if is_scheduled else step.outcome.message)
        others = tuple(one for one in group.status.conditions or () if one.type != CONDITION_SCHEDULED)
        yield self._group(msgspec.structs.replace(group, status=PodGroupStatus((*others, told))))

    def _preempted(self, step: Preempted) -> Iterator[Moment]:
        found = step.outcome.candidate
        for uid in (uid for unit in found.victims for uid in unit) if found is not None else ():
            member = self._members.get(uid)
            if member is None:
                continue
            yield self._pod(msgspec.structs.replace(member, is_preempted=True))
            self._evictions += 1
            yield Moment(self._now, "eviction", self._eviction(member, step.key))

    def _eviction(self, member: Member, key: EntityKey) -> EvictionEvent:
        kind = "PodGroup" if key.kind == "group" else "Pod"
        metadata = member.metadata
        return EvictionEvent(
            Metadata(name=f"eviction-{self._evictions}", uid=f"eviction-{self._evictions}"),
            event_time=_time(self._now),
            regarding=Reference("Pod", metadata.namespace, metadata.name, metadata.uid),
            related=Reference(kind, key.namespace, key.name, key.uid),
        )

    def _group_of(self, key: EntityKey) -> PodGroup | None:
        group = self._groups.get((key.namespace, key.name)) if key.kind == "group" else None
        return group if group is not None and group.metadata.uid == key.uid else None


def _members(recording: Recording) -> dict[str, Member]:
    """By UID; what the scheduler has placed and nobody has confirmed yet is where it put it."""
    scheduler = recording.inputs.scheduler
    assumed = {one.uid: one.node_name for one in scheduler.assumed} if scheduler is not None else {}
    return {
        pod.metadata.uid: _member(msgspec.structs.replace(pod, spec=_on(pod, assumed.get(pod.metadata.uid, ""))))
        for pod in recording.inputs.objects.pods
    }


def _on(pod: Pod, node: str) -> PodSpec:
    return msgspec.structs.replace(pod.spec, node_name=node) if node and not pod.spec.node_name else pod.spec


def _member(pod: Pod) -> Member:
    """In a recording nobody says that a pod has begun to run: having a node is as much as decisions know."""
    member = member_of(pod)
    if member.node and not member.has_ended:
        return msgspec.structs.replace(member, phase="Running")
    return member


def _time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()

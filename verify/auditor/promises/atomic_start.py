"""I1: a gang that was never satisfied has none or at least its minimum of members bound, but for the bind window.

Sees: binds and ends of pods, groups and their minimum, whether a member exists before its group. From binds, never from our
own word that a gang has started. Pods that only name the group of a Job are no members, and whom users put on nodes past every
scheduler makes no gang partial. Where the API server notes that it went on without a webhook of ours, who resumes a Job in that
moment has pods before the group. Does not see: what a gang that has started and lost members should do about it, pods that
were created before the first record that was fed, and members that wait for a group that perhaps was never made.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from api.constants import GROUP, JOBSET_UID, LWS_NAME, MANAGED
from verify.auditor.audit_log import Record
from verify.auditor.changes import Answered, Change, GroupGone, GroupWritten, PodBound, PodCreated, PodEnded
from verify.auditor.history import History
from verify.auditor.model import Group, Key, Pod
from verify.auditor.promises.promise import Promise

FAILED_OPEN = "failed-open.mutation.webhook.admission.k8s.io/"
"""With this the names of notes begin that name a webhook without whose answer the API server went on."""


WAITING = {JOBSET_UID, LWS_NAME}
"""Labels of pods that are there before their group and wait for it."""


@dataclass(slots=True)
class _Partial:
    since: float
    group: Group


class AtomicStart(Promise):
    """All members start together, or none does."""

    number = "I1"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._partial: dict[str, _Partial] = {}
        self._unseen: set[str] = set()
        """UIDs of Jobs that were once written without our webhooks."""
        self._undecided: dict[Key, list[tuple[Pod, Record]]] = {}
        """Members that were created while nobody knew whether their group had been made."""

    def see(self, change: Change, history: History) -> Iterator[str]:
        """Counts anew the group that is concerned."""
        match change:
            case Answered(record) if record.resource == "jobs" and _went_on_without_us(record):
                self._unseen.add(record.object_uid)
            case PodCreated(pod, record):
                # The group of a LeaderWorkerSet replica belongs to its leader pod, so it cannot be there before it (KEP-407); a
                # JobSet is not held back, its pods wait.
                if MANAGED in pod.labels and not pod.labels.keys() & WAITING and pod.owner not in self._unseen:
                    yield from self._created(pod, record, history)
            case PodBound(pod, record):
                yield from self._count(history.groups.get(pod.group) if pod.group else None, record.completed, history)
            case PodEnded(pod, when):
                yield from self._count(history.groups.get(pod.group) if pod.group else None, when, history)
            case GroupWritten(group, record):
                for early in self._undecided.pop(group.key, ()):
                    yield from self._created(*early, history)
                yield from self._count(group, record.completed, history)
            case GroupGone(group, when):
                yield from self._end(group, when)

    def close(self, now: float, history: History) -> Iterator[str]:
        """Gangs that are partial at this moment, and members that were bound although nobody has shown their group."""
        for partial in list(self._partial.values()):
            yield from self._end(partial.group, now, is_over=False)
        for key, early in list(self._undecided.items()):
            lasting = [pod for pod, _ in early if pod.node and not pod.ended and not pod.was_put]
            if any(now - pod.bound_at > self.windows.bind_seconds for pod in lasting):
                yield from (f"a member was created before its group {key}: {record}" for _, record in early)
                del self._undecided[key]

    def _created(self, pod: Pod, record: Record, history: History) -> Iterator[str]:
        made = history.made_at(pod.group) if pod.group else None
        if (made is not None and made <= record.received) or self.windows.allows_members_first:
            return
        if pod.group and history.may_be_made(pod.group):
            self._undecided.setdefault(pod.group, []).append((pod, record))
        else:
            yield f"a member was created before its group {pod.group}: {record}"

    def _count(self, group: Group | None, when: float, history: History) -> Iterator[str]:
        if group is None:
            return
        if group.satisfied or all(history.was_put(uid) for uid in group.bound):
            yield from self._end(group, when)
        else:
            self._partial.setdefault(_identity(group), _Partial(when, group))

    def _end(self, group: Group, now: float, *, is_over: bool = True) -> Iterator[str]:
        partial = self._partial.get(_identity(group))
        if partial is None:
            return
        lasted = now - partial.since
        is_broken = lasted > self.windows.bind_seconds
        if is_broken:
            bound = f"{len(group.bound)} of at least {group.minimum}"
            yield f"gang {group.key} was partial for {lasted:.1f} s, {bound} members bound at the end"
        if is_broken or is_over:
            del self._partial[_identity(group)]


def _identity(group: Group) -> str:
    return group.uid or "/".join(group.key)


def _went_on_without_us(record: Record) -> bool:
    """Whether a webhook of ours did not answer, and the request was carried out all the same."""
    notes = record.annotations.items()
    return any(name.startswith(FAILED_OPEN) and webhook.endswith(f".{GROUP}") for name, webhook in notes)

"""I6: nobody else's object is touched, and every process writes what its task needs, under its own account.

Sees: who made Workloads and PodGroups and who changed them, Kueue's Workloads field by field, which account wrote which kind,
rights that were missing, pods bound by another scheduler than they name. Does not see: objects made before the first record.
"""

from collections.abc import Iterator
from typing import Any

from api.constants import STOPPED_IN_QUEUE
from verify.auditor.audit_log import Record
from verify.auditor.changes import Answered, Change, PodBound
from verify.auditor.history import KUEUE_GROUP, History
from verify.auditor.identities import CONTROLLERS_USER, SCHEDULER_USER, forbidden_write
from verify.auditor.model import Pod
from verify.auditor.promises.promise import Promise


class OwnObjectsOnly(Promise):
    """Each process keeps to its task."""

    number = "I6"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._creators: dict[tuple[str, str, str], str] = {}

    def see(self, change: Change, history: History) -> Iterator[str]:
        """Judges the author of each request."""
        match change:
            case Answered(record):
                problem = forbidden_write(record)
                if problem and not (record.denied and self.windows.is_server_starting(record.received)):
                    yield f"{problem}: {record}"
                if record.succeeded:
                    yield from self._touch(record)
            case PodBound(pod, record) if record.resource == "pods/binding":
                yield from _check_binder(pod, record)

    def _touch(self, record: Record) -> Iterator[str]:
        if record.resource == "workloads" and record.group == KUEUE_GROUP:
            yield from _kueue_written(record)
        elif record.resource in {"workloads", "podgroups"}:
            key = record.resource, record.namespace, record.name
            if record.verb == "create":
                self._creators[key] = record.user
            elif record.user == CONTROLLERS_USER and self._creators.get(key, record.user) != record.user:
                yield f"an object made by {self._creators[key]} was changed: {record}"


def _kueue_written(record: Record) -> Iterator[str]:
    """Of Kueue's Workloads we change whether they are active, with a mark that it was us, and nothing else."""
    metadata, spec = record.request.get("metadata", {}), record.request.get("spec", {})
    changed = {*spec, *metadata, *metadata.get("annotations", {})} - {"annotations", "uid", "resourceVersion"}
    if record.user == CONTROLLERS_USER and changed != {"active", STOPPED_IN_QUEUE}:
        yield f"more of Kueue's Workload than its activity was changed: {record}"


def _check_binder(pod: Pod, record: Record) -> Iterator[str]:
    if record.user and pod.is_ours != (record.user == SCHEDULER_USER):
        yield f"pod {pod.key} names the scheduler {pod.spec.get('schedulerName')} and was bound by {record.user}"

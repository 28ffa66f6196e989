"""Watch events as records, for where there is no audit log: what is seen, without who did it and when exactly.

An object that shows a node for the first time was bound, one whose phase is terminal has ended. Who bound a pod is taken from the
scheduler it names; every other author is unknown (an empty name), so promises about authors (I6, I7's lease, I9, I11) see nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from verify.auditor.audit_log import Record
from verify.auditor.history import TERMINAL
from verify.auditor.identities import SCHEDULER_USER
from verify.auditor.model import OUR_SCHEDULER, Object

VERBS = {"ADDED": "create", "MODIFIED": "update", "DELETED": "delete"}


@dataclass
class WatchReader:
    """Turns the events of several watches into records; an object that a list already brought may come again."""

    _seen: dict[tuple[str, str], Object] = field(default_factory=dict)

    def records(self, resource: str, kind: str, found: Object, when: float) -> Iterator[Record]:
        """The records for one event.

        Args:
            resource: the plural: pods, nodes, podgroups, workloads, jobs, leaderworkersets, resourceclaims.
            kind: of the event: ADDED, MODIFIED or DELETED; others (bookmarks, errors) say nothing.
            found: the object.
            when: it was seen, seconds since the epoch.
        """
        if kind not in VERBS:
            return
        key = resource, str(found["metadata"].get("uid", ""))
        before = self._seen.get(key)
        if kind == "DELETED":
            self._seen.pop(key, None)
            yield _record(resource, "delete", found, when, request={"gracePeriodSeconds": 0})
            return
        self._seen[key] = found
        bare = {**found, "spec": {**found.get("spec", {}), "nodeName": ""}} if resource == "pods" else found
        yield _record(resource, "create" if before is None else "update", bare, when)
        if resource == "pods":
            yield from _pod_records(before or {}, found, when)
        elif resource == "podgroups" and found.get("status") != (before or {}).get("status"):
            yield _record("podgroups/status", "patch", found, when, request={"status": found.get("status") or {}})


def _pod_records(before: Object, found: Object, when: float) -> Iterator[Record]:
    spec, status, old = found.get("spec", {}), found.get("status") or {}, before.get("status") or {}
    nominated = status.get("nominatedNodeName")
    if nominated != old.get("nominatedNodeName"):
        yield _record("pods/status", "patch", found, when, request={"status": {"nominatedNodeName": nominated}})
    if spec.get("nodeName") and not before.get("spec", {}).get("nodeName"):
        is_ours = str(spec.get("schedulerName")).split("-")[0] == OUR_SCHEDULER
        target = {"metadata": {"uid": found["metadata"].get("uid", "")}, "target": {"name": spec["nodeName"]}}
        user = SCHEDULER_USER if is_ours else ""
        yield _record("pods/binding", "create", found, when, request=target, user=user)
    if found["metadata"].get("deletionTimestamp") and not before.get("metadata", {}).get("deletionTimestamp"):
        yield _record(
            "pods", "delete", {**found, "metadata": {**found["metadata"], "deletionGracePeriodSeconds": 1}}, when
        )
    if status.get("phase") in TERMINAL and old.get("phase") not in TERMINAL:
        yield _record("pods/status", "patch", found, when, request={"status": {"phase": status["phase"]}})


def _record(
    resource: str, verb: str, found: Object, when: float, *, request: Object | None = None, user: str = ""
) -> Record:
    metadata = found["metadata"]
    group = str(found.get("apiVersion", "")).rpartition("/")[0]
    return Record(
        user=user,
        verb=verb,
        group=group,
        resource=resource,
        namespace=metadata.get("namespace", ""),
        name=metadata.get("name", ""),
        code=200,
        received=when,
        completed=when,
        request=request or {},
        response=found,
    )

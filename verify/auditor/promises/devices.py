"""Devices (part of I1 and I2): each in one claim at a time, none held for pods that do not start, all there before the bind.

Sees: allocations in claims, for whom they are reserved, and binds. Devices that may be shared (for administration, or by shares)
are left out. A claim that our scheduler has allocated and none of whose consumers is bound within `devices_seconds`, or whose gang
has not started by then, is told, be it held for a moment only; so is one that it has made for a pod which it does not bind. Does
not see: capacity of shared devices, counters, slices,
whether a selector was met; at a bind, claims that were made before the first record, and those of groups.
"""

from collections.abc import Iterator
from typing import Any

from verify.auditor.audit_log import Object, Record
from verify.auditor.changes import Change, ClaimGone, ClaimWritten, PodBound
from verify.auditor.claims import reaches
from verify.auditor.history import History
from verify.auditor.identities import SCHEDULER_USER, THIEF
from verify.auditor.model import Claim, Pod
from verify.auditor.promises.promise import Promise


class Devices(Promise):
    """Each device once, and for those who start."""

    number = "I2"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._unused: dict[str, float] = {}
        """By UID of a claim: since when it has devices by us and no consumer that is bound."""
        self._made: dict[str, float] = {}
        """By UID of a claim that we have made: since when it is there and its pod is not bound."""
        self._told: set[str] = set()

    def see(self, change: Change, history: History) -> Iterator[str]:
        """Looks for other holders when a claim has got devices, and for all claims of a pod when it is bound."""
        match change:
            case ClaimWritten(claim, record, before):
                yield from self._written(claim, before, record, history)
                if before is None and record.verb == "create" and is_of_scheduler(record):
                    self._made[claim.uid] = record.completed
            case ClaimGone(claim, record):
                yield from self._use_ends(claim, record.received)
                yield from self._wait_ends(claim, record.received)
            case PodBound(pod, record):
                if record.resource == "pods/binding" and record.user == SCHEDULER_USER:
                    yield from _lacking(pod, record, history)
                for claim in history.claims.values():
                    if pod.uid in claim.consumers:
                        yield from self._use_ends(claim, record.completed)
                    if pod.uid == claim.owner:
                        yield from self._wait_ends(claim, record.completed)

    def close(self, now: float, history: History) -> Iterator[str]:
        """Devices that are held for nobody who runs."""
        by_uid = {claim.uid: claim for claim in history.claims.values()}
        for uid, since in self._unused.items():
            if now - since > self.windows.devices_seconds and uid not in self._told:
                self._told.add(uid)
                yield f"claim {by_uid[uid].key} has had devices for {now - since:.1f} s while no pod of it was bound"
        for uid, since in self._made.items():
            if now - since > self.windows.devices_seconds and uid not in self._told:
                self._told.add(uid)
                yield f"claim {by_uid[uid].key} has been there for {now - since:.1f} s while its pod was not bound"
        for claim in history.claims.values():
            is_old = claim.held_since > 0.0 and now - claim.held_since > self.windows.devices_seconds
            if is_old and claim.allocated_by == SCHEDULER_USER and claim.uid not in self._told:
                problem = _has_not_started(claim, history)
                if problem:
                    self._told.add(claim.uid)
                    yield f"claim {claim.key} has had devices for {now - claim.held_since:.1f} s, and {problem}"

    def _written(self, claim: Claim, before: Claim | None, record: Record, history: History) -> Iterator[str]:
        had = before.allocation if before is not None else {}
        if had and claim.allocation and had != claim.allocation:
            yield f"the devices of claim {claim.key} changed: {record}"
        if had and not claim.allocation:
            yield from self._use_ends(claim, record.received)
        if claim.allocation and not had:
            for other in history.claims.values():
                for device in other.devices & claim.devices if other.uid != claim.uid else ():
                    shown = "/".join(device)
                    yield f"device {shown} is in two claims, {other.key} and {claim.key}: {record}"
            if record.user == SCHEDULER_USER:
                self._unused[claim.uid] = record.completed
        if _has_bound_consumer(claim, history):
            yield from self._use_ends(claim, record.completed)

    def _use_ends(self, claim: Claim, when: float) -> Iterator[str]:
        """Somebody uses the claim, or it has no devices any more."""
        since = self._unused.pop(claim.uid, None)
        if since is not None and when - since > self.windows.devices_seconds and claim.uid not in self._told:
            yield f"claim {claim.key} had devices for {when - since:.1f} s while no pod of it was bound"
        self._told.discard(claim.uid)

    def _wait_ends(self, claim: Claim, when: float) -> Iterator[str]:
        """The pod for which we have made the claim is bound, or the claim is gone."""
        since = self._made.pop(claim.uid, None)
        if since is not None and when - since > self.windows.devices_seconds and claim.uid not in self._told:
            yield f"claim {claim.key} was there for {when - since:.1f} s while its pod was not bound"


def is_of_scheduler(record: Record) -> bool:
    """Whether our scheduler wrote it, not somebody with its token."""
    return record.user == SCHEDULER_USER and record.agent != THIEF


def _lacking(pod: Pod, record: Record, history: History) -> Iterator[str]:
    """Claims of the pod that did not have their devices, or not for it, when it was bound."""
    for entry in pod.spec.get("resourceClaims") or ():
        claim = _claim_of(pod, entry, history)
        # Who only watches does not know in which order claims and binds were written, nor who wrote them.
        if claim is None or (claim.allocation and not claim.allocated_by):
            continue
        is_ready = claim.allocation and claim.held_since <= record.received and reaches(claim.allocation, pod.node)
        groups = [since for uid, since in claim.consumers.items() if uid not in history.by_uid]
        since = claim.consumers.get(pod.uid, min(groups, default=None))
        if not is_ready or since is None or since > record.received:
            yield f"a pod was bound to {pod.node} without its claim {entry['name']}: {record}"


def _claim_of(pod: Pod, entry: Object, history: History) -> Claim | None:
    """The claim of an entry of a pod; None for one that was not seen, and for that of its group."""
    name = entry.get("resourceClaimName")
    if name:
        return history.claims.get((pod.key[0], str(name)))
    found = [claim for claim in history.claims.values() if (claim.owner, claim.entry) == (pod.uid, entry.get("name"))]
    return found[-1] if found else None


def _has_bound_consumer(claim: Claim, history: History) -> bool:
    # A consumer that is no pod is a group: which of its pods use the claim is not known here.
    pods = [history.by_uid.get(uid) for uid in claim.consumers]
    return any(pod is None or pod.node for pod in pods)


def _has_not_started(claim: Claim, history: History) -> str:
    pods = [history.by_uid[uid] for uid in claim.consumers if uid in history.by_uid]
    waiting = [pod for pod in pods if not pod.ended]
    if not waiting or len(pods) < len(claim.consumers):
        return ""  # its controller frees it, or it is reserved for a group
    groups = [history.groups[pod.group] for pod in waiting if pod.group in history.groups]
    short = [group.key for group in groups if not group.satisfied]
    return f"the gang {short[0]} has not started" if short else ""

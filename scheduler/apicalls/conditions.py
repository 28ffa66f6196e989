"""Conditions: what a list of them becomes when one is to say something new, and why unbound pods wait.

Two rules of KEP-4671 are kept for groups: `PodGroupInitiallyScheduled` that is True is never touched again (the stock scheduler
looks at its cache only and does turn it back), and the time stamp moves only when the status does.

Unbound pods are told by `PodScheduled` False, patched once per change of the reason, never of counts. A waiting gang of a
thousand is a thousand patches, which compete with binds; so what a pod says is remembered (from our own writes and from what
the informer decodes, hence also after a restart), and a pod that is bound meanwhile gets nothing: the kubelet and the binding
itself say the rest.
"""

import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from sys import intern
from typing import Any, Final, Protocol

import msgspec

from api.constants import (
    CONDITION_DEGRADED,
    CONDITION_POD_SCHEDULED,
    CONDITION_SCHEDULED,
    REASON_BELOW_MINIMUM,
    REASON_BIND_FORBIDDEN,
    REASON_NAMESPACE_TERMINATING,
    REASON_RECOVERED,
    REASON_SCHEDULING_GATED,
)
from api.meta import Condition, condition_of
from api.pod import Pod
from kube.client.client import Client, PatchKind
from kube.client.errors import Conflict, Forbidden, KubeError, NotFound
from kube.client.resources import PODS
from kube.outside import utc_now
from scheduler.apicalls.dispatcher import APIDispatcher, Retries

_log = logging.getLogger(__name__)

MAX_MESSAGE: Final = 1024
TRUE: Final = "True"
FALSE: Final = "False"
_FINAL_WHEN_TRUE: Final = frozenset({CONDITION_SCHEDULED})
_REASONS_OF_DEGRADED: Final = frozenset(
    {REASON_BELOW_MINIMUM, REASON_BIND_FORBIDDEN, REASON_NAMESPACE_TERMINATING, REASON_RECOVERED}
)
_RETRY: Final = "retry"
_NUMBERS: Final = re.compile(r"\d+")

WallClock = Callable[[], datetime]
"""The time of day, for time stamps only; `utc_now` in the process."""


class Identified(Protocol):
    """What a write must know of the object it is for; metadata, records and references all have these."""

    @property
    def namespace(self) -> str:
        """The namespace."""

    @property
    def name(self) -> str:
        """The name, which may belong to another object tomorrow."""

    @property
    def uid(self) -> str:
        """The identity."""


def blockers(message: str) -> str:
    """A refusal's message without its counts: equal for two refusals that name the same obstacles in the same order."""
    return _NUMBERS.sub("#", message)


def condition(condition_type: str, *, is_true: bool, reason: str, message: str) -> Condition:
    """A condition to be written, without a time stamp: that is set by whoever writes it.

    Args:
        condition_type: its type.
        is_true: whether its status is True; otherwise it is False.
        reason: one word in CamelCase.
        message: for people; cut to `MAX_MESSAGE` characters.
    """
    text = message if len(message) <= MAX_MESSAGE else message[: MAX_MESSAGE - 1] + "…"
    return Condition(type=condition_type, status=TRUE if is_true else FALSE, reason=reason, message=text)


def with_conditions(
    current: tuple[Condition, ...], wanted: Iterable[Condition], *, now: str
) -> tuple[Condition, ...] | None:
    """All conditions of an object once the wanted ones are set and those of earlier versions are gone; None when nothing changes.

    Args:
        current: the conditions that the object has.
        wanted: those to be set, the others stay.
        now: the time stamp for those whose status changes (RFC 3339).
    """
    result = tuple(one for one in current if not is_of_earlier_version(one)) if has_retired(current) else current
    for one in wanted:
        result = _with_condition(result, one, now)
    return None if result is current else result


def has_retired(conditions: Iterable[Condition]) -> bool:
    """Whether a scheduler of an earlier version has left a condition that nobody keeps true any more."""
    return any(map(is_of_earlier_version, conditions))


def is_of_earlier_version(one: Condition) -> bool:
    """Whether this condition was written by an earlier version, and is not by this one; others may use the same type."""
    return one.type == CONDITION_DEGRADED and one.reason in _REASONS_OF_DEGRADED


def _with_condition(current: tuple[Condition, ...], wanted: Condition, now: str) -> tuple[Condition, ...]:
    old = condition_of(current, wanted.type)
    if old is None:
        return (*current, msgspec.structs.replace(wanted, last_transition_time=now))
    if old.type in _FINAL_WHEN_TRUE and old.status == TRUE:
        return current
    if says_the_same(old, wanted):
        return current
    since = old.last_transition_time if old.status == wanted.status else now
    new = msgspec.structs.replace(wanted, last_transition_time=since or now)
    return tuple(new if one.type == new.type else one for one in current)


def says_the_same(old: Condition, new: Condition) -> bool:
    """Whether a reader would see no difference."""
    return (old.status, old.reason, old.message) == (new.status, new.reason, new.message)


def as_json(conditions: Iterable[Condition]) -> list[dict[str, Any]]:
    """The conditions as the API writes them."""
    written: list[dict[str, Any]] = msgspec.to_builtins(list(conditions))
    return written


def time_stamp(moment: datetime) -> str:
    """A moment in the form of metav1.Time."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class KnownCondition:
    """What `PodScheduled` of a waiting pod says at present, as far as we know.

    Attributes:
        reason: why it waits.
        blockers: its message without counts.
        since: since when the condition has been False (RFC 3339), None when it does not say.
    """

    reason: str
    blockers: str
    since: str | None


class PodConditions:
    """Keeps `PodScheduled` of waiting pods true to the last refusal."""

    def __init__(
        self,
        client: Client,
        dispatcher: APIDispatcher,
        *,
        is_waiting: Callable[[str], bool],
        retries: Retries,
        wall_clock: WallClock = utc_now,
    ) -> None:
        """`is_waiting` says whether the pod with that UID exists and is neither bound nor assumed."""
        self._client = client
        self._dispatcher = dispatcher
        self._is_waiting = is_waiting
        self._retries = retries
        self._wall_clock = wall_clock
        self._known: dict[str, KnownCondition] = {}

    def observe(self, pod: Pod) -> None:
        """The informer decoded this pod: remember what it says while it is unbound."""
        uid = pod.metadata.uid
        if pod.spec.node_name or pod.is_terminal:
            self.gone(uid)
            return
        found = condition_of(pod.status.conditions, CONDITION_POD_SCHEDULED)
        if found is None or found.status != FALSE or found.reason == REASON_SCHEDULING_GATED:
            return
        self._known[uid] = KnownCondition(found.reason, intern(blockers(found.message)), found.last_transition_time)

    def want(self, pod: Identified, *, reason: str, message: str, or_blockers: bool = False) -> bool:
        """Queue a write of `PodScheduled` False, unless the pod says it already.

        Args:
            pod: one that waits.
            reason: of the condition; another one is always worth a write.
            message: of the condition.
            or_blockers: whether a message that differs in more than its numbers is worth a write, too: a lone pod says it nowhere
                else.

        Returns:
            Whether a write is queued.
        """
        known = self._known.get(pod.uid)
        same = known is not None and known.reason == reason
        if known is not None and same and (not or_blockers or known.blockers == blockers(message)):
            self._dispatcher.drop(("pod", pod.uid))
            return False
        self._queue(pod, condition(CONDITION_POD_SCHEDULED, is_true=False, reason=reason, message=message))
        return True

    def gone(self, uid: str) -> None:
        """The pod is bound, finished or deleted: it has nothing to say any more."""
        self._known.pop(uid, None)
        self._retries.forget(("pod", uid))
        self._dispatcher.drop(("pod", uid))

    def withdraw(self, uid: str) -> None:
        """The pod is about to be bound: what is queued for it is overtaken."""
        self._dispatcher.drop(("pod", uid))

    def _queue(self, pod: Identified, wanted: Condition) -> None:
        self._dispatcher.add_status(("pod", pod.uid), lambda: self._write(pod, wanted))

    async def _write(self, pod: Identified, wanted: Condition) -> str:
        outcome = await self._send(pod, wanted) if self._is_waiting(pod.uid) else "overtaken"
        if outcome != _RETRY:
            self._retries.forget(("pod", pod.uid))
        return outcome

    async def _send(self, pod: Identified, wanted: Condition) -> str:
        known = self._known.get(pod.uid)
        since = (known.since if known else None) or time_stamp(self._wall_clock())
        entry = as_json([wanted])[0] | {"lastProbeTime": None, "lastTransitionTime": since}
        body = {"metadata": {"uid": pod.uid}, "status": {"conditions": [entry]}}
        try:
            await self._client.patch(
                PODS, body, pod.name, pod.namespace, subresource="status", kind=PatchKind.STRATEGIC, parse=False
            )
        except (NotFound, Conflict):
            # The name belongs to nobody, or to another pod by now.
            return "gone"
        except Forbidden as error:
            _log.error("cannot tell pods why they wait: %s", error)
            return "forbidden"
        except KubeError as error:
            # The patch says the same however often it arrives, so an unknown outcome may simply be repeated.
            self._retries.add(("pod", pod.uid), lambda: self._queue(pod, wanted), error)
            return _RETRY
        if self._is_waiting(pod.uid):
            # Of a pod that went before the answer came nobody would ever say so again.
            self._known[pod.uid] = KnownCondition(wanted.reason, intern(blockers(wanted.message)), since)
        return "written"

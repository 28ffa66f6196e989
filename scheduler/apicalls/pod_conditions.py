"""Tells unbound pods why they wait: `PodScheduled` False, patched once per change of the reason, never of counts.

A waiting gang of a thousand is a thousand patches, which compete with binds; so the reason that stands on a pod is
remembered (from our own writes and from what the informer decodes, hence also after a restart), and a pod that is bound
meanwhile gets nothing: the kubelet and the binding itself say the rest.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from sys import intern
from typing import Final

from api.constants import CONDITION_POD_SCHEDULED
from api.meta import Condition, condition_of
from api.pod import Pod
from kube.client.client import Client, PatchKind
from kube.client.errors import Conflict, Forbidden, KubeError, NotFound
from kube.client.resources import PODS
from scheduler.apicalls.conditions import FALSE, Identified, as_json, blockers, condition
from scheduler.apicalls.dispatcher import APIDispatcher
from scheduler.apicalls.group_conditions import WallClock, time_stamp, utc_now
from scheduler.apicalls.retry import Retries

_log = logging.getLogger(__name__)

_SCHEDULING_GATED: Final = "SchedulingGated"
_RETRY: Final = "retry"


@dataclass(frozen=True, slots=True)
class Standing:
    """What a waiting pod says at present: the reason, its message without counts, and since when it has been False."""

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
        self._standing: dict[str, Standing] = {}

    def observe(self, pod: Pod) -> None:
        """The informer decoded this pod: remember what it says while it is unbound."""
        uid = pod.metadata.uid
        if pod.spec.node_name or pod.is_terminal:
            self.gone(uid)
            return
        found = condition_of(pod.status.conditions, CONDITION_POD_SCHEDULED)
        if found is None or found.status != FALSE or found.reason == _SCHEDULING_GATED:
            return
        self._standing[uid] = Standing(found.reason, intern(blockers(found.message)), found.last_transition_time)

    def want(self, pod: Identified, *, reason: str, message: str, or_blockers: bool = False) -> bool:
        """Wish for False with this reason; gives False when the pod says it already.

        With `or_blockers` a message that names other obstacles is worth a write too (a lone pod says it nowhere else).
        """
        known = self._standing.get(pod.uid)
        same = known is not None and known.reason == reason
        if known is not None and same and (not or_blockers or known.blockers == blockers(message)):
            self._dispatcher.drop(("pod", pod.uid))
            return False
        self._queue(pod, condition(CONDITION_POD_SCHEDULED, is_true=False, reason=reason, message=message))
        return True

    def gone(self, uid: str) -> None:
        """The pod is bound, finished or deleted: it has nothing to say any more."""
        self._standing.pop(uid, None)
        self._retries.succeeded(("pod", uid))
        self._dispatcher.drop(("pod", uid))

    def withdraw(self, uid: str) -> None:
        """The pod is about to be bound: what is queued for it is overtaken."""
        self._dispatcher.drop(("pod", uid))

    def _queue(self, pod: Identified, wanted: Condition) -> None:
        self._dispatcher.status(("pod", pod.uid), lambda: self._write(pod, wanted))

    async def _write(self, pod: Identified, wanted: Condition) -> str:
        outcome = await self._send(pod, wanted) if self._is_waiting(pod.uid) else "overtaken"
        if outcome != _RETRY:
            self._retries.succeeded(("pod", pod.uid))
        return outcome

    async def _send(self, pod: Identified, wanted: Condition) -> str:
        known = self._standing.get(pod.uid)
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
            self._retries.again(("pod", pod.uid), lambda: self._queue(pod, wanted), error)
            return _RETRY
        if self._is_waiting(pod.uid):
            # Of a pod that went before the answer came nobody would ever say so again.
            self._standing[pod.uid] = Standing(wanted.reason, intern(blockers(wanted.message)), since)
        return "written"

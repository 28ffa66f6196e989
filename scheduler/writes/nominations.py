"""Writes down for which pods room is being made, and takes that back when it is not.

A nomination tells people, and whichever scheduler comes after this one, whom the room is for; so it is written before the
first victim is asked to leave.
"""

import logging
from collections.abc import Callable
from functools import partial

from kube.client.client import Client
from kube.client.errors import Conflict, Forbidden, KubeError, NotFound
from kube.client.resources import PODS
from scheduler.state.records import PodRecord
from scheduler.writes.lanes import WriteLanes
from scheduler.writes.retry import Retries

_log = logging.getLogger(__name__)

FORBIDDEN = "forbidden"
_RETRY = "retry"
_OVERTAKEN = "overtaken"

IsWanted = Callable[[], bool]
Ended = Callable[[str], None]
"""Told once how it ended, as the lanes count it."""


class Nominations:
    """The node names that pods carry while they wait for room on that node."""

    def __init__(self, client: Client, lanes: WriteLanes, retries: Retries) -> None:
        self._client = client
        self._lanes = lanes
        self._retries = retries

    def put(self, pod: PodRecord, node: str, is_wanted: IsWanted, ended: Ended) -> None:
        """Nominate at once; `ended` is told when it is written, cannot be written, or is wanted no more."""
        self._lanes.bind(partial(self._put, pod, node, is_wanted, ended))

    def withdraw(self, pod: PodRecord) -> None:
        """The pod is nominated no longer: take its node name off again when there is nothing better to do."""
        self._lanes.status(_key(pod), partial(self._write, pod, None, partial(self.withdraw, pod)))

    async def _put(self, pod: PodRecord, node: str, is_wanted: IsWanted, ended: Ended) -> str:
        self._lanes.drop(_key(pod))
        again = partial(self.put, pod, node, is_wanted, ended)
        outcome = await self._write(pod, node, again) if is_wanted() else _OVERTAKEN
        if outcome != _RETRY:
            self._retries.succeeded(_key(pod))
            ended(outcome)
        return outcome

    async def _write(self, pod: PodRecord, node: str | None, again: Callable[[], None]) -> str:
        outcome = await self._send(pod, node, again)
        if outcome != _RETRY:
            self._retries.succeeded(_key(pod))
        return outcome

    async def _send(self, pod: PodRecord, node: str | None, again: Callable[[], None]) -> str:
        body = {"metadata": {"uid": pod.uid}, "status": {"nominatedNodeName": node}}
        try:
            await self._client.patch(PODS, body, pod.name, pod.namespace, subresource="status", parse=False)
        except (NotFound, Conflict):
            # Its pod is gone; the check before the first delete sees what that means.
            return "gone"
        except Forbidden as error:
            _log.error("cannot nominate nodes for pods: %s", error)
            return FORBIDDEN
        except KubeError as error:
            self._retries.again(_key(pod), again, error)
            return _RETRY
        return "nominated" if node else "written"


def _key(pod: PodRecord) -> tuple[str, str]:
    return ("nomination", pod.uid)

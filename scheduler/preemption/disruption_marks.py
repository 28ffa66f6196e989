"""The condition `DisruptionTarget` of pods that are about to be deleted, so that their Job does not count a failure.

The mark is tried, the delete is the act: whoever must not or cannot write the mark deletes without it.
"""

import logging
from typing import Final

from api.constants import CONDITION_DISRUPTION_TARGET
from kube.client.client import Client, PatchKind
from kube.client.errors import BadRequest, Conflict, Forbidden, Invalid, KubeError, NotFound
from kube.client.resources import PODS
from scheduler.apicalls.conditions import WallClock, as_json, condition, time_stamp
from scheduler.cache.records import PodRecord

_log = logging.getLogger(__name__)

REFUSALS: Final = (Forbidden, BadRequest, Invalid)
"""Answers that another attempt would be given again."""

_ATTEMPTS: Final = 3


class DisruptionMarks:
    """Marks the pods that leave for one and the same reason.

    Args:
        client: refuses to send without the lease.
        reason: of the condition.
        message: of the condition.
        wall_clock: for its time stamp.
    """

    def __init__(self, client: Client, *, reason: str, message: str, wall_clock: WallClock) -> None:
        self._client: Final = client
        self._wanted: Final = condition(CONDITION_DISRUPTION_TARGET, is_true=True, reason=reason, message=message)
        self._wall_clock: Final = wall_clock
        self._attempts: Final[dict[str, int]] = {}
        """By UID; a pod that needs no further one has had all of them."""

    async def mark(self, pod: PodRecord) -> None:
        """Writes the condition, at most once; three attempts are made.

        Raises:
            NotFound, Conflict: the pod is gone.
            KubeError: it failed, and another attempt is worth it.
        """
        attempt = self._attempts[pod.uid] = self._attempts.get(pod.uid, 0) + 1
        if attempt > _ATTEMPTS:
            return
        entry = as_json([self._wanted])[0] | {
            "lastProbeTime": None,
            "lastTransitionTime": time_stamp(self._wall_clock()),
        }
        body = {"metadata": {"uid": pod.uid}, "status": {"conditions": [entry]}}
        try:
            await self._client.patch(
                PODS, body, pod.name, pod.namespace, subresource="status", kind=PatchKind.STRATEGIC, parse=False
            )
        except (NotFound, Conflict):
            raise
        except KubeError as error:
            if attempt < _ATTEMPTS and not isinstance(error, REFUSALS):
                raise
            _log.warning(
                "pod %s/%s is evicted without a DisruptionTarget condition: %s", pod.namespace, pod.name, error
            )
        self._attempts[pod.uid] = _ATTEMPTS

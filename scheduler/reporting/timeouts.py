"""Groups that have given up waiting say so, once, and take it back when those that waited are gone.

`SchedulingTimedOut` is what the controllers act upon (a Job may ask to be suspended then). `PodGroupInitiallyScheduled` says it
too, unless the group had its start before. The pods are no longer `Unschedulable`, or an autoscaler would go on making nodes.
"""

from typing import Final

from api.constants import CONDITION_SCHEDULED, CONDITION_TIMED_OUT, REASON_SCHEDULING_TIMEOUT, REASON_WAITS_AGAIN
from scheduler.plugins.messages import message
from scheduler.plugins.status import Code
from scheduler.queue.queue import Queue
from scheduler.reporting.voice import Voice
from scheduler.state.cluster import ClusterState
from scheduler.state.records import GroupRecord, ItemKey
from scheduler.writes.condition_rules import condition
from scheduler.writes.group_conditions import GroupConditions
from scheduler.writes.pod_conditions import PodConditions

_AGAIN: Final = "nobody of the group waits too long any more"


class Timeouts:
    """Keeps the condition true."""

    def __init__(
        self, *, state: ClusterState, queue: Queue, groups: GroupConditions, pods: PodConditions, voice: Voice
    ) -> None:
        self._state = state
        self._queue = queue
        self._groups = groups
        self._pods = pods
        self._voice = voice
        self._told: set[ItemKey] = set()

    def look(self, key: ItemKey) -> None:
        """Something about the item, or about its waiting, changed."""
        group = self._state.group(key) if key.kind == "group" else None
        if group is None:
            return
        held = self._queue.held(key)
        if held is not None and held.code is Code.TIMED_OUT:
            self._gave_up(key, group, message(held))
        elif key in self._told or group.has_timed_out:
            self._told.discard(key)
            self._groups.want(
                group, condition(CONDITION_TIMED_OUT, is_true=False, reason=REASON_WAITS_AGAIN, message=_AGAIN)
            )

    def forget(self, key: ItemKey) -> None:
        """The group is gone."""
        self._told.discard(key)

    def _gave_up(self, key: ItemKey, group: GroupRecord, message: str) -> None:
        is_said = key in self._told or group.has_timed_out
        self._told.add(key)
        if not is_said:
            for kind, is_true in ((CONDITION_SCHEDULED, False), (CONDITION_TIMED_OUT, True)):
                wanted = condition(kind, is_true=is_true, reason=REASON_SCHEDULING_TIMEOUT, message=message)
                self._groups.want(group, wanted)
            self._voice.group_refused(key, group, message, reason=REASON_SCHEDULING_TIMEOUT)
        for pod in self._state.items.waiting(key):
            self._pods.want(pod, reason=REASON_SCHEDULING_TIMEOUT, message=message)

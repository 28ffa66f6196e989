"""Groups and trees that have given up waiting say so, once, and take it back when those that waited are gone.

`SchedulingTimedOut` is what the controllers act upon (a Job may ask to be suspended then). `PodGroupInitiallyScheduled` says it
too, unless the group had its start before. The pods are no longer `Unschedulable`, or an autoscaler would go on making nodes. A
tree gives up as one, and says so on each of its levels.
"""

from typing import Final

from api.constants import CONDITION_SCHEDULED, CONDITION_TIMED_OUT, REASON_SCHEDULING_TIMEOUT, REASON_WAITS_AGAIN
from scheduler.apicalls.conditions import PodConditions, condition
from scheduler.apicalls.group_conditions import GroupConditions
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_tree import TreeState
from scheduler.cache.records import EntityKey, GroupRecord
from scheduler.plugins.messages import message
from scheduler.plugins.status import Code
from scheduler.queue.scheduling_queue import SchedulingQueue
from scheduler.reporting.events import EventWriter
from scheduler.reporting.trees import TreeReporter

_AGAIN: Final = "nobody of the group waits too long any more"


class Timeouts:
    """Says who has given up.

    Args:
        state: the cluster.
        queue: knows who has.
        groups: writes to PodGroups.
        pods: writes to pods.
        event_writer: tells people.
        trees: writes to the levels of trees.
    """

    def __init__(
        self,
        *,
        state: ClusterState,
        queue: SchedulingQueue,
        groups: GroupConditions,
        pods: PodConditions,
        event_writer: EventWriter,
        trees: TreeReporter,
    ) -> None:
        self._state: Final = state
        self._queue: Final = queue
        self._groups: Final = groups
        self._pods: Final = pods
        self._event_writer: Final = event_writer
        self._trees: Final = trees
        self._told: Final[set[EntityKey]] = set()

    def update(self, key: EntityKey) -> None:
        """Something about the item, or about its waiting, changed."""
        members = self._state.item(key)
        if members is None or members.group is None or members.tree is not None:
            # A group of a tree waits, and gives up, with its tree.
            return
        status = self._queue.status(key)
        if status is not None and status.code is Code.TIMED_OUT:
            self._gave_up(key, members.group, message(status))
        elif isinstance(members, TreeState):
            if key in self._told or self._trees.is_said(members):
                self._trees.waits_again(key, _AGAIN, everywhere=key in self._told)
                self._told.discard(key)
        elif self._is_said(key, members.group):
            self._told.discard(key)
            again = condition(CONDITION_TIMED_OUT, is_true=False, reason=REASON_WAITS_AGAIN, message=_AGAIN)
            self._groups.want(members.group, again)

    def forget(self, key: EntityKey) -> None:
        """The item is gone."""
        self._told.discard(key)

    def _is_said(self, key: EntityKey, group: GroupRecord) -> bool:
        return key in self._told or group.has_timed_out

    def _gave_up(self, key: EntityKey, group: GroupRecord, message: str) -> None:
        is_said = self._is_said(key, group)
        self._told.add(key)
        if group.is_tree:
            # On some levels a predecessor may not have come to say it.
            self._trees.gave_up(key, message)
        elif not is_said:
            for kind, is_true in ((CONDITION_SCHEDULED, False), (CONDITION_TIMED_OUT, True)):
                wanted = condition(kind, is_true=is_true, reason=REASON_SCHEDULING_TIMEOUT, message=message)
                self._groups.want(group, wanted)
        if not is_said:
            self._event_writer.group_refused(key, group, message, reason=REASON_SCHEDULING_TIMEOUT)
        for pod in self._state.entities.waiting(key):
            self._pods.want(pod, reason=REASON_SCHEDULING_TIMEOUT, message=message)

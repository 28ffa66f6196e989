"""A degraded gang that could not be repaired leaves whole and queues again, with its age; so does one that was never whole.

A Job leaves as it does for a preemptor: by suspension, so no failure is counted (`suspensions`). Of a replica whose leader owns the
group the leader is deleted, and the LeaderWorkerSet controller makes the replica anew. Of a group made by hand all pods are
deleted; whoever made them makes new ones. Pods are marked `DisruptionTarget` before, and deletes name the UID. With a group whose
tree leaves whole only, every group below leaves, each in its own way.
"""

import logging
from collections.abc import Callable
from functools import partial
from typing import Final

from api.constants import REASON_GANG_RESTART
from api.parents.kinds import leaves_by_suspension
from kube.client.client import Client
from kube.client.errors import Conflict, KubeError, NotFound
from kube.client.resources import PODS
from kube.outside import utc_now
from scheduler.apicalls.conditions import WallClock
from scheduler.apicalls.dispatcher import APIDispatcher, Retries
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import MemberState, PodGroupState
from scheduler.cache.pod_group_tree import tree_as_group
from scheduler.cache.records import CompositeRecord, EntityKey, GroupRecord, PodRecord
from scheduler.preemption.disruption_marks import REFUSALS, DisruptionMarks
from scheduler.preemption.suspensions import Suspensions
from scheduler.reporting.events import EventWriter

_log = logging.getLogger(__name__)

_MESSAGE: Final = "members were missing for too long: the whole gang leaves and queues again"
_WITH_TREE: Final = (
    "members of pod group {} were missing for too long: all below composite pod group {} leaves and queues again"
)

_BEGUN_TREE: Final = (
    "fewer groups are bound than must start together: all below composite pod group {} leaves and queues again"
)


def is_given_up(members: PodGroupState) -> bool:
    """Whether a gang that never started and stays partly bound leaves by itself, so that its members start together or not at all.

    Only where its owner makes new pods, so that nothing is lost by it, and unless it is to be reported only. Not when work of
    members that have succeeded would have to be done again.
    """
    group = members.group
    if group is None or group.is_foreign or not group.takes_only_owner or group.is_leaving:
        return False
    return group.when_degraded.policy != "report" and not members.count(MemberState.SUCCEEDED)


def pods_to_delete(members: PodGroupState, group: GroupRecord) -> list[PodRecord]:
    """The pods whose deletion ends the gang: the leader that owns the group, if one does, else all that run.

    Of a replica that was begun the leader may be the one that has no place.
    """
    present = members.pods(MemberState.PENDING, MemberState.ASSUMED, MemberState.BOUND)
    leaders = [pod for pod in present if pod.uid == group.takes_only_owner]
    return leaders or list(members.pods(MemberState.BOUND))


class Restarts:
    """Ends gangs. Belongs to the scheduling loop.

    Args:
        client: refuses to send without the lease.
        dispatcher: sends the writes, in the lane of evictions.
        retries: repeats what failed.
        state: the cluster as it is.
        suspensions: the requests to suspend.
        event_writer: tells people.
        count: told of every gang.
        wall_clock: for time stamps.
    """

    def __init__(
        self,
        client: Client,
        dispatcher: APIDispatcher,
        *,
        retries: Retries,
        state: ClusterState,
        suspensions: Suspensions,
        event_writer: EventWriter,
        count: Callable[[], None],
        wall_clock: WallClock = utc_now,
    ) -> None:
        self._client = client
        self._dispatcher = dispatcher
        self._retries = retries
        self._state = state
        self._suspensions = suspensions
        self._event_writer = event_writer
        self._count = count
        self._wall_clock = wall_clock

    def restart(self, key: EntityKey) -> None:
        """Everybody of this gang leaves, and everybody who leaves with it."""
        members = self._state.item(key)
        if members is None or members.group is None:
            return
        tree, leaving = self._state.entities.leaving_with(members)
        if tree is None:
            self._leave(members, members.group, _MESSAGE)
            return
        message = _WITH_TREE.format(members.group.name, tree.name)
        self._event_writer.group_restarts(key, tree, message)
        # The one that is short goes last: a successor that finds it still running has all the others leave, too.
        for each in sorted(leaving, key=lambda one: one.key == key):
            if each.group is not None:
                self._leave(each, each.group, message)

    def give_up(self, key: EntityKey) -> None:
        """A gang that never started has been partly bound for too long: it leaves, unless something speaks against it."""
        members = self._state.item(key)
        if members is not None and is_given_up(members):
            self.restart(key)

    def give_up_below(self, level: CompositeRecord) -> None:
        """A level of a tree that never started has been begun for too long: all below it leaves, if it may.

        Not when something speaks against it for one of its groups, while binds are under way, and when others would have to leave
        with it.
        """
        forest = self._state.entities.forest
        below = [leaf for leaf in forest.leaves_below((level.namespace, level.name)) if leaf.group is not None]
        leaving = [leaf for leaf in below if leaf.count(MemberState.BOUND)]
        is_under_way = any(leaf.count(MemberState.ASSUMED) for leaf in below)
        is_part = bool(level.parent) and forest.whole_unit((level.namespace, level.parent)) is not None
        if is_under_way or is_part or not all(map(is_given_up, leaving)):
            return
        message = _BEGUN_TREE.format(level.name)
        self._event_writer.group_restarts(level.item, tree_as_group(level, 1), message)
        for leaf in leaving:
            if leaf.group is not None:
                self._leave(leaf, leaf.group, message)

    def _leave(self, members: PodGroupState, group: GroupRecord, message: str) -> None:
        if not members.count(MemberState.BOUND):
            # Nobody would leave, and a Job that is suspended for nobody would never be resumed.
            return
        self._count()
        self._event_writer.group_restarts(members.key, group, message)
        if group.takes_only_owner and leaves_by_suspension(group.owner.kind):
            self._suspensions.ask_to_restart(group, tuple(members.pods(MemberState.BOUND)), message)
            return
        marks = DisruptionMarks(self._client, reason=REASON_GANG_RESTART, message=message, wall_clock=self._wall_clock)
        for pod in pods_to_delete(members, group):
            self._dispatcher.add_eviction(partial(self._end_pod, marks, pod))

    async def _end_pod(self, marks: DisruptionMarks, pod: PodRecord) -> str:
        now, outcome = self._state.pod(pod.uid), "evicted"
        if now is None or now.terminating or now.is_terminal:
            outcome = "gone"
        else:
            try:
                await marks.mark(pod)
                await self._client.delete(PODS, pod.name, pod.namespace, uid=pod.uid)
            except (NotFound, Conflict):
                outcome = "gone"
            except REFUSALS as error:
                _log.error("pod %s/%s of a gang that is to start anew stays: %s", pod.namespace, pod.name, error)
                outcome = "forbidden"
            except KubeError as error:
                again = partial(self._dispatcher.add_eviction, partial(self._end_pod, marks, pod))
                self._retries.add(("restart", pod.uid), again, error)
                return "retry"
        self._retries.forget(("restart", pod.uid))
        return outcome

"""Pods that do not exist yet but must find room together with one that does.

Some members of a group are created only once another one runs: the workers of a LeaderWorkerSet replica whose leader must be
ready first. Were the leader placed alone, replicas would fill the cluster with leaders whose workers fit nowhere. So the group
says beforehand what its other pods will ask for (annotation `min-resources`), and as long as none of its pods has a place,
everything that decides about it sees those pods as if they were there: placement, topology, preemption, wake-ups. No record of
the cluster knows them.
"""

from collections import OrderedDict
from typing import Any, Final, cast

import msgspec

from api.meta import Metadata
from api.pod import Pod
from api.revision import LEADER, Role, pod_spec_of, read_roles
from scheduler.placement.announced import AnnouncedRole, Announcement, MembersToCome, group_of, is_to_come
from scheduler.state.cluster import ClusterState
from scheduler.state.members import Members, Standing
from scheduler.state.records import GroupRecord, ItemKey, PodRecord

MOST_TO_COME: Final = 10_000
"""Pods that one group may announce: a decision looks for places for all of them at once."""

MOST_ROLES: Final = 16
"""Roles that one group may announce."""

MOST_ANNOUNCEMENTS: Final = 1024
"""Groups whose announcements are remembered, with one record for each role; others are read again."""


class Foreseen:
    """The cluster with the pods that are to come: whatever is not said here is the cluster's own.

    Args:
        state: the cluster as it is.
        beside: also where pods of the group have their place already (after a restart, to find out what to keep).
    """

    def __init__(self, state: ClusterState, *, beside: bool = False) -> None:
        self._state: Final = state
        self._beside: Final = beside
        self._announcements: Final[OrderedDict[str, Announcement]] = OrderedDict()
        """By UID of the group."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._state, name)

    @property
    def view(self) -> ClusterState:
        """Itself, for those who ask a cluster."""
        return cast("ClusterState", self)

    def item(self, key: ItemKey) -> Members | None:
        """The members behind a key, those that are to come included while none of them has a place."""
        members = self._state.item(key)
        if members is None or members.group is None or not members.group.min_resources:
            return members
        if bool(members.satisfied) is not self._beside or not (self._beside or members.pending):
            return members
        model = next(members.pods(Standing.PENDING, Standing.ASSUMED, Standing.BOUND), None)
        if model is None:
            return members
        announcement = self._announcement(members.group, model)
        if not (announcement.roles or announcement.problem):
            return members
        return MembersToCome(members, members.group, announcement, max(members.counts().known - 1, 0))

    def pod(self, uid: str) -> PodRecord | None:
        """A known pod, or one that is to come."""
        if not is_to_come(uid):
            return self._state.pod(uid)
        announcement = self._announcements.get(group_of(uid))
        return announcement.pod(uid) if announcement is not None else None

    def _announcement(self, group: GroupRecord, model: PodRecord) -> Announcement:
        known = self._announcements.get(group.uid)
        if known is None or known.text != group.min_resources:
            known = self._announcements[group.uid] = self._read(group, model)
            while len(self._announcements) > MOST_ANNOUNCEMENTS:
                self._announcements.popitem(last=False)
        self._announcements.move_to_end(group.uid)
        return known

    def _read(self, group: GroupRecord, model: PodRecord) -> Announcement:
        text = group.min_resources
        announced = [role for role in read_roles(text) if role.role != LEADER and role.count > 0]
        problem = _too_many(announced)
        if problem:
            return Announcement(text, problem=problem)
        roles: list[AnnouncedRole] = []
        first = 1
        for role in announced:
            try:
                one = self._state.slim_pod(_pod_of(role, group, model))
            except (msgspec.MsgspecError, ValueError):
                # Written by somebody else than us; what cannot be read announces nothing.
                continue
            record = msgspec.structs.replace(one, name=group.owner.name or group.name, owner=group.owner)
            roles.append(AnnouncedRole(record, range(first, first + role.count)))
            first += role.count
        return Announcement(text, tuple(roles))


def _too_many(announced: list[Role]) -> str:
    pods = sum(role.count for role in announced)
    if pods > MOST_TO_COME:
        return (
            f"its first pod starts only with room for the {pods:,} pods that come later, and room is looked for "
            f"{MOST_TO_COME:,} pods of a group at most"
        )
    if len(announced) > MOST_ROLES:
        return f"it announces pods of {len(announced):,} roles, and {MOST_ROLES} are possible"
    return ""


def _pod_of(role: Role, group: GroupRecord, model: PodRecord) -> Pod:
    profile = model.profile
    spec = msgspec.structs.replace(
        pod_spec_of(role),
        scheduler_name=profile.scheduler_name,
        priority=profile.priority,
        preemption_policy=profile.preemption_policy,
    )
    return Pod(metadata=Metadata(namespace=group.namespace, labels=role.labels), spec=spec)

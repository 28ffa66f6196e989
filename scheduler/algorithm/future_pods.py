"""Pods that a group announces and that do not exist yet, but must find room together with one that does.

Some members of a group are created only once another one runs: the workers of a LeaderWorkerSet replica whose leader must be
ready first. Were the leader placed alone, replicas would fill the cluster with leaders whose workers fit nowhere. So the group
says beforehand what its other pods will ask for (annotation `min-resources`), and as long as none of its pods has a place,
everything that decides about it sees those pods as if they were there: placement, topology, preemption, wake-ups. No record of
the cluster knows them: there is one record for each role and a count, and what is needed of a single pod, its UID or its record,
is made when it is asked for and kept by nobody.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Final, overload

import msgspec

from api.meta import Metadata
from api.pod import Pod
from api.revision import LEADER, Role, pod_spec_of, read_roles
from scheduler.algorithm.cluster_view import ClusterView
from scheduler.cache.cluster import ClusterState
from scheduler.cache.future_uids import group_of, is_future_pod, number_of, uid_of
from scheduler.cache.pod_group_state import MemberState, PendingKey, PendingPods, PodGroupState
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.records import EntityKey, GroupRecord, PodRecord


class AnnouncedRole(msgspec.Struct, frozen=True):
    """So many pods that are alike, by their numbers; numbers begin with 1 and go on from role to role."""

    record: PodRecord
    """Of all of them; its name is what the names of pods begin with."""
    numbers: range

    def name_of(self, number: int) -> str:
        """The name of one of them, as far as it can be foreseen."""
        return f"{self.record.name}-{number}"


class Announcement(msgspec.Struct, frozen=True):
    """What one group announces."""

    text: str
    """The annotation it was read from."""
    roles: tuple[AnnouncedRole, ...] = ()
    problem: str = ""
    """Why no room can be looked for, empty when it can."""

    def pod(self, uid: str) -> PodRecord | None:
        """The record of a single pod, None when none of that UID is announced."""
        number = number_of(uid)
        role = next((role for role in self.roles if number in role.numbers), None)
        return msgspec.structs.replace(role.record, uid=uid, name=role.name_of(number)) if role is not None else None

    def after(self, there: int) -> Iterator[AnnouncedRole]:
        """The roles without the first so many pods, which exist by now."""
        for role in self.roles:
            left = range(max(role.numbers.start, there + 1), role.numbers.stop)
            if left:
                yield AnnouncedRole(role.record, left)


class PendingAndFutureUids(Sequence[str]):
    """UIDs of pods that exist, and then of those to come."""

    def __init__(self, there: Sequence[str], group_uid: str, numbers: Sequence[range]) -> None:
        self._there: Final = there
        self._group_uid: Final = group_uid
        self._numbers: Final = numbers

    def __len__(self) -> int:
        return len(self._there) + sum(map(len, self._numbers))

    def __iter__(self) -> Iterator[str]:
        yield from self._there
        for numbers in self._numbers:
            for number in numbers:
                yield uid_of(self._group_uid, number)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        rest = index if index >= 0 else len(self) + index
        if rest < len(self._there):
            return self._there[rest]
        rest -= len(self._there)
        for numbers in self._numbers:
            if rest < len(numbers):
                return uid_of(self._group_uid, numbers[rest])
            rest -= len(numbers)
        raise IndexError(index)


class PendingAndFuturePods(PendingPods):
    """The pending members of one signature and those of it that are to come; not to be changed."""

    __slots__ = ("_all",)

    def __init__(self, there: PendingPods | None, group_uid: str, roles: Sequence[AnnouncedRole]) -> None:
        """`roles` are those of this signature, at least one."""
        super().__init__()
        uids = there.uids if there is not None else ()
        first = ("", roles[0].numbers[0], roles[0].name_of(roles[0].numbers[0]))
        self._keys = [*(there.keys if there is not None else ()), first]
        self._all: Final = PendingAndFutureUids(uids, group_uid, [role.numbers for role in roles])

    def __len__(self) -> int:
        return len(self._all)

    @property
    def keys(self) -> Sequence[PendingKey]:
        """Of those that exist, sorted, and of the first of the others."""
        return self._keys

    @property
    def uids(self) -> Sequence[str]:
        """Of those that exist in the order of their ranks, then of the others."""
        return self._all


class PodGroupStateWithFuturePods(PodGroupState):
    """The members of a group with those that are to come, all of whom must get a place; not to be changed."""

    __slots__ = ("_to_come",)

    def __init__(self, members: PodGroupState, group: GroupRecord, announcement: Announcement, there: int) -> None:
        """The members with those to come.

        Args:
            members: those that exist.
            group: their group.
            announcement: what the group announces.
            there: how many of the announced pods exist by now.
        """
        roles = list(announcement.after(there))
        to_come = sum(len(role.numbers) for role in roles)
        super().__init__(members.key, members.is_assumed)
        self.take_over(members)
        self._to_come = to_come
        self.problem = announcement.problem
        self.group = msgspec.structs.replace(group, min_count=group.min_count + to_come)
        by_signature: dict[PodSignature, list[AnnouncedRole]] = {}
        for role in roles:
            if role.record.signature is not None:
                by_signature.setdefault(role.record.signature, []).append(role)
            self.profiles[role.record.profile] += len(role.numbers)
        for signature, alike in by_signature.items():
            self.pending[signature] = PendingAndFuturePods(self.pending.get(signature), group.uid, alike)

    def count(self, state: MemberState) -> int:
        """How many pods stand like that; those to come are pending."""
        return super().count(state) + (self._to_come if state is MemberState.PENDING else 0)


MOST_FUTURE_PODS: Final = 10_000
"""Pods that one group may announce: a decision looks for places for all of them at once."""

MOST_ROLES: Final = 16
"""Roles that one group may announce."""

MOST_ANNOUNCEMENTS: Final = 1024
"""Groups whose announcements are remembered, with one record for each role; others are read again."""


class ClusterWithFuturePods(ClusterView):
    """The cluster with the pods that are to come.

    Args:
        state: the cluster as it is.
        beside: also where pods of the group have their place already (after a restart, to find out what to keep).
    """

    def __init__(self, state: ClusterState, *, beside: bool = False) -> None:
        super().__init__(state)
        self._beside: Final = beside
        self._announcements: Final[OrderedDict[str, Announcement]] = OrderedDict()
        """By UID of the group."""

    def item(self, key: EntityKey) -> PodGroupState | None:
        """The members behind a key, those that are to come included while none of them has a place."""
        members = self._state.item(key)
        if members is None or members.group is None or not members.group.min_resources:
            return members
        if bool(members.scheduled_count) is not self._beside or not (self._beside or members.pending):
            return members
        model = next(members.pods(MemberState.PENDING, MemberState.ASSUMED, MemberState.BOUND), None)
        if model is None:
            return members
        announcement = self._announcement(members.group, model)
        if not (announcement.roles or announcement.problem):
            return members
        return PodGroupStateWithFuturePods(members, members.group, announcement, max(members.counts().known - 1, 0))

    def pod(self, uid: str) -> PodRecord | None:
        """A known pod, or one that is to come."""
        if not is_future_pod(uid):
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
    if pods > MOST_FUTURE_PODS:
        return (
            f"its first pod starts only with room for the {pods:,} pods that come later, and room is looked for "
            f"{MOST_FUTURE_PODS:,} pods of a group at most"
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

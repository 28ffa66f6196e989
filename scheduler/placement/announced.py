"""Pods that a group announces and that do not exist yet: one record for each role and a count, however many they are.

What is needed of a single one of them, its UID or its record, is made when it is asked for and kept by nobody.
"""

from collections.abc import Iterator, Sequence
from typing import Final, overload

import msgspec

from scheduler.state.members import Members, Standing
from scheduler.state.records import GroupRecord, PodRecord
from scheduler.state.shapes import Shape
from scheduler.state.waiting import Waiting

TO_COME: Final = "to-come/"
"""How the UID of a pod begins that does not exist; no API server makes such UIDs."""


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
        number = _number_of(uid)
        role = next((role for role in self.roles if number in role.numbers), None)
        return msgspec.structs.replace(role.record, uid=uid, name=role.name_of(number)) if role is not None else None

    def after(self, there: int) -> Iterator[AnnouncedRole]:
        """The roles without the first so many pods, which exist by now."""
        for role in self.roles:
            left = range(max(role.numbers.start, there + 1), role.numbers.stop)
            if left:
                yield AnnouncedRole(role.record, left)


class UidsToCome(Sequence[str]):
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


class WaitingToCome(Waiting):
    """The pending members of one shape and those of it that are to come; not to be changed."""

    __slots__ = ("_all",)

    def __init__(self, there: Waiting | None, group_uid: str, roles: Sequence[AnnouncedRole]) -> None:
        """`roles` are those of this shape, at least one."""
        super().__init__()
        uids = there.uids if there is not None else ()
        self._names = [*(there.names if there is not None else ()), roles[0].name_of(roles[0].numbers[0])]
        self._all: Final = UidsToCome(uids, group_uid, [role.numbers for role in roles])

    def __len__(self) -> int:
        return len(self._all)

    @property
    def names(self) -> Sequence[str]:
        """Of those that exist, sorted, and of the first of the others."""
        return self._names

    @property
    def uids(self) -> Sequence[str]:
        """Of those that exist in the order of their names, then of the others."""
        return self._all


class MembersToCome(Members):
    """The members of a group with those that are to come, all of whom must get a place; not to be changed."""

    __slots__ = ("_to_come",)

    def __init__(self, members: Members, group: GroupRecord, announcement: Announcement, there: int) -> None:
        """`there` of the announced pods exist by now."""
        roles = list(announcement.after(there))
        to_come = sum(len(role.numbers) for role in roles)
        super().__init__(members.key, members.is_assumed)
        self.take_over(members)
        self._to_come = to_come
        self.problem = announcement.problem
        self.group = msgspec.structs.replace(group, need=group.need + to_come)
        by_shape: dict[Shape, list[AnnouncedRole]] = {}
        for role in roles:
            if role.record.shape is not None:
                by_shape.setdefault(role.record.shape, []).append(role)
            self.profiles[role.record.profile] += len(role.numbers)
        for shape, alike in by_shape.items():
            self.pending[shape] = WaitingToCome(self.pending.get(shape), group.uid, alike)

    def count(self, standing: Standing) -> int:
        """How many pods stand like that; those to come are pending."""
        return super().count(standing) + (self._to_come if standing is Standing.PENDING else 0)


def uid_of(group_uid: str, number: int) -> str:
    """The UID of a pod to come."""
    return f"{TO_COME}{group_uid}/{number}"


def group_of(pod_uid: str) -> str:
    """The UID of the group that announces a pod to come."""
    return pod_uid.removeprefix(TO_COME).rpartition("/")[0]


def _number_of(pod_uid: str) -> int:
    """Which of its group's pods to come this is."""
    number = pod_uid.rpartition("/")[2]
    return int(number) if number.isdecimal() else 0


def is_to_come(pod_uid: str) -> bool:
    """Whether this is the UID of a pod that does not exist yet."""
    return pod_uid.startswith(TO_COME)

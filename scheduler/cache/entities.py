"""What is scheduled as one: groups with the pods that name them, and pods that stand alone; and groups of other schedulers.

Invariants: a pod of one of our scheduler names is in the item of the group it names, whether that group exists or not, or in
an item of its own until it has a place; a group's item lives as long as the group or one pod that names it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from scheduler.cache.pod_group_state import MemberState, PodGroupState, is_of
from scheduler.cache.pod_group_tree import Forest
from scheduler.cache.records import EntityKey, GroupRecord, MemberCounts, PodRecord


class Entities:
    """All items by key, kept per event."""

    def __init__(self, scheduler_names: frozenset[str], is_assumed: Callable[[str], bool]) -> None:
        self._scheduler_names: Final = scheduler_names
        self._is_assumed: Final = is_assumed
        self._groups: dict[tuple[str, str], PodGroupState] = {}
        self._lone: dict[str, PodGroupState] = {}
        self._lineage: dict[str, str] = {}
        self.forest: Final = Forest(is_assumed)

    # --- questions ---------------------------------------------------------------------------------------------------

    def get(self, key: EntityKey) -> PodGroupState | None:
        """The members behind a key, None when the key is no item (any more)."""
        if key.kind == "composite":
            return self.forest.get(key)
        members = self._lone.get(key.uid) if key.kind == "pod" else self._groups.get((key.namespace, key.name))
        return members if members is not None and members.key == key else None

    def __iter__(self) -> Iterator[EntityKey]:
        """Every key: groups with or without pods, those of trees too, pods that wait for a group, lone pods; no trees."""
        for members in (*self._groups.values(), *self._lone.values()):
            yield members.key

    def states(self) -> Iterator[PodGroupState]:
        """The members behind every key."""
        yield from self._groups.values()
        yield from self._lone.values()

    @property
    def lineage(self) -> Mapping[str, str]:
        """UID of a controller -> UID of the pod that controls it in turn."""
        return self._lineage

    def waiting(self, key: EntityKey) -> list[PodRecord]:
        """The pods of an item that wait for a place: held, gated or barred ones too, but no assumed ones; by name."""
        found = self.get(key)
        if found is None:
            return []
        waiting = found.pods(MemberState.PENDING, MemberState.GATED, MemberState.BARRED)
        return sorted((pod for pod in waiting if not pod.is_bound), key=lambda pod: (pod.name, pod.uid))

    def barred(self, key: EntityKey) -> list[PodRecord]:
        """The pods that name the item's group but belong to another owner: never members, never placed."""
        found = self.get(key)
        return list(found.pods(MemberState.BARRED)) if found else []

    def counts(self, key: EntityKey) -> MemberCounts:
        """The members of an item by what they are doing; all zero for an unknown key."""
        found = self.get(key)
        return found.counts() if found else MemberCounts()

    def of_group(self, namespace: str, name: str) -> PodGroupState | None:
        """The item of the group of this name, whether the group itself exists or is only named by pods."""
        return self._groups.get((namespace, name))

    def of_pod(self, pod: PodRecord) -> PodGroupState | None:
        """The item a pod belongs to."""
        if pod.group:
            return self._groups.get((pod.namespace, pod.group))
        return self._lone.get(pod.uid)

    def group_of(self, pod: PodRecord) -> GroupRecord | None:
        """The group a pod is a member of; None for a pod that names a group of which it must not be one."""
        members = self._groups.get((pod.namespace, pod.group)) if pod.group else None
        group = members.group if members else None
        if group is None or not group.takes_only_owner:
            return group
        return group if is_of(pod, group.takes_only_owner, self._lineage) else None

    def of_owner(self, uid: str) -> PodGroupState | None:
        """The group that takes only pods of this owner; looks at all groups."""
        return next(
            (found for found in self._groups.values() if found.group and found.group.takes_only_owner == uid), None
        )

    def leaves_with(self, pod: PodRecord) -> GroupRecord | None:
        """What a pod is a part of when somebody has to leave: its group, or the highest tree above that leaves whole only."""
        group = self.group_of(pod)
        if group is None or not group.parent:
            return group
        return self.forest.whole_unit((group.namespace, group.parent)) or group

    def leaving_with(self, members: PodGroupState) -> tuple[GroupRecord | None, list[PodGroupState]]:
        """What leaves when all of a group has to.

        Args:
            members: the group.

        Returns:
            The highest tree above that leaves whole only, with all groups below it; None and the group itself without one.
        """
        parent = members.group.parent if members.group is not None else ""
        whole = self.forest.whole_unit((members.key.namespace, parent)) if parent else None
        if whole is None:
            return None, [members]
        return whole, list(self.forest.leaves_below((whole.namespace, whole.name)))

    def scheduler_name(self, key: EntityKey) -> str:
        """The `schedulerName` of an item's pods, which a sound group has one of; "" while it has no living pod."""
        found = self.get(key)
        return min((profile.scheduler_name for profile in found.profiles), default="") if found else ""

    def of_class(self, name: str) -> list[PodGroupState]:
        """The groups whose preemption priority comes from this PriorityClass."""
        return [
            members for members in self._groups.values() if members.group and members.group.preemption_class == name
        ]

    # --- changes -----------------------------------------------------------------------------------------------------

    def make_group(self, namespace: str, name: str) -> PodGroupState:
        """The item of the group of this name, a new one where there is none."""
        members = self._groups.get((namespace, name))
        if members is None:
            members = PodGroupState(EntityKey("group", namespace, name, ""), self._is_assumed)
            members.lineage = self._lineage
            self._groups[namespace, name] = members
        return members

    def drop_group(self, namespace: str, name: str) -> None:
        """Ends the item of a group that neither exists nor is named by a pod."""
        del self._groups[namespace, name]

    def enter(self, pod: PodRecord) -> EntityKey | None:
        """Takes in a pod; its item, None when it has none: another scheduler's, or one that stands alone and has its place."""
        if pod.profile.scheduler_name not in self._scheduler_names:
            return None
        if pod.group:
            members = self.make_group(pod.namespace, pod.group)
        elif not _may_stand_alone(pod):
            return None
        else:
            key = EntityKey("pod", pod.namespace, pod.name, pod.uid)
            members = self._lone[pod.uid] = PodGroupState(key, self._is_assumed)
        members.enter(pod)
        return members.key

    def leave(self, old: PodRecord, new: PodRecord | None) -> tuple[EntityKey, ...]:
        """Takes out a pod that goes, or comes back at once as `new`; the items that are no more."""
        members = self.of_pod(old)
        if members is None:
            return ()
        members.drop(old.uid)
        if members.is_lone:
            del self._lone[old.uid]
            stays = new is not None and not new.group and _may_stand_alone(new)
            return () if stays else (members.key,)
        if not members.is_empty or members.group is not None or (new is not None and new.group == old.group):
            return ()
        self.drop_group(old.namespace, old.group)
        return (members.key,)

    def reconsider(self, pod: PodRecord) -> PodGroupState | None:
        """Notices that a pod has been assumed or forgotten; its item."""
        members = self.of_pod(pod)
        if members is not None:
            members.put(pod)
        return members

    def set_lineage(self, controller_uid: str, pod_uid: str) -> str:
        """A controller of pods is controlled by this pod, "" for no longer; whose pods are to be judged anew, "" for nobody's."""
        before = self._lineage.get(controller_uid, "")
        if before == pod_uid:
            return ""
        if pod_uid:
            self._lineage[controller_uid] = pod_uid
        else:
            del self._lineage[controller_uid]
        return pod_uid or before


def _may_stand_alone(pod: PodRecord) -> bool:
    return not (pod.is_bound or pod.is_terminal or pod.terminating)


class ForeignGroups:
    """Counts pods of other schedulers by the group they name."""

    def __init__(self) -> None:
        self._named: Final[Counter[tuple[str, str]]] = Counter()

    def moved(self, old: PodRecord | None, new: PodRecord | None) -> None:
        """A pod came, changed or went."""
        if new is not None and new.foreign_group:
            self._named[new.namespace, new.foreign_group] += 1
        if old is not None and old.foreign_group:
            self._leave((old.namespace, old.foreign_group))

    def name(self, namespace: str, group: str) -> bool:
        """Whether some of them name this group."""
        return (namespace, group) in self._named

    def _leave(self, named: tuple[str, str]) -> None:
        self._named[named] -= 1
        if not self._named[named]:
            del self._named[named]

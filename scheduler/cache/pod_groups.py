"""What becomes of items when a PodGroup comes, changes or goes."""

from collections.abc import Callable
from typing import Final

from scheduler.cache.announced_claims import AnnouncedClaims
from scheduler.cache.composites import CompositePodGroups
from scheduler.cache.entities import Entities
from scheduler.cache.groups_with_spare_nodes import GroupsWithSpareNodes
from scheduler.cache.losses import Losses
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.records import NO_CHANGE, EntityKey, GroupRecord, StateChange


class PodGroups:
    """All PodGroups, kept per event.

    Args:
        entities: the groups with their pods.
        composites: the groups above them.
        regroup: notes with whom the pods of a group leave.
        losses: the members that groups have lost.
        with_spare_nodes: who asks for spare nodes.
        announced_claims: who announces pods with claims.
    """

    def __init__(
        self,
        entities: Entities,
        composites: CompositePodGroups,
        regroup: Callable[[PodGroupState], None],
        losses: Losses,
        with_spare_nodes: GroupsWithSpareNodes,
        announced_claims: AnnouncedClaims,
    ) -> None:
        self._entities: Final = entities
        self._composites: Final = composites
        self._regroup: Final = regroup
        self._losses: Final = losses
        self._with_spare_nodes: Final = with_spare_nodes
        self._announced_claims: Final = announced_claims

    def upsert(self, record: GroupRecord) -> StateChange:
        """A PodGroup came, or says something new."""
        members = self._entities.make_group(record.namespace, record.name)
        old = members.group
        if old is not None and record.decides_like(old):
            members.group = record
            return NO_CHANGE
        before = members.key
        self._announced_claims.moved(old, record)
        self._with_spare_nodes.moved(before, record)
        members.set_group(record, record.item)
        left = self._composites.attach(members, old.parent if old is not None else "", record.parent)
        self._regroup(members)
        gone = (before,) if before != members.key and (before.uid or not members.is_empty) else ()
        return StateChange(items=(members.key, *left), gone=gone)

    def remove(self, namespace: str, name: str, uid: str) -> StateChange:
        """A PodGroup went; its unbound pods are held until one of that name exists again."""
        members = self._entities.of_group(namespace, name)
        if members is None or members.group is None or members.group.uid != uid:
            return NO_CHANGE
        before = members.key
        self._losses.forget(before)
        self._with_spare_nodes.moved(before, None)
        self._announced_claims.moved(members.group, None)
        left = self._composites.attach(members, members.group.parent, "")
        members.set_group(None, EntityKey("group", namespace, name, ""))
        self._regroup(members)
        if members.is_empty:
            self._entities.drop_group(namespace, name)
            return StateChange(items=left, gone=(before,))
        return StateChange(items=(members.key, *left), gone=(before,))

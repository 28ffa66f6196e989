"""What becomes of trees when a CompositePodGroup comes, changes or goes."""

from collections.abc import Callable
from typing import Final

from api.compositepodgroup import CompositePodGroup
from scheduler.cache.entities import Entities
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_group_tree import Name
from scheduler.cache.record_factory import RecordFactory
from scheduler.cache.records import NO_CHANGE, CompositeRecord, EntityKey, StateChange


class CompositePodGroups:
    """All CompositePodGroups, kept per event.

    Args:
        records: makes the records.
        entities: the groups below them.
        regroup: notes with whom the pods of a group leave.
    """

    def __init__(self, records: RecordFactory, entities: Entities, regroup: Callable[[PodGroupState], None]) -> None:
        self._records: Final = records
        self._entities: Final = entities
        self._regroup: Final = regroup

    def upsert(self, group: CompositePodGroup) -> StateChange:
        """A CompositePodGroup came, or says something new."""
        record, forest = self._records.composite(group), self._entities.forest
        name = (record.namespace, record.name)
        old = forest.composites.get(name)
        if old is not None and record.decides_like(old):
            if record != old:
                forest.retell(record)
            return NO_CHANGE
        return self._changed(name, lambda: forest.put(record))

    def remove(self, namespace: str, name: str, uid: str) -> StateChange:
        """A CompositePodGroup went; the groups below it are held until one of that name exists again."""
        known = self.get(namespace, name)
        if known is None or known.uid != uid:
            return NO_CHANGE
        return self._changed((namespace, name), lambda: self._entities.forest.remove((namespace, name)))

    def get(self, namespace: str, name: str) -> CompositeRecord | None:
        """The one of this name."""
        return self._entities.forest.composites.get((namespace, name))

    def attach(self, members: PodGroupState, before: str, parent: str) -> tuple[EntityKey, ...]:
        """Notes the parent of a group, empty for none; the tree that it has left, if it has left one."""
        if not (before or parent):
            return ()
        left = members.tree.key if members.tree is not None else None
        self._entities.forest.attach(members, before, parent)
        return (left,) if left is not None and left != (members.tree.key if members.tree is not None else None) else ()

    def _changed(self, name: Name, change: Callable[[], None]) -> StateChange:
        forest = self._entities.forest
        below = list(forest.leaves_below(name))
        before = {leaf.tree.key for leaf in below if leaf.tree is not None}
        change()
        for leaf in below:
            self._regroup(leaf)
        after = {tree.key for tree in forest.trees_of(below)}
        gone = tuple(key for key in sorted(before - after) if forest.get(key) is None)
        return StateChange(items=tuple(leaf.key for leaf in below), gone=gone)

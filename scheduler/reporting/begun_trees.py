"""Trees of groups that were begun and never had their minimum: groups that are whole hold places while too few of them do.

It is looked for at each CompositePodGroup by itself. One below which pods have places, and that has not had its start when the
limit has passed, is given up with all groups below it; of several above each other that is the highest one.
"""

from collections.abc import Callable, Iterator
from typing import Final

from scheduler.apicalls.composite_objects import has_started
from scheduler.apicalls.group_conditions import GroupConditions
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import MemberState, PodGroupState
from scheduler.cache.pod_group_tree import TreeState
from scheduler.cache.records import CompositeRecord, EntityKey, GroupRecord
from scheduler.queue.delay_queue import DelayQueue
from scheduler.queue.item_errors import ItemErrors


class BegunTrees:
    """Notices levels of trees that stay begun. Belongs to one event loop.

    Args:
        state: the cluster as it is.
        composites: the conditions of CompositePodGroups; None where the server has none.
        give_up: called with a group that has been partly bound for too long, where no level above it has to be given up.
        give_up_below: called with a level that has been begun for too long, none of its binds forbidden.
        clock: monotonic seconds.
        after_seconds: how long a level may be begun, and until one is looked at again that could not leave.
        errors: where exceptions about single trees are noted.
    """

    def __init__(
        self,
        *,
        state: ClusterState,
        composites: GroupConditions | None,
        give_up: Callable[[EntityKey], None],
        give_up_below: Callable[[CompositeRecord], None],
        clock: Callable[[], float],
        after_seconds: float,
        errors: ItemErrors,
    ) -> None:
        self._state: Final = state
        self._composites: Final = composites
        self._give_up: Final = give_up
        self._give_up_below: Final = give_up_below
        self._after_seconds: Final = after_seconds
        self._errors: Final = errors
        self._due: Final[DelayQueue[EntityKey]] = DelayQueue(clock)
        """The levels that are begun."""
        self._refused: Final[set[EntityKey]] = set()
        """Those of them for which the server has forbidden a bind since they were looked at."""

    def update(self, key: EntityKey) -> None:
        """Something about a group changed."""
        members = self._state.item(key)
        if members is None or members.group is None or not members.group.parent:
            return
        has_places = members.count(MemberState.BOUND) > 0
        for level in self._above(members.group):
            if level.item not in self._due:
                if has_places and not has_started(self._composites, level):
                    self._due.add(level.item, self._after_seconds)
            elif not has_places and not self._holders(level):
                self._end(level.item)

    def forbidden(self, key: EntityKey) -> None:
        """The server forbids the bind of a member: a person has to act, who would not see it if all began again and again."""
        members = self._state.item(key)
        if members is not None and members.group is not None:
            above = (level.item for level in self._above(members.group))
            self._refused.update(item for item in above if item in self._due)

    def give_up(self, key: EntityKey) -> None:
        """A group has been partly bound for too long: it leaves, unless a level above it has to, or nothing would start again."""
        members = self._state.item(key)
        if members is None or members.group is None:
            return
        if not members.group.parent or (_has_root(members) and self._highest_begun(members.group) is None):
            self._give_up(key)

    def next_due_seconds(self) -> float | None:
        """When `look` has something to do."""
        return self._due.next_due_seconds()

    def look(self) -> None:
        """The limit has passed for some levels: those that are still begun leave."""
        for key in self._due.take_due():
            level = self._state.entities.forest.composites.get((key.namespace, key.name))
            was_refused = key in self._refused
            self._end(key)
            if level is not None and level.item == key and not has_started(self._composites, level):
                with self._errors.about(key, "report"):
                    self._look(level, may_leave=not was_refused)

    def _look(self, level: CompositeRecord, *, may_leave: bool) -> None:
        holders = self._holders(level)
        if not holders:
            return
        self._due.add(level.item, self._after_seconds)
        group = holders[0].group
        if may_leave and _has_root(holders[0]) and group is not None and self._highest_begun(group) == level:
            self._give_up_below(level)

    def _end(self, key: EntityKey) -> None:
        self._due.discard(key)
        self._refused.discard(key)

    def _above(self, group: GroupRecord) -> Iterator[CompositeRecord]:
        return self._state.entities.forest.above((group.namespace, group.parent))

    def _holders(self, level: CompositeRecord) -> list[PodGroupState]:
        """The groups below of which a pod has its place."""
        leaves = self._state.entities.forest.leaves_below((level.namespace, level.name))
        return [leaf for leaf in leaves if leaf.group is not None and leaf.count(MemberState.BOUND)]

    def _highest_begun(self, group: GroupRecord) -> CompositeRecord | None:
        """The highest level above a group that has not had its start and has fewer than it needs."""
        above = reversed(list(self._above(group)))
        begun = (each for each in above if not has_started(self._composites, each))
        return next(filter(self._is_short, begun), None)

    def _is_short(self, level: CompositeRecord) -> bool:
        """Whether it has not got its minimum now; to be asked below a root only."""
        return self._state.entities.forest.branch(level).missing > 0


def _has_root(members: PodGroupState) -> bool:
    """Whether there is a tree to start again, with all levels in order."""
    return isinstance(members.tree, TreeState) and members.tree.refreshed().branch is not None

"""What trees of groups say: each level its own condition, the root the events, pods what their group is told.

A CompositePodGroup turns `CompositePodGroupInitiallyScheduled` True once as many of its children have had their start as must start
together; it never turns back. Until then it, and every group below that has not started, says what the tree waits for.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from api.constants import (
    CONDITION_COMPOSITE_SCHEDULED,
    CONDITION_SCHEDULED,
    CONDITION_TIMED_OUT,
    REASON_POD_GROUP_ERROR,
    REASON_SCHEDULED,
    REASON_SCHEDULING_TIMEOUT,
    REASON_WAITS_AGAIN,
)
from api.meta import Condition
from scheduler.apicalls.composite_objects import has_started
from scheduler.apicalls.conditions import condition
from scheduler.apicalls.group_conditions import GroupConditions
from scheduler.cache.branch import Branch
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_group_tree import TreeState
from scheduler.cache.records import CompositeRecord, EntityKey, GroupRecord
from scheduler.reporting.events import EventWriter
from scheduler.reporting.progress import Progress

_COMPOSITE_ERROR: Final = "CompositePodGroupError"


class TreeReporter:
    """Says how trees are doing.

    Args:
        state: the cluster.
        groups: writes to PodGroups.
        composites: writes to CompositePodGroups; None where the server has none.
        progress: which groups have started.
        event_writer: tells the root, and who owns it.
    """

    def __init__(
        self,
        *,
        state: ClusterState,
        groups: GroupConditions,
        composites: GroupConditions | None,
        progress: Progress,
        event_writer: EventWriter,
    ) -> None:
        self._state: Final = state
        self._groups: Final = groups
        self._composites: Final = composites
        self._progress: Final = progress
        self._event_writer: Final = event_writer
        self._looked: Final[dict[str, int]] = {}
        """UID of a group that has started -> the version of the forest in which the levels above it were looked at."""

    def started(self, key: EntityKey) -> None:
        """Something about a group below a tree changed: the levels above it may have their minimum now."""
        members = self._state.item(key)
        if members is None or not isinstance(members.tree, TreeState) or not self._progress.has_started(key):
            return
        version = self._state.entities.forest.version
        if self._looked.get(key.uid) == version:
            return
        self._looked[key.uid] = version
        branch = members.tree.refreshed().branch
        for whole in self._whole(branch) if branch is not None else ():
            self._say_started(members.tree.key, whole)

    def held(self, key: EntityKey, reason: str, message: str) -> None:
        """A tree lacks something that it must have before it is tried."""
        tree = self._tree(key)
        if tree is None:
            return
        self._say(tree, reason, reason, message)
        if tree.group is not None:
            self._event_writer.group_waits(key, tree.group, reason, message)

    def refused(self, key: EntityKey, reason: str, message: str) -> None:
        """A cycle found no place for a tree, or for what still waits of it; `reason` is that of PodGroups."""
        tree = self._tree(key)
        if tree is None:
            return
        self._say(tree, reason, _COMPOSITE_ERROR if reason == REASON_POD_GROUP_ERROR else reason, message)
        if tree.group is not None:
            self._event_writer.group_refused(key, tree.group, message)

    def gave_up(self, key: EntityKey, message: str) -> None:
        """A tree has waited for so long that it is not tried any more; said where it is not yet, with what was missing then."""
        tree = self._tree(key)
        if tree is None:
            return
        composites, groups = self._levels(tree, lambda has_timed_out: not has_timed_out)
        wanted = condition(CONDITION_TIMED_OUT, is_true=True, reason=REASON_SCHEDULING_TIMEOUT, message=message)
        self._say_to(tree, composites, groups, REASON_SCHEDULING_TIMEOUT, REASON_SCHEDULING_TIMEOUT, message)
        self._want_everywhere(composites, groups, wanted)

    def waits_again(self, key: EntityKey, message: str, *, everywhere: bool) -> None:
        """A tree has not given up any more; without `everywhere` that is only said where the contrary was."""
        tree = self._tree(key)
        if tree is None:
            return
        wanted = condition(CONDITION_TIMED_OUT, is_true=False, reason=REASON_WAITS_AGAIN, message=message)
        self._want_everywhere(*self._levels(tree, lambda has_timed_out: everywhere or has_timed_out), wanted)

    def is_said(self, tree: TreeState) -> bool:
        """Whether one of its levels says that the tree has given up."""
        return any(self._levels(tree, lambda has_timed_out: has_timed_out))

    def forget(self, key: EntityKey) -> None:
        """The item is gone."""
        self._looked.pop(key.uid, None)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _tree(self, key: EntityKey) -> TreeState | None:
        found = self._state.item(key)
        return found if isinstance(found, TreeState) else None

    def _say(self, tree: TreeState, reason: str, composite_reason: str, message: str) -> None:
        self._say_to(tree, *self._levels(tree, lambda _: True), reason, composite_reason, message)

    def _levels(
        self, tree: TreeState, is_meant: Callable[[bool], bool]
    ) -> tuple[list[CompositeRecord], list[GroupRecord]]:
        """The CompositePodGroups and the groups of a tree that are meant; it is asked whether one says that it has given up."""
        forest, root = self._state.entities.forest, (tree.key.namespace, tree.key.name)
        groups = (leaf.group for leaf in forest.leaves_below(root) if leaf.group is not None)
        return (
            [record for record in forest.composites_below(root) if is_meant(record.has_timed_out)],
            [group for group in groups if is_meant(group.has_timed_out)],
        )

    def _say_to(
        self,
        tree: TreeState,
        composites: Iterable[CompositeRecord],
        groups: Iterable[GroupRecord],
        reason: str,
        composite_reason: str,
        message: str,
    ) -> None:
        # What says so is perhaps still to be written.
        whole = {record.uid for record in self._whole(tree.branch)} if tree.branch is not None else set()
        for record in composites:
            if record.uid not in whole:
                self._want_composite(record, composite_reason, message)
        for group in groups:
            if not self._progress.has_started(group.item):
                self._want_group(group, reason, f"composite pod group {tree.key.name}: {message}")

    def _want_everywhere(
        self, composites: Iterable[CompositeRecord], groups: Iterable[GroupRecord], wanted: Condition
    ) -> None:
        for record in composites:
            if self._composites is not None:
                self._composites.want(record, wanted)
        for group in groups:
            self._groups.want(group, wanted)

    def _want_group(self, group: GroupRecord, reason: str, message: str) -> None:
        self._groups.want(group, condition(CONDITION_SCHEDULED, is_true=False, reason=reason, message=message))

    def _want_composite(self, record: CompositeRecord, reason: str, message: str) -> None:
        if self._composites is not None and not has_started(self._composites, record):
            wanted = condition(CONDITION_COMPOSITE_SCHEDULED, is_true=False, reason=reason, message=message)
            self._composites.want(record, wanted)

    def _say_started(self, key: EntityKey, record: CompositeRecord) -> None:
        if self._composites is None or has_started(self._composites, record):
            return
        wanted = condition(CONDITION_COMPOSITE_SCHEDULED, is_true=True, reason=REASON_SCHEDULED, message="")
        self._composites.want(record, wanted, then=self._event(key, record))

    def _event(self, key: EntityKey, record: CompositeRecord) -> Callable[[], None]:
        def tell() -> None:
            tree = self._tree(key)
            if tree is not None and tree.group is not None and record.uid == key.uid:
                self._event_writer.tree_scheduled(key, tree.group, record.min_group_count)

        return tell

    def _whole(self, root: Branch) -> Iterator[CompositeRecord]:
        """The CompositePodGroups below, and the root, that have their minimum for certain."""
        yield from (branch.record for branch in root.walk() if self._has_minimum(branch))

    def _has_minimum(self, branch: Branch) -> bool:
        whole = sum(map(self._has_minimum, branch.branches)) + self._count_started(branch.leaves)
        return whole >= branch.record.min_group_count

    def _count_started(self, leaves: Iterable[PodGroupState]) -> int:
        return sum(self._progress.has_started(leaf.key) for leaf in leaves)

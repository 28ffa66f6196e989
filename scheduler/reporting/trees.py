"""What trees of groups say: each level its own condition, the root the events, pods what their group is told.

A CompositePodGroup turns `CompositePodGroupInitiallyScheduled` True once as many of its children have had their start as must start
together; it never turns back. Until then it, and every group below that has not started, says what the tree waits for.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from api.constants import (
    CONDITION_COMPOSITE_SCHEDULED,
    CONDITION_SCHEDULED,
    REASON_POD_GROUP_ERROR,
    REASON_SCHEDULED,
)
from api.meta import condition_of
from scheduler.apicalls.conditions import TRUE, condition
from scheduler.apicalls.group_conditions import GroupConditions
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_group_tree import Branch, TreeState
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

    def forget(self, key: EntityKey) -> None:
        """The item is gone."""
        self._looked.pop(key.uid, None)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _tree(self, key: EntityKey) -> TreeState | None:
        found = self._state.item(key)
        return found if isinstance(found, TreeState) else None

    def _say(self, tree: TreeState, reason: str, composite_reason: str, message: str) -> None:
        forest, root = self._state.entities.forest, (tree.key.namespace, tree.key.name)
        # What says so is perhaps still to be written.
        whole = {record.uid for record in self._whole(tree.branch)} if tree.branch is not None else set()
        for record in forest.composites_below(root):
            if record.uid not in whole:
                self._want_composite(record, composite_reason, message)
        for leaf in forest.leaves_below(root):
            if leaf.group is not None and not self._progress.has_started(leaf.key):
                self._want_group(leaf.group, reason, f"composite pod group {tree.key.name}: {message}")

    def _want_group(self, group: GroupRecord, reason: str, message: str) -> None:
        self._groups.want(group, condition(CONDITION_SCHEDULED, is_true=False, reason=reason, message=message))

    def _want_composite(self, record: CompositeRecord, reason: str, message: str) -> None:
        if self._composites is not None and not self._is_said_started(record):
            wanted = condition(CONDITION_COMPOSITE_SCHEDULED, is_true=False, reason=reason, message=message)
            self._composites.want(record, wanted)

    def _is_said_started(self, record: CompositeRecord) -> bool:
        current = self._composites.current(record) if self._composites is not None else ()
        said = condition_of(current, CONDITION_COMPOSITE_SCHEDULED)
        return said is not None and said.status == TRUE

    def _say_started(self, key: EntityKey, record: CompositeRecord) -> None:
        if self._composites is None or self._is_said_started(record):
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

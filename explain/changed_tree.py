"""A tree of groups that asks for something else: each of its groups, and each of its levels, as it would be then."""

from collections.abc import Hashable, Sequence

import msgspec

from explain.item_change import Change, ChangedMembers
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_group_tree import Branch, TreeState, tree_as_group
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.records import CompositeRecord


class ChangedTree(TreeState):
    """A tree of which all groups and levels ask for something else; not to be changed."""

    __slots__ = ()

    def __init__(self, tree: TreeState, changes: Sequence[Change]) -> None:
        # The forest is not asked again: this tree is never stale.
        PodGroupState.__init__(self, tree.key, tree.is_assumed)
        self.is_stale = False
        self.problem, self.group = tree.problem, tree.group
        known: dict[Hashable, PodSignature] = {}
        self.branch = _changed(tree.branch, changes, known) if tree.branch is not None else None
        if self.branch is not None:
            self.gather(self.branch)


def changed_members(members: PodGroupState, changes: Sequence[Change]) -> PodGroupState:
    """An item that asks for something else."""
    return ChangedTree(members, changes) if isinstance(members, TreeState) else ChangedMembers(members, changes)


def _changed(branch: Branch, changes: Sequence[Change], known: dict[Hashable, PodSignature]) -> Branch:
    """`known` has the signatures made so far: pods that ask for the same in two groups are still alike."""
    branches = [_changed(one, changes, known) for one in branch.branches]
    leaves: list[PodGroupState] = [ChangedMembers(leaf, changes, known) for leaf in branch.leaves]
    return Branch(_changed_record(branch.record, changes), branches, leaves)


def _changed_record(record: CompositeRecord, changes: Sequence[Change]) -> CompositeRecord:
    for change in changes:
        if change.group is not None:
            levels = change.group(tree_as_group(record, 1)).topology.levels
            record = msgspec.structs.replace(record, topology_key=levels[0].key if levels else None)
        if change.priority is not None and record.priority is not None:
            record = msgspec.structs.replace(record, priority=change.priority)
    return record

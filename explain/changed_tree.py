"""A tree of groups that asks for something else: each of its groups, and each of its levels, as it would be then."""

from collections.abc import Hashable, Sequence
from functools import partial

import msgspec

from explain.item_change import Change, ChangedMembers
from scheduler.cache.branch import Branch
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_group_tree import FixedTree, TreeState, tree_as_group
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.records import CompositeRecord


def changed_members(members: PodGroupState, changes: Sequence[Change]) -> PodGroupState:
    """An item that asks for something else."""
    if not isinstance(members, TreeState):
        return ChangedMembers(members, changes)
    return FixedTree(members, partial(_changed, changes=changes, known={}))


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

"""What makes groups a tree: what must be there before it is tried, why it is refused as a whole (KEP-6012).

As in `gang_scheduling`, what upstream holds back in silence says here what it waits for. All levels of a tree, and all its pods,
have one priority: upstream refuses another one as it refuses members that differ, and so do we.
"""

from collections.abc import Iterator
from math import inf

from scheduler.cache.pod_group_tree import TreeState
from scheduler.plugins.status import Code, Status

_GANG_SCHEDULING = "GangScheduling"

_NO_ROOT = 'waiting for CompositePodGroup "{}"'
_TOO_FEW = "waiting for minGroupCount ({}) groups: {} of {} have all they need"
_SAME = "all groups of a composite pod group should have its {}, got {} of {} and {} of composite pod group {}"


def tree_gate(tree: TreeState) -> Status | None:
    """Why the tree must not be tried yet, None when it may.

    It needs its root, and below it as many complete groups as must start together.
    """
    if tree.problem:
        return Status(Code.INVALID, tree.problem, plugin=_GANG_SCHEDULING)
    if tree.branch is None:
        return Status(Code.WAITING_FOR_POD_GROUP, _NO_ROOT, (tree.key.name,), plugin=_GANG_SCHEDULING)
    if tree.branch.missing == inf:
        counts = (tree.branch.record.min_group_count, tree.branch.complete, tree.branch.children_count)
        return Status(Code.WAITING_FOR_MEMBERS, _TOO_FEW, counts, plugin=_GANG_SCHEDULING)
    return None


def tree_disagreement(tree: TreeState) -> Status | None:
    """What contradicts the root, None when nothing does. Pods are compared elsewhere."""
    if tree.branch is None:
        return None
    root = tree.branch.record
    for who, priority, policy in _levels(tree):
        if None not in (priority, root.priority) and priority != root.priority:
            return _differ("priority", str(priority), who, str(root.priority), root.name)
        if None not in (policy, root.preemption_policy) and policy != root.preemption_policy:
            return _differ("preemption policy", str(policy), who, str(root.preemption_policy), root.name)
    return None


def _differ(*args: str) -> Status:
    return Status(Code.ERROR, _SAME, args, plugin=_GANG_SCHEDULING, is_group_error=True)


def _levels(tree: TreeState) -> Iterator[tuple[str, int | None, str | None]]:
    if tree.branch is None:
        return
    for branch in tree.branch.walk():
        yield f"composite pod group {branch.record.name}", branch.record.priority, branch.record.preemption_policy
        for leaf in branch.leaves:
            if leaf.group is not None:
                yield f"pod group {leaf.group.name}", leaf.group.priority, leaf.group.preemption_policy

"""A tree of groups on one snapshot: as many whole groups as its levels ask for, or nothing (KEP-6012).

First the whole tree is tried as if it were one gang, which is one look where its pods are alike, and exact where all of them must
start. Otherwise groups are placed one after the other (`tree_placement`). Upstream does that once, the oldest first and as many
pods as fit; what that leaves out may be the sibling that was needed, so here further orders follow, which place no more than must
start together. Groups and pods beyond the minimum come through the same code later.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from scheduler.algorithm.attempt import Attempt
from scheduler.algorithm.exact.members import SearchBudget
from scheduler.algorithm.partition import MemberPartition
from scheduler.algorithm.rank_order import deal
from scheduler.algorithm.snapshot import NewSnapshot
from scheduler.algorithm.tree_placement import HOPELESS, ORDERS, ByCount, OneByOne, Order, PlaceGroup, TreeAttempt
from scheduler.algorithm.upper_bound import most
from scheduler.cache.branch import Branch, by_age, children_of, missing_in
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_tree import TreeState
from scheduler.plugins.status import Certainty, Code, Status

_PLUGIN: Final = "GangScheduling"
_CANNOT: Final = "minGroupCount ({}) cannot be satisfied: {} of {} groups can start"
_CANNOT_NOW: Final = "none of the groups that wait beside the {} that have started can start"
_SURE: Final = frozenset({Certainty.COUNTED, Certainty.PROVED})


class TreeRefusal(NamedTuple):
    """Why a tree cannot start."""

    status: Status
    uids: Sequence[str] = ()
    """The pods of the group that could not be placed."""
    of_pods: Status | None = None
    """Why these could not; the others wait for them."""


def attempt_to_place_tree(
    state: ClusterState, tree: TreeState, found: MemberPartition, new_snapshot: NewSnapshot, place: PlaceGroup
) -> TreeAttempt | TreeRefusal:
    """The first attempt that is enough for the tree to start, or for more of one that has.

    Args:
        state: the cluster.
        tree: one that may start: its root is there, and enough of its groups.
        found: its pending pods.
        new_snapshot: makes a snapshot for one try.
        place: places one group.

    Raises:
        OverBudgetError: that takes more steps than the computation under way may cost.
    """
    branch = tree.branch
    if branch is None:
        raise ValueError("a tree without its root is not tried")
    make: Callable[..., OneByOne] = OneByOne
    orders: Sequence[Order] = ORDERS
    if not tree.is_constrained_below:
        search = SearchBudget() if branch.missing == tree.pending_count else None
        whole = place(state, tree, found, tree.pending_count, new_snapshot, search)
        if isinstance(whole, Attempt):
            if whole.total == tree.pending_count:
                return TreeAttempt(whole, deal(state, tree, found, whole))
            if len(found.uids) == 1 and found.topology is None:
                make = partial(ByCount, whole)
                orders = ORDERS if whole.total >= branch.missing else HOPELESS
            elif _is_hopeless(tree, branch, found, whole, new_snapshot):
                return _refused_by_count(branch, found, whole)
    closest: OneByOne | None = None
    for order in orders:
        attempt = make(state, tree, found, new_snapshot, place, order)
        if attempt.place(branch):
            return attempt.result()
        if closest is None or attempt.started > closest.started:
            closest = attempt
    return _refusal(branch, closest)


def _is_hopeless(
    tree: TreeState, branch: Branch, found: MemberPartition, whole: Attempt, new_snapshot: NewSnapshot
) -> bool:
    """Whether counting alone, or having searched all placements, says that too few of its pods can be placed."""
    if branch.missing == tree.pending_count and whole.certainty in _SURE:
        return True
    return (
        tree.group is not None
        and tree.group.topology_key is None
        and most(found.pending, new_snapshot(None, "")) < branch.missing
    )


def _refused_by_count(branch: Branch, found: MemberPartition, whole: Attempt) -> TreeRefusal:
    signature = next(each for each, uids in found.uids.items() if whole.count(each) < len(uids))
    of_pods = Status(Code.UNSCHEDULABLE, diagnosis=whole.snapshot.diagnosis(signature))
    left, started = whole.total, branch.started
    for child in sorted(children_of(branch), key=by_age):
        missing = missing_in(child)
        if 0 < missing <= left:
            left -= int(missing)
            started += 1
    return TreeRefusal(_cannot(branch, started, of_pods), found.uids[signature][whole.count(signature) :], of_pods)


def _refusal(branch: Branch, closest: OneByOne | None) -> TreeRefusal:
    if closest is None:
        raise ValueError("no order was tried")
    return TreeRefusal(_cannot(branch, closest.started, closest.reason), closest.refused_uids, closest.reason)


def _cannot(branch: Branch, started: int, cause: Status | None) -> Status:
    if branch.missing == 0:
        return Status(Code.UNSCHEDULABLE, _CANNOT_NOW, (branch.started,), plugin=_PLUGIN, cause=cause)
    counts = (branch.record.min_group_count, started, branch.children_count)
    return Status(Code.UNSCHEDULABLE, _CANNOT, counts, plugin=_PLUGIN, cause=cause)

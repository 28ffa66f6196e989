"""Which pods of a tree somebody else makes room for: no more than must start together.

Who leaves, and what is reserved, is worked out for pods all of which must start. So the tree is cut down to such pods, once for
each choice of groups that is worth asking about, and the first choice for which there is an answer is taken. Where no group must be
inside domains of its own, what is left is one gang; otherwise its groups are placed as those of any tree.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from math import inf

from scheduler.algorithm.tree_placement import in_order
from scheduler.cache.branch import Branch, Child, by_age, by_size, children_of, missing_in, missing_pods
from scheduler.cache.pod_group_state import MemberState, PodGroupState
from scheduler.cache.pod_group_tree import FixedTree, TreeState

Order = Callable[[Child], tuple[float, float, str]]

_PLACED = frozenset({MemberState.ASSUMED, MemberState.BOUND, MemberState.SUCCEEDED})


class RequiredPods(FixedTree):
    """A tree of some pending pods, all of which must get a place, with all pods that have theirs; not to be changed."""

    __slots__ = ()

    is_needed_whole = True


class _ChosenPods(PodGroupState):
    """So many pending pods of a group, with those that have their place; not to be changed."""

    __slots__ = ()

    def __init__(self, leaf: PodGroupState, count: int) -> None:
        super().__init__(leaf.key, leaf.is_assumed)
        self.group, self.profiles = leaf.group, leaf.profiles
        self._by_state = {state: dict(pods) for state, pods in leaf.by_state() if state in _PLACED}
        chosen = set(islice(in_order(leaf), count))
        if not chosen:
            return
        self._by_state[MemberState.PENDING] = {
            pod.uid: pod for pod in leaf.pods(MemberState.PENDING) if pod.uid in chosen
        }
        for signature, waiting in leaf.pending.items():
            # Of each signature these are the first.
            taken = waiting.first(sum(uid in chosen for uid in waiting.uids))
            if len(taken):
                self.pending[signature] = taken


def required_pods(tree: TreeState) -> Iterator[RequiredPods]:
    """Choices of pods with which a tree could start: its oldest groups, then its smallest ones. None for one that has started."""
    if tree.branch is None or not 0 < tree.branch.missing < inf:
        return
    seen: list[dict[PodGroupState, int]] = []
    for order in (by_age, by_size):
        leaves = dict(_least(tree.branch, order))
        if leaves not in seen:
            seen.append(leaves)
            yield RequiredPods(tree, partial(_cut_down, leaves=leaves))


def _least(branch: Branch, order: Order) -> Iterator[tuple[PodGroupState, int]]:
    wanted = branch.record.min_group_count - branch.started
    waiting = [child for child in sorted(children_of(branch), key=order) if 0 < missing_in(child) < inf]
    for child in waiting[: max(wanted, 0)]:
        if isinstance(child, Branch):
            yield from _least(child, order)
        else:
            yield child, int(missing_pods(child))


def _cut_down(branch: Branch, leaves: Mapping[PodGroupState, int]) -> Branch:
    """The groups that are not chosen have no pods that wait, so each level needs exactly those that are."""
    branches = [_cut_down(one, leaves) for one in branch.branches]
    return Branch(branch.record, branches, [_ChosenPods(leaf, leaves.get(leaf, 0)) for leaf in branch.leaves])

"""Equal pods in closed form: the placement a scheduler would make that takes them one by one, without taking them one by one.

One by one, each pod goes to the node with the best score at that moment; equal scores go to the node that got fewer of these
pods, then to the lower slot. On each node the scores form a sequence (first pod there, second, ...), and the loop always takes
the best head of these sequences. An element that is better than the one before it on its node is therefore taken right after
it, so the order in which elements are taken is that of the running minimum along each sequence: the answer is the `count`
best elements by running minimum. A node can only be among the answers if its first element is, which leaves at most `count`
nodes to look at. Those are looked at to some depth; what is not chosen then never will be, and only nodes that were used up
to the depth looked at are looked at deeper.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.cache.node_columns import Slots

PodsByNode = NDArray[np.int64]
ScoreTable = Callable[[Slots, int], NDArray[np.int64]]
"""(nodes, depth) -> score of the 1st..depth-th pod on each of these nodes."""

Seconds = Callable[[Slots], NDArray[np.int64]]
"""nodes -> score of the 2nd pod on each of them."""

_STEP: Final = 2**20
"""Weight of a score against the number of pods on the node; no node takes as many."""


def spread(
    count: int, capacity: PodsByNode, score: NDArray[np.int64], score_table: ScoreTable, among: Slots | None = None
) -> tuple[Slots, PodsByNode]:
    """Places `count` equal pods (or as many as fit) on nodes.

    Args:
        count: pods to place.
        capacity: how many of them each node can take, `[node]`.
        score: how good each node is for its first pod, `[node]`.
        score_table: how good nodes are for their 1st, 2nd, ... pod; column 0 equals `score`; `[node, pod]`.
        among: the nodes that may be used, ascending; None for all.

    Returns:
        Node slots, ascending, and how many pods each of them gets.
    """
    nodes = np.flatnonzero(capacity) if among is None else among[capacity[among] > 0]
    if not len(nodes):
        return nodes, capacity[nodes]
    if len(nodes) > count:
        nodes = nodes[_best(score[nodes], count)]
    return spread_over(nodes, count, capacity, score[nodes], score_table)


def spread_over(
    nodes: Slots,
    count: int,
    capacity: PodsByNode,
    heads: NDArray[np.int64],
    score_table: ScoreTable,
    seconds: Seconds | None = None,
) -> tuple[Slots, PodsByNode]:
    """The same, when the nodes with room are known.

    Args:
        nodes: slots of the nodes with room, all of them or the best `count`; ascending, at least one.
        count: pods to place.
        capacity: how many of them each node can take, `[node]`.
        heads: how good each entry of `nodes` is for its first pod.
        score_table: how good nodes are for their 1st, 2nd, ... pod, `[entry of nodes, pod]`.
        seconds: a shorter way to the second column of that table.

    Returns:
        Node slots, ascending, and how many pods each of them gets.
    """
    if len(nodes) == count:
        is_best = heads == heads[0]
        if np.count_nonzero(is_best) == count:
            second = score_table(nodes, 2)[:, 1] if seconds is None else seconds(nodes)
            if not np.count_nonzero(second > heads):
                # No second pod on a node is better than the first on another one: one for each.
                return nodes, is_best.astype(np.int64)
    room = np.minimum(capacity[nodes], count)
    depth = min(count, max(2, 2 * count // len(nodes)))
    groups = np.full(len(nodes), depth)
    deeper: Slots = np.arange(len(nodes))
    rank, place = _elements(deeper, room, score_table(nodes, depth), count)
    while True:
        if len(rank) > count:
            chosen = _best_by(rank, place, count)
            rank, place = rank[chosen], place[chosen]
        owner = place // count
        given = np.bincount(owner, minlength=len(nodes)).astype(np.int64)
        is_used_up = (given >= groups) & (room > groups)
        if not is_used_up.any():
            return nodes[given > 0], given[given > 0]
        deeper = np.flatnonzero(is_used_up)
        depth = min(2 * depth, count)
        groups[deeper] = depth
        found_rank, found_place = _elements(deeper, room, score_table(nodes[deeper], depth), count)
        keep = ~is_used_up[owner]
        rank = np.concatenate([rank[keep], found_rank])
        place = np.concatenate([place[keep], found_place])


def pack_full(count: int, capacity: PodsByNode, score: NDArray[np.int64]) -> tuple[Slots, PodsByNode]:
    """Places `count` equal pods (or as many as fit) on the fullest nodes, each filled before the next, to leave whole nodes free.

    Args:
        count: pods to place.
        capacity: how many of them each node can take, `[node]`.
        score: how good each node is for spreading, `[node]`; the worst comes first.

    Returns:
        Node slots, and how many pods each of them gets.
    """
    nodes = np.flatnonzero(capacity)
    nodes = nodes[np.argsort(score[nodes], kind="stable")]
    given = np.diff(np.minimum(np.cumsum(capacity[nodes]), count), prepend=0)
    return nodes[given > 0], given[given > 0]


def _best(score: NDArray[np.int64], count: int) -> Slots:
    order = score * len(score) - np.arange(len(score))
    return np.sort(np.argpartition(order, len(order) - count)[len(order) - count :])


def _best_by(rank: NDArray[np.int64], place: NDArray[np.int64], count: int) -> Slots:
    order = rank * (int(place.max()) + 1) - place
    return np.argpartition(order, len(order) - count)[len(order) - count :]


def _elements(
    owners: Slots, room: PodsByNode, scores: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Running minima of these nodes, and a number that tells node and position apart: node x count + position."""
    before = np.arange(scores.shape[1])
    rank = np.minimum.accumulate(scores * _STEP - before, axis=1)
    exists = before < room[owners][:, None]
    place = owners[:, None] * count + before
    return rank[exists], place[exists]

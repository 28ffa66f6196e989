"""Pods that differ, one after the other: each goes to the node that is best for it once the ones before it have their nodes.

How good the nodes are is computed for some pods in a row at once. Nodes that get a pod meanwhile are changed: theirs are the only
figures that change, so they are left out of that table and judged one by one, in plain numbers, until there are too many of
them. Nodes that cannot be as good as the best few are not judged at all.
"""

from collections.abc import Sequence
from operator import le, sub
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.heterogeneous import INFEASIBLE, HeterogeneousMembers, Table
from scheduler.cache.node_columns import Slots
from scheduler.cache.steps import ONE_SCAN
from scheduler.plugins.framework import best_score, total_score
from scheduler.plugins.resource_allocation import ROWS, NodesWithPods
from scheduler.plugins.single_node_scores import SingleLoad, SingleNode, plain_loads

_STEP: Final = 2**32
"""Weight of a score against a node slot; no cluster has as many nodes."""
_HARDLY: Final = -(2**61)
"""Ranks below this stand for nodes that cannot take the pod."""
_AT_ONCE: Final = 48
"""Pods that are judged together."""
_MOST_CHANGED: Final = 8
"""Nodes that are judged one by one."""
_CELL: Final = 60
"""Steps of scoring one node for one pod."""
_ONE_POD: Final = 35_000
"""Steps of one pod beside the nodes that are scored for it."""
_MANY: Final = 512
"""From so many columns on it pays to leave those out that cannot be best."""
_BEST_FEW: Final = 32
_SLACK: Final = 1
"""Points below the best that are still looked at, so that the best may be used up."""


def place_in_order(among: HeterogeneousMembers, order: Sequence[int], *, pack: bool) -> list[int]:
    """The node slot of each pod, -1 for none; `order` is the pods by index of their signature, first come, first served."""
    in_order = _InOrder(among, len(order), pack=pack)
    found: list[int] = []
    while len(found) < len(order):
        found += in_order.some(np.array(order[len(found) : len(found) + _AT_ONCE], dtype=np.intp))
    return found


class _Pod(NamedTuple):
    """What counts of a signature on a changed node; the amounts of resources are those that somebody asks for."""

    load: SingleLoad
    rule_set: int
    least: list[int]
    amounts: list[int]


class _Nodes:
    """Nodes by column, all that counts of them in one table."""

    def __init__(self, among: HeterogeneousMembers, spare: int) -> None:
        first = among.node_classes.first
        usual = (among.offered, among.free[: len(ROWS)], among.scored)
        tables = (*usual, among.free[among.asked], among.static_score, among.is_open.astype(np.int64))
        known = np.concatenate([table[:, first] for table in tables])
        self.all: Final[Table] = np.concatenate([known, np.zeros((len(known), spare), dtype=np.int64)], axis=1)
        ends = np.cumsum([len(table) for table in tables]).tolist()
        views = np.split(self.all, ends[:-1])
        self.offered, self.unused, self.scored, self.free, self.static_score, self.is_open = views
        self.parts: Final[tuple[int, int, int]] = (ends[2], ends[3], ends[4])
        """The row after CPU and memory, after what is free of the resources that are asked for, after the static scores."""
        self.has_static_scores: Final = bool(self.static_score.any())


class _ChangedNode:
    """A node that got a pod since the table was made."""

    __slots__ = ("at", "column", "free", "is_open", "plain", "slot", "static_score")

    def __init__(self, nodes: _Nodes, at: int, column: int, slot: int) -> None:
        self.at: Final = at
        """Its place in the table."""
        self.column: Final = column
        self.slot: Final = slot
        numbers = nodes.all[:, column].tolist()
        usual, free, static_score = nodes.parts
        self.plain: Final = SingleNode(*numbers[:usual])
        self.free: list[int] = numbers[usual:free]
        self.static_score: Final[list[int]] = numbers[free:static_score]
        self.is_open: Final[list[int]] = numbers[static_score:]

    def can_take(self, pod: _Pod) -> bool:
        return bool(self.is_open[pod.rule_set]) and all(map(le, pod.least, self.free))

    def take(self, pod: _Pod) -> None:
        self.free = list(map(sub, self.free, pod.amounts))
        self.plain.take(pod.load)


class _Table(NamedTuple):
    """How good nodes are for some pods in a row, and a rank that no node exceeds that was left out."""

    pods: NDArray[np.intp]
    columns: NDArray[np.intp]
    """Those that are looked at, then those that come into use while the table lasts."""
    used: int
    """Columns that were in use when it was made."""
    ranks: Table
    """By pod and place in `columns`."""
    best_left_out: int

    def place_of(self, column: int) -> int:
        """Of a column that came into use since."""
        return len(self.columns) - len(self.pods) + column - self.used


class _InOrder:
    """The nodes as they become. Columns are node classes first, then nodes that got a pod, in the order they got their first."""

    def __init__(self, among: HeterogeneousMembers, pods: int, *, pack: bool) -> None:
        node_classes = among.node_classes
        self._among: Final = among
        self._nodes: Final = _Nodes(among, pods)
        self._is_packing: Final = pack
        self._step: Final = -_STEP if pack else _STEP
        self._classes: Final = len(node_classes.first)
        self._used = len(node_classes.first)
        self._next = [0] * len(node_classes.first)
        """By class: how many of its nodes have got a pod."""
        self._slot: Slots = np.concatenate([among.slots[node_classes.first], np.zeros(pods, dtype=np.intp)])
        self._least: Final[Table] = among.least[among.asked]
        rows = (among.rule_set_of, self._least.T, among.amounts[among.asked].T)
        self._pods: Final = list(map(_Pod, plain_loads(among.loads), *(row.tolist() for row in rows)))

    def some(self, pods: NDArray[np.intp]) -> list[int]:
        """Places the first of these pods, at least one, and returns their slots."""
        table = self._table(pods)
        found: list[int] = []
        changed: list[_ChangedNode] = []
        for index, signature in enumerate(pods.tolist()):
            self._among.steps.spend(_ONE_POD + len(table.columns))
            if len(changed) == _MOST_CHANGED:
                self._write_back(changed, table, index)
            pod = self._pods[signature]
            at = int(table.ranks[index].argmax())
            rank, node = self._best(changed, pod, int(table.ranks[index, at]))
            if rank <= table.best_left_out:
                break
            if rank < _HARDLY:
                found.append(-1)
                continue
            if node is None:
                node = self._take_out(at, table, index + 1)
                changed.append(node)
            node.take(pod)
            found.append(node.slot)
        self._write_back(changed, table, len(pods))
        return found

    def _table(self, pods: NDArray[np.intp]) -> _Table:
        columns, best_left_out = self._promising(pods)
        known = len(columns)
        columns = np.concatenate([columns, np.arange(self._used, self._used + len(pods))])
        ranks = np.full((len(pods), len(columns)), INFEASIBLE, dtype=np.int64)
        ranks[:, :known] = self._ranks(pods, columns[:known]).T
        return _Table(pods, columns, self._used, ranks, best_left_out)

    def _promising(self, pods: NDArray[np.intp]) -> tuple[NDArray[np.intp], int]:
        """The columns to look at for these pods, and a rank that none of the others can exceed."""
        columns = np.arange(self._used)
        if self._is_packing or self._used < _MANY:
            return columns, 2 * INFEASIBLE
        nodes, used = self._nodes, slice(self._used)
        self._among.steps.spend(_CELL * self._used * 2)
        most = best_score(nodes.offered, nodes.unused, nodes.scored, self._among.loads.some(pods), used)
        most += nodes.static_score[:, used].max(axis=0)
        most[~nodes.is_open[:, used].any(axis=0)] = 0
        few = np.argpartition(-most, _BEST_FEW)[:_BEST_FEW]
        lowest = int(self._ranks(pods, few).max(axis=0).min())
        if lowest < _HARDLY:
            return columns, 2 * INFEASIBLE
        is_left_out = most < -(-lowest // _STEP) - _SLACK
        ranks = most[is_left_out] * _STEP - self._slot[used][is_left_out]
        return columns[~is_left_out], int(ranks.max(initial=2 * INFEASIBLE))

    def _best(self, changed: list[_ChangedNode], pod: _Pod, rank: int) -> tuple[int, _ChangedNode | None]:
        """The best changed node and its rank, if it is better than this one."""
        found: _ChangedNode | None = None
        for node in changed:
            score = int(node.plain.score(pod.load)) + node.static_score[pod.rule_set]
            other = score * self._step - node.slot
            if other > rank and node.can_take(pod):
                rank, found = other, node
        return rank, found

    def _take_out(self, at: int, table: _Table, index: int) -> _ChangedNode:
        """The node that a place of the table stands for, which is no longer what it was, from this pod on."""
        column, rest = int(table.columns[at]), table.ranks[index:, at]
        slot = int(self._slot[column])
        if column >= self._classes:
            rest[:] = INFEASIBLE
            return _ChangedNode(self._nodes, at, column, slot)
        column_of_one = self._split_off(column)
        rest -= int(self._slot[column]) - slot
        if self._next[column] == len(self._among.node_classes.members[column]):
            rest[:] = INFEASIBLE
        return _ChangedNode(self._nodes, table.place_of(column_of_one), column_of_one, slot)

    def _split_off(self, node_class: int) -> int:
        """A column for the first node of a class, which from now on stands for the others only."""
        column = self._used
        self._used += 1
        self._nodes.all[:, column] = self._nodes.all[:, node_class]
        self._slot[column] = self._slot[node_class]
        self._next[node_class] += 1
        members = self._among.node_classes.members[node_class]
        if self._next[node_class] < len(members):
            self._slot[node_class] = self._among.slots[members[self._next[node_class]]]
        else:
            self._nodes.is_open[:, node_class] = 0
        return column

    def _write_back(self, changed: list[_ChangedNode], table: _Table, index: int) -> None:
        """Enters what became of the changed nodes, into the table too from this pod on."""
        if not changed:
            return
        columns = np.array([node.column for node in changed], dtype=np.intp)
        self._nodes.unused[:, columns] = np.array([node.plain.unused for node in changed]).T
        self._nodes.scored[:, columns] = np.array([node.plain.scored for node in changed]).T
        self._nodes.free[:, columns] = np.array([node.free for node in changed]).T
        if index < len(table.pods):
            table.ranks[index:, [node.at for node in changed]] = self._ranks(table.pods[index:], columns).T
        changed.clear()

    def _ranks(self, pods: NDArray[np.intp], columns: NDArray[np.intp]) -> Table:
        """How good nodes (rows) are for pods (columns): by score, then by slot."""
        self._among.steps.spend(_CELL * len(pods) * len(columns) + ONE_SCAN)
        nodes, loads = self._nodes, self._among.loads.some(pods)
        score = total_score(NodesWithPods(nodes.offered, nodes.unused, nodes.scored, loads, columns))
        rule_sets = self._among.rule_set_of[pods]
        if nodes.has_static_scores:
            score += nodes.static_score[rule_sets][:, columns].T
        score *= self._step
        ranks = score - self._slot[columns][:, None]
        is_closed = nodes.is_open.take(columns, axis=1) == 0
        if is_closed.any():
            ranks[is_closed[rule_sets].T] = INFEASIBLE
        for every_free, every_least in zip(nodes.free, self._least, strict=True):
            free, least = every_free[columns], every_least[pods]
            if free.min(initial=-INFEASIBLE) < least.max():
                ranks[free[:, None] < least] = INFEASIBLE
        return ranks

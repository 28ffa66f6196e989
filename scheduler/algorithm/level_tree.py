"""Levels of the cluster's topology as a tree: which nodes are in one domain of each level.

A domain of a level is made of the nodes that share its label's value and the values of all wider levels that are named with it:
`rack-1` of one block is not `rack-1` of another. A node without the label is a domain of its own, for nothing is known to be near
it; nothing that is required goes there.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.cache.cluster import ClusterState
from scheduler.cache.node_columns import Slots
from scheduler.cache.nodes import NodeTable

Mask = NDArray[np.bool_]

MOST_TREES: Final = 16
"""Lists of levels that groups name at the same time; the longest known goes first."""
_SCANS_OF_A_LEVEL: Final = 40


class LevelTree:
    """Nested domains, widest level first.

    Attributes:
        keys: the node labels.
        codes: by level, `[node]`: the domain of each node. Numbers go along the tree: sorted by the code of one level, nodes are
            sorted by those of all wider levels.
        labelled: by level, `[node]`: nodes that have this label.
        order: `[node]`: sorts nodes along the tree, those of one domain of the narrowest level by slot.
    """

    def __init__(self, nodes: NodeTable, keys: Sequence[str]) -> None:
        self.keys: Final = tuple(keys)
        self.codes: Final[list[Slots]] = []
        self.labelled: Final[list[Mask]] = []
        columns = [nodes.label_column(key) for key in keys]
        wider = np.zeros(nodes.slots, dtype=np.int64)
        for column in columns:
            nodes.steps.spend(_SCANS_OF_A_LEVEL * nodes.slots)
            has_label = (column.codes != 0) & nodes.alive
            alone = len(column.values) + np.arange(nodes.slots)
            # In the order of their names: those of the codes depend on which node came first.
            place = np.argsort(np.argsort(np.array([value or "" for value in column.values]), kind="stable"))
            own = np.where(has_label, place[column.codes], np.where(nodes.alive, alone, 0))
            _, codes = np.unique(wider * (len(column.values) + nodes.slots) + own, return_inverse=True)
            wider = codes.astype(np.int64)
            self.codes.append(codes.astype(np.intp))
            self.labelled.append(has_label)
        self.order: Final = wider * nodes.slots + np.arange(nodes.slots)

    def has_all(self, levels: Sequence[int]) -> Mask:
        """[node]: whether it has the labels of all these levels."""
        found = np.ones(len(self.codes[0]), dtype=np.bool_)
        for level in levels:
            found &= self.labelled[level]
        return found


class LevelTrees:
    """The trees of the lists of levels in use, made anew when a node says something else."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes: Final = nodes
        self._trees: dict[tuple[tuple[str, ...], str], tuple[int, LevelTree]] = {}

    def of(self, keys: tuple[str, ...], more: str = "") -> LevelTree:
        """The current tree of these labels, and of one more that stands where its values say.

        Raises:
            OverBudgetError: making it takes more steps than the computation under way may cost.
        """
        nodes = self._nodes
        known = self._trees.get((keys, more))
        if known is not None and known[0] == nodes.rule_changes.end and len(known[1].codes[0]) == nodes.slots:
            return known[1]
        tree = LevelTree(nodes, _with_level(nodes, keys, more))
        if known is None and len(self._trees) >= MOST_TREES:
            del self._trees[next(iter(self._trees))]
        self._trees[keys, more] = (nodes.rule_changes.end, tree)
        return tree


def level_tree_of(state: ClusterState, keys: tuple[str, ...], more: str = "") -> LevelTree:
    """The current tree of these labels, widest first, and of one more that stands where its values say; kept with the cluster.

    Raises:
        OverBudgetError: making it takes more steps than the computation under way may cost.
    """
    return state.derived(_level_trees).of(keys, more)


def _level_trees(state: ClusterState) -> LevelTrees:
    return LevelTrees(state.nodes)


def _with_level(nodes: NodeTable, keys: tuple[str, ...], key: str) -> tuple[str, ...]:
    """The levels with one more: before the first whose values each lie in one value of it, for those are narrower, else last.

    Unchanged when it is among them.
    """
    if not key or key in keys:
        return keys
    before = next((place for place, one in enumerate(keys) if _lies_in(nodes, one, key)), len(keys))
    return (*keys[:before], key, *keys[before:])


def _lies_in(nodes: NodeTable, narrow: str, wide: str) -> bool:
    inner, outer = nodes.label_column(narrow).codes, nodes.label_column(wide).codes
    both = nodes.alive & (inner != 0) & (outer != 0)
    nodes.steps.spend(_SCANS_OF_A_LEVEL * nodes.slots)
    pairs = np.unique(inner[both].astype(np.int64) * (int(outer.max(initial=0)) + 1) + outer[both])
    return len(pairs) == len(np.unique(inner[both]))

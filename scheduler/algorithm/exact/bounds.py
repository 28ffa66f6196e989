"""What no placement can exceed, from here on: necessary conditions that are quick to look at."""

from typing import Final

from scheduler.algorithm.exact.board import Board
from scheduler.algorithm.exact.problem import Problem, bits

_FEW_NODES: Final = 64
_MOST_BITS: Final = 1_000_000


def tightened(problem: Problem) -> Problem:
    """The same with no more free than can be used: the largest sum of amounts that fits, resource by resource."""
    free = [list(amounts) for amounts in problem.free]
    takers: dict[tuple[int, ...], list[int]] = {}
    for node in range(len(free)):
        takers.setdefault(tuple(kind.nodes >> node & 1 for kind in problem.kinds), []).append(node)
    for is_taker, nodes in takers.items():
        kinds = [kind for kind, is_one in zip(problem.kinds, is_taker, strict=True) if is_one]
        for at in range(len(free[0]) if free else 0):
            asked = [(kind.amounts[at], kind.count) for kind in kinds if kind.amounts[at]]
            most = sum(amount * count for amount, count in asked)
            for node in nodes:
                free[node][at] = min(free[node][at], most)
            if most <= _MOST_BITS:
                sums = _sums(asked)
                for node in nodes:
                    if free[node][at] > 0:
                        free[node][at] = (sums & ((2 << free[node][at]) - 1)).bit_length() - 1
    return problem._replace(free=tuple(map(tuple, free)), classes=_classes(problem, free))


def _classes(problem: Problem, free: list[list[int]]) -> tuple[int, ...]:
    """By node: equal for nodes that can be exchanged for each other while nothing is on them."""
    numbers: dict[tuple[object, ...], int] = {}
    found = []
    for node, node_class in enumerate(problem.classes):
        takers = tuple(kind.nodes >> node & 1 for kind in problem.kinds)
        found.append(numbers.setdefault((node_class, takers, *free[node]), len(numbers)))
    return tuple(found)


def _sums(asked: list[tuple[int, int]]) -> int:
    """The sums that some of these pods have together, as bits."""
    sums = 1
    for amount, count in asked:
        taken, step = 0, 1
        while taken < count:
            step = min(step, count - taken)
            sums |= sums << amount * step
            taken += step
            step *= 2
    return sums


class Bounds:
    """The conditions of one problem."""

    def __init__(self, problem: Problem) -> None:
        self._problem: Final = problem
        kinds = problem.kinds
        self._cliques: Final = [
            (group, [at for at, kind in enumerate(kinds) if _repels_itself(kind.role.excludes, kind.role.effects, group)])
            for group in sorted({at for kind in kinds for at in kind.role.excludes})
        ]
        """Groups, and the kinds of which each value takes one pod, whichever it is."""
        self._largest_first: Final = [
            sorted((at for at in range(len(kinds)) if kinds[at].amounts[row]), key=lambda at: -kinds[at].amounts[row])  # noqa: B023
            for row in range(len(problem.free[0]) if problem.free else 0)
        ]

    def allow(self, board: Board, nodes_for: dict[int, int]) -> bool:
        """Whether enough pods may still find a place; `nodes_for` has the nodes left to each kind with pods left."""
        slack = board.slack - sum(board.left[at] for at, nodes in nodes_for.items() if not nodes)
        if slack < 0:
            return False
        for group, kinds in self._cliques:
            waiting = [at for at in kinds if nodes_for.get(at)]
            pods = sum(board.left[at] for at in waiting)
            if pods > slack + 1 or len(waiting) == 1:
                union = 0
                for at in waiting:
                    union |= nodes_for[at]
                if pods - board.values_in(group, union) > slack:
                    return False
        return all(self._is_enough(board, nodes_for, row, slack) for row in range(len(self._largest_first)))

    def _is_enough(self, board: Board, nodes_for: dict[int, int], row: int, slack: int) -> bool:
        """Whether there is enough of a resource for those that cannot be given up, where somebody can use it."""
        kinds, needed, skipped, open_nodes = self._problem.kinds, 0, slack, 0
        smallest = 0
        for at in self._largest_first[row]:
            nodes = nodes_for.get(at)
            if not nodes:
                continue
            skipping = min(skipped, board.left[at])
            skipped -= skipping
            needed += (board.left[at] - skipping) * kinds[at].amounts[row]
            smallest = kinds[at].amounts[row]
            open_nodes |= nodes
        if not needed or open_nodes.bit_count() > _FEW_NODES:
            return True
        for node in bits(open_nodes):
            free = board.free[node][row]
            if free >= smallest:
                needed -= free
                if needed <= 0:
                    return True
        return False


def _repels_itself(excludes: tuple[int, ...], effects: tuple[tuple[int, int], ...], group: int) -> bool:
    return group in excludes and any(at == group for at, _ in effects)



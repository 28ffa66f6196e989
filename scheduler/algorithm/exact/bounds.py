"""What no placement can exceed, from here on: necessary conditions that are quick to look at."""

from math import gcd
from typing import Final

from scheduler.algorithm.exact.board import Board
from scheduler.algorithm.exact.problem import Kind, Problem, bits

_FEW_NODES: Final = 64
_MOST_BITS: Final = 1_000_000
_FEW_BITS: Final = 32_768
"""So many are looked at again and again."""


def tightened(problem: Problem) -> Problem:
    """The same with no more free than can be used: the largest sum of amounts that fits, resource by resource.

    Resources of which every node has enough for everybody who may go there are left out, and of the others amounts are in the
    largest units that leave them whole.
    """
    free, units = [list(amounts) for amounts in problem.free], _units(problem)
    scarce = set[int]()
    takers: dict[tuple[int, ...], list[int]] = {}
    for node in range(len(free)):
        takers.setdefault(tuple(kind.nodes >> node & 1 for kind in problem.kinds), []).append(node)
    for is_taker, nodes in takers.items():
        kinds = [kind for kind, is_one in zip(problem.kinds, is_taker, strict=True) if is_one]
        for at, unit in enumerate(units):
            asked = [(kind.amounts[at] // unit, kind.pods) for kind in kinds if kind.amounts[at]]
            most = sum(amount * count for amount, count in asked)
            sums = _sums(asked) if most <= _MOST_BITS else 0
            for node in nodes:
                there_is = free[node][at] // unit
                free[node][at] = min(there_is, most)
                if 0 <= there_is < most:
                    free[node][at] = _usable(sums, there_is)
            if any(free[node][at] < most for node in nodes):
                scarce.add(at)
    return _with_amounts(problem, free, {at: unit for at, unit in enumerate(units) if at in scarce})


def _units(problem: Problem) -> list[int]:
    """By resource: what divides all that is asked for."""
    return [gcd(*column) or 1 for column in zip(*(kind.amounts for kind in problem.kinds), strict=True)]


def _with_amounts(problem: Problem, free: list[list[int]], units: dict[int, int]) -> Problem:
    """With these resources only, in these units; `free` is in them already."""
    return problem._replace(
        kinds=tuple(
            kind._replace(amounts=tuple(kind.amounts[at] // unit for at, unit in units.items()))
            for kind in problem.kinds
        ),
        free=tuple(tuple(amounts[at] for at in units) for amounts in free),
        classes=_classes(problem, free),
    )


def _classes(problem: Problem, free: list[list[int]]) -> tuple[int, ...]:
    """By node: equal for nodes that can be exchanged for each other while nothing is on them."""
    numbers: dict[tuple[object, ...], int] = {}
    found = []
    for node, node_class in enumerate(problem.classes):
        takers = tuple(kind.nodes >> node & 1 for kind in problem.kinds)
        found.append(numbers.setdefault((node_class, takers, *free[node]), len(numbers)))
    return tuple(found)


def narrowed(problem: Problem) -> Problem:
    """The same without nodes on which a kind could never have those near it that it needs."""
    while True:
        kinds = tuple(
            kind._replace(nodes=sum(1 << node for node in bits(kind.nodes) if _has_company(problem, kind, node)))
            if kind.role.needs and kind.nodes.bit_count() <= _FEW_NODES
            else kind
            for kind in problem.kinds
        )
        if kinds == problem.kinds:
            return problem
        problem = problem._replace(kinds=kinds)


def _has_company(problem: Problem, kind: Kind, node: int) -> bool:
    """Whether for each group that a kind needs there is, or could be, somebody near this node."""
    if kind.role.may_be_first and not any(any(problem.groups[at].sums) for at in kind.role.needs):
        return True
    for at in kind.role.needs:
        group = problem.groups[at]
        value = group.values[node]
        if value and group.sums[value] > 0:
            continue
        near = [other for other, counted in enumerate(group.counted) if value and counted == value]
        if not any(
            other.nodes >> place & 1
            and any(each == at for each, _ in other.role.effects)
            and not _repel(problem, kind, node, other, place)
            for other in problem.kinds
            for place in near
        ):
            return False
    return True


def _repel(problem: Problem, one: Kind, node: int, other: Kind, place: int) -> bool:
    """Whether pods of two kinds cannot be on these two nodes together."""
    return _excludes(problem, one, node, other, place) or _excludes(problem, other, place, one, node)


def _excludes(problem: Problem, one: Kind, node: int, other: Kind, place: int) -> bool:
    return any(
        at in one.role.excludes and problem.groups[at].counted[place] == problem.groups[at].values[node] != 0
        for at, _ in other.role.effects
    )


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


def _usable(sums: int, free: int) -> int:
    """The largest of these sums that fits; 0 stands for sums that are not known."""
    return (sums & ((2 << free) - 1)).bit_length() - 1 if sums else free


class Bounds:
    """The conditions of one problem."""

    def __init__(self, problem: Problem) -> None:
        self._problem: Final = problem
        kinds = problem.kinds
        self._cliques: Final = [
            (
                group,
                [at for at, kind in enumerate(kinds) if _repels_itself(kind.role.excludes, kind.role.effects, group)],
            )
            for group in sorted({at for kind in kinds for at in kind.role.excludes})
        ]
        """Groups, and the kinds of which each value takes one pod, whichever it is."""
        self._largest_first: Final = [
            sorted((at for at in range(len(kinds)) if kinds[at].amounts[row]), key=lambda at: -kinds[at].amounts[row])
            for row in range(len(problem.free[0]) if problem.free else 0)
        ]

    def allow(self, board: Board, nodes_for: dict[int, int]) -> bool:
        """Whether enough pods may still find a place; `nodes_for` has the nodes left to each kind with pods left."""
        capacity = {at: board.capacity(at, nodes) for at, nodes in nodes_for.items()}
        slack = board.slack - sum(board.left[at] - most for at, most in capacity.items())
        if slack < 0:
            return False
        for group, kinds in self._cliques:
            waiting = [at for at in kinds if capacity.get(at)]
            if waiting:
                union = 0
                for at in waiting:
                    union |= nodes_for[at]
                if sum(capacity[at] for at in waiting) - board.values_in(group, union) > slack:
                    return False
        return all(self._is_enough(board, nodes_for, capacity, row, slack) for row in range(len(self._largest_first)))

    def _is_enough(
        self, board: Board, nodes_for: dict[int, int], capacity: dict[int, int], row: int, slack: int
    ) -> bool:
        """Whether there is enough of a resource for those that cannot be given up, where somebody can use it."""
        kinds, needed, skipped, open_nodes = self._problem.kinds, 0, slack, 0
        smallest, asked = 0, list[tuple[int, int]]()
        for at in self._largest_first[row]:
            nodes = nodes_for.get(at)
            if not nodes:
                continue
            skipping = min(skipped, capacity[at])
            skipped -= skipping
            needed += (capacity[at] - skipping) * kinds[at].amounts[row]
            smallest = kinds[at].amounts[row]
            asked.append((smallest, capacity[at]))
            open_nodes |= nodes
        if not needed or open_nodes.bit_count() > _FEW_NODES:
            return True
        sums = _sums(asked) if sum(amount * count for amount, count in asked) <= _FEW_BITS else 0
        for node in bits(open_nodes):
            free = board.free[node][row]
            if free >= smallest:
                needed -= _usable(sums, free)
                if needed <= 0:
                    return True
        return False


def _repels_itself(excludes: tuple[int, ...], effects: tuple[tuple[int, int], ...], group: int) -> bool:
    return group in excludes and any(at == group for at, _ in effects)

"""Whether pods that have a node each can have come in some order, each allowed by the rules when it came.

Only pods whose rules ask for others near them, or for an even spread, can come too early or too late, and only what they count
matters. Amounts, ports and anti-affinity hold in every order or in none.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from scheduler.algorithm.exact.arrivals import Arrivals
from scheduler.algorithm.exact.board import Board, nodes_by_value
from scheduler.algorithm.exact.pod_classes import Even, PodClass, Sums, can_all_come_at_best
from scheduler.algorithm.exact.problem import Problem, Role

_INDIFFERENT: Final = -1
"""In place of a class: pods that can come at any time and that nobody counts."""


def is_allowed(role: Role, values: tuple[int, ...], sums: Sums) -> bool:
    """Whether rules about other pods allow one more pod on a node with these values, as things are now."""
    for at in role.excludes:
        if values[at] and sums[at][values[at]]:
            return False
    if role.needs:
        if not all(values[at] for at in role.needs):
            return False
        is_first = role.may_be_first and not any(any(sums[at]) for at in role.needs)
        if not is_first and not all(sums[at][values[at]] > 0 for at in role.needs):
            return False
    for spread in role.spreads:
        value = values[spread.group]
        if not value:
            return False
        counts = sums[spread.group]
        is_too_few = len(spread.values) < max(spread.min_domains, 1)
        least = 0 if is_too_few else min(map(counts.__getitem__, spread.values))
        if counts[value] + spread.counts_itself - least > spread.max_skew:
            return False
    return True


def watched_groups(problem: Problem) -> frozenset[int]:
    """The groups that somebody needs, or is spread by."""
    return frozenset(at for kind in problem.kinds for at in kind.role.needs) | frozenset(
        spread.group for kind in problem.kinds for spread in kind.role.spreads
    )


class Orders:
    """Looks for orders of the pods on a board, and remembers which have none.

    Args:
        problem: of the board.
        spend: is called before each step; raises when there are none left.
    """

    def __init__(self, problem: Problem, spend: Callable[[], None]) -> None:
        self._problem: Final = problem
        self._spend: Final = spend
        self._watched: Final = watched_groups(problem)
        self._sums: Final = [group.sums for group in problem.groups]
        self._counted: Final = {at: nodes_by_value(problem.groups[at].counted) for at in self._watched}
        self._counted_of: Final = [
            [(at, amount) for at, amount in kind.role.effects if at in self._watched] for kind in problem.kinds
        ]
        self._classes: Final[list[PodClass]] = []
        self._numbers: Final[dict[PodClass, int]] = {}
        self._number_of: Final[dict[tuple[int, int], int]] = {}
        self._without: Final[set[frozenset[tuple[int, int]]]] = set()

    def has_one(self, board: Board) -> bool:
        """Whether the placed pods can have come in some order."""
        pods = self._pods(board)
        key = frozenset(pods.items())
        if key in self._without:
            return False
        arrivals = Arrivals([self._classes[at] for at in pods], list(pods.values()), self._sums, self._spend)
        if not pods or arrivals.can_end():
            return True
        self._without.add(key)
        return False

    def may_have_one(self, board: Board, nodes_for: Mapping[int, int]) -> bool:
        """Whether the placed pods can have come in the best case, with all others where they may go at any time.

        It is looked at only once pods were found that have no order: where one is missing, the next ones are often without, too.

        Args:
            board: the pods.
            nodes_for: the nodes left to each kind with pods left.
        """
        pods = self._pods(board) if self._without else None
        if not pods:
            return True
        best = [list(each) for each in self._sums]
        for kind, nodes in nodes_for.items():
            left = board.left[kind]
            for at, amount in self._counted_of[kind]:
                for value, inside in self._counted[at].items():
                    if nodes & inside:
                        best[at][value] += amount * left
        return can_all_come_at_best([self._classes[at] for at in pods], list(pods.values()), self._sums, best)

    def _pods(self, board: Board) -> Counter[int]:
        """By number of their class; without those that can come at any time and that nobody counts."""
        if not self._watched:
            return Counter()
        pods = Counter(self._class_of(move.kind, move.node) for move in board.moves)
        del pods[_INDIFFERENT]
        return pods

    def _class_of(self, kind: int, node: int) -> int:
        number = self._number_of.get((kind, node))
        if number is None:
            pod_class = self._new_class(kind, node)
            is_indifferent = not (pod_class.near or pod_class.even or pod_class.adds)
            number = _INDIFFERENT if is_indifferent else self._numbers.setdefault(pod_class, len(self._numbers))
            if number == len(self._classes):
                self._classes.append(pod_class)
            self._number_of[kind, node] = number
        return number

    def _new_class(self, kind: int, node: int) -> PodClass:
        role, groups = self._problem.kinds[kind].role, self._problem.groups
        adds = {
            at: (groups[at].counted[node], amount)
            for at, amount in role.effects
            if at in self._watched and groups[at].counted[node]
        }
        even = []
        for spread in role.spreads:
            at, value = spread.group, groups[spread.group].values[node]
            where, amount = adds.get(at, (0, 0))
            among = spread.values if len(spread.values) >= spread.min_domains else ()
            even.append(Even(at, value, amount * (where == value), spread.max_skew - spread.counts_itself, among))
        near = tuple((at, groups[at].values[node]) for at in role.needs)
        return PodClass(near, role.may_be_first, tuple(even), tuple((at, *added) for at, added in adds.items()))

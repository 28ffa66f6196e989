"""Whether pods that have a node each can have come in some order, each allowed by the rules when it came.

Only pods whose rules ask for others near them, or for an even spread, can come too early or too late, and only what they count
matters. Amounts, ports and anti-affinity hold in every order or in none.

Nearly all pods that have no order have none for a reason that is quick to see: somebody cannot come even in the best case. And
most pods that can come are in nobody's way, so they come at once; there is something to choose only between the others.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from scheduler.algorithm.exact.board import Board, nodes_by_value
from scheduler.algorithm.exact.problem import Problem, Role

Sums = Sequence[Sequence[int]]
"""By group and value: how many are counted there."""


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


class _Even(NamedTuple):
    """A spread of a party."""

    group: int
    value: int
    """Where the party is."""
    own: int
    """What one of the party adds there."""
    above: int
    """So many more than at the least value may be there before the next one."""
    among: tuple[int, ...]
    """The values of which the least counts; none where 0 counts as the least."""

    def allows(self, before: int, sums: Sums) -> bool:
        """Whether one more pod may come after so many."""
        return before - self.above <= min(map(sums[self.group].__getitem__, self.among), default=0)


class Party(NamedTuple):
    """Pods that are the same to everybody's order, on nodes with the labels that their rules ask for."""

    near: tuple[tuple[int, int], ...]
    """(group, value): there must be somebody."""
    may_be_first: bool
    even: tuple[_Even, ...]
    adds: tuple[tuple[int, int, int], ...]
    """(group, value, what one of them adds to it)."""

    def can_come(self, sums: Sums) -> bool:
        """Whether one more may come now."""
        return self.could_come(0, sums, sums)

    def could_come(self, others: int, sums: Sums, best: Sums) -> bool:
        """Whether one more may come after so many others of its party, with no less than `sums` and no more than `best` there."""
        if self.near and not self.can_be_first(sums) and not all(best[group][value] > 0 for group, value in self.near):
            return False
        return all(each.allows(sums[each.group][each.value] + others * each.own, best) for each in self.even)

    def can_be_first(self, sums: Sums) -> bool:
        """Whether it may come because nobody is anywhere whom it needs."""
        return self.may_be_first and not any(any(sums[group]) for group, _ in self.near)

    def add_to(self, sums: list[list[int]], pods: int) -> None:
        """So many of them have come; less than none have left."""
        for group, value, amount in self.adds:
            sums[group][value] += pods * amount


def can_all_come_at_best(parties: Sequence[Party], pods: Sequence[int], sums: Sums, best: list[list[int]]) -> bool:
    """Whether everybody can come who would if nobody were in anybody's way, and all others that can come had come before.

    Args:
        parties: of the pods.
        pods: how many of each are to come.
        sums: what is counted now.
        best: what is counted in the best case when the first of them comes; becomes that of the end.
    """
    left = list(pods)
    has_changed = True
    while has_changed:
        has_changed = False
        for at, party in enumerate(parties):
            while left[at] and party.could_come(pods[at] - left[at], sums, best):
                left[at] -= 1
                party.add_to(best, 1)
                has_changed = True
    return not any(left)


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
        self._parties: Final[list[Party]] = []
        self._numbers: Final[dict[Party, int]] = {}
        self._number_of: Final[dict[tuple[int, int], int]] = {}
        self._without: Final[set[frozenset[tuple[int, int]]]] = set()

    def has_one(self, board: Board) -> bool:
        """Whether the placed pods can have come in some order."""
        pods = self._pods(board)
        key = frozenset(pods.items())
        if key in self._without:
            return False
        if (
            not pods
            or _Arrivals([self._parties[at] for at in pods], list(pods.values()), self._sums, self._spend).can_end()
        ):
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
        return can_all_come_at_best([self._parties[at] for at in pods], list(pods.values()), self._sums, best)

    def _pods(self, board: Board) -> Counter[int]:
        """By number of their party; without those that can come at any time and that nobody counts."""
        if not self._watched:
            return Counter()
        pods = Counter(self._party_of(move.kind, move.node) for move in board.moves)
        del pods[_INDIFFERENT]
        return pods

    def _party_of(self, kind: int, node: int) -> int:
        number = self._number_of.get((kind, node))
        if number is None:
            party = self._new_party(kind, node)
            is_indifferent = not (party.near or party.even or party.adds)
            number = _INDIFFERENT if is_indifferent else self._numbers.setdefault(party, len(self._numbers))
            if number == len(self._parties):
                self._parties.append(party)
            self._number_of[kind, node] = number
        return number

    def _new_party(self, kind: int, node: int) -> Party:
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
            even.append(_Even(at, value, amount * (where == value), spread.max_skew - spread.counts_itself, among))
        near = tuple((at, groups[at].values[node]) for at in role.needs)
        return Party(near, role.may_be_first, tuple(even), tuple((at, *added) for at, added in adds.items()))


_INDIFFERENT: Final = -1


class _Stage(NamedTuple):
    """What came after a choice."""

    came: list[int]
    """The party of each pod: the one that was chosen, then those that were in nobody's way."""
    options: list[int]
    """Who may be chosen next, the most promising last."""


class _Arrivals:
    """Pods that come one after the other.

    A pod that may come and is in nobody's way comes at once: every order that goes on from here could as well go on with it.
    """

    def __init__(self, parties: list[Party], pods: list[int], sums: Sums, spend: Callable[[], None]) -> None:
        self._parties: Final = parties
        self._left: Final = pods
        self._spend: Final = spend
        self._sums: Final = [list(each) for each in sums]
        self._final: Final = [list(each) for each in sums]
        """When all have come."""
        for party, count in zip(parties, pods, strict=True):
            party.add_to(self._final, count)
        self._spread_at: Final[dict[tuple[int, int], list[int]]] = {}
        """By group and value: the parties that have a spread there."""
        self._seen: Final[set[tuple[int, ...]]] = set()

    def can_end(self) -> bool:
        """Whether all can come."""
        if not self._is_possible():
            return False
        for at, party in enumerate(self._parties):
            for each in party.even:
                self._spread_at.setdefault((each.group, each.value), []).append(at)
        path = [self._stage([])]
        while any(self._left):
            while not path[-1].options:
                for at in path.pop().came:
                    self._come(at, -1)
                if not path:
                    return False
            chosen = path[-1].options.pop()
            self._come(chosen)
            path.append(self._stage([chosen]) if self._is_possible() else _Stage([chosen], []))
        return True

    def _is_possible(self) -> bool:
        """Whether all that are left can come in the best case."""
        self._spend()
        return can_all_come_at_best(self._parties, self._left, self._sums, [list(each) for each in self._sums])

    def _stage(self, came: list[int]) -> _Stage:
        """Lets all come that are in nobody's way."""
        before = -1
        while before < len(came):
            before = len(came)
            for at, party in enumerate(self._parties):
                while self._left[at] and party.can_come(self._sums) and self._is_in_nobodys_way(at):
                    self._come(at)
                    came.append(at)
        state = tuple(self._left)
        if state in self._seen:
            return _Stage(came, [])
        self._seen.add(state)
        options = [at for at, left in enumerate(self._left) if left and self._parties[at].can_come(self._sums)]
        return _Stage(came, sorted(options, key=self._crowd_around, reverse=True))

    def _come(self, at: int, pods: int = 1) -> None:
        self._left[at] -= pods
        self._parties[at].add_to(self._sums, pods)

    def _is_in_nobodys_way(self, at: int) -> bool:
        party = self._parties[at]
        for group, value, _ in party.adds:
            for other in self._spread_at.get((group, value), ()):
                if other != at and self._left[other] and not self._has_room_for_all(other):
                    return False
        return not any(
            left and other != at and self._forestalls(party, self._parties[other])
            for other, left in enumerate(self._left)
        )

    def _has_room_for_all(self, at: int) -> bool:
        """Whether a party's spreads allow the last of it even after everybody else."""
        return all(
            each.allows(self._final[each.group][each.value] - each.own, self._sums) for each in self._parties[at].even
        )

    def _forestalls(self, party: Party, other: Party) -> bool:
        """Whether another party could be the first of those it needs, and not even come for company once this one is there."""
        if not other.can_be_first(self._sums):
            return False
        added = {group: value for group, value, _ in party.adds}
        return any(group in added for group, _ in other.near) and any(
            added.get(group) != value for group, value in other.near
        )

    def _crowd_around(self, at: int) -> int:
        """How many there are that its spreads count: where there are the fewest is the most promising."""
        return sum(self._sums[each.group][each.value] for each in self._parties[at].even)

"""Whether pods that have a node each can have come in some order, each allowed by the rules when it came.

Only pods whose rules ask for others near them, or for an even spread, can come too early or too late, and only what they count
matters. Amounts, ports and anti-affinity hold in every order or in none.

Nearly all pods that have no order have none for a reason that is quick to see: somebody cannot come even in the best case. And
most pods that can come are in nobody's way, so they come at once; there is something to choose only between the others.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from scheduler.algorithm.exact.problem import Problem, Role, Spread

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
        if not value or not _is_even(spread, sums[spread.group][value], sums):
            return False
    return True


def watched_groups(problem: Problem) -> frozenset[int]:
    """The groups that somebody needs, or is spread by."""
    return frozenset(at for kind in problem.kinds for at in kind.role.needs) | frozenset(
        spread.group for kind in problem.kinds for spread in kind.role.spreads
    )


def _is_even(spread: Spread, before: int, sums: Sums) -> bool:
    """Whether a spread allows one more pod where there are so many before it."""
    has_least = len(spread.values) >= max(spread.min_domains, 1)
    least = min(map(sums[spread.group].__getitem__, spread.values)) if has_least else 0
    return before + spread.counts_itself - least <= spread.max_skew


class _Even(NamedTuple):
    """A spread of a party."""

    spread: Spread
    value: int
    """Where the party is."""
    own: int
    """What one of the party adds there."""


class _Party(NamedTuple):
    """Pods that are the same to everybody's order, on nodes with the labels that their rules ask for."""

    near: tuple[tuple[int, int], ...]
    """(group, value): there must be somebody."""
    may_be_first: bool
    even: tuple[_Even, ...]
    adds: tuple[tuple[int, int, int], ...]
    """(group, value, what one of them adds to it)."""

    def is_allowed(self, sums: Sums) -> bool:
        """Whether one more may come now."""
        return (not self.near or self.has_company(sums) or self.can_be_first(sums)) and all(
            _is_even(each.spread, sums[each.spread.group][each.value], sums) for each in self.even
        )

    def has_company(self, sums: Sums) -> bool:
        """Whether everybody is there whom it needs."""
        return all(sums[group][value] > 0 for group, value in self.near)

    def can_be_first(self, sums: Sums) -> bool:
        """Whether it may come because nobody is anywhere whom it needs."""
        return self.may_be_first and not any(any(sums[group]) for group, _ in self.near)

    def add_to(self, sums: list[list[int]], pods: int) -> None:
        """So many of them have come; less than none have left."""
        for group, value, amount in self.adds:
            sums[group][value] += pods * amount


class Orders:
    """Looks for orders of pods of one problem, and remembers which have none.

    Args:
        problem: the pods and the nodes.
        spend: is called before each step; raises when there are none left.
    """

    def __init__(self, problem: Problem, spend: Callable[[], None]) -> None:
        self._problem: Final = problem
        self._spend: Final = spend
        self._watched: Final = watched_groups(problem)
        self._sums: Final = [group.sums for group in problem.groups]
        self._parties: Final[list[_Party]] = []
        self._numbers: Final[dict[_Party, int]] = {}
        self._number_of: Final[dict[tuple[int, int], int]] = {}
        self._without: Final[set[frozenset[tuple[int, int]]]] = set()

    def has_one(self, placed: Iterable[tuple[int, int]]) -> bool:
        """Whether these pods, (kind, node) of each, can have come in some order."""
        if not self._watched:
            return True
        counts = Counter(map(self._party_of, placed))
        counts.pop(_INDIFFERENT, None)
        key = frozenset(counts.items())
        if key in self._without:
            return False
        parties = [(self._parties[number], pods) for number, pods in counts.items()]
        if _Arrivals(parties, self._sums, self._spend).have_an_order():
            return True
        self._without.add(key)
        return False

    def _party_of(self, placed: tuple[int, int]) -> int:
        """The number of a pod's party."""
        number = self._number_of.get(placed)
        if number is None:
            party = self._new_party(*placed)
            is_indifferent = not (party.near or party.even or party.adds)
            number = _INDIFFERENT if is_indifferent else self._numbers.setdefault(party, len(self._numbers))
            if number == len(self._parties):
                self._parties.append(party)
            self._number_of[placed] = number
        return number

    def _new_party(self, kind: int, node: int) -> _Party:
        role, groups = self._problem.kinds[kind].role, self._problem.groups
        adds = {
            (at, groups[at].counted[node]): amount
            for at, amount in role.effects
            if at in self._watched and groups[at].counted[node]
        }
        values = {spread: groups[spread.group].values[node] for spread in role.spreads}
        return _Party(
            tuple((at, groups[at].values[node]) for at in role.needs),
            role.may_be_first,
            tuple(_Even(spread, value, adds.get((spread.group, value), 0)) for spread, value in values.items()),
            tuple((*place, amount) for place, amount in adds.items()),
        )


_INDIFFERENT: Final = -1
"""The party of pods that can come at any time and that nobody counts."""


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

    def __init__(self, parties: Sequence[tuple[_Party, int]], sums: Sums, spend: Callable[[], None]) -> None:
        self._parties: Final = [party for party, _ in parties]
        self._left: Final = [pods for _, pods in parties]
        self._spend: Final = spend
        self._sums: Final = [list(each) for each in sums]
        self._final: Final = [list(each) for each in sums]
        """When all have come."""
        for party, pods in parties:
            party.add_to(self._final, pods)
        self._spread_at: Final[dict[tuple[int, int], list[int]]] = {}
        """By group and value: the parties that have a spread there."""
        for at, party in enumerate(self._parties):
            for each in party.even:
                self._spread_at.setdefault((each.spread.group, each.value), []).append(at)
        self._seen: Final[set[tuple[int, ...]]] = set()

    def have_an_order(self) -> bool:
        """Whether all can come."""
        path = [self._stage([])]
        while any(self._left):
            while not path[-1].options:
                for at in path.pop().came:
                    self._come(at, -1)
                if not path:
                    return False
            chosen = path[-1].options.pop()
            self._come(chosen)
            path.append(self._stage([chosen]))
        return True

    def _stage(self, came: list[int]) -> _Stage:
        """Lets all come that are in nobody's way."""
        self._spend()
        if self._is_hopeless():
            return _Stage(came, [])
        before = -1
        while before < len(came):
            before = len(came)
            for at, party in enumerate(self._parties):
                while self._left[at] and party.is_allowed(self._sums) and self._is_in_nobodys_way(at):
                    self._come(at)
                    came.append(at)
        state = tuple(self._left)
        if state in self._seen:
            return _Stage(came, [])
        self._seen.add(state)
        allowed = [at for at, left in enumerate(self._left) if left and self._parties[at].is_allowed(self._sums)]
        return _Stage(came, sorted(allowed, key=self._crowd_around, reverse=True))

    def _come(self, at: int, pods: int = 1) -> None:
        self._left[at] -= pods
        self._parties[at].add_to(self._sums, pods)

    def _is_hopeless(self) -> bool:
        """Whether somebody cannot come even if everybody else who can has come before, and nobody is in the way."""
        left, best = self._left.copy(), [list(each) for each in self._sums]
        has_changed = True
        while has_changed:
            has_changed = False
            for at, party in enumerate(self._parties):
                while left[at] and self._can_come(party, self._left[at] - left[at], best):
                    left[at] -= 1
                    party.add_to(best, 1)
                    has_changed = True
        return any(left)

    def _can_come(self, party: _Party, before: int, best: Sums) -> bool:
        """Whether one more of a party can come after so many of it, where at most so many others are."""
        sums = self._sums
        return (not party.near or party.has_company(best) or party.can_be_first(sums)) and all(
            _is_even(each.spread, sums[each.spread.group][each.value] + before * each.own, best) for each in party.even
        )

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
            _is_even(each.spread, self._final[each.spread.group][each.value] - each.own, self._sums)
            for each in self._parties[at].even
        )

    def _forestalls(self, party: _Party, other: _Party) -> bool:
        """Whether another party cannot come as the first of its kind any more, nor for company, once one of this has come."""
        if not other.can_be_first(self._sums):
            return False
        added = {group: value for group, value, _ in party.adds}
        return any(group in added for group, _ in other.near) and any(
            added.get(group) != value for group, value in other.near
        )

    def _crowd_around(self, at: int) -> int:
        """How many there are that its spreads count: where there are the fewest is the most promising."""
        return sum(self._sums[each.spread.group][each.value] for each in self._parties[at].even)

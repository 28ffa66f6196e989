"""Where pods may be that need others near them, or that are to be spread: what must hold in the end, whatever the order.

Both are looked at from a board, and both only ever get narrower while pods are added.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from scheduler.algorithm.exact.problem import Kind, Problem, bits


class Placement(Protocol):
    """What limits look at of a board."""

    changes: int

    @property
    def problem(self) -> Problem:
        """Of which it is a board."""

    @property
    def left(self) -> Sequence[int]:
        """By kind, pods to be placed."""

    @property
    def room(self) -> Sequence[Sequence[int]]:
        """By node and kind."""

    @property
    def sums(self) -> Sequence[Sequence[int]]:
        """By group and value."""

    @property
    def where(self) -> Sequence[Mapping[int, int]]:
        """By group and value: its nodes."""

    def fitting(self, kind: int) -> int:
        """The nodes with enough room for one more pod of a kind."""

    def labelled(self, at: int) -> int:
        """The nodes that have the label of a group."""


class Seeds:
    """Where pods that need a group may be: the values that have somebody, and those that can still get somebody.

    Pods that do not need the group themselves can be there first; of those that need it, at most one can, and only while it has
    nobody at all.
    """

    def __init__(self, board: Placement, group: int) -> None:
        self.group: Final = group
        self._board: Final = board
        kinds = board.problem.kinds
        self._seeders: Final = [
            at
            for at, kind in enumerate(kinds)
            if group not in kind.role.needs and any(each == group for each, _ in kind.role.effects)
        ]
        self._by_itself: Final = int(
            any(
                group in kind.role.needs
                and kind.role.may_be_first
                and not any(any(board.problem.groups[each].sums) for each in kind.role.needs)
                for kind in kinds
            )
        )
        self._support: Final = list(board.problem.groups[group].sums)
        self._needing: Final = [0] * len(self._support)
        self._orphans: Final[set[int]] = set()
        """Values with pods that need somebody, and without somebody."""
        self._held = sum(nodes for value, nodes in board.where[group].items() if self._support[value])

    def nodes(self) -> int:
        """Where one more pod that needs the group may go."""
        if len(self._orphans) >= self._to_come():
            return self._held
        if self._by_itself:
            return self._board.labelled(self.group)
        reach = self._reach()
        return self._held | sum(
            nodes for value, nodes in self._board.where[self.group].items() if nodes & reach and not nodes & self._held
        )

    def are_too_few(self) -> bool:
        """Whether more values have pods that need somebody than can still get somebody."""
        if not self._orphans:
            return False
        if len(self._orphans) > self._to_come():
            return True
        reach, where = self._reach(), self._board.where[self.group]
        return sum(1 for value in self._orphans if not where[value] & reach) > self._by_itself

    def minds(self, kind: Kind) -> bool:
        """Whether pods of a kind matter here."""
        return self.group in kind.role.needs or any(at == self.group for at, _ in kind.role.effects)

    def count(self, kind: int, node: int, sign: int) -> None:
        """A pod was put, or with -1 taken back."""
        group, role = self._board.problem.groups[self.group], self._board.problem.kinds[kind].role
        if self.group in role.needs:
            self._change(self._needing, group.values[node], sign)
            return
        amount = sum(amount for at, amount in role.effects if at == self.group)
        self._change(self._support, group.counted[node], sign * amount)

    def _to_come(self) -> int:
        return self._by_itself + sum(self._board.left[at] for at in self._seeders)

    def _reach(self) -> int:
        """The nodes where somebody may go who does not need the group."""
        reach = 0
        for at in self._seeders:
            if self._board.left[at]:
                reach |= self._board.fitting(at)
        return reach

    def _change(self, numbers: list[int], value: int, by: int) -> None:
        if not value:
            return
        was_held = self._support[value] > 0 or self._needing[value] > 0
        numbers[value] += by
        is_supported, is_needed = self._support[value] > 0, self._needing[value] > 0
        if is_needed and not is_supported:
            self._orphans.add(value)
        else:
            self._orphans.discard(value)
        if was_held != (is_supported or is_needed):
            self._held ^= self._board.where[self.group][value]


class Skew:
    """Where pods may be that are to be spread: as far above the least value as that can still rise.

    A pod that is spread counts those that are spread with it and came before. So a value never has more of them than the largest
    skew above the fewest pods that any value can have in the end.
    """

    def __init__(self, board: Placement, group: int) -> None:
        self.group: Final = group
        self._board: Final = board
        kinds, this = board.problem.kinds, board.problem.groups[group]
        spreads = [spread for kind in kinds for spread in kind.role.spreads if spread.group == group]
        self._max_skew: Final = max(spread.max_skew for spread in spreads)
        self._among: Final = list(dict.fromkeys((spread.values, spread.min_domains) for spread in spreads))
        self._effects: Final = [sum(amount for at, amount in kind.role.effects if at == group) for kind in kinds]
        self._counts_itself: Final = {
            kind.role
            for kind in kinds
            if any(spread.group == group and spread.counts_itself for spread in kind.role.spreads)
        }
        self._own: Final = list(this.sums)
        self._uncounted: Final = sum(1 << node for node, value in enumerate(this.counted) if not value)
        self._seen_at = -1
        self._most, self._not_full, self._not_over = 0, 0, 0

    def nodes(self, *, counts_itself: bool) -> int:
        """Where one more pod may go that the constraint is about."""
        self._look()
        return self._not_full | (self._not_over & self._uncounted) if counts_itself else self._not_over

    def capacity(self, kind: int, nodes: int) -> int:
        """How many more pods of a kind that counts itself these nodes can take, all of which have the label."""
        self._look()
        board, most, found = self._board, self._most, 0
        for value, inside in board.where[self.group].items():
            here = nodes & inside
            if here:
                room = sum(board.room[node][kind] for node in bits(here))
                found += room if here & self._uncounted else min(room, most - self._own[value])
        return found

    def minds(self, kind: Kind) -> bool:
        """Whether pods of a kind count themselves here."""
        return kind.role in self._counts_itself

    def count(self, _: int, node: int, sign: int) -> None:
        """A pod was put that counts itself, or with -1 taken back."""
        value = self._board.problem.groups[self.group].counted[node]
        if value:
            self._own[value] += sign

    def _look(self) -> None:
        """What holds on the board as it is: the most pods of a value in the end, and where there are fewer or as many."""
        if self._seen_at == self._board.changes:
            return
        self._seen_at = self._board.changes
        self._most, self._not_full, self._not_over = self._max_skew + self._least(), 0, 0
        for value, nodes in self._board.where[self.group].items():
            own = self._own[value]
            if own <= self._most:
                self._not_over |= nodes
                if own < self._most:
                    self._not_full |= nodes

    def _least(self) -> int:
        """The fewest pods of any value cannot become more than this."""
        board = self._board
        coming = [(at, effect) for at, effect in enumerate(self._effects) if effect and board.left[at]]
        return max(self._least_of(values, min_domains, coming) for values, min_domains in self._among)

    def _least_of(self, values: tuple[int, ...], min_domains: int, coming: list[tuple[int, int]]) -> int:
        if len(values) < max(min_domains, 1):
            return 0
        board, sums, where = self._board, self._board.sums[self.group], self._board.where[self.group]
        level = _filled([sums[value] for value in values], sum(effect * board.left[at] for at, effect in coming))
        for value in values:
            if sums[value] < level:
                nodes = where.get(value, 0)
                level = min(level, sums[value] + sum(effect * self._taken(at, nodes) for at, effect in coming))
        return level

    def _taken(self, kind: int, nodes: int) -> int:
        """How many of the pods to come of a kind some nodes can take."""
        board, found = self._board, 0
        for node in bits(nodes & board.fitting(kind)):
            found += board.room[node][kind]
            if found >= board.left[kind]:
                return board.left[kind]
        return found


def _filled(levels: list[int], more: int) -> int:
    """The lowest level when as much is added where it is lowest."""
    levels.sort()
    for count in range(1, len(levels)):
        step = (levels[count] - levels[count - 1]) * count
        if step > more:
            return levels[count - 1] + more // count
        more -= step
    return levels[-1] + more // len(levels)

"""Where pods are during the search: put on a node, taken back, and what that leaves to the others.

What a board says of the nodes left to a kind is a necessary condition. It gets no better while pods are added, so a kind without
nodes stays without. Whether the pods can have come in some order is another question (`order`).
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from scheduler.algorithm.exact.problem import Kind, Problem, bits

_MANY_VALUES: Final = 64
"""Of a label with more values than this they are not looked at one by one."""


class Move(NamedTuple):
    """One pod that was put on a node, with what it takes to undo that."""

    kind: int
    node: int
    shut: tuple[int, ...]
    """Kinds that the node has no room for any more."""
    before: tuple[int, ...]
    """The key of the node."""
    is_first: bool
    """The node had none before."""


class Board:
    """Tentative pods on nodes.

    Attributes:
        left: by kind, pods that are neither placed nor given up.
        placed: how many are placed.
        given_up: how many are not going to be placed.
        touched: the nodes that have got pods.
        moves: the pods in the order in which they were put.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem: Final = problem
        self.left: Final = [kind.count for kind in problem.kinds]
        self.placed = 0
        self.given_up = 0
        self.touched = 0
        self.moves: Final[list[Move]] = []
        self.free: Final = [list(free) for free in problem.free]
        self.sums: Final = [list(group.sums) for group in problem.groups]
        self._fits: Final = [kind.nodes for kind in problem.kinds]
        self._kinds_on: Final = [[0] * len(problem.kinds) for _ in problem.free]
        self._roles: Final = {role: at for at, role in enumerate(dict.fromkeys(kind.role for kind in problem.kinds))}
        self._role_of: Final = [self._roles[kind.role] for kind in problem.kinds]
        self._keys: Final = [(node_class,) for node_class in problem.classes]
        self._first_of_class: Final[dict[int, int]] = {}
        self._of_class: Final[dict[int, list[int]]] = {}
        for node, node_class in enumerate(problem.classes):
            self._of_class.setdefault(node_class, []).append(node)
        self._heads: Final = dict.fromkeys(self._of_class, 0)
        self._representatives = sum(1 << nodes[0] for nodes in self._of_class.values())
        self.where: Final = [_by_value(group.values) for group in problem.groups]
        self._labelled: Final = [sum(where.values()) for where in self.where]
        self._taken: Final = [
            sum(nodes for value, nodes in where.items() if group.sums[value])
            for where, group in zip(self.where, problem.groups, strict=True)
        ]
        self.seeds: Final = [_Seeds(self, at) for at in sorted({at for kind in problem.kinds for at in kind.role.needs})]
        self._seeds_of: Final = {seeds.group: seeds for seeds in self.seeds}
        self.skews: Final = [
            _Skew(self, at)
            for at in sorted({spread.group for kind in problem.kinds for spread in kind.role.spreads})
        ]
        self._skew_of: Final = {skew.group: skew for skew in self.skews}

    @property
    def slack(self) -> int:
        """So many more pods may be given up."""
        return self.problem.pods - self.given_up - self.problem.wanted

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for boards from which the same can be reached."""
        return tuple(self.left), self.placed, tuple(sorted(self._keys[node] for node in bits(self.touched)))

    def node_key(self, node: int) -> tuple[int, ...]:
        """Equal for nodes that can be exchanged for each other."""
        return self._keys[node]

    def nodes_for(self, kind: int) -> int:
        """The nodes where one more pod of a kind may go."""
        nodes, role = self._fits[kind], self.problem.kinds[kind].role
        for at in role.excludes:
            nodes &= ~self._taken[at]
        for at in role.needs:
            nodes &= self._seeds_of[at].nodes()
        for spread in role.spreads:
            nodes &= self._skew_of[spread.group].nodes(counts_itself=spread.counts_itself)
        return nodes

    def distinct(self, nodes: int) -> int:
        """The same without untouched nodes that are like another one."""
        return nodes & (self.touched | self._representatives)

    def is_dead(self) -> bool:
        """Whether nothing that is added now makes the placed pods allowed."""
        return any(seeds.are_too_few() for seeds in self.seeds)

    def put(self, kind: int, node: int) -> None:
        """One more pod of a kind is on a node."""
        this, bit = self.problem.kinds[kind], 1 << node
        self.left[kind] -= 1
        self.placed += 1
        is_first = not self.touched & bit
        if is_first:
            self.touched |= bit
            self._move_head(node, 1)
        self._kinds_on[node][kind] += 1
        free = self.free[node]
        for at, amount in enumerate(this.amounts):
            free[at] -= amount
        shut = tuple(self._shut(this, node, bit))
        for at in shut:
            self._fits[at] ^= bit
        self._count(this, node, 1)
        before = self._keys[node]
        self._keys[node] = (self.problem.classes[node], *free, *self._roles_on(node))
        self.moves.append(Move(kind, node, shut, before, is_first))

    def take_back(self) -> None:
        """Undoes the last `put`."""
        move = self.moves.pop()
        this, bit = self.problem.kinds[move.kind], 1 << move.node
        self._keys[move.node] = move.before
        self._count(this, move.node, -1)
        for at in move.shut:
            self._fits[at] ^= bit
        free = self.free[move.node]
        for at, amount in enumerate(this.amounts):
            free[at] += amount
        self._kinds_on[move.node][move.kind] -= 1
        if move.is_first:
            self.touched ^= bit
            self._move_head(move.node, -1)
        self.placed -= 1
        self.left[move.kind] += 1

    def give_up(self, kind: int) -> int:
        """No more pods of a kind are going to be placed; returns how many those are, for `take_up`."""
        count = self.left[kind]
        self.left[kind] = 0
        self.given_up += count
        return count

    def take_up(self, kind: int, count: int) -> None:
        """Undoes `give_up`."""
        self.left[kind] = count
        self.given_up -= count

    def values_in(self, at: int, nodes: int) -> int:
        """How many pods these nodes can take if each value of a group takes one."""
        where = self.where[at]
        unlabelled = (nodes & ~self._labelled[at]).bit_count()
        if unlabelled or len(where) > _MANY_VALUES:
            return nodes.bit_count() if not unlabelled else self.problem.pods
        return sum(1 for inside in where.values() if inside & nodes)

    def fitting(self, kind: int) -> int:
        """The nodes with enough room for one more pod of a kind, rules about other pods apart."""
        return self._fits[kind]

    def labelled(self, at: int) -> int:
        """The nodes that have the label of a group."""
        return self._labelled[at]

    # --- inside ------------------------------------------------------------------------------------------------------

    def _shut(self, put: Kind, node: int, bit: int) -> Iterator[int]:
        free = self.free[node]
        for at, kind in enumerate(self.problem.kinds):
            if self._fits[at] & bit and (
                at in put.role.ports or any(amount > have for amount, have in zip(kind.amounts, free, strict=True) if amount)
            ):
                yield at

    def _count(self, put: Kind, node: int, sign: int) -> None:
        for at, amount in put.role.effects:
            value = self.problem.groups[at].counted[node]
            if not value:
                continue
            sums = self.sums[at]
            was = sums[value]
            sums[value] = was + sign * amount
            if (was == 0) != (sums[value] == 0):
                self._taken[at] ^= self.where[at][value]
        for seeds in self.seeds:
            seeds.count(put, node, sign)
        for skew in self.skews:
            skew.count(put, node, sign)

    def _roles_on(self, node: int) -> tuple[int, ...]:
        if len(self._roles) < 2 and not self.problem.groups:
            return ()
        counts = [0] * len(self._roles)
        for kind, count in enumerate(self._kinds_on[node]):
            counts[self._role_of[kind]] += count
        return tuple(counts)

    def _move_head(self, node: int, by: int) -> None:
        """The first untouched node of a class stands for all of them; they are touched and left in turn."""
        node_class = self.problem.classes[node]
        nodes, head = self._of_class[node_class], self._heads[node_class]
        if head < len(nodes):
            self._representatives ^= 1 << nodes[head]
        self._heads[node_class] = head = head + by
        if head < len(nodes):
            self._representatives |= 1 << nodes[head]


class _Seeds:
    """Where pods that need others near them may be: the values that have somebody, and as many more as can still get somebody.

    Pods that do not need the group themselves can be there first; of those that need it, at most one can, and only while it has
    nobody at all.
    """

    def __init__(self, board: Board, group: int) -> None:
        self.group: Final = group
        self._board: Final = board
        kinds = board.problem.kinds
        self._seeders: Final = [
            at
            for at, kind in enumerate(kinds)
            if group not in kind.role.needs and any(at == group for at, _ in kind.role.effects)
        ]
        self._by_itself: Final = int(
            any(
                group in kind.role.needs
                and kind.role.may_be_first
                and not any(any(board.problem.groups[at].sums) for at in kind.role.needs)
                for kind in kinds
            )
        )
        self._support: Final = list(board.problem.groups[group].sums)
        self._needing: Final = [0] * len(self._support)
        self._orphans = 0
        self._held = sum(nodes for value, nodes in board.where[group].items() if self._support[value])

    def _to_come(self) -> int:
        return self._by_itself + sum(self._board.left[at] for at in self._seeders)

    def nodes(self) -> int:
        """Where one more pod that needs the group may go."""
        return self._held if self._orphans >= self._to_come() else self._board.labelled(self.group)

    def are_too_few(self) -> bool:
        """Whether more values have pods that need somebody than can still get somebody."""
        return self._orphans > self._to_come()

    def count(self, put: Kind, node: int, sign: int) -> None:
        """A pod was put, or with -1 taken back."""
        group = self._board.problem.groups[self.group]
        if self.group in put.role.needs:
            self._change(self._needing, group.values[node], sign)
        else:
            amount = sum(amount for at, amount in put.role.effects if at == self.group)
            if amount:
                self._change(self._support, group.counted[node], sign * amount)

    def _change(self, numbers: list[int], value: int, by: int) -> None:
        if not value:
            return
        was_held, was_orphan = self._state(value)
        numbers[value] += by
        is_held, is_orphan = self._state(value)
        self._orphans += is_orphan - was_orphan
        if was_held != is_held:
            self._held ^= self._board.where[self.group][value]

    def _state(self, value: int) -> tuple[bool, bool]:
        is_supported, is_needed = self._support[value] > 0, self._needing[value] > 0
        return is_supported or is_needed, is_needed and not is_supported


class _Skew:
    """Where pods may be that are to be spread: as far above the least value as that can still rise.

    A pod that is spread counts those that are spread with it and came before. So a value never has more of them than the largest
    skew above the fewest pods that any value can have in the end.
    """

    def __init__(self, board: Board, group: int) -> None:
        self.group: Final = group
        self._board: Final = board
        spreads = [
            spread for kind in board.problem.kinds for spread in kind.role.spreads if spread.group == group
        ]
        self._max_skew: Final = max(spread.max_skew for spread in spreads)
        self._among: Final = list(dict.fromkeys((spread.values, spread.min_domains) for spread in spreads))
        self._effects: Final = [
            sum(amount for at, amount in kind.role.effects if at == group) for kind in board.problem.kinds
        ]
        self._counts_itself: Final = {
            kind.role
            for kind in board.problem.kinds
            if any(spread.group == group and spread.counts_itself for spread in kind.role.spreads)
        }
        self._own: Final = list(board.problem.groups[group].sums)
        self._uncounted: Final = sum(
            1 << node for node, value in enumerate(board.problem.groups[group].counted) if not value
        )

    def nodes(self, *, counts_itself: bool) -> int:
        """Where one more pod may go that the constraint is about."""
        most = self._max_skew + self._least()
        where = self._board.where[self.group]
        if not counts_itself:
            return sum(nodes for value, nodes in where.items() if self._own[value] <= most)
        return sum(
            nodes if self._own[value] < most else nodes & self._uncounted
            for value, nodes in where.items()
            if self._own[value] <= most
        )

    def count(self, put: Kind, node: int, sign: int) -> None:
        """A pod was put, or with -1 taken back."""
        value = self._board.problem.groups[self.group].counted[node]
        if value and put.role in self._counts_itself:
            self._own[value] += sign

    def _least(self) -> int:
        """The fewest pods of any value cannot become more than this."""
        board = self._board
        more, open_nodes = 0, 0
        for at, effect in enumerate(self._effects):
            if effect and board.left[at]:
                more += effect * board.left[at]
                open_nodes |= board.fitting(at)
        return max(self._least_of(values, min_domains, more, open_nodes) for values, min_domains in self._among)

    def _least_of(self, values: tuple[int, ...], min_domains: int, more: int, open_nodes: int) -> int:
        if len(values) < max(min_domains, 1):
            return 0
        sums, where = self._board.sums[self.group], self._board.where[self.group]
        stuck = min((sums[value] for value in values if not where.get(value, 0) & open_nodes), default=None)
        level = _filled([sums[value] for value in values], more)
        return level if stuck is None else min(level, stuck)


def _filled(levels: list[int], more: int) -> int:
    """The lowest level when as much is added where it is lowest."""
    levels.sort()
    for count in range(1, len(levels)):
        step = (levels[count] - levels[count - 1]) * count
        if step > more:
            return levels[count - 1] + more // count
        more -= step
    return levels[-1] + more // len(levels)


def _by_value(values: tuple[int, ...]) -> dict[int, int]:
    found: dict[int, int] = {}
    for node, value in enumerate(values):
        if value:
            found[value] = found.get(value, 0) | 1 << node
    return found

"""Where pods are during the search: put on a node, taken back, and what that leaves to the others.

What a board says of the nodes left to a kind is a necessary condition. It gets no better while pods are added, so a kind without
nodes stays without. Whether the pods can have come in some order is another question (`order`).
"""

from typing import Final, NamedTuple

from scheduler.algorithm.exact.limits import Seeds, Skew
from scheduler.algorithm.exact.problem import Problem, bits

_MANY_VALUES: Final = 64
"""Of a label with more values than this they are not looked at one by one."""


class Move(NamedTuple):
    """One pod that was put on a node, with what it takes to undo that."""

    kind: int
    node: int
    shut: tuple[int, ...]
    """Kinds that the node has no room for any more."""
    room: list[int]
    """By kind: how many more the node had room for."""
    before: tuple[int, ...]
    """The key of the node."""
    is_first: bool
    """The node had none before."""


class Board:
    """Tentative pods on nodes.

    Attributes:
        left: by kind, pods that are neither placed nor given up.
        placed: how many are placed.
        changes: changes with every change of the board.
        given_up: how many are not going to be placed.
        touched: the nodes that have got pods.
        moves: the pods in the order in which they were put.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem: Final = problem
        self.left: Final = [kind.pods for kind in problem.kinds]
        self._spare: Final = problem.pods - problem.wanted
        self.placed = 0
        self.changes = 0
        self.given_up = 0
        self.touched = 0
        self.moves: Final[list[Move]] = []
        self.free: Final = [list(free) for free in problem.free]
        self.sums: Final = [list(group.sums) for group in problem.groups]
        self._fits: Final = [kind.nodes for kind in problem.kinds]
        self._asks: Final = [
            [(row, amount) for row, amount in enumerate(kind.amounts) if amount] for kind in problem.kinds
        ]
        self.room: Final = [
            self._room_on(node, [kind.pods if kind.nodes >> node & 1 else 0 for kind in problem.kinds])
            for node in range(len(problem.free))
        ]
        """By node and kind: how many more pods it has room for, rules about other pods apart."""
        self._values: Final = list(zip(*(group.values for group in problem.groups), strict=True)) or [()] * len(
            problem.free
        )
        self._roles: Final = {role: at for at, role in enumerate(dict.fromkeys(kind.role for kind in problem.kinds))}
        self._role_of: Final = [self._roles[kind.role] for kind in problem.kinds]
        self._tells_roles: Final = len(self._roles) > 1 or bool(problem.groups)
        self._roles_on: Final = [[0] * len(self._roles) for _ in problem.free]
        self._keys: Final[list[tuple[int, ...]]] = [(node_class,) for node_class in problem.classes]
        self._first_of_class: Final[dict[int, int]] = {}
        self._of_class: Final[dict[int, list[int]]] = {}
        for node, node_class in enumerate(problem.classes):
            self._of_class.setdefault(node_class, []).append(node)
        self._heads: Final = dict.fromkeys(self._of_class, 0)
        self._representatives = sum(1 << nodes[0] for nodes in self._of_class.values())
        self.where: Final = [nodes_by_value(group.values) for group in problem.groups]
        self._labelled: Final = [sum(where.values()) for where in self.where]
        self._taken: Final = [
            sum(nodes for value, nodes in where.items() if group.sums[value])
            for where, group in zip(self.where, problem.groups, strict=True)
        ]
        self.seeds: Final = [Seeds(self, at) for at in sorted({at for kind in problem.kinds for at in kind.role.needs})]
        self._seeds_of: Final = {seeds.group: seeds for seeds in self.seeds}
        self.skews: Final = [
            Skew(self, at) for at in sorted({spread.group for kind in problem.kinds for spread in kind.role.spreads})
        ]
        self._skew_of: Final = {skew.group: skew for skew in self.skews}
        minding: list[Seeds | Skew] = [*self.seeds, *self.skews]
        self._counting: Final = [[one for one in minding if one.minds(kind)] for kind in problem.kinds]

    @property
    def slack(self) -> int:
        """So many more pods may be given up."""
        return self._spare - self.given_up

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
        free = self.free[node]
        for row, amount in self._asks[kind]:
            free[row] -= amount
        before, room = self._keys[node], self.room[node]
        self.room[node] = left = self._room_on(node, room)
        for at in this.role.ports:
            left[at] = 0
        shut = tuple(at for at, had in enumerate(room) if had and not left[at])
        for at in shut:
            self._fits[at] ^= bit
        self._count(kind, node, 1)
        self.changes += 1
        on_node = self._roles_on[node]
        on_node[self._role_of[kind]] += 1
        told = on_node if self._tells_roles else ()
        self._keys[node] = (self.problem.classes[node], *free, *told)
        self.moves.append(Move(kind, node, shut, room, before, is_first))

    def take_back(self) -> None:
        """Undoes the last `put`."""
        move = self.moves.pop()
        bit = 1 << move.node
        self._keys[move.node] = move.before
        self._count(move.kind, move.node, -1)
        self._roles_on[move.node][self._role_of[move.kind]] -= 1
        self.changes += 1
        for at in move.shut:
            self._fits[at] ^= bit
        self.room[move.node] = move.room
        free = self.free[move.node]
        for row, amount in self._asks[move.kind]:
            free[row] += amount
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
        self.changes += 1
        return count

    def take_up(self, kind: int, count: int) -> None:
        """Undoes `give_up`."""
        self.left[kind] = count
        self.given_up -= count
        self.changes += 1

    def values_in(self, at: int, nodes: int) -> int:
        """How many pods these nodes can take if each value of a group takes one."""
        where = self.where[at]
        unlabelled = (nodes & ~self._labelled[at]).bit_count()
        if unlabelled or len(where) > _MANY_VALUES:
            return nodes.bit_count() if not unlabelled else self.problem.pods
        return sum(1 for inside in where.values() if inside & nodes)

    def values_of(self, node: int) -> tuple[int, ...]:
        """By group: the value of the node's label."""
        return self._values[node]

    def fitting(self, kind: int) -> int:
        """The nodes with enough room for one more pod of a kind, rules about other pods apart."""
        return self._fits[kind]

    def capacity(self, kind: int, nodes: int) -> int:
        """How many more pods of a kind these nodes can take, at most all that are left."""
        left, found = self.left[kind], 0
        if left == 1:
            return int(nodes != 0)
        for node in bits(nodes):
            found += self.room[node][kind]
            if found >= left:
                break
        for spread in self.problem.kinds[kind].role.spreads if found else ():
            if spread.counts_itself:
                found = min(found, self._skew_of[spread.group].capacity(kind, nodes))
        return min(found, left)

    def labelled(self, at: int) -> int:
        """The nodes that have the label of a group."""
        return self._labelled[at]

    # --- inside ------------------------------------------------------------------------------------------------------

    def _room_on(self, node: int, at_most: list[int]) -> list[int]:
        """By kind: how many more pods a node has room for."""
        free, found = self.free[node], at_most.copy()
        for kind, most in enumerate(at_most):
            if most:
                room = most
                for row, amount in self._asks[kind]:
                    room = min(room, free[row] // amount)
                found[kind] = max(0, room)
        return found

    def _count(self, kind: int, node: int, sign: int) -> None:
        for at, amount in self.problem.kinds[kind].role.effects:
            value = self.problem.groups[at].counted[node]
            if not value:
                continue
            sums = self.sums[at]
            was = sums[value]
            sums[value] = was + sign * amount
            if (was == 0) != (sums[value] == 0):
                self._taken[at] ^= self.where[at].get(value, 0)
        for one in self._counting[kind]:
            one.count(kind, node, sign)

    def _move_head(self, node: int, by: int) -> None:
        """The first untouched node of a class stands for all of them; they are touched and left in turn."""
        node_class = self.problem.classes[node]
        nodes, head = self._of_class[node_class], self._heads[node_class]
        if head < len(nodes):
            self._representatives ^= 1 << nodes[head]
        self._heads[node_class] = head = head + by
        if head < len(nodes):
            self._representatives |= 1 << nodes[head]


def nodes_by_value(values: tuple[int, ...]) -> dict[int, int]:
    """The nodes of each value but 0."""
    found: dict[int, int] = {}
    for node, value in enumerate(values):
        if value:
            found[value] = found.get(value, 0) | 1 << node
    return found

"""The search: the kind with the fewest nodes left goes first, onto each of these nodes in turn, until enough pods have a place.

Where the order matters in which pods come, it is looked for at the end. What is left of the budget if that has not led to
anything goes to a search in the order of coming (`sequence`).

Without a budget it would end with a placement or with the knowledge that there is none. Boards from which nothing was found are
remembered; nodes that can be exchanged for each other are tried once, and so are equal pods. The budget is in steps: one step is
one pod that is put on one node, or one look at who can come while an order is looked for. So the same problem always has the
same answer.
"""

from typing import Final, NamedTuple

from scheduler.algorithm.exact.board import Board
from scheduler.algorithm.exact.bounds import Bounds, narrowed, tightened
from scheduler.algorithm.exact.order import Orders, is_allowed, watched_groups
from scheduler.algorithm.exact.problem import Problem, bits
from scheduler.algorithm.exact.sequence import find_in_sequence

MOST_STEPS: Final = 3_000
"""Of the search for one decision: 50 to 150 ms where there are rules about other pods."""
_SHARE_IN_SEQUENCE: Final = 3
"""A third of the steps is kept for the search in the order of coming, where the order matters."""
_STEPS_IN_SEQUENCE: Final = 2
"""What one pod costs there, where more is looked at."""


class Answer(NamedTuple):
    """What a search came to."""

    placed: tuple[tuple[int, int], ...]
    """(kind, node) of each pod; empty when no placement was found."""
    is_proven: bool
    """There is no placement, or there is one and this is it."""
    steps: int
    """How many were taken."""


class _OutOfStepsError(Exception):
    """The budget is used up."""


class _Choice:
    """One more pod of a kind is put on each of some nodes in turn; after that none of them is placed any more."""

    __slots__ = ("given_up", "is_down", "kind", "may_give_up", "nodes", "tried")

    def __init__(self, kind: int, nodes: int, *, may_give_up: bool) -> None:
        self.kind: Final = kind
        self.nodes = nodes
        self.tried: Final[set[tuple[int, ...]]] = set()
        self.may_give_up = may_give_up
        self.given_up = 0
        self.is_down = False
        """Its pod is on a node."""


def search(problem: Problem, most_steps: int = MOST_STEPS) -> Answer:
    """Looks for a placement of enough pods.

    Args:
        problem: the pods and the nodes.
        most_steps: how much of it to try.
    """
    return _Search(problem, most_steps).run()


class _Search:
    def __init__(self, problem: Problem, most_steps: int) -> None:
        problem = tightened(narrowed(problem))
        self._problem: Final = problem
        self._most_steps = most_steps
        self._board = Board(problem)
        self._bounds: Final = Bounds(problem)
        self._orders: Final = Orders(problem, self._spend)
        self._seen: Final[set[tuple[object, ...]]] = set()
        self._shares: Final = _shares(problem)
        self._steps = 0

    def run(self) -> Answer:
        """The answer."""
        try:
            found = self._look_twice() if watched_groups(self._problem) else self._look()
        except _OutOfStepsError:
            return Answer((), is_proven=False, steps=self._steps)
        if found:
            self._fill()
        placed = tuple((move.kind, move.node) for move in self._board.moves) if found else ()
        return Answer(placed, is_proven=True, steps=self._steps)

    def _look_twice(self) -> bool:
        most, self._most_steps = self._most_steps, self._most_steps - self._most_steps // _SHARE_IN_SEQUENCE
        try:
            return self._look()
        except _OutOfStepsError:
            self._most_steps = most
            self._board = Board(self._problem)
            return find_in_sequence(self._board, self._bounds, self._spend_in_sequence)

    def _look(self) -> bool:
        board = self._board
        path = [self._choice()]
        while path:
            choice = path[-1]
            if choice is None or not self._advance(choice):
                path.pop()
                continue
            key = board.key
            if key in self._seen:
                continue
            self._seen.add(key)
            if board.placed < self._problem.wanted:
                path.append(self._choice())
            elif self._orders.has_one(board):
                return True
        return False

    def _advance(self, choice: _Choice) -> bool:
        """The next of its possibilities; False when there is none."""
        board = self._board
        if choice.is_down:
            board.take_back()
            choice.is_down = False
        if choice.given_up:
            board.take_up(choice.kind, choice.given_up)
            return False
        while choice.nodes:
            node = (choice.nodes & -choice.nodes).bit_length() - 1
            choice.nodes &= choice.nodes - 1
            key = board.node_key(node)
            if key in choice.tried:
                continue
            choice.tried.add(key)
            self._spend()
            board.put(choice.kind, node)
            choice.is_down = True
            return True
        if choice.may_give_up and board.left[choice.kind] <= board.slack:
            choice.given_up = board.give_up(choice.kind)
            return True
        return False

    def _choice(self) -> _Choice | None:
        """What to decide next; None when what has been decided leads nowhere."""
        board = self._board
        if board.is_dead():
            return None
        nodes_for = {at: board.nodes_for(at) for at, left in enumerate(board.left) if left}
        if not (self._bounds.allow(board, nodes_for) and self._orders.may_have_one(board, nodes_for)):
            return None
        best, rank = -1, (0, 0.0)
        for at, nodes in nodes_for.items():
            if nodes:
                this = (board.distinct(nodes).bit_count(), -self._shares[at])
                if best < 0 or this < rank:
                    best, rank = at, this
        if best < 0:
            return None
        return _Choice(best, board.distinct(nodes_for[best]), may_give_up=board.left[best] <= board.slack)

    def _fill(self) -> None:
        """Pods beyond those that are wanted are put where they are allowed."""
        board = self._board
        for at, kind in enumerate(self._problem.kinds):
            for _ in range(kind.pods - sum(move.kind == at for move in board.moves)):
                board.left[at] = 1
                node = next((node for node in bits(board.fitting(at)) if self._is_allowed(at, node)), None)
                if node is None:
                    break
                board.put(at, node)

    def _is_allowed(self, kind: int, node: int) -> bool:
        return is_allowed(self._problem.kinds[kind].role, self._board.values_of(node), self._board.sums)

    def _spend_in_sequence(self) -> None:
        for _ in range(_STEPS_IN_SEQUENCE):
            self._spend()

    def _spend(self) -> None:
        if self._steps >= self._most_steps:
            raise _OutOfStepsError
        self._steps += 1


def _shares(problem: Problem) -> list[float]:
    """By kind: the largest share of all there is that one pod asks for, over the resources."""
    totals = [max(1, sum(column)) for column in zip(*problem.free, strict=True)]
    return [
        max((amount / total for amount, total in zip(kind.amounts, totals, strict=True)), default=0.0)
        for kind in problem.kinds
    ]

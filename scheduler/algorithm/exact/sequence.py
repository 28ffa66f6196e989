"""The search as a scheduler goes: one pod after the other, each where the rules allow it at that moment.

Slower than choosing nodes first and looking for an order then, but sure to end soon where rules leave little choice at each
moment, which is where many choices of nodes have no order.
"""

from collections.abc import Callable, Iterator

from scheduler.algorithm.exact.board import Board
from scheduler.algorithm.exact.bounds import Bounds
from scheduler.algorithm.exact.order import is_allowed, watched_groups
from scheduler.algorithm.exact.problem import Problem, bits

_Moves = Iterator[tuple[int, int]]


def find_in_sequence(board: Board, bounds: Bounds, spend: Callable[[], None]) -> bool:
    """Whether enough pods can be placed; they are on the board then.

    Args:
        board: without pods.
        bounds: of its problem.
        spend: is called before each step; raises when there are none left.
    """
    indifferent = _indifferent(board.problem)
    seen: set[tuple[object, ...]] = set()
    path = [_moves(board, bounds, indifferent)]
    while path:
        move = next(path[-1], None)
        if move is None:
            path.pop()
            if path:
                board.take_back()
            continue
        spend()
        board.put(*move)
        if board.placed >= board.problem.wanted:
            return True
        key = board.key, move[0] if move[0] in indifferent else -1
        if key in seen:
            board.take_back()
            continue
        seen.add(key)
        path.append(_moves(board, bounds, indifferent))
    return False


def _indifferent(problem: Problem) -> frozenset[int]:
    """The kinds whose pods are the same to everybody's order: they come last, one kind after the other."""
    watched = watched_groups(problem)
    return frozenset(
        at
        for at, kind in enumerate(problem.kinds)
        if not kind.role.depends_on_order and not any(group in watched for group, _ in kind.role.effects)
    )


def _moves(board: Board, bounds: Bounds, indifferent: frozenset[int]) -> _Moves:
    """The pods that may come next, with their nodes: those with the fewest nodes left first."""
    if board.is_dead():
        return
    nodes_for = {at: board.nodes_for(at) for at, left in enumerate(board.left) if left}
    if not bounds.allow(board, nodes_for):
        return
    last = board.moves[-1].kind if board.moves and board.moves[-1].kind in indifferent else -1
    tried = set()
    for at in sorted(nodes_for, key=lambda at: (at in indifferent, nodes_for[at].bit_count(), at)):
        if last >= 0 and (at not in indifferent or at < last):
            continue
        role = board.problem.kinds[at].role
        for node in bits(board.distinct(nodes_for[at])):
            key = at, board.node_key(node)
            if key not in tried and is_allowed(role, board.values_of(node), board.sums):
                tried.add(key)
                yield at, node

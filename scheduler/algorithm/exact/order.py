"""Whether pods that have a node each can have come in some order, each allowed by the rules when it came.

Only pods whose rules ask for others near them, or for an even spread, can come too early or too late, and only what they count
matters. Amounts, ports and anti-affinity hold in every order or in none.
"""

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from scheduler.algorithm.exact.board import Board
from scheduler.algorithm.exact.problem import Problem, Role


class _Party(NamedTuple):
    """Pods that are the same to everybody's order."""

    role: Role
    values: tuple[int, ...]
    """By group: the value of their node's label."""
    counted: tuple[int, ...]
    """By group: the value where they are counted."""
    pods: int


def has_order(board: Board, spend: Callable[[], bool]) -> bool | None:
    """Whether the placed pods can have come in some order.

    Args:
        board: the pods.
        spend: is called before each step, and says whether it may be done.

    Returns:
        None when there were not enough steps to know.
    """
    parties = _parties(board)
    if not parties:
        return True
    sums = [list(group.sums) for group in board.problem.groups]
    left = [party.pods for party in parties]
    seen: set[tuple[int, ...]] = set()
    path: list[tuple[int, list[int]]] = [(-1, _next(parties, left, sums))]
    while path:
        came, options = path[-1]
        if not any(left):
            return True
        if not options:
            path.pop()
            if came >= 0:
                left[came] += 1
                _count(parties[came], sums, -1)
            continue
        if not spend():
            return None
        at = options.pop()
        left[at] -= 1
        state = tuple(left)
        if state in seen:
            left[at] += 1
            continue
        seen.add(state)
        _count(parties[at], sums, 1)
        path.append((at, _next(parties, left, sums)))
    return False


def is_allowed(role: Role, values: tuple[int, ...], sums: list[list[int]]) -> bool:
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


def _parties(board: Board) -> list[_Party]:
    problem = board.problem
    watched = watched_groups(problem)
    if not watched:
        return []
    counts: Counter[tuple[Role, tuple[int, ...], tuple[int, ...]]] = Counter()
    for move in board.moves:
        role = _for_order(problem.kinds[move.kind].role, watched)
        if role.depends_on_order or role.effects:
            values = tuple(group.values[move.node] if at in watched else 0 for at, group in enumerate(problem.groups))
            counted = tuple(group.counted[move.node] if at in watched else 0 for at, group in enumerate(problem.groups))
            counts[role, values, counted] += 1
    return [_Party(*party, count) for party, count in counts.items()]


def watched_groups(problem: Problem) -> frozenset[int]:
    """The groups that somebody needs, or is spread by."""
    return frozenset(at for kind in problem.kinds for at in kind.role.needs) | frozenset(
        spread.group for kind in problem.kinds for spread in kind.role.spreads
    )


def _for_order(role: Role, watched: frozenset[int]) -> Role:
    effects = tuple((at, amount) for at, amount in role.effects if at in watched)
    return role._replace(excludes=(), ports=(), effects=effects)


def _next(parties: list[_Party], left: list[int], sums: list[list[int]]) -> list[int]:
    """Who may come next, the most promising last: where the fewest are that its constraints count."""
    found = [at for at, party in enumerate(parties) if left[at] and is_allowed(party.role, party.values, sums)]
    return sorted(
        found,
        key=lambda at: sum(sums[each.group][parties[at].values[each.group]] for each in parties[at].role.spreads),
        reverse=True,
    )


def _count(party: _Party, sums: list[list[int]], sign: int) -> None:
    for at, amount in party.role.effects:
        value = party.counted[at]
        if value:
            sums[at][value] += sign * amount

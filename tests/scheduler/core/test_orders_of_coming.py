"""Whether pods that have a node each can have come in some order: compared with going through all orders."""

from collections.abc import Sequence
from random import Random

import pytest

from scheduler.algorithm.exact.board import Board
from scheduler.algorithm.exact.order import Orders, is_allowed
from scheduler.algorithm.exact.problem import Group, Kind, Problem, Role, Spread

CASES_OF_A_PART = 500

Placed = list[tuple[int, int]]


def _problem(groups: Sequence[Sequence[int]], *roles: Role, sums: Sequence[Sequence[int]] | None = None) -> Problem:
    """One kind for each role, nodes without limits; groups are the values of the nodes."""
    nodes = len(groups[0])
    return Problem(
        0,
        tuple(Kind(9, (0,), (1 << nodes) - 1, role) for role in roles),
        ((0,),) * nodes,
        tuple(range(nodes)),
        tuple(
            Group(tuple(values), tuple(values), tuple(sums[at] if sums else [0] * (max(values) + 1)))
            for at, values in enumerate(groups)
        ),
    )


def _board(problem: Problem, placed: Placed) -> Board:
    board = Board(problem)
    for pod in placed:
        board.put(*pod)
    return board


def _have_order(problem: Problem, *placed: Placed) -> tuple[bool, int]:
    """Whether the last of these have one, and the steps of all."""
    steps: list[None] = []
    orders = Orders(problem, lambda: steps.append(None))
    answers = [orders.has_one(_board(problem, pods)) for pods in placed]
    return answers[-1], len(steps)


# --- beside all orders -----------------------------------------------------------------------------------------------


def _have_order_among_all(problem: Problem, placed: Placed) -> bool:
    """Tries every pod next that is allowed."""
    sums, failed = [list(group.sums) for group in problem.groups], set[tuple[tuple[int, int], ...]]()

    def come(pod: tuple[int, int], sign: int) -> None:
        kind, node = pod
        for at, amount in problem.kinds[kind].role.effects:
            value = problem.groups[at].counted[node]
            sums[at][value] += sign * amount if value else 0

    def rest(left: Placed) -> bool:
        if tuple(left) in failed:
            return False
        for pod in set(left):
            kind, node = pod
            if is_allowed(problem.kinds[kind].role, tuple(group.values[node] for group in problem.groups), sums):
                come(pod, 1)
                others = left.copy()
                others.remove(pod)
                found = rest(others)
                come(pod, -1)
                if found:
                    return True
        failed.add(tuple(left))
        return not left

    return rest(sorted(placed))


def _role(chance: Random, groups: int) -> Role:
    needs = tuple(sorted({chance.randrange(groups) for _ in range(chance.choice((0, 0, 1, 1, 2)))}))
    spreads = tuple(
        Spread(chance.randrange(groups), (1, 2, 3), chance.choice((1, 1, 2)), chance.choice((1, 1, 4)), False)
        for _ in range(chance.choice((0, 1, 1, 2)))
    )
    effects = tuple((at, chance.choice((1, 1, 2))) for at in range(groups) if chance.random() < 0.5)
    counted = {at for at, _ in effects}
    return Role(
        needs=needs,
        may_be_first=counted.issuperset(needs) and chance.random() < 0.8,
        spreads=tuple(spread._replace(counts_itself=spread.group in counted) for spread in spreads),
        effects=effects,
    )


def _by_chance(seed: int) -> tuple[Problem, Placed]:
    chance = Random(seed)
    groups, nodes = chance.randint(1, 3), chance.randint(3, 5)
    values = [[1, 2, 3, *(chance.randint(1, 3) for _ in range(nodes - 3))] for _ in range(groups)]
    for each in values:
        chance.shuffle(each)
    sums = [[0, *(chance.choice((0, 0, 0, 1)) for _ in range(3))] for _ in range(groups)]
    problem = _problem(values, *(_role(chance, groups) for _ in range(chance.randint(1, 4))), sums=sums)
    if chance.random() < 0.3:
        group = problem.groups[0]
        counted = tuple(value if chance.random() < 0.7 else 0 for value in group.values)
        problem = problem._replace(groups=(group._replace(counted=counted), *problem.groups[1:]))
    pods = chance.randint(1, 7)
    return problem, [(chance.randrange(len(problem.kinds)), chance.randrange(nodes)) for _ in range(pods)]


@pytest.mark.parametrize("part", range(6))
def test_pods_have_an_order_exactly_when_one_of_all_orders_is_allowed(part: int) -> None:
    found = [0, 0]
    for seed in range(part * CASES_OF_A_PART, (part + 1) * CASES_OF_A_PART):
        problem, placed = _by_chance(seed)
        expected = _have_order_among_all(problem, placed)
        assert _have_order(problem, placed)[0] == expected, seed
        found[expected] += 1
    assert min(found) > CASES_OF_A_PART // 10


def test_what_a_part_of_them_cannot_do_at_best_the_whole_cannot_do_either() -> None:
    cut = 0
    for seed in range(3000):
        problem, placed = _by_chance(seed)
        orders, part = Orders(problem, lambda: None), placed[::2]
        # The best case is looked at only once somebody had no order.
        if orders.has_one(_board(problem, [placed[-1]] * 3)):
            continue
        anywhere = {kind: (1 << len(problem.free)) - 1 for kind in range(len(problem.kinds))}
        if not orders.may_have_one(_board(problem, part), anywhere):
            assert not _have_order_among_all(problem, placed), seed
            cut += 1
    assert cut > 300


# --- how soon --------------------------------------------------------------------------------------------------------

_ZONES = [1, 2]
_FOO, _BAR = 0, 1


def _even(group: int, *, skew: int = 1) -> Role:
    """Pods of the group, spread by it."""
    return Role(spreads=(Spread(group, (1, 2), skew, 1, True),), effects=((group, 1),))


def _near(group: int, *, own: int) -> Role:
    return Role(needs=(group,), may_be_first=own == group, effects=((own, 1),))


def test_pods_that_are_in_nobodys_way_come_without_a_choice() -> None:
    problem = _problem([_ZONES, _ZONES], _near(_FOO, own=_BAR), Role(effects=((_FOO, 1),)))
    assert _have_order(problem, [(0, 0), (0, 1), (0, 1), (1, 0), (1, 1)]) == (True, 1)


def test_a_spread_that_has_room_for_all_of_them_leaves_nothing_to_choose() -> None:
    problem = _problem([_ZONES], _even(_FOO, skew=3), Role(effects=((_FOO, 1),)))
    assert _have_order(problem, [(0, 0), (0, 0), (1, 0)]) == (True, 1)


def test_spreads_that_have_just_the_room_for_all_of_both_leave_nothing_to_choose() -> None:
    problem = _problem([_ZONES], _even(_FOO, skew=3), _even(_FOO, skew=4))
    assert _have_order(problem, [(0, 0), (0, 0), (1, 0)]) == (True, 1)


def test_pods_in_each_others_way_are_tried_one_after_the_other() -> None:
    # The one in the second zone has to be the first of its kind: the first zone has another pod that those there can wait for.
    problem = _problem([_ZONES], _near(_FOO, own=_FOO), Role(effects=((_FOO, 1),)))
    is_any, steps = _have_order(problem, [(0, 0), (0, 1), (1, 0)])
    assert is_any
    assert 1 < steps <= 4


def test_somebody_who_cannot_come_in_the_best_case_is_seen_at_once() -> None:
    problem = _problem([_ZONES], _even(_FOO))
    assert _have_order(problem, [(0, 0), (0, 0)]) == (False, 1)


def test_one_that_needs_its_like_is_first_in_one_place_only() -> None:
    problem = _problem([_ZONES], _near(_FOO, own=_FOO))
    assert _have_order(problem, [(0, 0), (0, 0)])[0]
    assert not _have_order(problem, [(0, 0), (0, 1)])[0]


def test_pods_that_are_known_to_have_none_are_not_looked_at_again() -> None:
    problem = _problem([_ZONES], _even(_FOO))
    assert _have_order(problem, [(0, 0), (0, 0)], [(0, 0), (0, 0)]) == (False, 1)


def test_pods_of_no_consequence_do_not_make_others_look_new() -> None:
    problem = _problem([_ZONES], _even(_FOO), Role())
    assert _have_order(problem, [(0, 0), (0, 0)], [(0, 0), (1, 1), (0, 0)]) == (False, 1)


def test_who_needs_company_is_not_allowed_where_the_label_is_missing_not_even_as_the_first() -> None:
    role = Role(needs=(0,), may_be_first=True)
    assert not is_allowed(role, (0,), [[0, 0]])
    assert is_allowed(role, (1,), [[0, 0]])

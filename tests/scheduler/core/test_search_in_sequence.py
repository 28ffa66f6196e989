"""The search in the order of coming: it says the same as the one that chooses nodes first, and its pods come in an order."""

import pytest

from scheduler.algorithm.exact.board import Board
from scheduler.algorithm.exact.bounds import Bounds, narrowed, tightened
from scheduler.algorithm.exact.compile_problem import CompiledProblem, compile_problem
from scheduler.algorithm.exact.search import search
from scheduler.algorithm.exact.sequence import find_in_sequence
from scheduler.algorithm.free_after_nominations import snapshot_for
from scheduler.algorithm.partition import MemberPartition, partition_by_signature
from tests.scheduler.core import build
from tests.scheduler.core.exact_cases import can_have_come, drawn, world_of

MOST_STEPS = 300
SEEDS_OF_A_PART = 60


class TooLongError(Exception):
    """A search that is not followed to its end."""


def _compiled(seed: int) -> tuple[CompiledProblem, MemberPartition]:
    gang = drawn(seed)
    state = world_of(gang).state
    members = state.item(build.group_key("g"))
    assert members is not None
    parts = partition_by_signature(state, members)
    compiled = compile_problem(snapshot_for(state, members, None, "", parts.topology), parts.pending, gang.need)
    assert compiled is not None
    return compiled, parts


def _in_sequence(compiled: CompiledProblem) -> tuple[list[tuple[int, int]], int]:
    """(kind, node) of the pods in their order, none when there is no placement, and the steps."""
    problem, taken = tightened(narrowed(compiled.problem)), 0

    def spend() -> None:
        nonlocal taken
        if taken == MOST_STEPS:
            raise TooLongError
        taken += 1

    board = Board(problem)
    is_found = find_in_sequence(board, Bounds(problem), spend)
    assert is_found == bool(board.moves)
    return [(move.kind, move.node) for move in board.moves], taken


def _nodes(compiled: CompiledProblem, parts: MemberPartition, found: list[tuple[int, int]]) -> dict[int, int]:
    """Index of a member -> that of its node."""
    return {
        int(uid.rsplit("-", 1)[1]): slot
        for part in compiled.placed(found, parts.pending)
        for uid, slot in zip(
            parts.uids[part.signature][: part.total], part.slots.repeat(part.counts).tolist(), strict=True
        )
    }


@pytest.mark.parametrize("part", range(4))
def test_gangs_by_chance_are_placed_exactly_when_the_other_search_places_them(part: int) -> None:
    for seed in range(part * SEEDS_OF_A_PART, (part + 1) * SEEDS_OF_A_PART):
        gang, (compiled, parts) = drawn(seed), _compiled(seed)
        try:
            found, _ = _in_sequence(compiled)
        except TooLongError:
            continue
        answer = search(compiled.problem)
        assert answer.is_proven
        assert bool(found) == bool(answer.placed), seed
        if found:
            assert len(found) >= gang.need
            assert can_have_come(gang, _nodes(compiled, parts, found)), seed


def _steps(seed: int) -> int:
    try:
        return _in_sequence(_compiled(seed)[0])[1]
    except TooLongError:
        return MOST_STEPS


def test_what_it_takes_is_the_same_for_the_same_gangs() -> None:
    expected = [
        *(4, 0, 0, 4, 0, 3, 0, 0, 0, 0, 0, 3, 0, 6, 0, 0, 30, 0, 0, 0, 4, 0, 0, 2, 14, 28, 0, 0, 0, 0),
        *(0, 0, 0, 2, 0, 0, 0, 0, 0, 11, 19, 0, 0, 5, 0, 0, 0, 52, 0, 0, 4, 5, 75, 7, 0, 75, 4, 5, 12, 0),
    ]
    assert [_steps(seed) for seed in range(1, 121, 2)] == expected


@pytest.mark.parametrize(("seed", "steps"), [(147, 44), (205, 10), (227, 145), (249, 11), (463, 65)])
def test_it_takes_more_where_pods_hinder_each_other(seed: int, steps: int) -> None:
    assert _steps(seed) == steps


def test_a_third_of_the_steps_is_left_to_it_and_is_sometimes_enough() -> None:
    problem = _compiled(421)[0].problem
    assert search(problem).steps == 10
    answer = search(problem, 9)
    assert answer.is_proven
    assert answer.placed
    assert answer.steps <= 9

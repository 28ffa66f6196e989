"""Gangs of equal members on up to eight nodes in three levels, against looking at all placements."""

from itertools import pairwise, product

from hypothesis import example, given, settings
from hypothesis import strategies as st

from scheduler.algorithm.decision import Decision
from tests.scheduler.levels.build import cut_edges, ranks_of, told
from tests.scheduler.levels.oracle import (
    Case,
    cases,
    fewest_domains,
    index_of,
    missing,
    most_in_slices,
    most_placed,
    world_of,
)

TEN_SLICES_EIGHT_DOMAINS = Case(list(product("xy", repeat=3)), [4] * 8, {}, list(range(10)), 10, 0, 1, 2)
"""A thousand million ways to give each slice a home."""


def _where(case: Case, placed: dict[int, str]) -> dict[int, int]:
    """Index of the node by rank, those that run included."""
    return {**case.running, **{rank: index_of(name) for rank, name in placed.items()}}


def _check_required(case: Case, where: dict[int, int]) -> None:
    for level in range(case.required):
        assert len({case.domain(index, level) for index in where.values()}) <= 1
    for index in set(where.values()):
        assert list(where.values()).count(index) <= case.rooms[index]


@settings(max_examples=150, deadline=None)
@given(case=cases())
def test_members_use_as_few_domains_as_the_best_placement(case: Case) -> None:
    decision = told(world_of(case), "g")
    if not case.waiting:
        return
    most, placed = most_placed(case), ranks_of(decision)
    assert (decision.result == "scheduled") is (most >= missing(case))
    where = _where(case, placed)
    _check_required(case, where)
    if decision.result == "scheduled":
        assert len(placed) == most
    if len(placed) == len(case.waiting):
        used = tuple(len({case.domain(index, level) for index in where.values()}) for level in range(case.required, 3))
        assert used == fewest_domains(case)


@settings(max_examples=150, deadline=None)
@given(case=cases(runs=False))
def test_as_few_neighbours_are_apart_as_the_domains_allow(case: Case) -> None:
    world = world_of(case)
    placed = ranks_of(told(world, "g"))
    for level in range(3):
        used = {case.domain(index_of(name), level) for name in placed.values()}
        # Whoever goes through all ranks comes to each domain at least once.
        assert cut_edges(world, placed, level) == max(len(used) - 1, 0)
    nodes = [placed[rank] for rank in sorted(placed)]
    assert sum(one != other for one, other in pairwise(nodes)) == max(len(set(nodes)) - 1, 0)


@settings(max_examples=150, deadline=None)
@given(case=cases(slices=True))
@example(case=TEN_SLICES_EIGHT_DOMAINS)
def test_slices_are_placed_exactly_when_some_placement_has_them(case: Case) -> None:
    decision = told(world_of(case), "g")
    if not case.waiting:
        return
    placed = ranks_of(decision)
    where = _where(case, placed)
    _check_required(case, where)
    for number in {rank // case.slice_size for rank in where}:
        homes = {
            case.domain(index, case.slice_level) for rank, index in where.items() if rank // case.slice_size == number
        }
        assert len(homes) <= 1
    assert (decision.result == "scheduled") is (most_in_slices(case) >= missing(case))


@settings(max_examples=80, deadline=None)
@given(case=cases(slices=True), sizes=st.lists(st.integers(1, 3), min_size=10, max_size=10), are_apart=st.booleans())
def test_members_that_differ_break_no_required_level_and_no_slice(
    case: Case, sizes: list[int], *, are_apart: bool
) -> None:
    _check_mixed(case, sizes, are_apart=are_apart)


@settings(max_examples=80, deadline=None)
@given(case=cases(), sizes=st.lists(st.integers(1, 3), min_size=10, max_size=10), are_apart=st.booleans())
def test_preferred_levels_make_members_that_differ_wait_no_longer(
    case: Case, sizes: list[int], *, are_apart: bool
) -> None:
    decision = _check_mixed(case, sizes, are_apart=are_apart)
    if case.required and case.waiting:
        plain = world_of(case, sizes, are_apart=are_apart, has_preferred=False)
        assert told(plain, "g").result == decision.result


def _check_mixed(case: Case, sizes: list[int], *, are_apart: bool) -> Decision:
    decision = told(world_of(case, sizes, are_apart=are_apart), "g")
    where = _where(case, ranks_of(decision))
    for level in range(case.required):
        assert len({case.domain(index, level) for index in where.values()}) <= 1
    for index in set(where.values()):
        here = [rank for rank, at in where.items() if at == index]
        # Members that run take one each.
        assert sum(1 if rank in case.running else sizes[rank] for rank in here) <= case.rooms[index]
    for number in {rank // case.slice_size for rank in where} if case.slice_size else ():
        homes = {
            case.domain(index, case.slice_level) for rank, index in where.items() if rank // case.slice_size == number
        }
        assert len(homes) <= 1
    assert len(decision.bindings) >= missing(case) or not decision.bindings
    return decision

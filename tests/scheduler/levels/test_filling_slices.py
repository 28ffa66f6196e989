"""Slices of equal members as arithmetic: which go whole into which domain, and what makes up for those that do not."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.algorithm.slices import (
    ANY,
    Fill,
    Need,
    Share,
    fill,
    fills_of_all,
    incomplete_shares,
    pinned_shares,
    whole_shares,
)


def room(*domains: int) -> np.ndarray:
    return np.array(domains, dtype=np.int64)


def need(*sizes: int, full: int = 4, wanted: int | None = None, pins: tuple[int, ...] = ()) -> Need:
    return Need(sizes, pins or (ANY,) * len(sizes), sum(sizes) if wanted is None else wanted, full)


def filled(*fulls: int, odd: dict[int, int] | None = None, left: tuple[int, ...] = ()) -> Fill:
    return Fill(room(*fulls), odd or {}, room(*left))


# --- slices that have begun --------------------------------------------------------------------------------------------


def test_a_slice_that_has_begun_takes_the_room_of_its_domain() -> None:
    left = room(5, 5)
    assert pinned_shares(need(2, 4, 3, pins=(1, ANY, 0)), left) == [Share(0, 1, 2), Share(2, 0, 3)]
    assert left.tolist() == [2, 3]


def test_of_a_slice_that_has_begun_as_many_follow_as_there_is_room_for() -> None:
    left = room(2, 0, -1)
    assert pinned_shares(need(1, 3, 3, 3, pins=(0, 0, 1, 2)), left) == [Share(0, 0, 1), Share(1, 0, 1)]
    assert left.tolist() == [0, 0, -1]


# --- whole slices ------------------------------------------------------------------------------------------------------


def test_each_domain_takes_as_many_usual_slices_as_go_into_it_the_first_ones_first() -> None:
    found = fill(need(4, 4, 4, 4), room(9, 3, 8, 8), 0)
    assert (found.fulls.tolist(), found.left.tolist(), found.odd) == ([2, 0, 2, 0], [1, 3, 0, 8], {})


def test_domains_with_less_than_no_room_take_nothing() -> None:
    found = fill(need(4), room(-4, 4), 0)
    assert found.fulls.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("domains", "domain"),
    [((4, 6), 1), ((6, 7), 0), ((7, 6), 1), ((4, 5, 2), 2), ((8, 5), 0)],
    ids=["beside a usual one", "where least is left", "where least is left, further back", "its own", "none is lost"],
)
def test_a_smaller_slice_goes_where_it_costs_least(domains: tuple[int, ...], domain: int) -> None:
    usual = sum(each // 4 for each in domains) - (domains == (8, 5))
    found = fill(need(*[4] * usual, 2), room(*domains), 0)
    assert (int(found.fulls.sum()), found.odd) == (usual, {usual: domain})


def test_of_smaller_slices_the_larger_ones_choose_first() -> None:
    found = fill(need(1, 3), room(3, 1), 0)
    assert found.odd == {1: 0, 0: 1}
    assert found.left.tolist() == [0, 0]


def test_a_further_smaller_slice_goes_where_usual_ones_leave_just_enough() -> None:
    found = fill(need(4, 4, 3, 2), room(3, 6, 7), 0)
    assert (found.fulls.tolist(), found.odd) == ([0, 1, 1], {2: 0, 3: 1})


@pytest.mark.parametrize(
    ("sizes", "domains", "expected"),
    [((1, 1), (2, 5), {0: 1, 1: 0}), ((1, 1), (3, 6), {0: 1, 1: 1}), ((2, 3), (8, 4), {0: 0, 1: 0})],
    ids=["no usual one is lost", "least is left", "a usual one is lost in any"],
)
def test_a_second_smaller_slice_goes_where_no_usual_one_is_lost_and_else_where_most_is_left(
    sizes: tuple[int, ...], domains: tuple[int, ...], expected: dict[int, int]
) -> None:
    assert fill(need(*sizes, wanted=1), room(*domains), 0).odd == expected


def test_no_slice_is_whole_where_only_parts_make_up_the_minimum() -> None:
    found = fill(need(4, 2, wanted=4), room(1, 3), 0)
    assert (found.fulls.tolist(), found.odd) == ([0, 0], {})


def test_a_smaller_slice_stays_out_where_a_usual_one_brings_more() -> None:
    assert fill(need(4, 3, wanted=4), room(4), 0).odd == {}


def test_a_smaller_slice_goes_first_where_the_minimum_needs_it() -> None:
    """Six of seven must start: four of the usual slice and half of the other, or three and three."""
    found = fill(need(4, 3, wanted=6), room(4, 3), 0)
    assert (found.fulls.tolist(), found.odd) == ([1, 0], {1: 1})


def test_what_has_its_place_already_need_not_be_made_up_for() -> None:
    # Room for two usual slices or, with one of them torn, for as much and the smaller one.
    for placed in (0, 3):
        found = fill(need(4, 4, 3, wanted=8), room(4, 7), placed)
        assert (found.fulls.tolist(), found.odd) == ([1, 1], {2: 1})


@settings(max_examples=300, deadline=None)
@given(
    domains=st.lists(st.integers(0, 9), min_size=1, max_size=4),
    full=st.integers(1, 4),
    count=st.integers(0, 4),
    odd=st.integers(0, 3),
)
def test_no_way_to_place_slices_whole_places_more_members(domains: list[int], full: int, count: int, odd: int) -> None:
    sizes = [full] * count + ([odd] if 0 < odd < full else [])
    if not sizes:
        return
    found = fill(need(*sizes, full=full, wanted=0), room(*domains), 0)
    taken = found.fulls * full
    for number, domain in found.odd.items():
        taken[domain] += sizes[number]
    assert (room(*domains) - taken).tolist() == found.left.tolist()
    assert found.left.min() >= 0
    assert int(taken.sum()) == _most_whole(sizes, domains)
    is_enough = _most_whole(sizes, domains) == sum(sizes)
    assert bool(list(fills_of_all(need(*sizes, full=full), room(*domains)))) is is_enough


def _most_whole(sizes: list[int], domains: list[int]) -> int:
    """By looking at all ways: each slice in a domain, or nowhere."""
    best = 0
    for choice in product(range(-1, len(domains)), repeat=len(sizes)):
        used = [
            sum(size for size, where in zip(sizes, choice, strict=True) if where == at) for at in range(len(domains))
        ]
        if all(amount <= most for amount, most in zip(used, domains, strict=True)):
            best = max(best, sum(used))
    return best


def test_a_smaller_slice_is_tried_once_for_each_rest_that_usual_ones_leave() -> None:
    ways = list(fills_of_all(need(4, 2), room(6, 2, 7)))
    assert {one.odd[1] for one in ways} == {0, 2}
    assert all(int(one.fulls.sum()) == 1 for one in ways)
    assert list(fills_of_all(need(4, 4, 2), room(6, 2, 3))) == []


def test_slices_that_have_begun_are_no_part_of_what_fills_domains() -> None:
    found = fill(need(4, 2, 4, pins=(0, 0, ANY)), room(9), 0)
    assert (found.fulls.tolist(), found.odd) == ([1], {})


# --- parts of slices ---------------------------------------------------------------------------------------------------


def test_what_is_lacking_comes_from_as_few_slices_as_can_be() -> None:
    asked = need(4, 4, 4, 4)
    assert incomplete_shares(asked, filled(1, 0, 0, left=(2, 1, 3)), 4) == [Share(1, 2, 3), Share(2, 0, 1)]
    assert incomplete_shares(asked, filled(1, 0, 0, left=(2, 1, 3)), 3) == [Share(1, 2, 3)]
    assert incomplete_shares(asked, filled(1, 0, 0, left=(2, 1, 3)), 0) == []
    assert incomplete_shares(asked, filled(1, 0, 0, left=(2, 1, 3)), 9) == [
        Share(1, 2, 3),
        Share(2, 0, 2),
        Share(3, 1, 1),
    ]


def test_parts_of_usual_slices_come_before_parts_of_smaller_ones() -> None:
    asked = need(2, 4, 3)
    assert incomplete_shares(asked, filled(0, odd={2: 0}, left=(9,)), 9) == [Share(1, 0, 4), Share(0, 0, 2)]


def test_slices_that_have_begun_lend_no_parts() -> None:
    assert incomplete_shares(need(4, 4, pins=(1, ANY)), filled(0, 0, left=(2, 4)), 6) == [Share(1, 1, 4)]


def test_without_domains_or_room_nothing_is_torn() -> None:
    assert incomplete_shares(need(4), filled(), 4) == []
    assert incomplete_shares(need(4), filled(0, left=(0,)), 4) == []


# --- who goes where ----------------------------------------------------------------------------------------------------


def test_slices_go_in_the_order_of_their_ranks_along_the_domains() -> None:
    asked = need(4, 4, 2, 4, 4, pins=(ANY, 1, ANY, ANY, ANY))
    order = np.array([2, 0, 1], dtype=np.intp)
    assert whole_shares(asked, room(1, 0, 2), {2: 1}, order) == [
        Share(0, 2, 4),
        Share(3, 2, 4),
        Share(4, 0, 4),
        Share(2, 1, 2),
    ]


def test_slices_for_which_there_is_no_domain_get_none() -> None:
    assert whole_shares(need(4, 4), room(1), {}, np.array([0], dtype=np.intp)) == [Share(0, 0, 4)]

"""The fewest domains of a tree of levels that have room for so many units."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.algorithm import fewest_domains as module
from scheduler.algorithm.fewest_domains import Leaves, added_by, fewest_domains
from scheduler.cache.steps import Steps


def _leaves(paths: list[tuple[int, int]], room: list[int], used: list[bool], counts: list[bool]) -> Leaves:
    """Leaves of two wider levels; what is above one that is in use is in use, too."""
    order = sorted(range(len(paths)), key=lambda index: paths[index])
    tops = [paths[index][0] for index in order]
    middles = [paths[index][0] * 10 + paths[index][1] for index in order]
    parents = [np.array(level, dtype=np.int64) for level in (tops, middles, range(len(paths)))]
    own = np.array([used[index] for index in order], dtype=np.bool_)
    return Leaves(
        parents,
        np.array([room[index] for index in order], dtype=np.int64),
        [np.isin(parent, parent[own]) for parent in parents],
        counts,
    )


@st.composite
def _cases(draw: st.DrawFn) -> tuple[Leaves, int]:
    size = draw(st.integers(1, 8))
    leaves = _leaves(
        draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=size, max_size=size)),
        draw(st.lists(st.integers(0, 5), min_size=size, max_size=size)),
        draw(st.lists(st.booleans(), min_size=size, max_size=size)),
        draw(st.lists(st.booleans(), min_size=3, max_size=3)),
    )
    return leaves, draw(st.integers(0, 20))


def _least(leaves: Leaves, wanted: int) -> tuple[int, ...]:
    """By looking at all choices."""
    choices = (
        np.array([bool(bits >> at & 1) for at in range(len(leaves.room))]) for bits in range(1 << len(leaves.room))
    )
    return min(added_by(leaves, chosen) for chosen in choices if leaves.room[chosen].sum() >= wanted)


@settings(max_examples=200, deadline=None)
@given(case=_cases())
def test_no_choice_adds_fewer_domains(case: tuple[Leaves, int]) -> None:
    leaves, wanted = case
    found = fewest_domains(leaves, wanted, Steps())
    assert found.is_exact
    if leaves.room.sum() < wanted:
        assert (found.chosen == (leaves.room > 0)).all()
        return
    assert leaves.room[found.chosen].sum() >= wanted
    assert found.added == added_by(leaves, found.chosen) == _least(leaves, wanted)


def test_of_choices_with_as_many_domains_the_one_with_least_room_is_taken() -> None:
    paths = [(0, 0), (0, 1), (1, 0), (1, 1)]
    # The roomiest two are of two tops, so the table is asked; either top has room in two leaves.
    leaves = _leaves(paths, [7, 3, 6, 4], [False] * 4, [True] * 3)
    for room, chosen in (([7, 3, 6, 4], 2), ([7, 9, 6, 4], 2)):
        found = fewest_domains(leaves._replace(room=np.array(room)), 10, Steps())
        assert (found.added, int(found.chosen.sum())) == ((1, 2, 2), chosen)
    assert int(leaves.room[found.chosen].sum()) == 10


def test_where_the_roomiest_domains_do_as_well_as_any_no_table_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CELLS", 0)
    leaves = _leaves([(0, 0), (0, 1), (1, 0), (1, 1)], [1, 2, 9, 3], [False] * 4, [True] * 3)
    for wanted, chosen in ((9, [9]), (10, [9, 3]), (13, [1, 9, 3]), (14, [2, 9, 3])):
        found = fewest_domains(leaves, wanted, Steps())
        assert found.is_exact
        assert leaves.room[found.chosen].tolist() == chosen


def test_where_domains_in_use_have_room_for_all_none_is_added_and_no_table_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_CELLS", 0)
    leaves = _leaves([(0, 0), (0, 1), (1, 0)], [4, 9, 9], [True, False, False], [True] * 3)
    found = fewest_domains(leaves, 4, Steps())
    assert (found.added, found.is_exact) == ((0, 0, 0), True)
    assert leaves.room[found.chosen].tolist() == [4]


def test_what_a_table_would_be_too_large_for_is_not_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    leaves = _leaves([(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)], [9, 1, 4, 4, 4], [False] * 5, [True] * 3)
    assert fewest_domains(leaves, 12, Steps()).added == (1, 3, 3)
    monkeypatch.setattr(module, "MOST_CELLS", 10)
    quick = fewest_domains(leaves, 12, Steps())
    assert not quick.is_exact
    assert leaves.room[quick.chosen].sum() >= 12


def test_so_many_levels_that_their_cost_is_no_number_are_left_to_the_quick_answer() -> None:
    size = 300
    parents = [np.arange(size, dtype=np.int64) // 3 for _ in range(8)] + [np.arange(size, dtype=np.int64)]
    room = np.array([5, 1, 1] * 100, dtype=np.int64)
    leaves = Leaves(parents, room, [np.zeros(size, dtype=np.bool_)] * 9, [True] * 9)
    found = fewest_domains(leaves, 12, Steps())
    assert leaves.room[found.chosen].sum() >= 12

"""Flows take turns; within one, what came first goes first."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kube.cache.fair_queue import FairQueue

Item = tuple[str, int]


def queue_of(*items: Item) -> FairQueue[Item]:
    made = FairQueue[Item](lambda item: item[0])
    for item in items:
        made.append(item)
    return made


def drained(queue: FairQueue[Item]) -> list[Item]:
    return [queue.popleft() for _ in range(len(queue))]


def test_a_flow_with_one_item_waits_for_one_of_each_other_flow() -> None:
    queue = queue_of(("a", 1), ("a", 2), ("a", 3), ("b", 1), ("c", 1))
    assert drained(queue) == [("a", 1), ("b", 1), ("c", 1), ("a", 2), ("a", 3)]


def test_a_flow_that_comes_back_has_its_turn_after_the_others() -> None:
    queue = queue_of(("a", 1), ("b", 1), ("b", 2))
    assert queue.popleft() == ("a", 1)
    queue.append(("a", 2))
    assert drained(queue) == [("b", 1), ("a", 2), ("b", 2)]


def test_there_is_nothing_to_take_from_an_empty_queue() -> None:
    with pytest.raises(IndexError):
        queue_of().popleft()


@given(st.lists(st.one_of(st.none(), st.sampled_from("abcd")), max_size=60))
def test_every_item_leaves_once_in_its_flows_order_and_no_flow_is_passed_over_twice(script: list[str | None]) -> None:
    queue, counts, left = queue_of(), Counter[str](), Counter[str]()
    waiting: dict[str, Counter[str]] = {}
    for each in script:
        if each is not None:
            counts[each] += 1
            queue.append((each, counts[each]))
            waiting.setdefault(each, Counter())
        elif len(queue):
            flow, number = queue.popleft()
            left[flow] += 1
            assert number == left[flow]
            waiting.pop(flow)
            for passed in waiting.values():
                passed[flow] += 1
                assert max(passed.values()) <= 1
            if counts[flow] > left[flow]:
                waiting[flow] = Counter()
        assert len(queue) == counts.total() - left.total()

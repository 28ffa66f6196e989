"""What goes wrong about one item is noted and ends nothing else; what ends the process goes through."""

import asyncio

import pytest

from scheduler.queue.item_errors import MOST_NOTED, ItemErrors
from tests.scheduler.core.build import pod_key


def test_an_exception_about_an_item_is_noted_with_what_was_being_done_and_goes_no_further() -> None:
    errors, error = ItemErrors(), ValueError("odd")
    with errors.about(pod_key("p"), "decide"):
        raise error
    (noted,) = errors.take()
    assert (noted.key, noted.stage, noted.error) == (pod_key("p"), "decide", error)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_what_ends_the_process_or_a_task_passes_through(error: type[BaseException]) -> None:
    errors = ItemErrors()
    with pytest.raises(error), errors.about(pod_key("p"), "decide"):
        raise error
    assert len(errors) == 0


def test_where_nothing_goes_wrong_nothing_is_noted() -> None:
    errors = ItemErrors()
    with errors.about(pod_key("p"), "decide"):
        pass
    assert errors.take() == []


def test_what_was_collected_is_not_collected_again() -> None:
    errors = ItemErrors()
    errors.note(pod_key("p"), "queue", ValueError())
    assert (len(errors), len(errors.take()), len(errors), errors.take()) == (1, 1, 0, [])


def test_a_handler_of_something_that_is_no_items_goes_on_with_the_next() -> None:
    errors, handled = ItemErrors(), list[int]()

    def handle(number: int) -> None:
        handled.append(1 // number)

    guarded = errors.guarded(handle, "news")
    for number in (1, 0, 1):
        guarded(number)
    (noted,) = errors.take()
    assert handled == [1, 1]
    assert (noted.key, noted.stage, type(noted.error)) == (None, "news", ZeroDivisionError)


def test_of_more_than_anybody_collects_the_latest_are_kept() -> None:
    errors = ItemErrors()
    for number in range(MOST_NOTED + 1):
        errors.note(pod_key(f"p-{number}"), "queue", ValueError())
    noted = errors.take()
    assert len(noted) == MOST_NOTED
    assert noted[-1].key == pod_key(f"p-{MOST_NOTED}")

"""The work queue's promises, in fake time."""

import asyncio
import contextlib
import itertools
import random
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.errors import TuttiError
from kube.cache.workqueue import DRAIN_SECONDS, Reconcile, WorkQueue
from tests.kube.fake_time import in_fake_time, now


@contextlib.asynccontextmanager
async def running(reconcile: Reconcile[str], *, workers: int = 2, **options: Any) -> AsyncIterator[WorkQueue[str]]:
    queue = WorkQueue(reconcile, workers=workers, clock=now, random=random.Random(3), **options)
    task = asyncio.create_task(queue.run())
    try:
        yield queue
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@in_fake_time
async def test_a_key_added_often_before_its_turn_is_looked_at_once() -> None:
    looks: list[str] = []

    async def look(key: str) -> None:
        looks.append(key)

    async with running(look) as queue:
        for key in ("a", "b", "a", "a"):
            queue.add(key)
        assert len(queue) == 2
        await queue.idle()
    assert looks == ["a", "b"]


@in_fake_time
async def test_at_its_end_what_is_looked_at_is_finished_and_nothing_else_begun() -> None:
    begun: list[str] = []
    finished: list[str] = []

    async def look(key: str) -> float:
        begun.append(key)
        await asyncio.sleep(1)
        finished.append(key)
        return 2.0

    async with running(look, workers=2) as queue:
        queue.add("a")
        await asyncio.sleep(0.4)
        queue.add("b")
        await asyncio.sleep(0.1)
        queue.add("c")
        queue.add("a")
        ended = now()
    assert (begun, finished) == (["a", "b"], ["a", "b"])
    assert now() == pytest.approx(ended + 0.9)


@in_fake_time
async def test_what_is_looked_at_and_does_not_end_is_cut_off() -> None:
    async def look(_: str) -> None:
        await asyncio.sleep(60)

    async with running(look) as queue:
        queue.add("a")
        await asyncio.sleep(1)
        ended = now()
    assert now() == pytest.approx(ended + DRAIN_SECONDS)


@in_fake_time
async def test_who_is_asked_twice_to_end_does_so_at_once() -> None:
    async def look(_: str) -> None:
        await asyncio.sleep(60)

    queue = WorkQueue(look, workers=1, clock=now, random=random.Random(3))
    task = asyncio.create_task(queue.run())
    queue.add("a")
    await asyncio.sleep(1)
    for _ in range(2):
        task.cancel()
        await asyncio.sleep(0.5)
    assert task.cancelled()
    assert now() == pytest.approx(1002.0)


@in_fake_time
async def test_a_worker_that_is_cancelled_by_somebody_else_ends_the_queue_with_an_error() -> None:
    async def look(_: str) -> None:
        raise asyncio.CancelledError

    queue = WorkQueue(look, workers=2, clock=now, random=random.Random(3))
    queue.add("a")
    with pytest.raises(TuttiError):
        await queue.run()


@in_fake_time
async def test_a_key_added_while_it_is_looked_at_is_looked_at_once_more() -> None:
    looks: list[float] = []

    async def look(key: str) -> None:
        looks.append(now())
        await asyncio.sleep(1)

    async with running(look, workers=4) as queue:
        queue.add("a")
        await asyncio.sleep(0.5)
        queue.add("a")
        queue.add("a")
        await queue.idle()
    assert [moment - looks[0] for moment in looks] == [0.0, pytest.approx(1.0)]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 40), st.sampled_from(["add", "later"])),
        min_size=1,
        max_size=40,
    )
)
def test_no_key_is_ever_with_two_workers_and_the_last_addition_is_never_lost(
    script: list[tuple[str, int, str]],
) -> None:
    busy: Counter[str] = Counter()
    begun: dict[str, float] = {}
    added: dict[str, float] = {}

    async def look(key: str) -> None:
        begun[key] = now()
        busy[key] += 1
        assert busy[key] == 1
        await asyncio.sleep(0.7)
        busy[key] -= 1

    async def play() -> None:
        async with running(look, workers=3) as queue:
            for key, tenths, how in script:
                await asyncio.sleep(tenths / 10)
                added[key] = now()
                if how == "add":
                    queue.add(key)
                else:
                    queue.add_after(key, 0.3)
            await asyncio.sleep(60)
            await queue.idle()

    in_fake_time(play)()
    assert all(begun[key] >= moment for key, moment in added.items())


@in_fake_time
async def test_a_failing_key_is_retried_with_growing_pauses_and_others_are_not_kept_waiting() -> None:
    looks: list[tuple[str, float]] = []

    async def look(key: str) -> None:
        looks.append((key, now()))
        if key == "bad" and sum(1 for seen, _ in looks if seen == "bad") <= 5:
            raise TuttiError("not yet")

    async with running(look, workers=1, base_seconds=1.0, max_seconds=8.0) as queue:
        start = now()
        queue.add("bad")
        queue.add("good")
        await asyncio.sleep(120)
    assert ("good", start) in looks
    moments = [moment for key, moment in looks if key == "bad"]
    pauses = [later - earlier for earlier, later in itertools.pairwise(moments)]
    assert len(pauses) == 5
    for pause, full in zip(pauses, (1.0, 2.0, 4.0, 8.0, 8.0), strict=True):
        assert full / 2 <= pause <= full + 1e-6


@in_fake_time
async def test_success_makes_the_next_failure_start_from_the_smallest_pause() -> None:
    moments: list[float] = []
    outcomes = iter([True, True, False, True, False])

    async def look(key: str) -> None:
        moments.append(now())
        if next(outcomes):
            raise TuttiError("no")

    async with running(look, base_seconds=1.0) as queue:
        queue.add("a")
        await asyncio.sleep(100)
        queue.add("a")
        await asyncio.sleep(100)
    assert len(moments) == 5
    assert moments[4] - moments[3] <= 1.0 + 1e-6


@in_fake_time
async def test_any_exception_is_logged_on_one_line(caplog: pytest.LogCaptureFixture) -> None:
    async def look(key: str) -> None:
        if len(caplog.records) == 0:
            raise KeyError("two\nlines")

    async with running(look) as queue:
        queue.add("a")
        await asyncio.sleep(5)
    (warning,) = [record for record in caplog.records if record.levelname == "WARNING"]
    assert "\n" not in warning.getMessage()
    assert "KeyError" in warning.getMessage()


@in_fake_time
async def test_a_returned_number_asks_for_another_look_after_so_many_seconds() -> None:
    moments: list[float] = []

    async def look(key: str) -> float | None:
        moments.append(now())
        return 30.0 if len(moments) == 1 else None

    async with running(look) as queue:
        queue.add("a")
        await asyncio.sleep(300)
    assert [round(moment - moments[0], 3) for moment in moments] == [0.0, 30.0]


@in_fake_time
async def test_the_earliest_of_several_times_counts() -> None:
    moments: list[float] = []

    async def look(key: str) -> None:
        moments.append(now())

    async with running(look) as queue:
        start = now()
        for seconds in (50.0, 20.0, 40.0):
            queue.add_after("a", seconds)
        await asyncio.sleep(300)
    assert [round(moment - start, 3) for moment in moments] == [20.0]


@in_fake_time
async def test_adding_now_replaces_adding_later() -> None:
    looks: list[str] = []

    async def look(key: str) -> None:
        looks.append(key)

    async with running(look) as queue:
        queue.add_after("a", 10.0)
        queue.add("a")
        await asyncio.sleep(100)
    assert looks == ["a"]


@in_fake_time
async def test_ten_thousand_keys_of_one_flow_keep_another_flow_waiting_for_one_look_each() -> None:
    looks: list[str] = []

    async def look(key: str) -> None:
        looks.append(key)
        await asyncio.sleep(1)

    async with running(look, workers=4, flow=_tenant) as queue:
        for number in range(10_000):
            queue.add(f"hostile/{number}")
        await asyncio.sleep(0.5)
        queue.add("other/a")
        queue.add("other/b")
        await asyncio.sleep(1)
    assert looks[4:8] == ["hostile/4", "other/a", "hostile/5", "other/b"]


@in_fake_time
async def test_without_flows_keys_are_looked_at_in_the_order_in_which_they_came() -> None:
    looks: list[str] = []

    async def look(key: str) -> None:
        looks.append(key)

    async with running(look, workers=1) as queue:
        for key in ("x/1", "x/2", "y/1", "x/3"):
            queue.add(key)
        await queue.idle()
    assert looks == ["x/1", "x/2", "y/1", "x/3"]


@in_fake_time
async def test_a_key_that_is_added_again_while_it_is_looked_at_waits_for_its_flows_turn() -> None:
    looks: list[str] = []

    async def look(key: str) -> None:
        looks.append(key)
        await asyncio.sleep(1)

    async with running(look, workers=1, flow=_tenant) as queue:
        queue.add("hostile/0")
        await asyncio.sleep(0.5)
        for key in ("hostile/0", "hostile/1", "other/a", "hostile/0"):
            queue.add(key)
        await queue.idle()
    assert looks == ["hostile/0", "hostile/1", "other/a", "hostile/0"]


def _tenant(key: str) -> str:
    return key.partition("/")[0]

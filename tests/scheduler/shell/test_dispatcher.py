"""Binds before everything else; status writes coalesced, dropped when overtaken, never two at once for one object."""

import asyncio

from scheduler.apicalls.dispatcher import URGENT_IN_A_ROW, APICall, APIDispatcher
from tests.scheduler.shell.clocks import FakeClock


class Bench:
    """A dispatcher, and calls that note when they start and end when told to."""

    def __init__(self, concurrency: int = 1, *, may_write: bool = True, patience_seconds: float = 10.0) -> None:
        self.clock = FakeClock()
        self.started: list[str] = []
        self.counted: list[tuple[str, str]] = []
        self.gates: dict[str, asyncio.Event] = {}
        self._starts: dict[str, asyncio.Event] = {}
        self.dispatcher = APIDispatcher(
            concurrency=concurrency,
            may_write=lambda: may_write,
            clock=self.clock,
            patience_seconds=patience_seconds,
            count=lambda lane, outcome: self.counted.append((lane, outcome)),
        )

    def call(self, name: str, *, blocks: bool = False) -> APICall:
        self.gates[name] = asyncio.Event()
        self._starts[name] = asyncio.Event()

        async def run() -> str:
            self.started.append(name)
            self._starts[name].set()
            if blocks:
                await self.gates[name].wait()
            return "done"

        return run

    async def until_started(self, name: str) -> None:
        async with asyncio.timeout(5.0):
            await self._starts[name].wait()


async def test_binds_go_before_status_writes_that_were_queued_earlier() -> None:
    bench = Bench()
    bench.dispatcher.add_urgent(bench.call("first", blocks=True))
    bench.dispatcher.add_status("a", bench.call("status"))
    bench.dispatcher.add_urgent(bench.call("second"))
    bench.dispatcher.add_urgent(bench.call("third"))
    await asyncio.sleep(0)
    bench.gates["first"].set()
    await bench.dispatcher.idle()
    assert bench.started == ["first", "second", "third", "status"]


async def test_evictions_wait_for_binds_and_go_before_status_writes() -> None:
    bench = Bench()
    bench.dispatcher.add_urgent(bench.call("first", blocks=True))
    bench.dispatcher.add_status("a", bench.call("status"))
    bench.dispatcher.add_eviction(bench.call("eviction"))
    bench.dispatcher.add_urgent(bench.call("second"))
    assert bench.dispatcher.queued_evictions == 1
    await asyncio.sleep(0)
    bench.gates["first"].set()
    await bench.dispatcher.idle()
    assert bench.started == ["first", "second", "eviction", "status"]


async def test_while_binds_are_expected_evictions_go_and_what_only_tells_waits() -> None:
    bench = Bench()
    expect_no_more = bench.dispatcher.expect_urgent(60.0)
    bench.dispatcher.add_status("a", bench.call("status"))
    bench.dispatcher.add_eviction(bench.call("eviction"))
    await bench.until_started("eviction")
    quiet = asyncio.ensure_future(bench.dispatcher.quiet())
    await asyncio.sleep(0)
    assert not quiet.done()
    expect_no_more()
    await bench.dispatcher.idle()
    await quiet
    assert bench.started == ["eviction", "status"]


async def test_binds_are_not_expected_for_ever() -> None:
    bench = Bench()
    bench.dispatcher.expect_urgent(0.001)
    bench.dispatcher.add_status("a", bench.call("status"))
    await bench.until_started("status")


async def test_a_stream_of_binds_does_not_hold_up_evictions_for_ever() -> None:
    bench = Bench()
    bench.dispatcher.add_urgent(bench.call("first", blocks=True))
    bench.dispatcher.add_eviction(bench.call("eviction"))
    for number in range(20):
        bench.dispatcher.add_urgent(bench.call(f"bind-{number}"))
    await asyncio.sleep(0)
    bench.gates["first"].set()
    await bench.dispatcher.idle()
    assert bench.started.index("eviction") == URGENT_IN_A_ROW


async def test_no_more_writes_than_connections_are_under_way() -> None:
    bench = Bench(concurrency=2)
    for name in ("a", "b", "c"):
        bench.dispatcher.add_urgent(bench.call(name, blocks=True))
    await asyncio.sleep(0)
    assert bench.started == ["a", "b"]
    bench.gates["a"].set()
    await bench.until_started("c")
    for gate in bench.gates.values():
        gate.set()
    await bench.dispatcher.idle()


async def test_the_latest_status_of_an_object_replaces_one_that_has_not_started() -> None:
    bench = Bench()
    bench.dispatcher.add_urgent(bench.call("bind", blocks=True))
    bench.dispatcher.add_status("pod", bench.call("old"))
    bench.dispatcher.add_status("other", bench.call("other"))
    bench.dispatcher.add_status("pod", bench.call("new"))
    bench.gates["bind"].set()
    await bench.dispatcher.idle()
    assert bench.started == ["bind", "new", "other"]


async def test_a_status_write_that_was_overtaken_is_dropped() -> None:
    bench = Bench()
    bench.dispatcher.add_urgent(bench.call("bind", blocks=True))
    bench.dispatcher.add_status("pod", bench.call("says it waits"))
    bench.dispatcher.drop("pod")
    bench.gates["bind"].set()
    await bench.dispatcher.idle()
    assert bench.started == ["bind"]


async def test_two_writes_for_one_object_are_never_under_way_at_once() -> None:
    bench = Bench(concurrency=4)
    bench.dispatcher.add_status("pod", bench.call("one", blocks=True))
    await asyncio.sleep(0)
    bench.dispatcher.add_status("pod", bench.call("two"))
    bench.dispatcher.add_status("other", bench.call("other"))
    await bench.until_started("other")
    assert bench.started == ["one", "other"]
    bench.gates["one"].set()
    await bench.dispatcher.idle()
    assert bench.started == ["one", "other", "two"]


async def test_a_status_write_that_waited_too_long_gets_one_connection_beside_the_binds() -> None:
    bench = Bench(patience_seconds=10.0)
    bench.dispatcher.add_urgent(bench.call("b1", blocks=True))
    bench.dispatcher.add_status("a", bench.call("s1"))
    bench.dispatcher.add_status("b", bench.call("s2"))
    bench.clock.pass_seconds(5.0)
    bench.dispatcher.add_urgent(bench.call("b2", blocks=True))
    bench.dispatcher.add_urgent(bench.call("b3"))
    bench.gates["b1"].set()
    await bench.until_started("b2")
    bench.clock.pass_seconds(5.0)
    bench.gates["b2"].set()
    await bench.dispatcher.idle()
    assert bench.started == ["b1", "b2", "s1", "s2", "b3"]


async def test_nothing_is_written_without_the_lease() -> None:
    bench = Bench(may_write=False)
    bench.dispatcher.add_urgent(bench.call("bind"))
    bench.dispatcher.add_status("a", bench.call("status"))
    await bench.dispatcher.idle()
    assert bench.started == []
    assert bench.counted == [("bind", "no_lease"), ("status", "no_lease")]


async def test_a_write_that_breaks_does_not_stop_the_others() -> None:
    bench = Bench()

    async def broken() -> str:
        raise RuntimeError("a defect")

    bench.dispatcher.add_urgent(broken)
    bench.dispatcher.add_urgent(bench.call("next"))
    await bench.dispatcher.idle()
    assert bench.started == ["next"]
    assert bench.counted == [("bind", "crashed"), ("bind", "done")]


async def test_others_who_give_way_to_binds_wait_until_none_is_queued() -> None:
    bench = Bench()
    bench.dispatcher.add_urgent(bench.call("one", blocks=True))
    bench.dispatcher.add_urgent(bench.call("two"))
    waiter = asyncio.ensure_future(bench.dispatcher.quiet())
    await asyncio.sleep(0)
    assert not waiter.done()
    bench.gates["one"].set()
    await waiter
    assert bench.dispatcher.queued_urgent == 0
    await bench.dispatcher.idle()


async def test_closing_drops_what_is_queued_and_waits_for_what_was_sent() -> None:
    bench = Bench()
    bench.dispatcher.add_urgent(bench.call("sent", blocks=True))
    bench.dispatcher.add_urgent(bench.call("queued"))
    await asyncio.sleep(0)
    closing = asyncio.ensure_future(bench.dispatcher.close(5.0))
    await asyncio.sleep(0)
    assert not closing.done()
    bench.gates["sent"].set()
    await closing
    assert bench.started == ["sent"]
    assert bench.counted == [("bind", "done")]

"""The process around the scheduler: what it does before the lease, with it, and when it is gone."""

import asyncio
import gc
import random
import time
from collections.abc import Iterator
from typing import Any, cast

import pytest
from prometheus_client import CollectorRegistry

from kube.groups.group_api import OWN
from kube.process.lease import LeaderElector
from kube.process.run import EXIT_LEASE_LOST, EXIT_OK
from scheduler.process import Process, Served
from scheduler.reporting.metrics import SchedulerMetrics
from scheduler.settings import SchedulerSettings
from scheduler.shared_parts import Surroundings
from scheduler.wiring import build_scheduler
from tests.scheduler.shell.cluster import QUICK, Cluster

WRITES = {"create", "patch"}


class FakeElector:
    """A lease that the test gives and takes."""

    def __init__(self) -> None:
        self.lost = asyncio.Event()
        self.given = asyncio.Event()
        self.is_released = False

    async def acquire(self) -> None:
        await self.given.wait()

    def holds(self) -> bool:
        return self.given.is_set() and not self.lost.is_set()

    async def release(self) -> None:
        self.is_released = True


class Bench:
    def __init__(self) -> None:
        self.cluster = Cluster()
        self.api = self.cluster.api
        self.elector = FakeElector()
        self.stop = asyncio.Event()
        settings = SchedulerSettings(**QUICK, metrics_address="")
        metrics = SchedulerMetrics(CollectorRegistry())
        given = Surroundings(
            reader=self.api,
            writer=self.api,
            group_api=OWN,
            settings=settings,
            metrics=metrics,
            may_write=self.elector.holds,
            clock=time.monotonic,
            epoch=time.time,
            jitter=random.Random(1),
        )
        self.scheduler = build_scheduler(given)
        served = Served(metrics.registry)
        self._process = Process(self.scheduler, cast("LeaderElector", self.elector), settings, served)

    def start(self) -> "asyncio.Task[int]":
        return asyncio.ensure_future(self._process.run(self.stop))

    def writes(self) -> list[Any]:
        return [entry for entry in self.api.log if entry[0] in WRITES]


@pytest.fixture
async def bench() -> Bench:
    return Bench()


@pytest.fixture(autouse=True)
def _collector() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


async def test_before_the_lease_caches_warm_up_and_nothing_is_written(bench: Bench) -> None:
    bench.cluster.add_nodes(2)
    bench.cluster.add_gang("g", 2)
    running = bench.start()
    await bench.scheduler.informers.nodes.synced.wait()
    await bench.scheduler.informers.groups.synced.wait()
    assert bench.api.sent("list", "pods") == []
    assert bench.writes() == []
    bench.stop.set()
    assert await running == EXIT_OK


async def test_with_the_lease_pods_are_listed_afresh_and_scheduling_begins(bench: Bench) -> None:
    bench.cluster.add_nodes(2)
    bench.cluster.add_gang("g", 2)
    running = bench.start()
    bench.elector.given.set()
    await bench.api.until(lambda: bench.cluster.group_says("g") == ("True", "Scheduled"))
    bench.stop.set()
    assert await running == EXIT_OK
    assert bench.elector.is_released
    assert len(bench.api.bound()) == 2


async def test_losing_the_lease_ends_the_process_with_its_own_code_and_stops_all_writes(bench: Bench) -> None:
    bench.cluster.add_nodes(4)
    running = bench.start()
    bench.elector.given.set()
    await bench.api.until(lambda: bench.scheduler.state.nodes_total == 4)
    bench.elector.lost.set()
    bench.cluster.add_gang("g", 4)
    assert await running == EXIT_LEASE_LOST
    assert bench.writes() == []


async def test_a_part_that_breaks_ends_the_process_with_its_error(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken() -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(bench.scheduler.recorder, "run", broken)
    running = bench.start()
    bench.elector.given.set()
    with pytest.raises(RuntimeError, match="a defect"):
        await running
    assert bench.elector.is_released

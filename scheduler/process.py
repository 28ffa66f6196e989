"""What happens between a successful start of the scheduler and its end: candidate, then scheduler, until something ends it.

Order matters. Nodes and groups are followed from the start, so that a standby is warm. Pods are listed only once the lease
is held: that list is consistent, hence it contains every bind of a predecessor, and no room is given away twice. Nothing is
written before, and every write asks for the lease again right before it is sent.
"""

import asyncio
import contextlib
import gc
import logging
from collections.abc import AsyncIterator, Coroutine
from typing import Any, Final, NamedTuple

from prometheus_client import CollectorRegistry

from kube.process.health import Beside, Downloads, HealthServer
from kube.process.lease import LeaderElector
from kube.process.metrics_access import MetricsAccess
from kube.process.run import EXIT_LEASE_LOST, EXIT_OK
from scheduler.settings import SchedulerSettings
from scheduler.unused import forget_unused
from scheduler.wiring import Scheduler

_log = logging.getLogger(__name__)

_GOODBYE_SECONDS: Final = 5.0
_GC_THRESHOLDS: Final = (1_000, 1_250, 50)
"""What is new is looked at often, which costs no more in all and keeps little garbage; what has stayed, with each heap trim."""


class Served(NamedTuple):
    """What the health server shows besides probes."""

    registry: CollectorRegistry
    access: MetricsAccess | None = None
    recordings: Downloads | None = None
    tenants: Beside | None = None


class Process:
    """What happens between a successful start and the end."""

    def __init__(
        self,
        scheduler: Scheduler,
        elector: LeaderElector,
        settings: SchedulerSettings,
        served: Served,
        *beside: Coroutine[Any, Any, None],
    ) -> None:
        """`beside` runs from the start to the end; an error in it ends the process."""
        self._served = served
        self._scheduler = scheduler
        self._elector = elector
        self._settings = settings
        self._beside = beside
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._is_candidate = True

    async def run(self, stop: asyncio.Event) -> int:
        """Candidate, then scheduler, until something ends it."""
        health = HealthServer(
            self._settings.metrics_address,
            live={"scheduling": self._trouble},
            ready={"caches": self._not_ready},
            registry=self._served.registry,
            access=self._served.access,
            downloads=self._served.recordings,
            beside=self._served.tenants,
        )
        early = [informer.run() for informer in self._scheduler.informers.early]
        async with health, self._background(*early, *self._beside):
            try:
                if not await self._until(stop, self._elector.acquire()):
                    return EXIT_OK
                self._is_candidate = False
                return await self._schedule(stop)
            finally:
                await self._elector.release()

    async def _schedule(self, stop: asyncio.Event) -> int:
        scheduler = self._scheduler
        async with self._background(
            scheduler.informers.pods.run(), scheduler.recorder.run(), scheduler.cache_comparer.run()
        ):
            if not await self._until(stop, self._synced()):
                return self._exit_code()
            tune_garbage_collection()
            _log.info("scheduling: %d nodes, %d pods", scheduler.state.nodes_total, scheduler.state.pods_total)
            async with self._background(scheduler.loop.run(), forget_unused(scheduler.state)):
                await self._until(stop, asyncio.Event().wait())
            # What was sent is waited for, so that its outcome is known while the lease is still ours.
            await scheduler.dispatcher.close(_GOODBYE_SECONDS)
            if self._elector.holds():
                await scheduler.recorder.flush(_GOODBYE_SECONDS)
        return self._exit_code()

    def _exit_code(self) -> int:
        if self._elector.lost.is_set():
            _log.error("the lease is lost: ending, another scheduler may be at work")
            return EXIT_LEASE_LOST
        return EXIT_OK

    async def _synced(self) -> None:
        for informer in self._scheduler.informers.all:
            await informer.synced.wait()

    async def _until(self, stop: asyncio.Event, work: Coroutine[Any, Any, Any]) -> bool:
        """Run `work`; False when we were asked to stop, or the lease was lost, before it ended."""
        task = asyncio.ensure_future(work)
        enders = [asyncio.ensure_future(stop.wait()), asyncio.ensure_future(self._elector.lost.wait())]
        try:
            await asyncio.wait([task, *enders, self._failed], return_when=asyncio.FIRST_COMPLETED)
            if self._failed.done():
                self._failed.result()
            if task.done():
                task.result()
                return True
            return False
        finally:
            for pending in (task, *enders):
                pending.cancel()
            await asyncio.gather(task, *enders, return_exceptions=True)

    @contextlib.asynccontextmanager
    async def _background(self, *work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
        """Run these beside the body; an error in one of them ends the process."""
        tasks = [asyncio.ensure_future(one) for one in work]
        for task in tasks:
            task.add_done_callback(self._noticed)
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _noticed(self, task: asyncio.Future[None]) -> None:
        if not task.cancelled() and task.exception() is not None and not self._failed.done():
            self._failed.set_exception(task.exception() or RuntimeError("a part of the process ended"))

    def _trouble(self) -> str | None:
        return "a part of the process has failed" if self._failed.done() else None

    def _not_ready(self) -> str | None:
        if self._is_candidate or self._scheduler.informers.is_synced:
            return None
        return "the caches are not filled yet"


def tune_garbage_collection() -> None:
    """What the caches hold makes no cycles and stays: keep it out of every later collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)

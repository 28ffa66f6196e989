"""The scheduler process: start, wait for the lease, schedule, and end for good when the lease is gone.

Order matters. Nodes and groups are followed from the start, so that a standby is warm. Pods are listed only once the lease
is held: that list is consistent, hence it contains every bind of a predecessor, and no room is given away twice. Nothing is
written before, and every write asks for the lease again right before it is sent.
"""

import asyncio
import contextlib
import gc
import logging
import random
import time
from collections.abc import AsyncIterator, Container, Coroutine, Sequence
from typing import Any, Final, NamedTuple

from prometheus_client import CollectorRegistry, ProcessCollector

from api.constants import SCHEDULER_NAME
from kube.client.client import Client
from kube.client.credentials import Credentials, load_credentials
from kube.client.errors import NotSent
from kube.client.resources import NAMESPACES, NODES, POD_DISRUPTION_BUDGETS, PODS, PRIORITY_CLASSES, Resource
from kube.groups.discovery import choose_group_api
from kube.groups.group_api import GroupAPI
from kube.groups.server_version import group_error_reason
from kube.groups.version_gone import end_when_gone
from kube.process.health import Beside, Downloads, HealthServer
from kube.process.lease import LeaderElector
from kube.process.metrics import LeaseMetrics
from kube.process.metrics_access import MetricsAccess, metrics_access
from kube.process.run import EXIT_LEASE_LOST, EXIT_OK, preflight
from scheduler.eventhandlers.devices import DEVICES, serves_devices
from scheduler.eventhandlers.informers import OWNERS
from scheduler.eventhandlers.storage import STORAGE
from scheduler.recording.file import CONTENT_TYPE
from scheduler.reporting.hints import StartSearch
from scheduler.reporting.metrics import SchedulerMetrics
from scheduler.settings import SchedulerSettings
from scheduler.tenants.setup import why_server
from scheduler.wiring import Scheduler, Surroundings, build_scheduler

_log = logging.getLogger(__name__)

FOLLOWED: Final[tuple[Resource, ...]] = (
    NODES,
    NAMESPACES,
    PODS,
    POD_DISRUPTION_BUDGETS,
    PRIORITY_CLASSES,
    *OWNERS,
    *STORAGE,
)
"""Kinds we follow beside the PodGroups of the group API in force."""

READ_CONNECTIONS: Final = len(FOLLOWED) + 1 + len(DEVICES) + 6
"""Every watch keeps a connection for itself for as long as it lasts, those of PodGroups and devices too; the rest share six."""

INPUTS_PATH: Final = "/debug/snapshot"
DECISIONS_PATH: Final = "/debug/decisions"
"""Where whoever the API server lets `get` these paths fetches what was recorded."""

_GOODBYE_SECONDS: Final = 5.0
_GC_THRESHOLDS: Final = (50_000, 25, 50)


class ExplainCommand(NamedTuple):
    """A program that finds the answer to one question, see `scheduler.tenants.respondent`, and the folder it runs in."""

    words: Sequence[str] = ()
    folder: str = ""


async def main(
    settings: SchedulerSettings,
    stop: asyncio.Event,
    find_hint: StartSearch | None = None,
    explain: ExplainCommand | None = None,
) -> int:
    """Run until `stop` is set or the lease is lost; the exit code.

    Args:
        settings: of the process.
        stop: ends it.
        find_hint: looks for what would help a group that waits; None: nobody does.
        explain: says to people who may see one namespace why their objects wait; None: nobody does.

    Raises:
        ConfigurationError: it cannot start as asked.
        Forbidden: a right is missing.
    """
    credentials = load_credentials(settings.kubeconfig)
    metrics = SchedulerMetrics(CollectorRegistry())
    user_agent = f"{SCHEDULER_NAME}/{settings.identity}"
    elector = LeaderElector(
        credentials=credentials,
        namespace=settings.system_namespace,
        name=SCHEDULER_NAME,
        identity=settings.identity,
        lease_seconds=settings.lease_seconds,
        renew_seconds=settings.renew_seconds,
        retry_seconds=settings.retry_seconds,
    )
    ProcessCollector(registry=metrics.registry)
    LeaseMetrics(metrics.registry).follow(SCHEDULER_NAME, elector.age_seconds)
    async with (
        Client(credentials, user_agent=user_agent, max_connections=READ_CONNECTIONS, observe=metrics.request) as reader,
        _writer(credentials, user_agent, elector, settings, metrics) as writer,
    ):
        server = await preflight(reader)
        group_api = await choose_group_api(
            reader, pinned=settings.group_api, system_namespace=settings.system_namespace
        )
        device_kinds = await serves_devices(reader)
        await _check_rights(reader, group_api, device_kinds)
        given = Surroundings(
            reader=reader,
            writer=writer,
            group_api=group_api,
            settings=settings,
            metrics=metrics,
            may_write=elector.holds,
            clock=time.monotonic,
            epoch=time.time,
            jitter=random.Random(),  # noqa: S311 (spreads retries, guards nothing)
            group_error_reason=group_error_reason(server),
            find_hint=find_hint,
            server_version=str(server.get("gitVersion") or ""),
            device_kinds=device_kinds,
        )
        access = metrics_access(
            is_asked=settings.metrics_authentication, credentials=credentials, user_agent=user_agent
        )
        scheduler = build_scheduler(given)
        recordings = Downloads(
            MetricsAccess(credentials, user_agent=user_agent),
            {INPUTS_PATH: scheduler.recordings.inputs, DECISIONS_PATH: scheduler.recordings.decisions},
            CONTENT_TYPE,
        )
        command = explain if explain is not None else ExplainCommand()
        tenants = why_server(
            settings,
            credentials,
            scheduler.recordings,
            user_agent=user_agent,
            groups_api=group_api.pod_groups.group,
            command=command.words,
            folder=command.folder,
        )
        version = end_when_gone(reader, group_api, in_trouble=lambda: scheduler.informers.groups.is_in_trouble)
        served = _Served(metrics.registry, access, recordings, tenants)
        return await _Process(scheduler, elector, settings, served, version).run(stop)


def _writer(
    credentials: Credentials,
    user_agent: str,
    elector: LeaderElector,
    settings: SchedulerSettings,
    metrics: SchedulerMetrics,
) -> Client:
    def guard() -> None:
        if not elector.holds():
            raise NotSent("the lease is not held, nothing was sent")

    return Client(
        credentials,
        user_agent=user_agent,
        max_connections=settings.bind_concurrency,
        observe=metrics.request,
        guard=guard,
    )


async def _check_rights(client: Client, group_api: GroupAPI, device_kinds: Container[str]) -> None:
    """One small read of everything we follow, so that a missing right ends the start instead of being retried for ever."""
    devices = [resource for resource in DEVICES if resource.plural in device_kinds]
    followed = (*FOLLOWED, group_api.pod_groups, *devices)
    await asyncio.gather(*(client.request_json("GET", resource.path(), params={"limit": "1"}) for resource in followed))


class _Served(NamedTuple):
    """What the health server shows besides probes."""

    registry: CollectorRegistry
    access: MetricsAccess | None = None
    recordings: Downloads | None = None
    tenants: Beside | None = None


class _Process:
    """What happens between a successful start and the end."""

    def __init__(
        self,
        scheduler: Scheduler,
        elector: LeaderElector,
        settings: SchedulerSettings,
        served: "_Served",
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
            async with self._background(scheduler.loop.run()):
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

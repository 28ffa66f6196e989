"""How the scheduler starts: its clients and rights, what the server has, and what is served beside its work."""

import asyncio
import logging
import random
import time
from collections.abc import Container, Sequence
from typing import Final, NamedTuple

from prometheus_client import CollectorRegistry, ProcessCollector

from api.constants import SCHEDULER_NAME
from kube.client.client import Client
from kube.client.credentials import Credentials, load_credentials
from kube.client.errors import NotSent
from kube.client.resources import NAMESPACES, NODES, POD_DISRUPTION_BUDGETS, PODS, PRIORITY_CLASSES, Resource
from kube.groups.composites import NOT_AVAILABLE, find_composites
from kube.groups.discovery import choose_group_api
from kube.groups.group_api import GroupAPI
from kube.groups.server_version import group_error_reason
from kube.groups.version_gone import end_when_gone
from kube.process.health import Beside, Downloads
from kube.process.lease import LeaderElector
from kube.process.metrics import LeaseMetrics
from kube.process.metrics_access import MetricsAccess, metrics_access
from kube.process.run import preflight
from scheduler.eventhandlers.devices import DEVICES, serves_devices
from scheduler.eventhandlers.informers import OWNERS
from scheduler.eventhandlers.storage import STORAGE
from scheduler.process import Process, Served
from scheduler.recording.file import CONTENT_TYPE
from scheduler.reporting.hints import StartSearch
from scheduler.reporting.metrics import SchedulerMetrics
from scheduler.settings import SchedulerSettings
from scheduler.shared_parts import Surroundings
from scheduler.tenants.setup import why_server
from scheduler.wiring import Scheduler, build_scheduler

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
"""Kinds we follow beside the PodGroups of the group API in force, and the CompositePodGroups where there are some."""

READ_CONNECTIONS: Final = len(FOLLOWED) + 2 + len(DEVICES) + 6
"""Every watch keeps a connection for itself for as long as it lasts, those of groups of both kinds and devices too; the rest share
six."""

INPUTS_PATH: Final = "/debug/snapshot"
DECISIONS_PATH: Final = "/debug/decisions"
"""Where whoever the API server lets `get` these paths fetches what was recorded."""


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
    elector = _elector(credentials, settings)
    ProcessCollector(registry=metrics.registry)
    LeaseMetrics(metrics.registry).follow(SCHEDULER_NAME, elector.age_seconds)
    async with (
        Client(credentials, user_agent=user_agent, max_connections=READ_CONNECTIONS, observe=metrics.request) as reader,
        _writer(credentials, user_agent, elector, settings, metrics) as writer,
    ):
        scheduler, group_api, composites = await _scheduler(reader, writer, settings, metrics, elector, find_hint)
        served = Served(
            metrics.registry,
            metrics_access(is_asked=settings.metrics_authentication, credentials=credentials, user_agent=user_agent),
            _recordings(credentials, user_agent, scheduler),
            _tenants(settings, credentials, user_agent, scheduler, group_api, explain or ExplainCommand()),
        )
        version = end_when_gone(
            reader, group_api, composites, in_trouble=lambda: scheduler.informers.groups.is_in_trouble
        )
        return await Process(scheduler, elector, settings, served, version).run(stop)


async def _scheduler(
    reader: Client,
    writer: Client,
    settings: SchedulerSettings,
    metrics: SchedulerMetrics,
    elector: LeaderElector,
    find_hint: StartSearch | None,
) -> tuple[Scheduler, GroupAPI, Resource | None]:
    """A scheduler for what this server has, the group API it works with, and where CompositePodGroups are, if anywhere.

    Raises:
        ConfigurationError: the server cannot be reached, or has no such group API.
        Forbidden: a right is missing.
    """
    server = await preflight(reader)
    group_api = await choose_group_api(reader, pinned=settings.group_api, system_namespace=settings.system_namespace)
    device_kinds = await serves_devices(reader)
    composites = await find_composites(reader, group_api)
    if composites is None:
        _log.warning("%s", NOT_AVAILABLE)
    await _check_rights(reader, group_api, device_kinds, composites)
    surroundings = Surroundings(
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
        composites=composites,
    )
    return build_scheduler(surroundings), group_api, composites


def _elector(credentials: Credentials, settings: SchedulerSettings) -> LeaderElector:
    return LeaderElector(
        credentials=credentials,
        namespace=settings.system_namespace,
        name=SCHEDULER_NAME,
        identity=settings.identity,
        lease_seconds=settings.lease_seconds,
        renew_seconds=settings.renew_seconds,
        retry_seconds=settings.retry_seconds,
    )


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


def _recordings(credentials: Credentials, user_agent: str, scheduler: Scheduler) -> Downloads:
    """What was recorded, for whoever may `get` its path."""
    return Downloads(
        MetricsAccess(credentials, user_agent=user_agent),
        {INPUTS_PATH: scheduler.recordings.inputs, DECISIONS_PATH: scheduler.recordings.decisions},
        CONTENT_TYPE,
    )


def _tenants(
    settings: SchedulerSettings,
    credentials: Credentials,
    user_agent: str,
    scheduler: Scheduler,
    group_api: GroupAPI,
    explain: ExplainCommand,
) -> Beside | None:
    """Answers to people who may see one namespace, where they are to have them."""
    return why_server(
        settings,
        credentials,
        scheduler.recordings,
        user_agent=user_agent,
        groups_api=group_api.pod_groups.group,
        command=explain.words,
        folder=explain.folder,
    )


async def _check_rights(
    client: Client, group_api: GroupAPI, device_kinds: Container[str], composites: Resource | None
) -> None:
    """One small read of everything we follow, so that a missing right ends the start instead of being retried for ever."""
    devices = [resource for resource in DEVICES if resource.plural in device_kinds]
    trees = () if composites is None else (composites,)
    followed = (*FOLLOWED, group_api.pod_groups, *trees, *devices)
    await asyncio.gather(*(client.request_json("GET", resource.path(), params={"limit": "1"}) for resource in followed))

"""`tutti controllers`: from settings to a running operator, and back out.

The process acts only while it holds its Lease. Losing it ends the process, and so does the end of kopf, its frame: whoever restarts
it starts from a clean list.
"""

import asyncio
import logging
from collections.abc import Coroutine
from random import Random
from typing import Any

from prometheus_client import REGISTRY, CollectorRegistry

from api.constants import CONTROLLERS_NAME
from controllers.frame import run_in_kopf
from controllers.metrics import Metrics
from controllers.operator import Operator
from controllers.settings import ControllersSettings
from kube.client.client import Client
from kube.client.credentials import Credentials, load_credentials
from kube.client.errors import NotSent
from kube.client.resources import JOBS, PODS
from kube.groups.composites import find_composites
from kube.groups.discovery import choose_group_api
from kube.groups.group_api import GroupAPI
from kube.process.health import HealthServer
from kube.process.lease import LeaderElector, LeaseLost
from kube.process.metrics import LeaseMetrics
from kube.process.metrics_access import metrics_access
from kube.process.run import EXIT_OK, preflight

_log = logging.getLogger(__name__)

SPARE_CONNECTIONS = 16
"""Beside one per worker: informers, events, and the pods of a Job that are told their group at once."""


async def main(settings: ControllersSettings, stop: asyncio.Event, *, registry: CollectorRegistry = REGISTRY) -> int:
    """Run the controllers until `stop` is set; gives the exit code.

    Raises:
        ConfigurationError: the process cannot start as asked.
        LeaseLost: another process may have taken over.
        FrameEnded: kopf ended by itself.
        KubeError: the server refused something at the start.
    """
    credentials = load_credentials(settings.kubeconfig)
    metrics = Metrics(registry)
    elector = _elector(credentials, settings)
    LeaseMetrics(registry).follow(CONTROLLERS_NAME, elector.age_seconds)

    def require_lease() -> None:
        if not elector.holds():
            raise NotSent("the lease is not held, nothing was sent")

    agent = f"{CONTROLLERS_NAME}/{settings.identity}"
    async with Client(credentials, user_agent=agent, observe=metrics.request) as starter:
        group_api = await _start(starter, settings)
        composites = await find_composites(starter, group_api)
    client = Client(
        credentials,
        user_agent=agent,
        max_connections=settings.workers + SPARE_CONNECTIONS,
        observe=metrics.request,
        guard=require_lease,
    )
    random = Random()  # noqa: S311 (spreads load, guards nothing)
    operator = Operator(client, group_api, settings, metrics=metrics, random=random, composites=composites)
    health = HealthServer(
        settings.metrics_address,
        live={"operator": operator.stuck},
        ready={"operator": operator.unready},
        registry=registry,
        access=metrics_access(is_asked=settings.metrics_authentication, credentials=credentials, user_agent=agent),
    )
    async with client, health:
        try:
            return await _lead(operator, credentials, elector, stop)
        finally:
            await elector.release()


async def _start(client: Client, settings: ControllersSettings) -> GroupAPI:
    version = await preflight(client)
    group_api = await choose_group_api(client, pinned=settings.group_api, system_namespace=settings.system_namespace)
    # A missing right should end the start with its name, not be waited out by every watch in its own way.
    for resource in (JOBS, PODS, group_api.workloads, group_api.pod_groups):
        await client.request_json("GET", resource.path(), params={"limit": "1"})
    _log.info("Kubernetes %s, group API %s", version.get("gitVersion"), group_api.workloads.api_version)
    return group_api


def _elector(credentials: Credentials, settings: ControllersSettings) -> LeaderElector:
    return LeaderElector(
        credentials=credentials,
        namespace=settings.system_namespace,
        name=CONTROLLERS_NAME,
        identity=settings.identity,
        lease_seconds=settings.lease_seconds,
        renew_seconds=settings.renew_seconds,
        retry_seconds=settings.retry_seconds,
    )


async def _lead(operator: Operator, credentials: Credentials, elector: LeaderElector, stop: asyncio.Event) -> int:
    await _first(stop.wait(), elector.acquire())
    if not stop.is_set():
        await run_in_kopf(operator.run, credentials, stop, elector.lost)
    if elector.lost.is_set():
        raise LeaseLost(f"the lease {CONTROLLERS_NAME} was lost: another process may have taken over")
    return EXIT_OK


async def _first(*works: Coroutine[Any, Any, object]) -> None:
    """Run all until one of them ends, then cancel the others; an error of the first to end is raised."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()

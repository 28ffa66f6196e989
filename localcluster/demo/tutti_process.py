"""Tutti's processes of the demo: `tutti run`, ready when a Job comes back from admission as a gang; and `tutti page` beside it."""

import asyncio
import contextlib
import os
import re
import signal
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import yaml

from api.constants import CONTROLLERS_NAME, MANAGED, SCHEDULER_NAME, SYSTEM_NAMESPACE
from api.errors import ConfigurationError
from kube.client.client import Client
from kube.client.errors import KubeError
from kube.client.resources import JOBS, LEASES
from kube.process.child import Say
from localcluster.cluster import Cluster
from localcluster.demo.jobs import NAMESPACE, fitting_gang
from localcluster.processes import end_of, tethered_child

READY_SECONDS: Final = 45.0
POLL_SECONDS: Final = 0.2
STOP_SECONDS: Final = 15.0
PAGE: Final = re.compile(r"^page: (\S+)$", re.MULTILINE)
SHORT_LEASE: Final = {"lease_seconds": 6, "renew_seconds": 4, "retry_seconds": 1}
"""Of the scheduler, which is killed in the demo: nobody wants to watch a lease of 15 s come to its end."""


@contextlib.asynccontextmanager
async def running_tutti(cluster: Cluster, client: Client, say: Say) -> AsyncIterator[Path]:
    """Tutti on the cluster for as long as the block runs; its log.

    Raises:
        ConfigurationError: it does not get ready; the message says where to look.
    """
    log, config = cluster.folder / "tutti.log", cluster.folder / "tutti.yaml"
    config.write_text(yaml.safe_dump({"scheduler": SHORT_LEASE}), encoding="utf-8")
    arguments = ["tutti", "run", "--kubeconfig", str(cluster.kubeconfig), "--config", str(config)]
    is_ready = False

    def before_start(number: int) -> None:
        if number > 1 and not is_ready:
            raise ConfigurationError("it ends by itself")

    child = tethered_child("tutti run", log, arguments, say=say, stop_seconds=STOP_SECONDS, before_start=before_start)
    running = asyncio.create_task(child.keep_running())
    try:
        await _ready(client, running, log)
        is_ready = True
        yield log
    finally:
        await child.stop()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def _ready(client: Client, running: "asyncio.Task[None]", log: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and not running.done():
        with contextlib.suppress(KubeError):
            if await _is_ready(client):
                return
        await asyncio.sleep(POLL_SECONDS)
    raise ConfigurationError(f"Tutti does not get ready on this cluster; the end of {log}:\n{end_of(log)}")


async def _is_ready(client: Client) -> bool:
    """Whether both leases are held and admission makes a gang of a Job."""
    for name in (CONTROLLERS_NAME, SCHEDULER_NAME):
        lease = await client.get(LEASES, name, SYSTEM_NAMESPACE)
        if not lease["spec"].get("holderIdentity"):
            return False
    probe = fitting_gang(2)
    probe["metadata"]["name"] = "probe"
    job = await client.create(JOBS, probe, NAMESPACE, dry_run=True)
    return MANAGED in (job["spec"]["template"]["metadata"].get("labels") or {})


@contextlib.asynccontextmanager
async def running_page(cluster: Cluster, say: Say) -> AsyncIterator[str]:
    """The live page for as long as the block runs; its address.

    Raises:
        ConfigurationError: it does not start; the message says where to look.
    """
    log = cluster.folder / "page.log"
    arguments = ["tutti", "page", "--kubeconfig", str(cluster.kubeconfig)]
    child = tethered_child("tutti page", log, arguments, say=say, stop_seconds=STOP_SECONDS)
    running = asyncio.create_task(child.keep_running())
    try:
        yield await _address(running, log)
    finally:
        await child.stop()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def _address(running: "asyncio.Task[None]", log: Path) -> str:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and not running.done():
        found = PAGE.search(log.read_text(encoding="utf-8")) if log.exists() else None  # noqa: ASYNC240 (a few bytes)
        if found:
            return found[1]
        await asyncio.sleep(POLL_SECONDS)
    raise ConfigurationError(f"the page does not start; the end of {log}:\n{end_of(log)}")


async def scheduler_holder(client: Client) -> str:
    """Who holds the scheduler's lease, empty for nobody."""
    lease = await client.get(LEASES, SCHEDULER_NAME, SYSTEM_NAMESPACE)
    return str(lease["spec"].get("holderIdentity") or "")


def kill_holder(identity: str) -> None:
    """Kills the process that goes by this identity, which has its number in it, without any warning.

    Raises:
        ConfigurationError: it is no process of this machine.
    """
    host, number, _ = identity.rsplit("_", 2)
    if host != socket.gethostname():
        raise ConfigurationError(f"{identity} is no process of this machine")
    os.kill(int(number), signal.SIGKILL)

"""`tutti run` as a process of the demo: started beside the cluster, ready when a Job comes back from admission as a gang."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

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


@contextlib.asynccontextmanager
async def running_tutti(cluster: Cluster, client: Client, say: Say) -> AsyncIterator[Path]:
    """Tutti on the cluster for as long as the block runs; its log.

    Raises:
        ConfigurationError: it does not get ready; the message says where to look.
    """
    log = cluster.folder / "tutti.log"
    arguments = ["tutti", "run", "--kubeconfig", str(cluster.kubeconfig)]
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

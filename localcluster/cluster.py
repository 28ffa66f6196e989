"""A whole small cluster on this machine: the embedded API server, the stand-ins and hollow nodes, in two processes.

They live exactly as long as the `running_cluster` block: supervised inside it, ended after it, and ended by themselves
when this process dies. Objects are in memory unless the folder is kept; then they are in a file of it, and a later cluster
in the same folder goes on where this one ended.
"""

import asyncio
import contextlib
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from api.errors import ConfigurationError
from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.errors import KubeError
from kube.client.resources import NODES, SERVICE_ACCOUNTS
from kube.process.child import Child, Say
from localcluster.devices import parse_devices
from localcluster.nodes import create_nodes, publish_devices
from localcluster.ports import chosen_port
from localcluster.processes import REPOSITORY, end_of, tethered_child
from localcluster.shapes import NodeShape, parse_resources

DEFAULT_NODES: Final = 20
DEFAULT_SHAPE: Final = "cpu=8,memory=32Gi,nvidia.com/gpu=8"
DEFAULT_DEVICES: Final = "gpu=8"
NODE_PREFIX: Final = "node"
READY_SECONDS: Final = 60.0
POLL_SECONDS: Final = 0.1
STOP_SECONDS: Final = 5.0
USER_AGENT: Final = "tutti-cluster"

KUBECONFIG: Final = "admin.kubeconfig"
SERVER_LOG: Final = "api-server.log"
STAND_INS_LOG: Final = "stand-ins.log"


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """What cluster to run.

    Attributes:
        nodes: how many hollow nodes.
        shape: what each of them has, such as `cpu=8,memory=32Gi`.
        devices: which devices each of them offers, such as `gpu=8`; empty for none.
        folder: where to keep it; None for a temporary folder that goes with it.
        port: the API server's; 0 for the port of the last time in a kept folder, else any free one.
    """

    nodes: int = DEFAULT_NODES
    shape: str = DEFAULT_SHAPE
    devices: str = DEFAULT_DEVICES
    folder: Path | None = None
    port: int = 0


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running cluster: its URL, the folder with its files, and the kubeconfig of its administrator."""

    url: str
    folder: Path
    kubeconfig: Path

    def client(self) -> Client:
        """A client with all rights; the caller closes it."""
        return Client(load_credentials(str(self.kubeconfig)), user_agent=USER_AGENT)

    async def add_nodes(self, names: list[str], shape: str, devices: str = "") -> None:
        """Adds hollow nodes with their devices; those that are there stay as they are."""
        async with self.client() as client:
            await create_nodes(client, names, NodeShape(parse_resources(shape)))
            await publish_devices(client, names, parse_devices(devices))


@contextlib.asynccontextmanager
async def running_cluster(settings: ClusterSettings, say: Say) -> AsyncIterator[Cluster]:
    """A cluster that is ready, for as long as the block runs.

    Raises:
        ConfigurationError: the settings make no sense, or the cluster does not start; the message says which log tells why.
    """
    parse_resources(settings.shape)
    parse_devices(settings.devices)
    with contextlib.ExitStack() as cleanup:
        folder = settings.folder
        if folder is None:
            temporary = tempfile.TemporaryDirectory(prefix="tutti-cluster-", ignore_cleanup_errors=True)
            folder = Path(cleanup.enter_context(temporary))
        folder = _made(folder)
        server = _server(settings, folder, chosen_port(settings.port, folder, is_kept=settings.folder is not None), say)
        stand_ins = _stand_ins(folder, say)
        async with _supervised(server, stand_ins, folder, settings) as cluster:
            yield cluster


@contextlib.asynccontextmanager
async def _supervised(
    server: Child, stand_ins: Child, folder: Path, settings: ClusterSettings
) -> AsyncIterator[Cluster]:
    try:
        async with asyncio.TaskGroup() as group:
            works = [group.create_task(server.keep_running())]
            try:
                cluster = await _answering(folder)
                works.append(group.create_task(stand_ins.keep_running()))
                await _furnish(cluster, settings)
                yield cluster
            finally:
                await asyncio.gather(stand_ins.stop(), server.stop())
                for work in works:
                    work.cancel()
    except BaseExceptionGroup as group_error:
        # Only our own failures are worth a sentence; what the block itself raised goes on as it was.
        raise _first(group_error) from group_error


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ConfigurationError(f"the folder {folder} cannot be used: {error.strerror or error}") from error
    return folder.resolve()


# --- the processes ---------------------------------------------------------------------------------------------------


def _server(settings: ClusterSettings, folder: Path, port: int, say: Say) -> Child:
    arguments = ["localcluster.apiserver", "--port", str(port), "--folder", str(folder)]
    keeps = settings.folder is not None
    if keeps:
        arguments += ["--keep", str(folder / "objects.sqlite")]
    log = folder / SERVER_LOG

    def before_start(number: int) -> None:
        if number > 1 and not keeps:
            raise ConfigurationError(
                f"the API server has ended and what it held is gone; {log} says why:\n{end_of(log)}"
            )

    return tethered_child("API server", log, arguments, say=say, stop_seconds=STOP_SECONDS, before_start=before_start)


def _stand_ins(folder: Path, say: Say) -> Child:
    arguments = ["localcluster.controllers", "--kubelet", "--kubeconfig", str(folder / KUBECONFIG)]
    return tethered_child("stand-ins", folder / STAND_INS_LOG, arguments, say=say, stop_seconds=STOP_SECONDS)


# --- until it is ready -----------------------------------------------------------------------------------------------


async def _answering(folder: Path) -> Cluster:
    """The cluster once its API server answers."""
    kubeconfig = folder / KUBECONFIG
    written_before = kubeconfig.stat().st_mtime_ns if kubeconfig.exists() else 0
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if kubeconfig.exists() and kubeconfig.stat().st_mtime_ns != written_before:
            credentials = load_credentials(str(kubeconfig))
            with contextlib.suppress(KubeError):
                async with Client(credentials, user_agent=USER_AGENT) as client:
                    await client.request_json("GET", "/version")
                return Cluster(credentials.server, folder, kubeconfig)
        await asyncio.sleep(POLL_SECONDS)
    log = folder / SERVER_LOG
    raise ConfigurationError(
        f"the API server does not answer after {READY_SECONDS:g} s; {log} says why:\n{end_of(log)}"
    )


async def _furnish(cluster: Cluster, settings: ClusterSettings) -> None:
    """Makes the nodes, and waits until the stand-ins have done their first work: the service account of `default`."""
    names = [f"{NODE_PREFIX}-{number}" for number in range(settings.nodes)]
    await cluster.add_nodes(names, settings.shape, settings.devices)
    deadline = time.monotonic() + READY_SECONDS
    async with cluster.client() as client:
        while time.monotonic() < deadline:
            with contextlib.suppress(KubeError):
                await client.get(SERVICE_ACCOUNTS, "default", "default")
                await client.request_json("GET", NODES.path(), params={"limit": "1"})
                return
            await asyncio.sleep(POLL_SECONDS)
    log = cluster.folder / STAND_INS_LOG
    raise ConfigurationError(f"the stand-in controllers do not start; {log} says why:\n{end_of(log)}")


# --- `tutti cluster` -------------------------------------------------------------------------------------------------


async def main(settings: ClusterSettings, stop: asyncio.Event, say: Say) -> int:
    """Runs a cluster until `stop` is set; the exit code.

    Raises:
        ConfigurationError: it cannot start as asked.
    """
    async with running_cluster(settings, say) as cluster:
        for line in welcome(cluster, settings):
            say(line)
        await stop.wait()
    say(f"the cluster has ended; {settings.folder} keeps it" if settings.folder else "the cluster has ended")
    return 0


def welcome(cluster: Cluster, settings: ClusterSettings) -> list[str]:
    """What to try, for people."""
    kubectl = f"kubectl --kubeconfig {cluster.kubeconfig}"
    devices = f" with devices {settings.devices}" if settings.devices else ""
    return [
        f"cluster ready at {cluster.url}: {settings.nodes} hollow nodes of {settings.shape}{devices}",
        f"  export KUBECONFIG={cluster.kubeconfig}",
        f"  {kubectl} get nodes",
        f"  {kubectl} apply -f {REPOSITORY / 'config' / 'samples' / 'gang-job.yaml'}",
        f"  tutti run --kubeconfig {cluster.kubeconfig}     # in another terminal: gang scheduling",
        "Pods run by the clock: they end after the seconds of the annotation localcluster.tutti.scheduler/run-seconds.",
        f"Logs: {cluster.folder}. Ctrl-C ends the cluster.",
    ]

"""The embedded API server alone: pods created and bound per second, a long list for kubectl, and its memory.

The server is one process, so what it does per second of its own CPU is what one core can give; that figure stays true when
the machine has other things to do. The requests come from this process, over as many connections as a busy scheduler keeps.
"""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hack.bench.bindwatch import BindWatch
from hack.bench.table import show
from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.resources import NODES, PODS
from localcluster.apiserver.http import JSON
from localcluster.shapes import NodeShape, node_manifest, parse_resources
from verify.clusters.eventually import eventually
from verify.clusters.jobs import plain_pod
from verify.clusters.server import Server

PODS_COUNT = 5000
NODES_COUNT = 100
IN_FLIGHT = 32
READY_SECONDS = 60
LISTS = 3
CREATED = "2026-01-01T00:00:00Z"
TABLE = f"{JSON};as=Table;v=v1;g=meta.k8s.io,{JSON}"
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Cost:
    """What some requests took: time on the clock, and of it the server's own CPU, in seconds."""

    count: int
    clock_seconds: float
    cpu_seconds: float

    def row(self, name: str) -> list[str]:
        """As a row of the table."""
        by_clock, by_cpu = self.count / self.clock_seconds, self.count / max(self.cpu_seconds, 1 / TICKS)
        return [name, str(self.count), f"{by_clock:.0f}", f"{by_cpu:.0f}", f"{self.cpu_seconds * 1e6 / self.count:.0f}"]


def measure() -> None:
    """Runs all rows and prints both tables."""
    with _server() as (server, kubeconfig):
        rows, lists, memory = asyncio.run(_measure(server, kubeconfig))
        lists += _kubectl(server, kubeconfig)
    show(
        f"The embedded API server: {IN_FLIGHT} requests in flight, one watcher of all pods",
        ["", "requests", "per second", "per CPU second", "CPU µs each"],
        [cost.row(name) for name, cost in rows],
        notes=["per CPU second: of the server's process, which is what one core gives when nothing else wants it"],
    )
    show(
        f"A list of {PODS_COUNT} pods",
        ["", "seconds", "server CPU s"],
        [[name, f"{cost.clock_seconds:.2f}", f"{cost.cpu_seconds:.2f}"] for name, cost in lists],
        notes=[f"resident memory of the server: {memory}"],
    )


@contextmanager
def _server() -> Iterator[tuple[Server, Path]]:
    with tempfile.TemporaryDirectory(prefix="bench-embedded-") as name:
        folder = Path(name)
        command = [sys.executable, "-m", "localcluster.apiserver", "--folder", str(folder)]
        server = Server("API server", command, log=folder / "log")
        kubeconfig = folder / "admin.kubeconfig"
        server.start()
        try:
            eventually(lambda: _is_written(server, kubeconfig), within_seconds=READY_SECONDS)
            yield server, kubeconfig
        finally:
            server.kill()


def _is_written(server: Server, kubeconfig: Path) -> bool:
    server.require_running()
    return kubeconfig.exists()


async def _measure(server: Server, kubeconfig: Path) -> tuple[list[tuple[str, Cost]], list[tuple[str, Cost]], str]:
    credentials = load_credentials(str(kubeconfig))
    async with Client(credentials, user_agent="bench", max_connections=IN_FLIGHT + 2) as client:
        await _prepare(client)
        empty = _resident_mebibytes(server.pid)
        async with BindWatch(client, "default") as watch:
            create = await _timed(server.pid, [_creation(client, number) for number in range(PODS_COUNT)])
            filled = _resident_mebibytes(server.pid)
            bind = await _timed(server.pid, [_binding(client, number) for number in range(PODS_COUNT)])
            await watch.wait_bound(PODS_COUNT, within_seconds=READY_SECONDS)
        bound = _resident_mebibytes(server.pid)
        whole = await _timed(server.pid, [lambda: client.list(PODS, "default") for _ in range(LISTS)], in_flight=1)
    memory = (
        f"{empty} MiB with {NODES_COUNT} nodes, {filled} MiB with {PODS_COUNT} pods, {bound} MiB once they are bound"
    )
    each = Cost(1, whole.clock_seconds / LISTS, whole.cpu_seconds / LISTS)
    return [("create a pod", create), ("bind a pod", bind)], [("one list of whole objects", each)], memory


async def _prepare(client: Client) -> None:
    shape = NodeShape(parse_resources("cpu=64,memory=256Gi"))
    for number in range(NODES_COUNT):
        await client.create(NODES, node_manifest(f"node-{number}", shape, now=CREATED))


def _creation(client: Client, number: int) -> Callable[[], Awaitable[Any]]:
    body = plain_pod(f"pod-{number}", cpu="100m")
    return lambda: client.create(PODS, body, "default", parse=False)


def _binding(client: Client, number: int) -> Callable[[], Awaitable[Any]]:
    node = {"apiVersion": "v1", "kind": "Node", "name": f"node-{number % NODES_COUNT}"}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": f"pod-{number}"}, "target": node}
    return lambda: client.create(PODS, body, "default", name=f"pod-{number}", subresource="binding", parse=False)


async def _timed(pid: int, requests: Sequence[Callable[[], Awaitable[Any]]], *, in_flight: int = IN_FLIGHT) -> Cost:
    pending = iter(requests)

    async def work() -> None:
        for request in pending:
            await request()

    begin, spent = time.perf_counter(), _cpu_seconds(pid)
    await asyncio.gather(*(work() for _ in range(in_flight)))
    return Cost(len(requests), time.perf_counter() - begin, _cpu_seconds(pid) - spent)


def _kubectl(server: Server, kubeconfig: Path) -> list[tuple[str, Cost]]:
    """`kubectl get pods`, when there is a kubectl."""
    beside = Path(os.environ.get("KUBEBUILDER_ASSETS", ""), "kubectl")
    found = str(beside) if beside.is_file() else shutil.which("kubectl")
    if found is None:
        return []
    command = [found, "--kubeconfig", str(kubeconfig), "--cache-dir", str(kubeconfig.parent / "cache"), "get", "pods"]
    begin, spent = time.perf_counter(), _cpu_seconds(server.pid)
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=READY_SECONDS)
    assert len(done.stdout.splitlines()) == PODS_COUNT + 1
    return [("kubectl get pods", Cost(1, time.perf_counter() - begin, _cpu_seconds(server.pid) - spent))]


def _cpu_seconds(pid: int) -> float:
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / TICKS


def _resident_mebibytes(pid: int) -> int:
    (line,) = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) // 1024

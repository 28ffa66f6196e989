"""Ten thousand gang Jobs on the embedded cluster: how long their objects take, what the controllers keep, and a restart.

The cluster has no nodes and no stand-in controllers, so nothing but Tutti works on the Jobs: measured are admission,
Workload, PodGroup and release of each Job. Then the controllers are ended: the next ones must have looked at every Job soon
and write nothing, which their own count of requests tells.
"""

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Final

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

from api.constants import METRIC_API_REQUESTS, METRIC_RECONCILE_SECONDS, POD_GROUP
from api.job import Job
from hack.bench.costs import Cost, cost_of, option_of
from hack.bench.end_to_end import at_most_in_flight
from hack.bench.objects import NAMESPACE, job
from hack.bench.table import show
from kube.cache.decoding import ListDecoder
from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.resources import JOBS, NAMESPACES
from verify.clusters.server import Server

JOBS_COUNT: Final = int(os.environ.get("TUTTI_BENCH_JOBS", "10000"))
SIZE: Final = 8
PATIENCE_SECONDS: Final = 900.0
POLL_SECONDS: Final = 0.5
QUIET_SECONDS: Final = 20.0
STOP_SECONDS: Final = 30
SERVER: Final = "localcluster.apiserver"
CONTROLLERS: Final = "controllers"
PROCESSES: Final = (SERVER, CONTROLLERS, "webhooks", "scheduler")


def measure() -> None:
    """Runs it and prints the table."""
    with tempfile.TemporaryDirectory(prefix="bench-jobs-") as name:
        asyncio.run(_measure(Path(name)))


async def _measure(folder: Path) -> None:
    kubeconfig, log = folder / "admin.kubeconfig", folder / "tutti.log"
    server = Server("API server", [sys.executable, "-m", SERVER, "--folder", str(folder)], log=folder / "server.log")
    tutti = Server("tutti", [sys.executable, "-m", "tutti", "run", "--kubeconfig", str(kubeconfig)], log=log)
    async with (
        _running(server, kubeconfig.exists),
        _running(tutti, lambda: "Tutti is running" in log.read_text()),
        Client(load_credentials(str(kubeconfig)), user_agent="tutti-bench", max_connections=64) as client,
        aiohttp.ClientSession() as session,
    ):
        counts = Counts(session)
        await client.create(NAMESPACES, {"metadata": {"name": NAMESPACE}})
        begin = perf_counter()
        await at_most_in_flight(
            client.create(JOBS, job(index, SIZE, gang=True), NAMESPACE, parse=False) for index in range(JOBS_COUNT)
        )
        submitted_seconds = perf_counter() - begin
        await counts.until(lambda now: now.releases >= JOBS_COUNT)
        made_seconds = perf_counter() - begin
        costs = {word: cost_of(word) for word in PROCESSES}
        assert await _released(client) == JOBS_COUNT
        ready_seconds, writes = await _restart(counts, costs[CONTROLLERS].pid)
        _show(submitted_seconds, made_seconds, costs, ready_seconds, writes, cost_of(CONTROLLERS))


@contextlib.asynccontextmanager
async def _running(server: Server, is_ready: Callable[[], bool]) -> AsyncIterator[None]:
    server.start()
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not is_ready():
                server.require_running()
                await asyncio.sleep(POLL_SECONDS)
        yield
    finally:
        server.terminate(within_seconds=STOP_SECONDS)


async def _released(client: Client) -> int:
    """How many Jobs have a group and may start."""
    decoder, count = ListDecoder(Job), 0
    async for page in client.list_pages(JOBS, NAMESPACE):
        jobs = decoder.page(page).items
        count += sum(not each.spec.suspend and bool(each.spec.template.metadata.annotation(POD_GROUP)) for each in jobs)
    return count


async def _restart(counts: "Counts", pid: int) -> tuple[float, int]:
    """Ends the controllers as a rollout does; seconds until the next ones have looked at every Job, and their writes."""
    begin = perf_counter()
    os.kill(pid, signal.SIGTERM)
    await counts.until(lambda now: now.passes < JOBS_COUNT)
    await counts.until(lambda now: now.passes >= JOBS_COUNT)
    ready_seconds = perf_counter() - begin
    await asyncio.sleep(QUIET_SECONDS)
    return ready_seconds, (await counts.now()).writes


@dataclass(frozen=True, slots=True)
class Count:
    """What the controllers have done: passes over Jobs, patches of Jobs that went through, writes but of leases."""

    passes: int = 0
    releases: int = 0
    writes: int = 0


class Counts:
    """Reads the controllers' metrics, which costs the API server nothing."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def now(self) -> Count:
        """The counts; all zero while the process starts."""
        try:
            address = option_of(CONTROLLERS, "metrics")
            async with self._session.get(f"http://{address}/metrics") as answer:
                text = await answer.text()
        except (LookupError, aiohttp.ClientError):
            return Count()
        passes = releases = writes = 0
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                if sample.name == f"{METRIC_RECONCILE_SECONDS}_count":
                    passes += int(sample.value)
                elif sample.name == METRIC_API_REQUESTS:
                    verb, resource = sample.labels["verb"], sample.labels["resource"]
                    is_write = verb not in {"get", "list", "watch"} and resource != "leases"
                    writes += int(sample.value) * is_write
                    is_release = (verb, resource, sample.labels["code"]) == ("patch", "jobs", "200")
                    releases += int(sample.value) * is_release
        return Count(passes, releases, writes)

    async def until(self, check: Callable[[Count], bool]) -> None:
        """Returns once it is so."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not check(await self.now()):  # noqa: ASYNC110 (another process, no event tells)
                await asyncio.sleep(POLL_SECONDS)


def _show(
    submitted_seconds: float,
    made_seconds: float,
    costs: dict[str, Cost],
    ready_seconds: float,
    writes: int,
    after: Cost,
) -> None:
    show(
        f"{JOBS_COUNT} gang Jobs on the embedded cluster",
        ["process", "CPU s", "MiB at the end", "MiB at most"],
        [
            [word, f"{cost.cpu_seconds:.1f}", f"{cost.now_mib:.0f}", f"{cost.peak_mib:.0f}"]
            for word, cost in [*costs.items(), ("controllers, restarted", after)]
        ],
        notes=[
            f"all Jobs submitted after {submitted_seconds:.1f} s",
            f"the last one released with its group after {made_seconds:.1f} s ({JOBS_COUNT / made_seconds:.0f} Jobs/s)",
            f"controllers restarted: every Job looked at after {ready_seconds:.1f} s",
            f"writes of the restarted controllers within {QUIET_SECONDS:g} s more: {writes}",
        ],
    )

"""Fills the caches of a whole scheduler from the server at a URL and prints as JSON what that took.

A process of its own, so that its memory and CPU are those of a scheduler. The scheduler is put together as ever; it is only
never started, so nothing is written.

    python -m hack.bench.state_child URL
"""

import asyncio
import gc
import json
import random
import resource
import sys
import time
from pathlib import Path
from typing import Any, Final

import msgspec
from prometheus_client import CollectorRegistry

from api.node import Node
from api.pod import Pod
from hack.bench.manifests import node, pod
from kube.client.client import PAGE_SIZE, Client
from kube.client.credentials import Credentials
from kube.groups.group_api import BUILT_IN
from scheduler.main import READ_CONNECTIONS
from scheduler.reporting.metrics import SchedulerMetrics
from scheduler.settings import SchedulerSettings
from scheduler.shared_parts import Surroundings
from scheduler.wiring import Scheduler, build_scheduler

PAGE: Final = PAGE_SIZE
EVENTS: Final = 5_000


async def cold_start(url: str) -> dict[str, float]:
    """Seconds, MiB and microseconds by name."""
    async with Client(Credentials(server=url), user_agent="bench", max_connections=READ_CONNECTIONS) as client:
        scheduler = build_scheduler(
            Surroundings(
                reader=client,
                writer=client,
                group_api=BUILT_IN,
                settings=SchedulerSettings(),
                metrics=SchedulerMetrics(CollectorRegistry()),
                may_write=lambda: False,
                clock=time.monotonic,
                epoch=time.time,
                jitter=random.Random(1),
            )
        )
        begin, begin_cpu = time.perf_counter(), time.process_time()
        informers = scheduler.informers.all
        tasks = [asyncio.create_task(informer.run()) for informer in informers]
        for informer in informers:
            await informer.synced.wait()
        found = {"seconds": time.perf_counter() - begin, "cpu_seconds": time.process_time() - begin_cpu}
        gc.collect()
        found["rss_mib"] = _resident_mib()
        found["peak_mib"] = _most_resident_mib()
        found |= _events(scheduler)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return found


def _resident_mib() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def _most_resident_mib() -> float:
    """Since this program was started; what `getrusage` says includes the process that started it, lists and all."""
    status = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in status if line.startswith("VmHWM:"))) / 2**10


def _events(scheduler: Scheduler) -> dict[str, float]:
    """Microseconds of CPU from the bytes of an event to a state that has taken it in."""
    state = scheduler.state
    decode_pod, decode_node = msgspec.json.Decoder(Pod).decode, msgspec.json.Decoder(Node).decode
    pods = [json.dumps(_ended(index)).encode() for index in range(EVENTS)]
    nodes = [json.dumps(node(index)).encode() for index in range(EVENTS)]
    begin = time.process_time()
    for line in pods:
        state.upsert_pod(state.slim_pod(decode_pod(line)))
    between = time.process_time()
    for line in nodes:
        state.upsert_node(state.slim_node(decode_node(line)))
    end = time.process_time()
    return {"pod_event_us": (between - begin) / EVENTS * 1e6, "node_event_us": (end - between) / EVENTS * 1e6}


def _ended(index: int) -> dict[str, Any]:
    manifest = pod(index)
    manifest["status"]["phase"] = "Succeeded"
    return manifest


def main() -> None:
    """Prints the figures."""
    print(json.dumps(asyncio.run(cold_start(sys.argv[1]))))


if __name__ == "__main__":
    main()

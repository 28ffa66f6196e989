"""What recordings cost: 5,000 nodes, 50,000 bound pods, 1,000 gangs that wait; and how long a scheduler at work is held up.

The file is fetched over HTTP from the health server of this process, as from a scheduler. Meanwhile the process's loop looks at the
clock as often as it gets its turn: the longest time between two looks is the longest hold-up.
"""

import asyncio
import gc
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import cast

from prometheus_client import CollectorRegistry

from hack.bench.clusters import NAMESPACE, decode_group, decode_node, decode_pod, pod_manifest
from hack.bench.manifests import NODES, PODS, node, pod
from hack.bench.table import show
from kube.process.health import Downloads, HealthServer
from kube.process.metrics_access import MetricsAccess
from scheduler.core import Core, build_core
from scheduler.recording.anonymous import anonymous
from scheduler.recording.capture import Moment
from scheduler.recording.file import CONTENT_TYPE, read
from scheduler.recording.recordings import Recordings
from scheduler.recording.restore import restore
from scheduler.settings import SchedulerSettings

GANGS, MEMBERS = 1000, 8
RUNS = 3
GOAL_MS = 50.0


class _Everybody:
    """Lets everybody in."""

    async def __aenter__(self) -> "_Everybody":
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing is open."""

    async def decide(self, *_: str) -> HTTPStatus:
        return HTTPStatus.OK


def measure() -> None:
    """Prints the table."""
    core = _core()
    recordings = Recordings(core, lambda: Moment(time.time(), time.monotonic(), {}), time.monotonic, 0)
    recordings.begin()
    gc.collect()
    gc.freeze()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "snapshot"
        runs = [asyncio.run(_fetched(recordings.inputs, file)) for _ in range(RUNS)]
        steps_ms = [_longest_step_ms(recordings.inputs() or iter(())) for _ in range(RUNS)]
        size, read_seconds, restore_seconds, anonymous_seconds = _read(file)
    show(
        f"Recordings: {NODES:,} nodes, {PODS:,} bound pods, {GANGS:,} gangs of {MEMBERS} that wait",
        ["", "median", "max", "goal"],
        [
            ["taking references to everything, at once, ms", *_figures([run["take"] for run in runs], "")],
            ["longest hold-up of the loop while fetched, ms", *_figures([run["held"] for run in runs], f"{GOAL_MS:g}")],
            ["the same without a fetch, ms", *_figures([run["idle"] for run in runs], "")],
            ["longest step of making the file, ms of its thread", *_figures(steps_ms, f"{GOAL_MS:g}")],
            ["until the file is there, seconds", *_figures([run["seconds"] for run in runs], "")],
            ["size of the file, MB", f"{size / 1e6:.1f}", "", ""],
            ["reading the file, seconds", f"{read_seconds:.2f}", "", ""],
            ["making a scheduler's core of it, seconds", f"{restore_seconds:.2f}", "", ""],
            ["making its names up, seconds", f"{anonymous_seconds:.2f}", "", ""],
        ],
        notes=[f"{RUNS} fetches"],
    )


def _longest_step_ms(parts: Iterator[bytes]) -> float:
    """In processor time of the thread that makes them, which says the same on a busy machine."""
    longest, begun = 0.0, time.thread_time()
    for _ in parts:
        now = time.thread_time()
        longest, begun = max(longest, now - begun), now
    return max(longest, time.thread_time() - begun) * 1000


def _core() -> Core:
    core = build_core(SchedulerSettings(), clock=time.monotonic, epoch=time.time, apply=lambda _: None)
    state, queue = core.state, core.queue
    for index in range(NODES):
        state.upsert_node(state.slim_node(decode_node(json.dumps(node(index)))))
    for index in range(PODS):
        state.upsert_pod(decode_pod(json.dumps(pod(index))))
    for index in range(GANGS):
        name = f"gang-{index}"
        metadata = {"name": name, "namespace": NAMESPACE, "uid": f"u-{name}"}
        spec = {"schedulingPolicy": {"gang": {"minCount": MEMBERS}}}
        queue.move_all_to_active(
            state.upsert_group(decode_group(json.dumps({"metadata": metadata, "spec": spec}))), state
        )
        for member in range(MEMBERS):
            manifest = pod_manifest(f"{name}-{member}", 10**7, gang=name)
            queue.move_all_to_active(state.upsert_pod(decode_pod(json.dumps(manifest))), state)
    return core


async def _fetched(inputs: Callable[[], Iterator[bytes] | None], file: Path) -> dict[str, float]:
    found = {"idle": await _longest_gap(asyncio.sleep(1.0))}

    def timed() -> Iterator[bytes] | None:
        begun = time.perf_counter()
        parts = inputs()
        found["take"] = (time.perf_counter() - begun) * 1000
        return parts

    downloads = Downloads(cast("MetricsAccess", _Everybody()), {"/snapshot": timed}, CONTENT_TYPE)
    async with HealthServer("127.0.0.1:0", registry=CollectorRegistry(), downloads=downloads) as server:
        begun = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            "curl", "-s", "-o", str(file), f"http://127.0.0.1:{server.port}/snapshot"
        )
        found["held"] = await _longest_gap(process.wait())
        found["seconds"] = time.perf_counter() - begun
    return found


async def _longest_gap(work: object) -> float:
    """How long the loop had no turn at most while the work was done, in milliseconds."""
    task = asyncio.ensure_future(work)  # type: ignore[call-overload]
    longest, last = 0.0, time.perf_counter()
    while not task.done():
        await asyncio.sleep(0.0005)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    return longest * 1000


def _read(file: Path) -> tuple[int, float, float, float]:
    begun = time.perf_counter()
    recording = read(file)
    read_seconds, begun = time.perf_counter() - begun, time.perf_counter()
    restore(recording.inputs)
    restore_seconds, begun = time.perf_counter() - begun, time.perf_counter()
    anonymous(recording.inputs)
    return file.stat().st_size, read_seconds, restore_seconds, time.perf_counter() - begun


def _figures(values: list[float], goal: str) -> list[str]:
    ordered = sorted(values)
    return [f"{ordered[len(ordered) // 2]:.1f}", f"{ordered[-1]:.1f}", f"at most {goal}" if goal else ""]


if __name__ == "__main__":
    measure()

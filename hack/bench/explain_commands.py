"""What people wait for: `tutti why` as a whole command, its start included, of a file and of a cluster.

The cluster is a server in this process that has 5,000 nodes and 50,000 pods ready as pages of lists, with everything that an API
server says of them. Beside the time that passes stands the processor time of the command: it is what remains on a machine with
nothing else to do. Modules are compiled before, as in an installation.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from aiohttp import web

from hack.bench import clusters, explain, manifests
from hack.bench.table import show
from kube.client.client import PAGE_SIZE

RUNS = 3
TUTTI = Path(__file__).parents[2] / "tutti.py"
SCHEDULING = "/apis/tutti.scheduler/v1beta1"


def measure() -> None:
    """Prints the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file, kubeconfig, compiled = folder / "snapshot", folder / "kubeconfig", folder / "compiled"
        explain.write_snapshot(file, list(explain.gang(16_000)))
        with _Cluster() as port:
            kubeconfig.write_text(json.dumps(_kubeconfig(port)))
            rows = [
                _row(compiled, "of a file", "at most 1 s", "why", "podgroup/gang", f"--snapshot={file}"),
                _row(
                    compiled,
                    "of a file, 100 kinds of pods",
                    "",
                    "why",
                    "podgroup/gang",
                    f"--snapshot={_of_kinds(folder)}",
                ),
                _row(compiled, "of a cluster", "at most 3 s", "why", "podgroup/gang", f"--kubeconfig={kubeconfig}"),
            ]
            rows.append(_tenant_row(compiled, file))
    show(
        f"tutti why, whole commands: a gang of {explain.SIZE:,} on {explain.NODES:,} nodes with {manifests.PODS:,} pods",
        ["", "seconds", "of processor", "goal"],
        rows,
        notes=[f"medians of {RUNS} runs"],
    )


def _of_kinds(folder: Path) -> Path:
    file = folder / "kinds"
    explain.write_snapshot(file, list(explain.gang(16_000, kinds=100)))
    return file


def _row(compiled: Path, name: str, goal: str, *words: str) -> list[str]:
    command = [sys.executable, str(TUTTI), *words, f"--namespace={clusters.NAMESPACE}"]
    return [name, *_timed(command, None, compiled), goal]


def _tenant_row(compiled: Path, file: Path) -> list[str]:
    command = [sys.executable, "-m", "explain.tenant", clusters.NAMESPACE, "podgroup", "gang"]
    return ["the child that answers a tenant", *_timed(command, file, compiled), ""]


def _timed(command: list[str], stdin: Path | None, compiled: Path) -> list[str]:
    seconds, processor = [], []
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    variables["PYTHONPYCACHEPREFIX"] = str(compiled)
    for _ in range(1 + RUNS):
        before, begin = os.times(), time.perf_counter()
        with stdin.open("rb") if stdin else open(os.devnull, "rb") as given:  # noqa: PTH123 (a device)
            done = subprocess.run(
                command, stdin=given, capture_output=True, check=False, cwd=TUTTI.parent, env=variables
            )
        seconds.append(time.perf_counter() - begin)
        after = os.times()
        processor.append(after.children_user + after.children_system - before.children_user - before.children_system)
        assert done.returncode in {0, 3, 4}, done.stderr.decode()
    # The first run has compiled.
    return [f"{median(seconds[1:]):.2f}", f"{median(processor[1:]):.2f}"]


def _kubeconfig(port: int) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "bench",
        "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "bench"}}],
        "clusters": [{"name": "bench", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "bench", "user": {"token": "none"}}],
    }


def _pages(items: Iterable[dict[str, Any]]) -> list[bytes]:
    all_items = list(items)
    starts = range(0, max(len(all_items), 1), PAGE_SIZE)
    pages = []
    for start in starts:
        more = str(start + PAGE_SIZE) if start + PAGE_SIZE < len(all_items) else ""
        metadata = {"resourceVersion": "1", "continue": more}
        pages.append(json.dumps({"metadata": metadata, "items": all_items[start : start + PAGE_SIZE]}).encode())
    return pages


def _pods() -> Iterator[dict[str, Any]]:
    yield from map(manifests.pod, range(manifests.PODS))
    for manifest in explain.gang(100_000):
        if manifest["kind"] == "Pod":
            yield {**manifest, "status": {"phase": "Pending"}}


class _Cluster:
    """Serves lists in a thread; a context manager that gives the port."""

    def __init__(self) -> None:
        groups = [each for each in explain.gang(16_000) if each["kind"] == "PodGroup"]
        self._pages = {
            "/api/v1/pods": _pages(_pods()),
            "/api/v1/nodes": _pages(map(manifests.node, range(manifests.NODES))),
            f"{SCHEDULING}/podgroups": _pages(groups),
        }
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self._port = 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> int:
        self._thread.start()
        self._started.wait()
        return self._port

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._start())
        self._started.set()
        self._loop.run_forever()

    async def _start(self) -> None:
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self._port = int(runner.addresses[0][1])

    async def _answer(self, request: web.Request) -> web.Response:
        if request.path == "/version":
            return web.json_response({"gitVersion": "v1.37.0", "major": "1", "minor": "37"})
        if request.path == SCHEDULING:
            return web.json_response({"resources": [{"name": "podgroups"}, {"name": "workloads"}]})
        pages = self._pages.get(request.path)
        if pages is None:
            return web.json_response({"kind": "Status", "code": 404, "reason": "NotFound"}, status=404)
        return web.Response(
            body=pages[int(request.query.get("continue", "0")) // PAGE_SIZE], content_type="application/json"
        )

"""What the scheduler's caches cost: a cold start of 50,000 bound pods on 5,000 nodes, memory, and one watch event.

The lists are as an API server sends them (managed fields, tokens, conditions, fifty images a node), in pages, over HTTP from
this program; the scheduler is a process of its own, so that its memory is its own.
"""

import asyncio
import json
import sys
from typing import Any

from aiohttp import web

from hack.bench.manifests import NODES, PODS, node, pod
from hack.bench.state_child import PAGE
from hack.bench.table import show

RUNS = 5


def measure() -> None:
    """Runs the child some times and prints the table."""
    found = asyncio.run(_measure())
    show(
        f"State: {PODS:,} bound pods, {NODES:,} nodes",
        ["", "median", "max", "goal"],
        [
            ["cold start, seconds from the first list to all caches filled", *_figures(found, "seconds", "10")],
            ["  of it CPU of the scheduler, seconds", *_figures(found, "cpu_seconds", "")],
            ["resident memory then, MiB", *_figures(found, "rss_mib", "300")],
            ["most resident memory until then, MiB", *_figures(found, "peak_mib", "300")],
            ["one watch event of a pod (bound, phase changed), µs", *_figures(found, "pod_event_us", "50")],
            ["one watch event of a node (heartbeat), µs", *_figures(found, "node_event_us", "50")],
        ],
        notes=[
            f"{len(found)} runs; {found[0]['mib']:.0f} MiB of JSON; without interpreter and modules: see the first line"
        ],
    )


def _figures(found: list[dict[str, float]], key: str, goal: str) -> list[str]:
    values = sorted(run[key] for run in found)
    return [f"{values[len(values) // 2]:.1f}", f"{values[-1]:.1f}", f"at most {goal}" if goal else ""]


async def _measure() -> list[dict[str, float]]:
    pages = {"nodes": _pages(node, NODES, "Node"), "pods": _pages(pod, PODS, "Pod")}
    size_mib = sum(len(page) for kind in pages.values() for page in kind) / 2**20
    runner = web.AppRunner(_application(pages), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        return [await _child(url) | {"mib": size_mib} for _ in range(RUNS)]
    finally:
        await runner.cleanup()


async def _child(url: str) -> dict[str, float]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "hack.bench.state_child", url, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError("the measured process failed; see above")
    found: dict[str, float] = json.loads(out)
    return found


def _application(pages: dict[str, list[bytes]]) -> web.Application:
    async def answer(request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            stream = web.StreamResponse()
            await stream.prepare(request)
            await asyncio.sleep(3600)
            return stream
        documents = pages.get(request.path.rsplit("/", 1)[-1], [_page([], "")])
        return web.Response(body=documents[int(request.query.get("continue", "0"))], content_type="application/json")

    application = web.Application()
    application.router.add_get("/{path:.*}", answer)
    return application


def _pages(build: Any, count: int, kind: str) -> list[bytes]:
    starts = range(0, count, PAGE)
    return [
        _page(
            [build(index) for index in range(start, min(start + PAGE, count))],
            str(at + 1) if at + 1 < len(starts) else "",
            kind,
        )
        for at, start in enumerate(starts)
    ]


def _page(items: list[dict[str, Any]], following: str, kind: str = "") -> bytes:
    metadata = {"resourceVersion": "1000000", **({"continue": following} if following else {})}
    return json.dumps({"kind": f"{kind}List", "apiVersion": "v1", "metadata": metadata, "items": items}).encode()

"""Latency of the admission server, idle and while the scheduler places gangs on the same two cores."""

import asyncio
import json
import sys
from pathlib import Path

from hack.bench.end_to_end import place_bare_gangs, prepare, running_tutti
from hack.bench.table import show
from install.address import free_ports
from kube.client.client import Client
from kube.client.credentials import load_credentials
from verify.clusters.controlplane import ControlPlane
from verify.clusters.real import RealControlPlane

SECONDS = 8.0


def measure(assets: Path) -> None:
    """Runs both loads and prints the table."""
    with RealControlPlane(group_api="built-in", assets=assets, stock_scheduler=False, audited=False) as plane:
        idle, busy, bound = asyncio.run(_measure(plane))
    show(
        "Admission of a gang Job over HTTPS, one review at a time",
        ["", "reviews", "p50 ms", "p99 ms", "max ms"],
        [
            [name, str(row["count"]), f"{row['p50']:.2f}", f"{row['p99']:.2f}", f"{row['max']:.1f}"]
            for name, row in (("idle", idle), ("scheduler busy", busy))
        ],
        notes=[f"busy: {bound} pods were created, placed and bound on the same two cores meanwhile"],
    )


async def _measure(plane: ControlPlane) -> tuple[dict[str, float], dict[str, float], int]:
    (port,) = free_ports(1)
    url = f"https://127.0.0.1:{port}"
    async with (
        Client(load_credentials(str(plane.kubeconfig)), user_agent="tutti-bench", max_connections=64) as client,
        running_tutti(plane, "--listen", f"127.0.0.1:{port}"),
    ):
        await prepare(client)
        idle = await _load(url)
        busy, row = await asyncio.gather(_load(url), place_bare_gangs(client, "busy", "tutti"))
        return idle, busy, row.bound


async def _load(url: str) -> dict[str, float]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "hack.bench.review_load", url, str(SECONDS), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError("the admission load failed; see above")
    loaded: dict[str, float] = json.loads(out)
    return loaded

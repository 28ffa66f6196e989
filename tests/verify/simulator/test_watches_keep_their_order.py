"""What a server writes to one watch arrives in that order, however long the way of each line is."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import cast

from kube.client.connection import Request
from localcluster.apiserver.verbs.watch import Watcher
from verify.simulator.faults import Chance, Weather
from verify.simulator.loop import run_virtually
from verify.simulator.network import Network, _Lines
from verify.simulator.server import Server

LINES = [b'{"number":%d}' % number for number in range(300)]


class _Burst:
    """Writes all lines in a moment."""

    async def run(self, write: Callable[[bytes], Awaitable[None]], cut: Callable[[], object]) -> None:
        for line in LINES:
            await write(line + b"\n")


def test_lines_of_one_moment_arrive_in_their_order() -> None:
    async def work() -> list[bytes]:
        network = Network(cast("Server", None), Chance(random.Random(1), Weather(slow_chance=0.3)))
        lines = _Lines(network, cast("Watcher", _Burst()), meets_faults=False)
        request = Request("watch", "pods", "GET", "/api/v1/pods", {})
        received = [line async for line in lines.follow(request, 60.0)]
        await asyncio.sleep(0)
        return received

    assert run_virtually(work()) == LINES

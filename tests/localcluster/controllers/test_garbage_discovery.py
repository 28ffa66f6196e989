"""When the garbage collector asks which kinds there are."""

import asyncio
import random
from itertools import pairwise
from typing import cast

import pytest

from kube.client.client import Client
from kube.client.errors import Unreachable
from localcluster.controllers.garbage import collector
from localcluster.controllers.garbage.collector import DISCOVERY_RETRY_SECONDS, DISCOVERY_SECONDS, GarbageCollector
from localcluster.controllers.served import Served
from verify.simulator.loop import run_virtually


def test_discovery_that_failed_is_repeated_soon_and_one_that_did_not_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    asked_at: list[float] = []

    async def served_kinds(client: Client) -> tuple[Served, ...]:
        asked_at.append(asyncio.get_running_loop().time())
        if len(asked_at) == 1:
            raise Unreachable("nobody answers", request="GET /apis")
        return ()

    async def watch() -> None:
        loop = asyncio.get_running_loop()
        garbage = GarbageCollector(cast("Client", None), clock=loop.time, random=random.Random(1))
        running = loop.create_task(garbage.run())
        await asyncio.sleep(DISCOVERY_RETRY_SECONDS + DISCOVERY_SECONDS + 1)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    monkeypatch.setattr(collector, "served_kinds", served_kinds)
    run_virtually(watch())
    pauses = [later - earlier for earlier, later in pairwise(asked_at)]
    assert pauses == pytest.approx([DISCOVERY_RETRY_SECONDS, DISCOVERY_SECONDS], abs=0.1)

"""What is still on its way when a simulated server ends does not arrive: the loop closes, and would drop what was begun for it."""

import asyncio
import random

import pytest

from kube.client.errors import OutcomeUnknown
from kube.client.resources import NAMESPACES
from verify.simulator.cluster import utc_now_of
from verify.simulator.faults import Chance
from verify.simulator.loop import Process, run_virtually
from verify.simulator.network import Network
from verify.simulator.server import MASTER, Server


def test_a_request_that_is_on_its_way_does_not_arrive_at_a_server_that_has_ended() -> None:
    async def answered() -> int:
        server = Server(utc_now_of(asyncio.get_running_loop()), random.Random(1))
        network = Network(server, Chance(random.Random(1)))
        client = network.client(Process("client", meets_faults=False), MASTER)
        request = asyncio.create_task(client.get(NAMESPACES, "default"))
        await asyncio.sleep(0)
        await server.end()
        with pytest.raises(OutcomeUnknown):
            await request
        return network.traffic.answered

    assert run_virtually(answered()) == 0

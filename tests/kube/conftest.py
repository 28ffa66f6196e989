"""A scripted server and a client that talks to it."""

import random
from collections.abc import AsyncIterator

import pytest

from kube.client.client import Client
from tests.kube.scripted_server import ScriptedServer


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer() as running:
        yield running


@pytest.fixture
async def client(server: ScriptedServer) -> AsyncIterator[Client]:
    async with Client(server.credentials, user_agent="test", jitter=random.Random(1)) as opened:
        yield opened

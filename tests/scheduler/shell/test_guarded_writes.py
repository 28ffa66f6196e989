"""The client asks before every sending of a write and when its bytes go out, repetitions included, and never for a read."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from kube.client.client import Client
from kube.client.credentials import Credentials
from kube.client.errors import NotSent
from kube.client.resources import PODS


class Lease:
    """How often the client may ask yet."""

    def __init__(self) -> None:
        self.left = 0

    def guard(self) -> None:
        if self.left == 0:
            raise NotSent("the lease is not held")
        self.left -= 1


class Server:
    def __init__(self) -> None:
        self.posts = 0
        self.gets = 0

    async def post(self, _request: web.Request) -> web.Response:
        self.posts += 1
        return web.json_response({"reason": "TooManyRequests"}, status=429, headers={"Retry-After": "0"})

    async def get(self, _request: web.Request) -> web.Response:
        self.gets += 1
        return web.json_response({"metadata": {"name": "p"}})


@pytest.fixture
async def server() -> AsyncIterator[tuple[Server, Client, Lease]]:
    handlers, lease = Server(), Lease()
    app = web.Application()
    app.router.add_post("/{path:.*}", handlers.post)
    app.router.add_get("/{path:.*}", handlers.get)
    async with TestServer(app) as running:
        credentials = Credentials(str(running.make_url("")).rstrip("/"))
        async with Client(credentials, user_agent="test", guard=lease.guard) as client:
            yield handlers, client, lease


async def test_a_write_without_the_lease_never_leaves(server: tuple[Server, Client, Lease]) -> None:
    handlers, client, _ = server
    with pytest.raises(NotSent):
        await client.create(PODS, {}, "ns", name="p", subresource="binding")
    assert handlers.posts == 0


async def test_a_repetition_that_the_server_asked_for_needs_the_lease_again(
    server: tuple[Server, Client, Lease],
) -> None:
    handlers, client, lease = server
    lease.left = 2
    with pytest.raises(NotSent):
        await client.create(PODS, {}, "ns", name="p", subresource="binding")
    assert handlers.posts == 1


async def test_reading_needs_no_lease(server: tuple[Server, Client, Lease]) -> None:
    handlers, client, _ = server
    assert (await client.get(PODS, "p", "ns"))["metadata"]["name"] == "p"
    assert handlers.gets == 1

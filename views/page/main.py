"""`tutti page`: follows a cluster, and shows it to a browser of this machine until it is asked to stop."""

import asyncio
import secrets
import socket
import time
from collections.abc import Coroutine
from typing import Any, Final

from aiohttp import web

from api.errors import ConfigurationError
from kube.client.client import Client
from kube.client.errors import KubeError
from kube.process.child import Say
from views.connection import USER_AGENT, Target, connect, group_apis
from views.page.feed import Feed
from views.page.server import Explain, Messages, PageServer
from views.page.state import PageState
from views.page.tape import Tape, TapeFeed
from views.reading import Following, following

HOST: Final = "127.0.0.1"
TICK_SECONDS: Final = 0.25
"""Between two versions of the page: as fast as an eye wants it, and many events of a busy cluster are one version."""

_CLOSE_SECONDS: Final = 1.0
_TOKEN_BYTES: Final = 24


async def main(target: Target, stop: asyncio.Event, say: Say, *, port: int = 0, explain: Explain | None = None) -> int:
    """Serves the page until `stop` is set; the exit code.

    Args:
        target: which cluster, which namespace.
        stop: ends it.
        say: is told the address.
        port: where to listen on 127.0.0.1; 0 for any free port.
        explain: answers why a gang waits; None where nobody does.

    Raises:
        ConfigurationError: there is no cluster, no right, no kind of groups, or the port is taken.
    """
    credentials, namespace = connect(target)
    async with Client(credentials, user_agent=USER_AGENT) as client:
        apis = await group_apis(client)
        try:
            followed = await following(client, apis[0], namespace, for_page=True)
        except KubeError as error:
            raise ConfigurationError(f"the cluster does not answer: {error}") from error
        state = PageState(followed.objects, now_milliseconds)
        followed.add_handler(state.changed)
        about = {"server": credentials.server, "namespace": namespace or "", "seesNodes": followed.sees_nodes}
        async with asyncio.TaskGroup() as tasks:
            work = tasks.create_task(followed.run())
            serving = tasks.create_task(_serve(followed, state, about, stop, say, port=port, explain=explain))
            await asyncio.wait({serving})
            work.cancel()
    return 0


async def show_tape(
    tape: Tape, name: str, stop: asyncio.Event, say: Say, *, port: int = 0, explain: Explain | None = None
) -> int:
    """Serves a recording until `stop` is set; the exit code.

    Args:
        tape: the recording.
        name: what it is called.
        stop: ends it.
        say: is told the address.
        port: where to listen on 127.0.0.1; 0 for any free port.
        explain: answers why a gang waits; None where nobody does.

    Raises:
        ConfigurationError: the port is taken.
    """
    with listen(port) as listening:
        feed = TapeFeed(tape, {"server": name, "namespace": "", "seesNodes": True})
        await serve(tape.state, feed, listening, stop, say, explain=explain)
    return 0


async def _serve(
    followed: Following,
    state: PageState,
    about: dict[str, object],
    stop: asyncio.Event,
    say: Say,
    *,
    port: int,
    explain: Explain | None,
) -> None:
    listening = listen(port)
    with listening:
        await _either(followed.ready(), stop)
        feed = Feed(state, about, secrets.token_hex(4))
        feed.publish()
        await serve(state, feed, listening, stop, say, explain=explain)


async def serve(
    state: PageState,
    feed: Messages,
    listening: socket.socket,
    stop: asyncio.Event,
    say: Say,
    *,
    explain: Explain | None = None,
) -> None:
    """Answers on a socket, and publishes what changes, until `stop` is set."""
    port, token = listening.getsockname()[1], secrets.token_urlsafe(_TOKEN_BYTES)
    server = PageServer(state, feed, token=token, port=port, explain=explain)
    runner = web.AppRunner(server.application(), access_log=None, shutdown_timeout=_CLOSE_SECONDS)
    await runner.setup()
    try:
        await web.SockSite(runner, listening).start()
        say(f"page: http://{HOST}:{port}/?token={token}")
        while not stop.is_set():
            if state.is_dirty:
                feed.publish()
            await _either(asyncio.sleep(TICK_SECONDS), stop)
    finally:
        server.stop()
        await runner.cleanup()


def listen(port: int) -> socket.socket:
    """A socket on loopback.

    Raises:
        ConfigurationError: the port is taken, or not to be had.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except (OSError, OverflowError) as error:
        listening.close()
        raise ConfigurationError(f"cannot listen on {HOST}:{port}: {error}") from error
    listening.listen()
    listening.setblocking(False)
    return listening


def now_milliseconds() -> int:
    """Since 1970."""
    return time.time_ns() // 1_000_000


async def _either(work: Coroutine[Any, Any, None], stop: asyncio.Event) -> None:
    waits: set[asyncio.Task[Any]] = {asyncio.create_task(work), asyncio.create_task(stop.wait())}
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()

"""How processes end: exit codes and the one line that people see. Real processes, real signals."""

import asyncio
import signal
import socket
import sys
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from api.errors import ConfigurationError
from kube.client.client import Client
from kube.client.credentials import Credentials
from kube.process.run import preflight
from tests.kube.process.lease_server import LeaseServer, lease_of
from tests.kube.scripted_server import ScriptedServer, hang_up, ok, refusal, text

ROOT = Path(__file__).parents[3]

PRELUDE = """
import asyncio, sys, time
from api.errors import ConfigurationError
from kube.client.credentials import Credentials
from kube.client.errors import Forbidden
from kube.process.lease import LeaderElector, LeaseLost
from kube.process.run import run_process
"""


async def started(body: str) -> asyncio.subprocess.Process:
    """A process whose main function has this body."""
    main = "async def main(stop):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    script = f"{PRELUDE}\n{main}\nsys.exit(run_process(main))\n"
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )


async def ended(process: asyncio.subprocess.Process) -> tuple[int, str, str]:
    async with asyncio.timeout(30):
        out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def line_of(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    async with asyncio.timeout(30):
        return (await process.stdout.readline()).decode().strip()


@pytest.mark.parametrize(
    ("body", "code", "stderr"),
    [
        ("return 0", 0, ""),
        ("raise ConfigurationError('no such\\nfile')", 2, "error: no such file\n"),
        (
            "raise Forbidden(403, 'Forbidden', 'cannot list resource \"pods\"')",
            2,
            'error: a right is missing: cannot list resource "pods" (403 Forbidden)\n',
        ),
        ("raise LeaseLost('gone')", 3, "gone\n"),
        ("raise KeyError('surprise')", 1, "KeyError: 'surprise'\n"),
        ("raise ExceptionGroup('g', [KeyError('x'), ConfigurationError('inside')])", 2, "error: inside\n"),
    ],
)
async def test_every_end_has_its_exit_code_and_one_line(body: str, code: int, stderr: str) -> None:
    assert await ended(await started(body)) == (code, "", stderr)


async def test_sigterm_asks_the_process_to_stop() -> None:
    process = await started("print('up', flush=True)\nawait stop.wait()\nprint('cleaned up')\nreturn 0")
    assert await line_of(process) == "up"
    process.send_signal(signal.SIGTERM)
    assert await ended(process) == (0, "cleaned up\n", "")


async def test_a_second_signal_does_not_wait_for_the_clean_up() -> None:
    process = await started(
        "print('up', flush=True)\nawait stop.wait()\nprint('stopping', flush=True)\nawait asyncio.sleep(3600)"
    )
    assert await line_of(process) == "up"
    process.send_signal(signal.SIGINT)
    assert await line_of(process) == "stopping"
    process.send_signal(signal.SIGINT)
    assert (await ended(process))[0] == 1


@pytest.fixture
async def leases() -> AsyncIterator[LeaseServer]:
    async with LeaseServer() as running:
        yield running


async def test_a_stopped_process_wakes_up_without_the_lease(leases: LeaseServer) -> None:
    process = await started(
        f"""
        elector = LeaderElector(credentials=Credentials(server={leases.url!r}), namespace="ns", name="l",
                          identity="sleeper", lease_seconds=2.0, renew_seconds=1.0, retry_seconds=0.2)
        await elector.acquire()
        print("up", flush=True)
        before = time.monotonic()
        # The time is read before the lease is asked: a stop that falls between the two is seen by the next look.
        while (asked := time.monotonic()) and elector.holds():
            assert asked - before < 1.0, "acted after the pause"
            before = asked
            await asyncio.sleep(0.01)
        raise LeaseLost("the lease is lost")
        """
    )
    assert await line_of(process) == "up"
    process.send_signal(signal.SIGSTOP)
    await asyncio.sleep(1.5)  # what is tested is a process that real time passes by
    leases.write(lease_of("successor"))
    process.send_signal(signal.SIGCONT)
    code, _, err = await ended(process)
    assert (code, "lost" in err, "acted after" in err) == (3, True, False)
    assert leases.holders[-1] == "successor"


async def test_preflight_gives_the_version(server: ScriptedServer, client: Client) -> None:
    server.then(ok({"gitVersion": "v1.37.0"}))
    assert (await preflight(client))["gitVersion"] == "v1.37.0"


async def test_preflight_says_that_the_server_cannot_be_reached() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        async with Client(Credentials(server=url), user_agent="t") as client:
            with pytest.raises(ConfigurationError, match=f"^cannot reach {url}: connection refused$"):
                await preflight(client)


async def test_preflight_gives_a_server_that_is_just_starting_the_time_it_is_told_to() -> None:
    with socket.socket() as kept_free:
        kept_free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept_free.bind(("127.0.0.1", 0))
        late = ScriptedServer().then(ok({"gitVersion": "v1.37.0"}))
        late.port = kept_free.getsockname()[1]
        async with Client(late.credentials, user_agent="t") as client:
            waiting = asyncio.create_task(preflight(client, patience_seconds=30.0))
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(asyncio.shield(waiting), timeout=0.5)
            async with late:
                assert (await waiting)["gitVersion"] == "v1.37.0"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (hang_up(), "does not answer like an API server"),
        (text("Client sent an HTTP request to an HTTPS server.", status=400), "sent an HTTP request to an HTTPS"),
        (text("<html>hello</html>"), "does not answer like an API server"),
        (refusal(401, "Unauthorized"), "does not accept the credentials"),
        (refusal(403, "Forbidden"), "does not accept the credentials"),
    ],
)
async def test_preflight_names_every_other_trouble(
    server: ScriptedServer, client: Client, answer: object, says: str
) -> None:
    server.always(answer)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=says):
        await preflight(client)

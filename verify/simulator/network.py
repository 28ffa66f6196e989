"""Between a process and the API server: requests and answers that take their time, and may get lost.

A connection of `kube.client` is replaced below its own rules: guard, repetition after refusals and translation of answers into
errors are the product's; the socket is not. What is on its way arrives even when its sender dies meanwhile.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Any, Final

import aiohttp

from kube.client.client import Client
from kube.client.connection import Connection, Guard, Request
from kube.client.credentials import Credentials
from kube.client.errors import Gone, OutcomeUnknown, StreamSilent, Unreachable, error_from_answer
from localcluster.apiserver.http import Reply
from localcluster.apiserver.kinds.kind import User
from localcluster.apiserver.verbs.watch import Watcher
from localcluster.idle_timeout import IdleTimeout
from verify.simulator.faults import Broken, Chance, Fault
from verify.simulator.loop import NOBODY, Process
from verify.simulator.server import Asked, Server

NEVER_SECONDS: Final = 86_400.0
APART_SECONDS: Final = 1e-6
"""Between two lines of a watch: timers of the very same moment have no order."""
_REFUSALS: Final[dict[Fault, tuple[int, str, float | None]]] = {
    Fault.CONFLICT: (409, "Conflict", None),
    Fault.TOO_MANY: (429, "TooManyRequests", 1.0),
    Fault.INTERNAL: (500, "InternalError", None),
    Fault.UNAVAILABLE: (503, "ServiceUnavailable", 1.0),
}


@dataclass(slots=True)
class Traffic:
    """What was counted.

    Attributes:
        answered: requests that the server carried out or refused, watches included.
        lines: lines of watches that were delivered.
        faults: sendings that something went wrong with.
        seen: called with process, request and status of every request that reached the server.
        heard: called with process and line of every line of a watch that was delivered.
    """

    answered: int = 0
    lines: int = 0
    faults: int = 0
    seen: list[Callable[[Process, Request, int], None]] = field(default_factory=list)

    heard: list[Callable[[Process, bytes], None]] = field(default_factory=list)

    def note(self, process: Process, request: Request, status: int) -> None:
        """A request was answered."""
        self.answered += 1
        for tell in self.seen:
            tell(process, request, status)

    def deliver(self, process: Process, line: bytes) -> None:
        """A line of a watch was delivered."""
        self.lines += 1
        for tell in self.heard:
            tell(process, line)


class Network:
    """Connects processes with the server."""

    def __init__(self, server: Server, chance: Chance) -> None:
        self.server = server
        self.chance = chance
        self.traffic = Traffic()
        self.under_way: set[asyncio.Task[None]] = set()

    def client(self, process: Process, user: User, *, guard: Guard | None = None) -> Client:
        """A client of that process."""
        return _Client(self, process, user, guard)


class _Client(Client):
    def __init__(self, network: Network, process: Process, user: User, guard: Guard | None) -> None:
        super().__init__(Credentials(network.server.url), user_agent=process.name, guard=guard)
        self._connection = _Connection(network, process, user, guard)


class _Connection(Connection):
    def __init__(self, network: Network, process: Process, user: User, guard: Guard | None) -> None:
        super().__init__(
            Credentials(network.server.url),
            user_agent=process.name,
            max_connections=1,
            timeout_seconds=10.0,
            observe=None,
            guard=guard,
        )
        self._network = network
        self._process = process
        self._user = user

    async def _exchange(
        self,
        request: Request,
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 (as the method it replaces)
        *,
        refresh: bool,
    ) -> bytes:
        del refresh
        self._require_life(request)
        network = self._network
        fault = network.chance.fault(is_read=request.method == "GET") if self._process.meets_faults else Fault.NONE
        patience_seconds = timeout.total or 10.0
        if fault is not Fault.NONE:
            network.traffic.faults += 1
        if fault is Fault.UNREACHABLE:
            await asyncio.sleep(network.chance.way_seconds())
            raise Unreachable("connection refused", request=request.name)
        if fault is Fault.REQUEST_LOST:
            await asyncio.sleep(patience_seconds)
            raise OutcomeUnknown(f"{request.name}: no answer in time")
        refusal = _REFUSALS.get(fault)
        if refusal is not None:
            await asyncio.sleep(2 * network.chance.way_seconds())
            raise _error(request, *refusal)
        answer = asyncio.get_running_loop().create_future()
        self._send(request, answer)
        try:
            async with asyncio.timeout(patience_seconds):
                reply: Reply = await answer
        except TimeoutError as error:
            raise OutcomeUnknown(f"{request.name}: no answer in time") from error
        self._require_life(request)
        if fault is Fault.ANSWER_LOST:
            raise OutcomeUnknown(f"{request.name}: the connection broke before the answer was complete")
        if fault is Fault.ANSWER_LATE:
            await asyncio.sleep(patience_seconds)
            raise OutcomeUnknown(f"{request.name}: no answer in time")
        if fault is Fault.INTERNAL_AFTER:
            raise _error(request, 500, "InternalError", None)
        if reply.status >= 300:
            after = reply.headers.get("Retry-After")
            raise error_from_answer(
                reply.status, reply.body, retry_after_seconds=float(after) if after else None, request=request.name
            )
        return reply.body

    def _require_life(self, request: Request) -> None:
        if self._process.is_cut_off:
            raise Unreachable("the process is gone", request=request.name)

    def _send(self, request: Request, answer: "asyncio.Future[Any]") -> None:
        """Let the request arrive, whatever becomes of its sender."""
        loop, under_way, server = asyncio.get_running_loop(), self._network.under_way, self._network.server

        def arrive() -> None:
            if server.has_ended:
                return
            task = loop.create_task(self._answered(request, answer), context=NOBODY.copy())
            under_way.add(task)
            task.add_done_callback(under_way.discard, context=NOBODY.copy())

        loop.call_later(self._network.chance.way_seconds(), arrive, context=NOBODY)

    async def _answered(self, request: Request, answer: "asyncio.Future[Any]") -> None:
        network = self._network
        asked = Asked(request.method, request.path, request.params, request.data or b"", request.media_type, self._user)
        reply = await network.server.answer(asked)
        network.traffic.note(self._process, request, reply.status if isinstance(reply, Reply) else 200)

        def deliver() -> None:
            if not answer.done():
                answer.set_result(reply)

        asyncio.get_running_loop().call_later(network.chance.way_seconds(), deliver, context=NOBODY)

    async def stream(
        self, request: Request, silence_seconds: float | None, opened: Callable[[], None] | None = None
    ) -> AsyncGenerator[bytes, None]:
        """The lines of a watch, in their order, each after its way."""
        self._require_life(request)
        answer = asyncio.get_running_loop().create_future()
        self._send(request, answer)
        watcher = await answer
        if isinstance(watcher, Reply):
            raise error_from_answer(watcher.status, watcher.body, request=request.name)
        if opened is not None:
            opened()
        lines = _Lines(self._network, watcher, meets_faults=self._process.meets_faults)
        try:
            async with contextlib.aclosing(lines.follow(request, silence_seconds)) as received:
                async for line in received:
                    self._require_life(request)
                    self._network.traffic.deliver(self._process, line)
                    yield line
        finally:
            lines.close()


class _Lines:
    """One watch on its way: what the server writes arrives later, in the same order."""

    def __init__(self, network: Network, watcher: Watcher, *, meets_faults: bool) -> None:
        self._network = network
        self._meets_faults = meets_faults
        self._arrived: deque[bytes] = deque()
        self._wake = asyncio.Event()
        self._is_over = False
        self._not_before = 0.0
        loop = asyncio.get_running_loop()
        self._task = loop.create_task(self._run(watcher), context=NOBODY.copy())

    async def follow(self, request: Request, silence_seconds: float | None) -> AsyncGenerator[bytes, None]:
        """The lines as they arrive.

        Raises:
            StreamSilent: nothing came for so long.
            KubeError: the stream broke.
        """
        patience_seconds = silence_seconds or NEVER_SECONDS
        silence = IdleTimeout(patience_seconds, self._wake)
        try:
            while True:
                while self._arrived:
                    broken = self._network.chance.break_watch() if self._meets_faults else None
                    if broken is not None:
                        self._network.traffic.faults += 1
                        await self._break(broken, request, patience_seconds)
                    yield self._arrived.popleft()
                if self._is_over:
                    return
                self._wake.clear()
                silence.restart()
                await self._wake.wait()
                if silence.has_expired and not self._arrived and not self._is_over:
                    raise StreamSilent(f"{request.name}: nothing came for {patience_seconds:g} s")
        finally:
            silence.cancel()

    async def _break(self, broken: Broken, request: Request, patience_seconds: float) -> None:
        if broken is Broken.SILENT:
            await asyncio.sleep(patience_seconds)
            raise StreamSilent(f"{request.name}: nothing came for {patience_seconds:g} s")
        if broken is Broken.GONE:
            raise Gone(410, "Expired", "too old resource version", request=request.name)
        raise OutcomeUnknown(f"{request.name}: the connection broke in the middle of the answer")

    def close(self) -> None:
        """Nobody reads any more."""
        self._task.cancel()

    async def _run(self, watcher: Watcher) -> None:
        await watcher.run(self._write, lambda: self._later(None))
        self._later(None)

    async def _write(self, chunk: bytes) -> None:
        for line in chunk.splitlines():
            self._later(line)

    def _later(self, line: bytes | None) -> None:
        loop = asyncio.get_running_loop()
        when = max(loop.time() + self._network.chance.way_seconds(), self._not_before + APART_SECONDS)
        self._not_before = when
        loop.call_at(when, self._arrive, line, context=NOBODY)

    def _arrive(self, line: bytes | None) -> None:
        if line is None:
            self._is_over = True
        else:
            self._arrived.append(line)
        self._wake.set()


def _error(request: Request, code: int, reason: str, retry_after_seconds: float | None) -> Exception:
    body = b'{"kind":"Status","reason":"%s","message":"simulated","code":%d}' % (reason.encode(), code)
    return error_from_answer(code, body, retry_after_seconds=retry_after_seconds, request=request.name)

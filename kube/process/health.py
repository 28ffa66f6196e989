"""The health and metrics endpoint of a process: /livez, /readyz, /metrics.

A check answers None when all is well and otherwise says in a few words what is not; the answer lists every failing
check, so that a person who asks with curl reads the reason. The server lives in the process's own loop on purpose: a loop
that is stuck does not answer, which is what a liveness probe is for.
"""

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

from aiohttp import web
from prometheus_client import REGISTRY, CollectorRegistry
from prometheus_client.exposition import choose_encoder

from api.errors import ConfigurationError

Check = Callable[[], str | None]
"""None when all is well, else a reason."""


def split_address(address: str) -> tuple[str | None, int]:
    """Host (None: all interfaces) and port of HOST:PORT, :PORT or [IPv6]:PORT.

    Raises:
        ConfigurationError: it is no such thing.
    """
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise ConfigurationError(f"{address!r} is no HOST:PORT address")
    return host.strip("[]") or None, int(port)


class HealthServer:
    """Serves the probes and metrics of one process. An asynchronous context manager."""

    def __init__(
        self,
        address: str,
        *,
        live: Mapping[str, Check] | None = None,
        ready: Mapping[str, Check] | None = None,
        registry: CollectorRegistry = REGISTRY,
    ) -> None:
        self._address = address
        self._checks = {"/livez": dict(live or {}), "/readyz": dict(ready or {})}
        self._registry = registry
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def port(self) -> int:
        """The port in use; 0 while the server is not running or switched off."""
        addresses = self._runner.addresses if self._runner else []
        return int(addresses[0][1]) if addresses else 0

    async def start(self) -> None:
        """Begin to serve; an address of "" or "0" serves nothing.

        Raises:
            ConfigurationError: the address is unusable or taken.
        """
        if self._address in {"", "0"}:
            return
        host, port = split_address(self._address)
        app = web.Application()
        app.router.add_get("/livez", self._probe)
        app.router.add_get("/readyz", self._probe)
        app.router.add_get("/metrics", self._metrics)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, host, port).start()
        except OSError as error:
            await self.stop()
            raise ConfigurationError(f"cannot listen on {self._address}: {error.strerror or error}") from error

    async def stop(self) -> None:
        """Stop serving; calling it twice does no harm."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _probe(self, request: web.Request) -> web.Response:
        failures = {name: reason for name, check in self._checks[request.path].items() if (reason := check())}
        if not failures:
            return web.Response(text="ok\n")
        return web.Response(status=503, text="".join(f"{name}: {reason}\n" for name, reason in failures.items()))

    async def _metrics(self, request: web.Request) -> web.Response:
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        return web.Response(body=encode(self._registry), headers={"Content-Type": content_type})

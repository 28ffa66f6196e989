"""The server as a whole: its parts put together, its start and its end."""

import asyncio
import random
import ssl
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aiohttp import web

from localcluster.apiserver import bodies
from localcluster.apiserver.admission import Admission
from localcluster.apiserver.audit import EVERYTHING, AuditLog, Policy
from localcluster.apiserver.auth import Authenticator, read_tokens
from localcluster.apiserver.bootstrap import bootstrap
from localcluster.apiserver.core import Core, Tables
from localcluster.apiserver.dispatch import Dispatcher, Special
from localcluster.apiserver.files import ServerFiles
from localcluster.apiserver.handler import Handler
from localcluster.apiserver.http import HttpRequest, Reply, Routes, text_reply
from localcluster.apiserver.kinds.builtin import register_builtin
from localcluster.apiserver.kinds.registry import Registry
from localcluster.apiserver.rbac import Authorizer
from localcluster.apiserver.reviews import Reviews
from localcluster.apiserver.store.keep import Keeper
from localcluster.apiserver.store.memory import Store
from localcluster.apiserver.subresources.binding import bind, bind_by_name
from localcluster.apiserver.subresources.eviction import evict
from localcluster.apiserver.subresources.logs import logs
from localcluster.apiserver.subresources.scale import scale
from localcluster.apiserver.subresources.token import token_maker
from localcluster.apiserver.tokens import Signer

LOOPBACK = "127.0.0.1"
SHUTDOWN_SECONDS = 0.1


def utc_now() -> datetime:
    """The time of day."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How to run a server.

    Attributes:
        files: certificates, keys and users.
        port: 0: any free one.
        audit_log: where to log requests; None: nowhere.
        audit_policy: which; None: all, without bodies.
        keep: a database file in which the objects outlive the server; None: they do not.
    """

    files: ServerFiles
    port: int = 0
    address: str = LOOPBACK
    audit_log: Path | None = None
    audit_policy: Path | None = None
    keep: Path | None = None


class ApiServer:
    """An API server; `start` and `stop` once each."""

    def __init__(
        self,
        settings: ServerSettings,
        *,
        clock: Callable[[], datetime] = utc_now,
        source: random.Random | None = None,
    ) -> None:
        self.settings = settings
        self.clock = clock
        self.random = source or random.Random()
        self.store = Store()
        self.registry = Registry()
        register_builtin(self.registry)
        self.core = Core(self.registry, self.store, clock, self.random)
        self.routes = Routes()
        self.authorizer = Authorizer(self.store)
        self.signer = Signer(settings.files.service_account_key.read_bytes())
        self.authenticator = Authenticator(read_tokens(settings.files.tokens), self.signer, self.store)
        self._hooks: list[Callable[[], Awaitable[None]]] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self._audit: AuditLog | None = None
        self._keeper: Keeper | None = None
        self._server: web.Server | None = None
        self._listener: asyncio.Server | None = None
        self.url = ""
        for path in ("/healthz", "/livez", "/readyz"):
            self.routes.add(path, _ok)
            self.routes.add(f"{path}/ping", _ok)

    @property
    def admission(self) -> Admission:
        """Changes and refuses writes; may be replaced before the start."""
        return self.core.admission

    @admission.setter
    def admission(self, admission: Admission) -> None:
        self.core.admission = admission

    @property
    def tables(self) -> Tables | None:
        """Draws tables; may be replaced before the start."""
        return self.core.tables

    @tables.setter
    def tables(self, tables: Tables | None) -> None:
        self.core.tables = tables

    def on_start(self, hook: Callable[[], Awaitable[None]]) -> None:
        """Await this before the first request is taken."""
        self._hooks.append(hook)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something until the server stops."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def start(self) -> None:
        """Take requests from now on."""
        settings = self.settings
        if settings.audit_log is not None:
            policy = Policy.read(settings.audit_policy) if settings.audit_policy else EVERYTHING
            self._audit = AuditLog(settings.audit_log, policy)
        if settings.keep is not None:
            self._keeper = Keeper(settings.keep, self.store)
            self._keeper.load()
            self.spawn(self._keeper.run())
        bootstrap(self.core)
        for hook in self._hooks:
            await hook()
        handler = Handler(
            self.core,
            authenticator=self.authenticator,
            authorizer=self.authorizer,
            dispatcher=Dispatcher(self._subresources(), self._posted()),
            routes=self.routes,
            audit=self._audit,
        )
        self._server = web.Server(handler.handle, request_factory=_request, handler_cancellation=True, access_log=None)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(settings.files.certificate, settings.files.key)
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(
            self._server, settings.address, settings.port, ssl=context, backlog=1024
        )
        port = self._listener.sockets[0].getsockname()[1]
        self.url = f"https://{settings.address}:{port}"

    def _posted(self) -> dict[str, Special]:
        return {**Reviews(self.authorizer, self.authenticator).answers(), "bindings": bind_by_name}

    def _subresources(self) -> dict[str, Special]:
        return {
            "binding": bind,
            "eviction": evict,
            "log": logs,
            "scale": scale,
            "token": token_maker(self.signer, self.clock),
        }

    async def stop(self) -> None:
        """Cut all connections and end."""
        if self._listener is not None:
            self._listener.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._server is not None:
            await _cut(self._server)
        if self._keeper is not None:
            await self._keeper.close()
        if self._audit is not None:
            self._audit.close()


async def _cut(server: web.Server) -> None:
    """End all connections, without waiting for clients that do not answer the end of an encrypted one."""
    transports = [each.transport for each in server.connections]
    await server.shutdown(SHUTDOWN_SECONDS)
    for transport in transports:
        if transport is not None:
            transport.abort()
    await asyncio.sleep(0)


def _request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
    loop = asyncio.get_running_loop()
    return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=bodies.MOST_BYTES)


async def _ok(request: HttpRequest) -> Reply:
    del request
    return text_reply(200, "ok")

"""The API server of a simulated cluster: the embedded server's own code, called instead of connected to.

Store, kinds, validation, admission chain, CRDs, CEL, authorization, discovery and watches are those of `localcluster/apiserver`.
What is missing is what stands around them there: TLS, HTTP, tokens (who asks is given), impersonation, the audit file.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast

import orjson

from localcluster.apiserver import discovery, rbac, status
from localcluster.apiserver.admission import Admission
from localcluster.apiserver.bootstrap import bootstrap
from localcluster.apiserver.core import Core, Tables
from localcluster.apiserver.dispatch import Call, Dispatcher
from localcluster.apiserver.extension.admission.answers import WebhookFailed
from localcluster.apiserver.extension.admission.caller import Caller
from localcluster.apiserver.extension.admission.chain import Chain
from localcluster.apiserver.extension.admission.hooks import Hook
from localcluster.apiserver.extension.admission.kinds import check_configurations
from localcluster.apiserver.extension.definitions.lifecycle import Lifecycle
from localcluster.apiserver.extension.definitions.strategy import definition_kind
from localcluster.apiserver.http import HttpRequest, Reply, Routes, json_reply, parsed_query, segments, text_reply
from localcluster.apiserver.kinds.builtin import register_builtin
from localcluster.apiserver.kinds.kind import User
from localcluster.apiserver.kinds.registry import Registry
from localcluster.apiserver.requestinfo import RequestInfo, request_info
from localcluster.apiserver.server import ApiServer
from localcluster.apiserver.store.memory import Store
from localcluster.apiserver.subresources.binding import bind
from localcluster.apiserver.subresources.eviction import evict
from localcluster.apiserver.subresources.scale import scale
from localcluster.apiserver.verbs.watch import Watcher

MASTER: Final = User("admin", ("system:masters", "system:authenticated"))

Review = Callable[[str, bytes], Awaitable[bytes]]
"""Answers an AdmissionReview sent to a path."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it arrives.

    Attributes:
        method: of HTTP.
        path: escaped, without the query.
        params: the query.
        body: as sent.
        media_type: of the body.
        user: who asks.
    """

    method: str
    path: str
    params: Mapping[str, str]
    body: bytes
    media_type: str
    user: User


class Webhooks:
    """Reaches webhooks by their path, for as long as somebody serves it."""

    def __init__(self) -> None:
        self.served: dict[str, Review] = {}
        """Who answers, by the first part of the path: the host of webhooks by URL, the Service of others."""

    async def call(self, hook: Hook, review: object) -> tuple[int, bytes]:
        """The status code and the body of the answer.

        Raises:
            WebhookFailed: nobody serves it.
        """
        host, _, path = hook.url.removeprefix("https://").partition("/")
        answer = self.served.get(host.partition(":")[0])
        if answer is None:
            raise WebhookFailed(f'failed to call webhook: Post "{hook.url}": connection refused')
        try:
            async with asyncio.timeout(hook.timeout_seconds):
                return 200, await answer(f"/{path}", orjson.dumps(review))
        except TimeoutError as error:
            raise WebhookFailed(f'failed to call webhook: Post "{hook.url}": context deadline exceeded') from error


class Server:
    """An API server without a network.

    Attributes:
        has_ended: whether it serves nothing any more.

    Args:
        clock: the time of day.
        source: where names and UIDs come from.
    """

    def __init__(self, clock: Callable[[], datetime], source: random.Random) -> None:
        self.clock = clock
        self.url = "https://simulated"
        self.has_ended = False
        self.store = Store()
        self.registry = Registry()
        register_builtin(self.registry)
        self.core = Core(self.registry, self.store, clock, source)
        self.routes = Routes()
        self.authorizer = rbac.Authorizer(self.store)
        self.webhooks = Webhooks()
        self._tasks: list[asyncio.Task[None]] = []
        self._dispatcher = Dispatcher({"binding": bind, "eviction": evict, "scale": scale}, {})
        self.registry.add(definition_kind())
        check_configurations(self.registry)
        self._lifecycle = Lifecycle(self.core)
        self.core.admission = Chain(self.store, cast("Caller", self.webhooks), self.authorizer.allows, self.core.random)
        discovery.install(cast("ApiServer", self))
        bootstrap(self.core)

    @property
    def admission(self) -> Admission:
        """Changes and refuses writes."""
        return self.core.admission

    @property
    def tables(self) -> Tables | None:
        """Nobody looks at tables here."""
        return None

    @tables.setter
    def tables(self, tables: Tables | None) -> None:
        del tables

    def start(self) -> None:
        """Serve CRDs from now on."""
        self._lifecycle.serve_present()
        self.spawn(self._lifecycle.run())

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something until the server stops."""
        self._tasks.append(asyncio.get_running_loop().create_task(work))

    async def end(self) -> None:
        """Serve nothing any more."""
        self.has_ended = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def answer(self, asked: Asked) -> Reply | Watcher:
        """The answer to a request; refusals are answers too."""
        try:
            return await self._answer(asked)
        except status.StatusError as refusal:
            reply = json_reply(refusal.code, refusal.body())
            if refusal.retry_after_seconds is not None:
                reply.headers = {"Retry-After": str(refusal.retry_after_seconds)}
            return reply

    async def _answer(self, asked: Asked) -> Reply | Watcher:
        parts = segments(asked.path)
        watch = asked.params.get("watch") in {"1", "true"}
        info = request_info(asked.method, "/" + "/".join(parts), parts, watch=watch)
        if not self.authorizer.allows(asked.user, rbac.attributes_of(info)):
            raise rbac.refusal(asked.user, info)
        headers = {"Accept": "application/json", "Content-Type": asked.media_type}
        http = HttpRequest(asked.method, info.path, asked.params, headers, asked.body, asked.user)
        kind = self.registry.find(info.group, info.version, info.plural) if info.is_resource else None
        if kind is None:
            return await self._other(http, info)
        return await self._dispatcher.answer(Call(self.core, kind, info, http, self.core.context(asked.user)))

    async def _other(self, request: HttpRequest, info: RequestInfo) -> Reply:
        route = None if info.is_resource else self.routes.find(info.path)
        return await route(request) if route is not None else text_reply(404, "404 page not found\n")


def split_query(path: str) -> tuple[str, Mapping[str, str]]:
    """A path without its query, and the query."""
    bare, _, query = path.partition("?")
    return bare, parsed_query(query)

"""One HTTP request from its first byte to its last: who, what, may they, do it, answer, log it."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from aiohttp import web

from localcluster.apiserver import bodies, impersonation, rbac, status
from localcluster.apiserver.audit import Answered, AuditLog
from localcluster.apiserver.auth import ANONYMOUS, Authenticator
from localcluster.apiserver.core import Core
from localcluster.apiserver.dispatch import Call, Dispatcher
from localcluster.apiserver.http import JSON, HttpRequest, Reply, Routes, json_reply, parsed_query, segments, text_reply
from localcluster.apiserver.kinds.kind import KindInfo, User
from localcluster.apiserver.requestinfo import RequestInfo, request_info
from localcluster.apiserver.verbs.watch import Watcher

CUT_SECONDS = 2.0

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Exchange:
    """What is known about a request while it is handled."""

    received: datetime
    info: RequestInfo
    user: User = ANONYMOUS
    body: bytes = b""
    is_forbidden: bool = False
    code: int = 0
    response: bytes = b""
    warnings: tuple[str, ...] = ()


class Handler:
    """Handles all requests."""

    def __init__(
        self,
        core: Core,
        *,
        authenticator: Authenticator,
        authorizer: rbac.Authorizer,
        dispatcher: Dispatcher,
        routes: Routes,
        audit: AuditLog | None,
    ) -> None:
        self._core = core
        self._authenticator = authenticator
        self._authorizer = authorizer
        self._dispatcher = dispatcher
        self._routes = routes
        self._audit = audit

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer the request."""
        path, _, query_text = request.raw_path.partition("?")
        query = parsed_query(query_text)
        parts = segments(path)
        watch = query.get("watch") in {"1", "true"}
        info = request_info(request.method, "/" + "/".join(parts), parts, watch=watch)
        exchange = _Exchange(self._core.clock(), info)
        try:
            return await self._answered(request, exchange, query)
        finally:
            self._log(request, exchange)

    async def _answered(
        self, request: web.BaseRequest, exchange: _Exchange, query: Mapping[str, str]
    ) -> web.StreamResponse:
        try:
            answer = await self._answer(request, exchange, query)
        except status.StatusError as refusal:
            answer = _refused(refusal)
        except RecursionError:
            answer = _refused(status.bad_request("the object is nested too deeply"))
        except Exception as error:  # noqa: BLE001 (one failed request must not end the others)
            _log.exception("%s %s failed", request.method, request.raw_path)
            answer = _refused(status.internal(f"{type(error).__name__}: {error}"))
        if isinstance(answer, Watcher):
            return await self._stream(request, exchange, answer)
        exchange.code, exchange.response = answer.status, answer.body
        headers = {**answer.headers, "Content-Type": answer.content_type}
        response = web.Response(status=answer.status, body=answer.body, headers=headers)
        _warn(response, exchange)
        return response

    async def _answer(self, request: web.BaseRequest, exchange: _Exchange, query: Mapping[str, str]) -> Reply | Watcher:
        info = exchange.info
        sender = self._authenticator.user(request.headers.get("Authorization", ""))
        groups = request.headers.getall(impersonation.GROUP, [])
        exchange.user = user = impersonation.impersonated(sender, request.headers, groups, self._authorizer)
        if not self._authorizer.allows(user, rbac.attributes_of(info)):
            exchange.is_forbidden = True
            raise rbac.refusal(user, info)
        if request.can_read_body:
            try:
                exchange.body = await request.read()
            except web.HTTPRequestEntityTooLarge as error:
                raise status.body_too_large(bodies.MOST_BYTES) from error
        http = HttpRequest(request.method, info.path, query, request.headers, exchange.body, user)
        kind = self._kind(info)
        if kind is None:
            return await self._other(http, info)
        context = self._core.context(user)
        try:
            return await self._dispatcher.answer(Call(self._core, kind, info, http, context))
        finally:
            exchange.warnings = tuple(dict.fromkeys(context.warnings))

    def _kind(self, info: RequestInfo) -> KindInfo | None:
        if not info.is_resource:
            return None
        kind = self._core.registry.find(info.group, info.version, info.plural)
        if kind is None or (info.namespace and not kind.namespaced and kind.plural != "namespaces"):
            return None
        return None if kind.namespaced and info.name and not info.namespace else kind

    async def _other(self, request: HttpRequest, info: RequestInfo) -> Reply:
        if info.is_resource:
            if any(each.group == info.group for each in self._core.registry.all()):
                raise status.no_such_path()
        elif (route := self._routes.find(info.path)) is not None:
            return await route(request)
        return text_reply(404, "404 page not found\n")

    async def _stream(self, request: web.BaseRequest, exchange: _Exchange, watcher: Watcher) -> web.StreamResponse:
        exchange.code = 200
        response = web.StreamResponse(headers={"Content-Type": JSON, "Cache-Control": "no-cache, private"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        try:
            await watcher.run(response.write, lambda: _cut_later(request))
            await response.write_eof()
        except ConnectionError:
            _log.debug("a watcher of %s went away", exchange.info.path)
        return response

    def _log(self, request: web.BaseRequest, exchange: _Exchange) -> None:
        if self._audit is None:
            return
        self._audit.write(
            Answered(
                info=exchange.info,
                user=exchange.user,
                uri=request.raw_path,
                agent=request.headers.get("User-Agent", ""),
                source=request.remote or "",
                code=exchange.code,
                received=exchange.received,
                completed=self._core.clock(),
                is_forbidden=exchange.is_forbidden,
                request_body=exchange.body,
                response_body=exchange.response,
                audit_id=self._core.new_uid(),
            )
        )


def _cut_later(request: web.BaseRequest) -> None:
    """End a connection that may be stuck in a write, but let it end by itself first."""
    transport = request.transport
    if transport is not None:
        asyncio.get_running_loop().call_later(CUT_SECONDS, transport.abort)


def _refused(refusal: status.StatusError) -> Reply:
    reply = json_reply(refusal.code, refusal.body())
    if refusal.retry_after_seconds is not None:
        reply.headers = {"Retry-After": str(refusal.retry_after_seconds)}
    return reply


def _warn(response: web.Response, exchange: _Exchange) -> None:
    for text in exchange.warnings:
        escaped = "".join(char if char.isprintable() else " " for char in text)
        escaped = escaped.replace("\\", "\\\\").replace('"', '\\"')
        response.headers.add("Warning", f'299 - "{escaped}"')

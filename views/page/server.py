"""The web server of the page: its own files, the events, and one gang in detail. Everything passes the guard first."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib import resources
from typing import Any, Final, Protocol

import orjson
from aiohttp import web

from views.page.details import details_of
from views.page.guard import COOKIE, HEADERS, TOKEN_PARAMETER, refusal
from views.page.state import PageState

Explain = Callable[[str, str], Awaitable[str]]
"""Why a gang waits, as text for people: called with the namespace and the name of its PodGroup. May raise TuttiError."""

_TYPES: Final = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
_INDEX: Final = "index.html"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Messages(Protocol):
    """What browsers are sent."""

    def publish(self) -> bool:
        """Makes a version of what has changed; False when nothing has."""

    def messages(self, last_id: str) -> AsyncIterator[bytes]:
        """What one browser is to be sent, from behind the message with this id on."""


class PageServer:
    """What answers requests.

    Args:
        state: what there is to see.
        feed: its versions.
        token: who has it may look.
        port: the one that is listened on; part of the cookie's name, since browsers keep one set of cookies for all ports.
        explain: answers why a gang waits; None where nobody does.
    """

    def __init__(
        self, state: PageState, feed: Messages, *, token: str, port: int, explain: Explain | None = None
    ) -> None:
        self._state = state
        self._feed = feed
        self._token = token
        self._cookie = f"{COOKIE}-{port}"
        self._explain = explain
        self._files = files()
        self._stopping = asyncio.Event()

    def application(self) -> web.Application:
        """To be served."""
        app = web.Application(middlewares=[self._guarded])
        app.router.add_get("/events", self._events)
        app.router.add_get("/gangs/{uid}", self._details)
        app.router.add_get("/gangs/{uid}/why", self._why)
        app.router.add_get("/{name:[a-z]*(?:\\.[a-z]+)?}", self._file)
        return app

    def stop(self) -> None:
        """Ends the streams that are open."""
        self._stopping.set()

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        given = request.query.get(TOKEN_PARAMETER, "")
        cookie = request.cookies.get(self._cookie, "")
        refused = refusal(request.method, request.headers, cookie=cookie, given=given, token=self._token)
        if refused is not None:
            return _text(refused[1], refused[0])
        if given:
            # The token leaves the address bar at once, for a history or a screenshot is no place for it.
            response = web.Response(status=303, headers={**HEADERS, "Location": request.path})
            response.set_cookie(self._cookie, self._token, httponly=True, samesite="Strict", path="/")
            return response
        try:
            return await handler(request)
        except web.HTTPException as error:
            return _text(error.reason, error.status)

    async def _file(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"] or _INDEX
        content = self._files.get(name)
        if content is None:
            return _text("there is nothing here", 404)
        kind = _TYPES[name.rpartition(".")[2]]
        return web.Response(body=content, content_type=kind, charset="utf-8", headers=HEADERS)

    async def _events(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={**HEADERS, "Content-Type": "text/event-stream"})
        await response.prepare(request)
        messages = self._feed.messages(request.headers.get("Last-Event-ID", ""))
        stopped = asyncio.create_task(self._stopping.wait())
        try:
            while True:
                following = asyncio.ensure_future(anext(messages))
                await asyncio.wait({following, stopped}, return_when=asyncio.FIRST_COMPLETED)
                if not following.done():
                    following.cancel()
                    await asyncio.gather(following, return_exceptions=True)
                    return response
                await response.write(following.result())
        except (ConnectionResetError, StopAsyncIteration):
            return response
        finally:
            stopped.cancel()

    async def _details(self, request: web.Request) -> web.StreamResponse:
        group = self._state.group_of(request.match_info["uid"])
        if group is None:
            return _text("this gang is gone", 404)
        return _json(details_of(group, self._state.objects, can_explain=self._explain is not None))

    async def _why(self, request: web.Request) -> web.StreamResponse:
        group = self._state.group_of(request.match_info["uid"])
        if group is None or self._explain is None:
            return _text("there is nothing to say of this gang", 404)
        return _json({"text": await self._explain(group.metadata.namespace, group.metadata.name)})


def files() -> dict[str, bytes]:
    """The page's own files by name."""
    folder = resources.files("views.page") / "static"
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.name.rpartition(".")[2] in _TYPES}


def _text(message: str, status: int) -> web.Response:
    return web.Response(text=f"{message}\n", status=status, headers=HEADERS)


def _json(body: dict[str, Any]) -> web.Response:
    return web.Response(body=orjson.dumps(body), content_type="application/json", headers=HEADERS)

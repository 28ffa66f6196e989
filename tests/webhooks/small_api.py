"""As much of an API server as the admission process talks to: objects with versions, over real HTTP."""

import asyncio
import itertools
import json
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from kube.client.client import Client
from kube.client.credentials import Credentials

Object = dict[str, Any]


class SmallApi:
    """Keeps objects by path; writes are checked against resourceVersion. An asynchronous context manager."""

    def __init__(self) -> None:
        self.objects: dict[str, Object] = {}
        self.lists: dict[str, list[Object]] = {}
        self.writes: list[tuple[str, str]] = []
        self.before_write: Callable[[], None] = lambda: None
        self.written = asyncio.Event()
        self._versions = itertools.count(1)
        self._runner: web.AppRunner | None = None
        self._over = asyncio.Event()
        self.url = ""

    async def __aenter__(self) -> Self:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        assert self._runner is not None
        await self._runner.cleanup()

    def client(self) -> Client:
        """A client of this server."""
        return Client(Credentials(self.url), user_agent="test")

    def put(self, path: str, value: Object) -> None:
        """Stores an object as somebody else would."""
        stored = json.loads(json.dumps(value))
        stored.setdefault("metadata", {})["resourceVersion"] = str(next(self._versions))
        self.objects[path] = stored

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if request.path in self.lists:
            return await self._list(request)
        if request.method == "GET":
            found = self.objects.get(request.path)
            return web.json_response(found) if found is not None else _status(404, "NotFound")
        self.before_write()
        body = json.loads(await request.read())
        self.writes.append((request.method, request.path))
        self.written.set()
        if request.method == "POST":
            path = f"{request.path}/{body['metadata']['name']}"
            if path in self.objects:
                return _status(409, "AlreadyExists")
            self.put(path, body)
            return web.json_response(self.objects[path], status=201)
        return self._change(request, body)

    def _change(self, request: web.Request, body: Object) -> web.Response:
        current = self.objects.get(request.path)
        if current is None:
            return _status(404, "NotFound")
        if body["metadata"].get("resourceVersion") not in {None, current["metadata"]["resourceVersion"]}:
            return _status(409, "Conflict")
        if request.method == "PATCH":
            body = {**current, **body, "metadata": current["metadata"]}
        self.put(request.path, body)
        return web.json_response(self.objects[request.path])

    async def _list(self, request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            return web.json_response({"metadata": {"resourceVersion": "1"}, "items": self.lists[request.path]})
        response = web.StreamResponse()
        await response.prepare(request)
        await self._over.wait()
        return response


def _status(code: int, reason: str) -> web.Response:
    return web.json_response({"kind": "Status", "code": code, "reason": reason, "message": reason}, status=code)

"""A server that keeps Leases with optimistic concurrency, and can hang, lose answers or refuse."""

import asyncio
import json
from typing import Any, Literal

from aiohttp import web

from tests.kube.scripted_server import Answer, ScriptedServer, hang_up, ok, refusal

Fault = Literal["", "hang", "lose answers", "refuse"]


class LeaseServer(ScriptedServer):
    """Answers GET, POST and PUT of Leases; `fault` says how it misbehaves at the moment."""

    def __init__(self) -> None:
        super().__init__()
        self.lease: dict[str, Any] | None = None
        self.fault: Fault = ""
        self.holders: list[str] = []
        self.hanging = asyncio.Event()
        self._version = 0
        self.always(self._answer)

    @property
    def spec(self) -> dict[str, Any]:
        assert self.lease is not None
        spec: dict[str, Any] = self.lease["spec"]
        return spec

    def write(self, lease: dict[str, Any]) -> dict[str, Any]:
        """Somebody writes the Lease."""
        self._version += 1
        self.lease = {**lease, "metadata": {**lease["metadata"], "resourceVersion": str(self._version)}}
        self.holders.append(lease["spec"]["holderIdentity"])
        return self.lease

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if self.fault == "hang":
            self.hanging.set()
            await self.over.wait()
        if self.fault == "refuse":
            return await refusal(500, "InternalError")(request)
        body = await request.read()
        answer = self._apply(request.method, json.loads(body) if body else {})
        if self.fault == "lose answers" and request.method != "GET":
            answer = hang_up()
        return await answer(request)

    def _apply(self, method: str, body: dict[str, Any]) -> Answer:
        if method == "GET":
            return refusal(404, "NotFound") if self.lease is None else ok(self.lease)
        if method == "POST":
            return refusal(409, "AlreadyExists") if self.lease is not None else ok(self.write(body), status=201)
        assert method == "PUT"
        if self.lease is None:
            return refusal(404, "NotFound")
        if body["metadata"]["resourceVersion"] != self.lease["metadata"]["resourceVersion"]:
            return refusal(409, "Conflict")
        return ok(self.write(body))


def lease_of(holder: str, *, duration: int = 15, transitions: int = 0) -> dict[str, Any]:
    stamp = "2026-01-01T00:00:00.000000Z"
    return {
        "metadata": {"name": "l", "namespace": "ns"},
        "spec": {
            "holderIdentity": holder,
            "leaseDurationSeconds": duration,
            "acquireTime": stamp,
            "renewTime": stamp,
            "leaseTransitions": transitions,
        },
    }

"""An admission server in a loop and a thread of its own, and plain sockets to talk to it."""

import asyncio
import contextlib
import datetime as dt
import http.client
import json
import logging
import socket
import ssl
import threading
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import uvloop
from prometheus_client import CollectorRegistry

from tests.webhooks.all_routes import all_routes
from webhooks.certificates.bundle import CertBundle, rotated
from webhooks.certificates.tls import load_bundle, server_context
from webhooks.server.limits import STANDARD_LIMITS, Limits
from webhooks.server.metrics import Metrics
from webhooks.server.server import AdmissionServer

HOST = "127.0.0.1"
T = TypeVar("T")


@dataclass(frozen=True)
class Answer:
    """What the server answered."""

    status: int
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Records(logging.Handler):
    """Everything that was logged."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.kept.append(record)


class RunningServer:
    """A server that answers until the block ends."""

    def __init__(self, limits: Limits = STANDARD_LIMITS, *, client_authority: Path | None = None) -> None:
        self.bundle = rotated(None, hosts=[HOST], now=dt.datetime.now(dt.UTC))
        self.registry = CollectorRegistry()
        self.records = Records()
        self.context = server_context(client_authority)
        load_bundle(self.context, self.bundle)
        self._limits = limits
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self.server: AdmissionServer

    def __enter__(self) -> Self:
        self._thread.start()
        logging.getLogger().addHandler(self.records)
        self.server = self.run(self._start())
        self.port = self.server.port
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        logging.getLogger().removeHandler(self.records)

    async def _start(self) -> AdmissionServer:
        served = all_routes(classes=lambda: ())
        server = AdmissionServer(
            served,
            context=self.context,
            host=HOST,
            port=0,
            metrics=Metrics(self.registry),
            limits=self._limits,
        )
        await server.start()
        return server

    async def _end(self) -> None:
        await self.server.stop()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs something in the server's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=30)

    def connect(self, bundle: CertBundle | None = None, *, shown: Path | None = None) -> ssl.SSLSocket:
        """A TLS connection, verified against the authorities of `bundle` (default: those of the start).

        `shown` is a file with a client certificate and its key.
        """
        ca_bundle = (bundle or self.bundle).ca_bundle.decode()
        trust = ssl.create_default_context(cadata=ca_bundle)
        if shown is not None:
            trust.load_cert_chain(shown)
        plain = socket.create_connection((HOST, self.port), timeout=20)
        try:
            return trust.wrap_socket(plain, server_hostname=HOST)
        except BaseException:
            plain.close()
            raise

    def post(self, path: str, body: bytes, *, method: str = "POST", **headers: str) -> Answer:
        """One request on a connection of its own."""
        named = {"Content-Type": "application/json", **{key.replace("_", "-"): value for key, value in headers.items()}}
        connection = http.client.HTTPConnection(HOST, self.port)
        connection.sock = self.connect()
        try:
            connection.request(method, path, body=body, headers=named)
            response = connection.getresponse()
            return Answer(response.status, response.read())
        finally:
            connection.close()

    def raw(self, data: bytes) -> bytes:
        """What comes back for these bytes, until the server closes."""
        received = b""
        with self.connect() as connection:
            # A server that has read enough answers and closes; the answer is there although the rest cannot be sent.
            with contextlib.suppress(ConnectionError, ssl.SSLError):
                connection.sendall(data)
            connection.settimeout(5)
            with contextlib.suppress(ConnectionError, TimeoutError, ssl.SSLError):
                while b"\r\n\r\n" not in received and (chunk := connection.recv(65536)):
                    received += chunk
        return received

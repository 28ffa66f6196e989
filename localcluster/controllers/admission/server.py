"""The HTTPS end of admission, on this machine only, with a certificate made for it.

Whoever reaches the port may send anything: what is no review gets a plain 400.
"""

import contextlib
import functools
import ssl
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson
from aiohttp import web

from localcluster.apiserver.files import Issued, issue, write_private

HOST: Final = "127.0.0.1"
MAX_BODY_BYTES: Final = 7 * 1024 * 1024

Object = dict[str, Any]
Answer = Callable[[str, Object], Object | Awaitable[Object]]
"""Answers the AdmissionReview that is sent to a path; raises KeyError or TypeError for what is none, or nobody's."""


@dataclass(frozen=True, slots=True)
class Admission:
    """A running server: `https://host:port`, and the PEM of the authority that signed its certificate."""

    base_url: str
    authority: bytes


Serve = Callable[[str, Answer], AbstractAsyncContextManager[Admission]]
"""Has reviews answered for as long as a block runs, under the name of whoever answers."""


@contextlib.asynccontextmanager
async def serving(name: str, answer: Answer, port: int = 0) -> AsyncIterator[Admission]:
    """A server for as long as the block runs; its certificate has the name, port 0 is any free one."""
    issued = issue(authority=f"{name}-stand-in-ca", subject=f"{name}-webhook")
    application = web.Application(client_max_size=MAX_BODY_BYTES)
    application.router.add_post("/{path:.*}", functools.partial(_answered, answer))
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, port, ssl_context=_context(issued)).start()
        yield Admission(f"https://{HOST}:{runner.addresses[0][1]}", issued.ca)
    finally:
        await runner.cleanup()


async def _answered(answer: Answer, request: web.Request) -> web.Response:
    try:
        body = answer(request.path, orjson.loads(await request.read()))
        if not isinstance(body, dict):
            body = await body
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise web.HTTPBadRequest(text=f"no review that is answered here: {type(error).__name__}") from error
    return web.Response(body=orjson.dumps(body), content_type="application/json")


def _context(issued: Issued) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    with tempfile.TemporaryDirectory() as folder:  # the library reads certificates from files only
        certificate, key = Path(folder, "tls.crt"), Path(folder, "tls.key")
        write_private(certificate, issued.certificate)
        write_private(key, issued.key)
        context.load_cert_chain(certificate, key)
    return context

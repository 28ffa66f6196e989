"""What every proxy of requests needs: the same request to another server, and its answer line by line."""

import ssl
from collections.abc import AsyncIterator, Mapping

import aiohttp

HOP_BY_HOP = {"connection", "content-length", "host", "keep-alive", "transfer-encoding", "accept-encoding"}
REPLY_HEADERS = {"Content-Type", "Retry-After", "Warning", "Audit-Id"}
MOST_BYTES = 2**26
"""Largest request that is passed on."""


def open_session(tls: ssl.SSLContext | None) -> aiohttp.ClientSession:
    """A session to the server behind; without a limit of connections or time, for watches last."""
    connector = aiohttp.TCPConnector(ssl=True if tls is None else tls, limit=0)
    return aiohttp.ClientSession(
        connector=connector, timeout=aiohttp.ClientTimeout(total=None), cookie_jar=aiohttp.DummyCookieJar()
    )


def request_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of a request that are passed on."""
    return {name: value for name, value in headers.items() if name.lower() not in HOP_BY_HOP}


def reply_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of an answer that are passed on."""
    return {name: value for name, value in headers.items() if name in REPLY_HEADERS}


async def lines(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """The body line by line, however long they are: a list is one, a watch has one for each event."""
    rest = b""
    async for chunk in answer.content.iter_any():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line + b"\n"
    if rest:
        yield rest

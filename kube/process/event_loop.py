"""The event loop of a process: uvloop's, and what its connections with TLS do not use just now is given back to the system.

uvloop reads each of them into a buffer of 256 KiB of its own. What is in it between two reads nobody looks at, but its pages stay:
all of them where the heap had used them for something else before, and as many as the longest answer had otherwise. A scheduler has
some 55 connections, so that was up to 7 MiB of its memory.
"""

import asyncio
import weakref
from collections.abc import Callable
from typing import Any

import uvloop

from kube.process.heap import release_pages

_TLS = "uvloop.sslproto"
"""By this name a transport tells uvloop's side of TLS; None where there is no TLS."""


class EventLoop(uvloop.Loop):
    """uvloop's loop, which remembers the connections that it has opened for as long as they are used."""

    def __init__(self) -> None:
        super().__init__()
        self._protocols: weakref.WeakSet[asyncio.BaseProtocol] = weakref.WeakSet()

    async def create_connection(self, protocol_factory: Callable[[], Any], *args: Any, **kwargs: Any) -> Any:
        """As uvloop's."""
        transport, protocol = await super().create_connection(protocol_factory, *args, **kwargs)
        self._protocols.add(protocol)
        return transport, protocol

    def release_read_buffers(self) -> None:
        """Gives the pages of all read buffers back; the next read finds them empty. 3 to 12 µs a connection.

        To be called from the loop's thread, where no read is under way. It knows the connections whose protocol names its
        transport, as those of aiohttp do.
        """
        for protocol in self._protocols:
            transport = getattr(protocol, "transport", None)
            tls = transport.get_extra_info(_TLS) if transport is not None else None
            if tls is not None:
                release_pages(tls.get_buffer(0))

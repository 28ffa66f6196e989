"""Who gives way when too many connections are open: those that nobody waits on.

An API server keeps its connections open between requests, so idle ones are welcome as long as there is room. Anybody else may
open some, too. When they become many, a newcomer takes the place of one that has never sent a request, or else of the one whose
last request is longest ago; nothing is refused while there is such a one. A connection with a request under way stays.
"""

import asyncio
from collections.abc import Collection, Iterable
from typing import Final

from aiohttp import web

NEAR: Final = 0.9
"""From this part of the limit on, each newcomer costs an idle connection its place."""

Connection = web.RequestHandler


class Connections:
    """What each open connection is used for.

    Args:
        limit: how many may be open at a time.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._silent: dict[Connection, None] = {}
        self._idle: dict[Connection, None] = {}

    def opened(self, connection: Connection) -> None:
        """It is new and has sent nothing yet."""
        self._silent[connection] = None

    def began(self, connection: Connection) -> None:
        """A request has come over it."""
        self._silent.pop(connection, None)
        self._idle.pop(connection, None)

    def ended(self, connection: Connection) -> None:
        """The request is answered."""
        self._idle[connection] = None

    def is_silent(self, connection: Connection) -> bool:
        """Whether nothing has come over it so far."""
        return connection in self._silent

    def forget(self, connection: Connection) -> None:
        """It is closed."""
        self._silent.pop(connection, None)
        self._idle.pop(connection, None)

    def make_room(self, present: Collection[Connection]) -> bool:
        """Whether one more may come; near the limit, one that is idle is closed for it.

        Args:
            present: all connections whose handshake is over and that have not ended.
        """
        self._forget_ended(present)
        if len(present) < self._limit * NEAR:
            return True
        staying = sum(not _is_closing(each) for each in present)
        if staying < self._limit * NEAR:
            return True
        open_now = set(present)
        found = _first(self._silent, open_now) or _first(self._idle, open_now)
        if found is None:
            return staying < self._limit
        close(found)
        self.forget(found)
        return True

    def _forget_ended(self, present: Collection[Connection]) -> None:
        """Whoever ends says nothing, so what is remembered is compared once it has become twice as much as can be open."""
        if len(self._idle) > 2 * self._limit:
            open_now = set(present)
            self._idle = {each: None for each in self._idle if each in open_now}


def close(connection: Connection) -> None:
    """Ends it without waiting for the other side's close message, which an attacker would leave out."""
    if connection.transport is not None:
        connection.transport.abort()
    connection.force_close()


def _first(connections: Iterable[Connection], present: Collection[Connection]) -> Connection | None:
    return next((each for each in connections if each in present and not _is_closing(each)), None)


def _is_closing(connection: Connection) -> bool:
    transport: asyncio.Transport | None = connection.transport
    return transport is None or transport.is_closing()

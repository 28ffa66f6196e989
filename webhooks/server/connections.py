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

ENDED_AT_LEAST: Final = 32
"""So many that have ended are remembered before it is worth looking for them."""

Connection = web.RequestHandler


class Connections:
    """What each open connection is used for.

    Args:
        limit: how many may be open at a time.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._silent: dict[Connection, asyncio.TimerHandle] = {}
        self._idle: dict[Connection, None] = {}

    def opened(self, connection: Connection, silent_too_long: asyncio.TimerHandle) -> None:
        """It is new and has sent nothing yet; the timer is cancelled once it has, or is closed."""
        self._silent[connection] = silent_too_long

    def began(self, connection: Connection) -> None:
        """A request has come over it."""
        self.forget(connection)

    def ended(self, connection: Connection) -> None:
        """The request is answered."""
        self._idle[connection] = None

    def forget(self, connection: Connection) -> None:
        """It is closed."""
        silent_too_long = self._silent.pop(connection, None)
        if silent_too_long is not None:
            silent_too_long.cancel()
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
        """Whoever ends says nothing, so what is remembered is compared once it has become twice as much as is open."""
        if len(self._silent) + len(self._idle) > 2 * len(present) + ENDED_AT_LEAST:
            open_now = set(present)
            for ended in [each for each in (*self._silent, *self._idle) if each not in open_now]:
                self.forget(ended)


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

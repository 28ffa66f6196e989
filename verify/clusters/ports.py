"""Ports of the servers and processes of live tests: whoever starts such has a block of ports that nobody else takes from.

Control planes of several test processes start at the same time, and a port is chosen seconds before its server listens: two of
them could choose the same one. All blocks are below the ports that `tutti run` chooses from, and that connections are given.
"""

import random
import socket
from contextlib import ExitStack
from typing import Final

LOOPBACK: Final = "127.0.0.1"
BLOCK: Final = 100
_FIRST_PORTS: Final = range(10_000, 20_000, BLOCK)


class PortBlock:
    """A hundred ports; the first of them is held for as long as this process lives, which says to others whose block it is.

    Raises:
        OSError: all blocks are taken.
    """

    def __init__(self) -> None:
        first = _hold_first_port()
        self._ports: Final = range(first + 1, first + BLOCK)
        self._next = 0

    def take(self, count: int, host: str = LOOPBACK) -> list[int]:
        """So many different ports that nobody listens on; those that were given last are the last to be given again.

        Raises:
            OSError: there are not so many.
        """
        with ExitStack() as held:
            return [self._take(held.enter_context(socket.socket()), host) for _ in range(count)]

    def _take(self, probe: socket.socket, host: str) -> int:
        for _ in self._ports:
            port = self._ports[self._next % len(self._ports)]
            self._next += 1
            try:
                probe.bind((host, port))
            except OSError:
                continue
            return port
        raise OSError(f"none of the ports {self._ports[0]} to {self._ports[-1]} is free")


def _hold_first_port() -> int:
    # Not the generator that tests seed: with one seed all would look for the same block first.
    for first in random.SystemRandom().sample(_FIRST_PORTS, len(_FIRST_PORTS)):
        guard = socket.socket()
        try:
            guard.bind((LOOPBACK, first))
        except OSError:
            guard.close()
            continue
        # Its number alone is kept: the system closes it when the process ends, whichever way.
        guard.detach()
        return first
    raise OSError("all blocks of ports for tests are taken")


_blocks: Final[list[PortBlock]] = []


def free_ports(count: int, host: str = LOOPBACK) -> list[int]:
    """So many ports of this process's block.

    Raises:
        OSError: there are not so many.
    """
    if not _blocks:
        _blocks.append(PortBlock())
    return _blocks[0].take(count, host)

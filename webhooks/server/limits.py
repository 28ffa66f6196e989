"""What clients of the admission server may do."""

from dataclasses import dataclass
from typing import Final

READ_SECONDS: Final = 5.0
IDLE_SECONDS: Final = 100.0
"""Longer than an API server keeps an idle connection (90 s), used before or not: it is to be the one that closes. A request that
meets a connection which is being closed here fails."""

MAX_CONNECTIONS: Final = 1000


@dataclass(frozen=True, slots=True)
class Limits:
    """What clients may do.

    Attributes:
        read_seconds: how long one may take to send a request.
        idle_seconds: how long a connection may be open without a request; where there are many, those are the first to go anyway.
        drain_seconds: how long a request in flight may still take once the server stops.
        max_connections: how many may be open at a time; idle ones give way to new ones.
        client_names: common names, one of which a client's certificate must have; empty for any. Whether there must be a
            certificate is a matter of the TLS context.
    """

    read_seconds: float = READ_SECONDS
    idle_seconds: float = IDLE_SECONDS
    drain_seconds: float = 10.0
    max_connections: int = MAX_CONNECTIONS
    client_names: frozenset[str] = frozenset()


STANDARD_LIMITS: Final = Limits()

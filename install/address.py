"""Where the admission server of `tutti run` listens, and under which URL the API server finds it there."""

import contextlib
import ipaddress
import random
import socket
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from install.settings import RunSettings
from kube.process.health import split_address

LOOPBACK: Final = "127.0.0.1"
_HTTPS_PORT: Final = 443
_QUIET_PORTS: Final = range(20_000, 32_768)
_ATTEMPTS: Final = 50


@dataclass(frozen=True, slots=True)
class WebhookAddress:
    """The address to listen on and the URL to register.

    Attributes:
        listen: HOST:PORT.
        url: https://HOST:PORT.
    """

    listen: str
    url: str


def choose_address(settings: RunSettings, server: str) -> WebhookAddress:
    """The address for these settings and this API server.

    Raises:
        ConfigurationError: `listen` is no HOST:PORT address.
    """
    host, port = _wanted(settings, server)
    host = host or "0.0.0.0"
    port = port or free_ports(1, host)[0]
    listen = f"{_bracketed(host)}:{port}"
    reached_at = _own_address_towards(server) if _is_any(host) else host
    return WebhookAddress(listen, settings.webhook_url or f"https://{_bracketed(reached_at)}:{port}")


def _wanted(settings: RunSettings, server: str) -> tuple[str | None, int]:
    """Host and port to listen on, None and 0 for any."""
    if settings.listen is not None:
        return split_address(settings.listen)
    if settings.webhook_url is not None:
        return None, urlsplit(settings.webhook_url).port or _HTTPS_PORT
    return (LOOPBACK if is_loopback(server) else _own_address_towards(server)), 0


def is_loopback(url: str) -> bool:
    """Whether the URL's host is this machine's loopback interface."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def free_ports(count: int, host: str = LOOPBACK) -> list[int]:
    """So many different ports that nobody listens on at this moment, and that no connection is given until they are used.

    Systems take the near end of connections that they open from high ports (Linux from 32768 on, others from 49152 on). A port from
    there may be in use by the time its process begins to listen; one below only if another process wants just that one.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with ExitStack() as held:
        return [_take_port(held.enter_context(socket.socket(family)), host) for _ in range(count)]


def _take_port(taken: socket.socket, host: str) -> int:
    for port in random.sample(_QUIET_PORTS, _ATTEMPTS):
        with contextlib.suppress(OSError):
            taken.bind((host, port))
            return port
    taken.bind((host, 0))
    return int(taken.getsockname()[1])


def _own_address_towards(server: str) -> str:
    """The address of ours that packets to the server carry; nothing is sent to find out."""
    parts = urlsplit(server)
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or _HTTPS_PORT, type=socket.SOCK_DGRAM)
        for family, kind, protocol, _, address in found:
            with socket.socket(family, kind, protocol) as probe:
                probe.connect(address)
                return str(probe.getsockname()[0])
    except OSError:
        return LOOPBACK
    return LOOPBACK


def _is_any(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host

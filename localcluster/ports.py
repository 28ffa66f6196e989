"""Which port a local API server gets."""

import socket
from pathlib import Path
from typing import Final

from api.errors import ConfigurationError

LOOPBACK: Final = "127.0.0.1"


def chosen_port(wanted: int, folder: Path, *, is_kept: bool) -> int:
    """The port to serve at: kubeconfigs of a kept cluster stay good for as long as nobody else took its port.

    Args:
        wanted: the port asked for, 0 for none in particular.
        folder: the cluster's folder, in which the port is remembered.
        is_kept: whether the folder may be of an earlier cluster.

    Raises:
        ConfigurationError: the port asked for is taken.
    """
    remembered = folder / "port"
    port = wanted
    if not port and is_kept and remembered.exists():
        text = remembered.read_text(encoding="ascii", errors="replace")
        port = int(text) if text.isdigit() and _is_free(int(text)) else 0
    if port and not _is_free(port):
        raise ConfigurationError(f"port {port} is taken; leave --port out, or name another one")
    port = port or _free_port()
    remembered.write_text(str(port), encoding="ascii")
    return port


def _is_free(port: int) -> bool:
    if not 0 < port < 65536:
        return False
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])

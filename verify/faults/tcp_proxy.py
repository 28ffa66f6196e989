"""What lies between a process and its server: bytes pass, or they are lost, or they are late."""

import socket
import threading
import time
from contextlib import suppress

CHUNK_BYTES = 65536
LOOPBACK = "127.0.0.1"


class TcpProxy:
    """A port that leads to another address; as a context manager. Cut, it goes on taking connections and bytes and loses them.

    Args:
        host: where it leads to.
        port: of that host.
        listen: on which address of this machine it listens.
        late_seconds: how much later each chunk from the server arrives.
    """

    def __init__(self, host: str, port: int, *, listen: str = LOOPBACK, late_seconds: float = 0.0) -> None:
        self._to = (host, port)
        self._late_seconds = late_seconds
        self._is_cut = False
        self._ends: list[socket.socket] = []
        self._guard = threading.Lock()
        self._listener = socket.create_server((listen, 0))
        self.port = int(self._listener.getsockname()[1])

    def __enter__(self) -> "TcpProxy":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self._close_all()

    def cut(self) -> None:
        """From now on every byte is lost, in both directions; nobody is told."""
        self._is_cut = True

    def mend(self) -> None:
        """New connections pass again; those that lost bytes are closed."""
        self._close_all()
        self._is_cut = False

    def _close_all(self) -> None:
        with self._guard:
            ends, self._ends = self._ends, []
        for each in ends:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            with self._guard:
                self._ends.append(near)
            threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        if self._is_cut:
            self._carry(near, None, 0.0)
            return
        try:
            far = socket.create_connection(self._to)
        except OSError:
            near.close()
            return
        with self._guard:
            self._ends.append(far)
        threading.Thread(target=self._carry, args=(far, near, self._late_seconds), daemon=True).start()
        self._carry(near, far, 0.0)

    def _carry(self, source: socket.socket, target: socket.socket | None, late_seconds: float) -> None:
        with suppress(OSError):
            while chunk := source.recv(CHUNK_BYTES):
                if late_seconds:
                    time.sleep(late_seconds)
                if target is not None and not self._is_cut:
                    target.sendall(chunk)
        if not self._is_cut and target is not None:
            with suppress(OSError):
                target.shutdown(socket.SHUT_WR)

"""A time-out that begins anew with everything that happens, for streams on which much happens.

`asyncio.timeout` around each wait makes a timer and cancels it, every time. Here one timer looks how long ago it is when it
rings, and rings once more at the right moment if it was too early.
"""

import asyncio
from typing import Final

_ROUNDING_SECONDS: Final = 1e-6


class IdleTimeout:
    """Sets an event when nothing has happened for so long. Belongs to the running loop.

    Args:
        seconds: how long.
        wake: the event.
    """

    def __init__(self, seconds: float, wake: asyncio.Event) -> None:
        self._seconds = seconds
        self._wake = wake
        self._loop = asyncio.get_running_loop()
        self._since_seconds = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._has_expired = False

    @property
    def has_expired(self) -> bool:
        """Whether it set the event since it was started last."""
        return self._has_expired

    def restart(self) -> None:
        """Something has happened: from now on it is so many seconds."""
        self._since_seconds = self._loop.time()
        self._has_expired = False
        if self._timer is None:
            self._timer = self._loop.call_at(self._since_seconds + self._seconds, self._ring)

    def cancel(self) -> None:
        """Nobody waits any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self) -> None:
        due_seconds = self._since_seconds + self._seconds
        if self._loop.time() + _ROUNDING_SECONDS < due_seconds:
            self._timer = self._loop.call_at(due_seconds, self._ring)
            return
        self._timer = None
        self._has_expired = True
        self._wake.set()

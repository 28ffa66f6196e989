"""What the browsers of the page are sent: everything once, then what has changed, as server-sent events.

Each browser is at a version. Who has fallen behind what is kept, or comes anew, gets everything again: so nothing waits for a
slow one, and no queue grows for it.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Any, Final

import orjson

from views.page.state import PageState

KEPT: Final = 240
"""Deltas that are kept for browsers that come back; a minute of them at the usual pace."""

SILENCE_SECONDS: Final = 15.0
"""After so long without news a comment is sent, so that a connection that is gone is found out."""


class Feed:
    """The versions of a page's state."""

    def __init__(self, state: PageState, about: dict[str, Any], name: str) -> None:
        """`about` goes with everything that is sent whole; `name` tells this run from every other one."""
        self._state = state
        self._about = about
        self._name = name
        self._version = 0
        self._kept: deque[tuple[int, bytes]] = deque(maxlen=KEPT)
        self._whole: tuple[int, bytes] | None = None
        self._news = asyncio.Event()

    def publish(self) -> bool:
        """Makes a version of what has changed; False when nothing has."""
        delta = self._state.delta()
        if delta is None:
            return False
        self._version += 1
        self._kept.append((self._version, self._message("delta", delta)))
        self._news.set()
        self._news = asyncio.Event()
        return True

    async def messages(self, last_id: str) -> AsyncIterator[bytes]:
        """What one browser is to be sent, for ever.

        Args:
            last_id: the id of the last message it has, empty for none.
        """
        at = self._known(last_id)
        while True:
            news = self._news
            if at is None or (self._version > at and not self._has(at + 1)):
                # Versions go on while this one is on its way, so it is noted before.
                at = self._version
                yield self._everything()
                continue
            for version, message in list(self._kept):
                if version > at:
                    at = version
                    yield message
            if self._version == at:
                try:
                    await asyncio.wait_for(news.wait(), SILENCE_SECONDS)
                except TimeoutError:
                    yield b": still here\n\n"

    def _known(self, last_id: str) -> int | None:
        name, _, version = last_id.partition("-")
        if name != self._name or not version.isdigit() or int(version) > self._version:
            return None
        return int(version)

    def _has(self, version: int) -> bool:
        return bool(self._kept) and self._kept[0][0] <= version

    def _everything(self) -> bytes:
        if self._whole is None or self._whole[0] != self._version:
            self._whole = (self._version, self._message("full", {**self._about, **self._state.full()}))
        return self._whole[1]

    def _message(self, kind: str, body: dict[str, Any]) -> bytes:
        return b"id: %b-%d\nevent: %b\ndata: %b\n\n" % (
            self._name.encode(),
            self._version,
            kind.encode(),
            orjson.dumps(body),
        )

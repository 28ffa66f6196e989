"""`kubectl gang watch`: the list, kept up to date. On a terminal it is drawn anew in place, elsewhere changed rows are added."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, TextIO

from api.errors import ConfigurationError
from kube.client.client import Client
from kube.client.errors import KubeError
from views.connection import USER_AGENT, Target, connect, group_apis
from views.kubectl.table import aligned, cells, headings, table
from views.model.gang import Gang
from views.model.queue import with_places
from views.reading import Following, following

FRAME_SECONDS: Final = 1.0
PAUSE_SECONDS: Final = 0.2
_CLEAR: Final = "\x1b[H\x1b[J"


async def watch_gangs(
    target: Target, *, is_wide: bool, stream: TextIO, columns: Callable[[], tuple[int, int]], stop: asyncio.Event
) -> int:
    """Shows the gangs until `stop` is set; the exit code.

    Args:
        target: which cluster, which namespace.
        is_wide: with all columns.
        stream: where to write.
        columns: width and height of the terminal.
        stop: ends it.

    Raises:
        ConfigurationError: there is no cluster, no right, or no kind of groups.
    """
    credentials, namespace = connect(target)
    async with Client(credentials, user_agent=USER_AGENT) as client:
        apis = await group_apis(client)
        try:
            followed = await following(client, apis[0], namespace)
        except KubeError as error:
            raise ConfigurationError(f"the cluster does not answer: {error}") from error
        work = asyncio.create_task(followed.run())
        try:
            await followed.ready()
            screen = Screen(stream, columns) if stream.isatty() else Lines(stream)
            await _show(followed, screen, stop, with_namespace=namespace is None, is_wide=is_wide)
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
    return 0


async def _show(
    followed: Following, screen: "Screen | Lines", stop: asyncio.Event, *, with_namespace: bool, is_wide: bool
) -> None:
    changed = asyncio.Event()
    followed.add_handler(lambda *_: changed.set())
    while not stop.is_set():
        changed.clear()
        # Places count what is seen: all gangs with -A, those of the namespace without it.
        screen.show(with_places(followed.objects.gangs()), with_namespace=with_namespace, is_wide=is_wide)
        await asyncio.sleep(PAUSE_SECONDS)
        await _first_of(stop, changed, screen.frame_seconds)


async def _first_of(stop: asyncio.Event, changed: asyncio.Event, seconds: float | None) -> None:
    waits = [asyncio.create_task(stop.wait()), asyncio.create_task(changed.wait())]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


class Screen:
    """The whole table in place; drawn again every second because ages grow."""

    frame_seconds: float | None = FRAME_SECONDS

    def __init__(self, stream: TextIO, columns: Callable[[], tuple[int, int]]) -> None:
        self._stream = stream
        self._columns = columns

    def show(self, gangs: list[Gang], *, with_namespace: bool, is_wide: bool) -> None:
        """Draws as much as there is room for."""
        width, height = self._columns()
        lines = table(gangs, datetime.now(UTC), with_namespace=with_namespace, is_wide=is_wide).splitlines()
        left = len(lines) - (height - 1)
        if left > 0:
            lines = [*lines[: height - 2], f"... and {left + 1} more"]
        self._stream.write(_CLEAR + "\n".join(line[:width] for line in lines) + "\n")
        self._stream.flush()


class Lines:
    """A row whenever a gang has changed, as `kubectl get --watch` does it."""

    frame_seconds: float | None = None

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown: dict[str, Gang] | None = None

    def show(self, gangs: list[Gang], *, with_namespace: bool, is_wide: bool) -> None:
        """Adds the rows that are news, and those of gangs that are gone."""
        before = self._shown or {}
        now = datetime.now(UTC)
        news = [gang for gang in gangs if before.get(gang.uid) != gang]
        rows = [cells(gang, now, with_namespace=with_namespace, is_wide=is_wide) for gang in news]
        left = before.keys() - {gang.uid for gang in gangs}
        gone = [cells(before[uid], now, with_namespace=with_namespace, is_wide=is_wide) for uid in sorted(left)]
        state = headings(with_namespace=with_namespace, is_wide=is_wide).index("STATE")
        for row in gone:
            row[state] = "deleted"
        if self._shown is None:
            rows.insert(0, headings(with_namespace=with_namespace, is_wide=is_wide))
        if rows or gone:
            self._stream.write("\n".join(aligned([*rows, *gone])) + "\n")
            self._stream.flush()
        self._shown = {gang.uid: gang for gang in gangs}

"""Watching: every change after a version, as a stream of JSON lines.

A watcher gets exactly the changes its selectors match: an object that begins to match is ADDED for it, one that ceases to
match is DELETED. A watcher that reads too slowly is cut, so that it cannot make the server hold every version for ever; it
comes back with the last version it saw.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Mapping

import orjson

from localcluster.apiserver import status
from localcluster.apiserver.core import Core
from localcluster.apiserver.kinds.kind import KindInfo, Object
from localcluster.apiserver.selectors import Predicate
from localcluster.apiserver.store.memory import Event, Forgotten, Stored
from localcluster.apiserver.verbs.forms import Form, Render, renderer
from localcluster.apiserver.verbs.read import predicate, whole_number
from localcluster.idle_timeout import IdleTimeout

MOST_WAITING_EVENTS = 20_000
BOOKMARK_SECONDS = 55.0
SHORTEST_DEFAULT_SECONDS = 1800
_INITIAL_END = "k8s.io/initial-events-end"

Write = Callable[[bytes], Awaitable[None]]


class Watcher:
    """One watch request."""

    def __init__(self, core: Core, kind: KindInfo, namespace: str, query: Mapping[str, str], form: Form) -> None:
        self._core = core
        self._kind = kind
        self._namespace = namespace
        self._fits: Predicate | None = predicate(kind, query)
        self._render: Render | None = renderer(core, kind, form, query)
        self._bookmarks = query.get("allowWatchBookmarks") in {"true", "1"}
        self._sends_initial = query.get("sendInitialEvents") in {"true", "1"}
        self._version = _version(query)
        seconds = whole_number(query.get("timeoutSeconds", ""))
        self._seconds = seconds or SHORTEST_DEFAULT_SECONDS * (1 + core.random.random())
        self._waiting: deque[Event] = deque()
        self._wake = asyncio.Event()
        self._is_cut = False
        self._cut: Callable[[], object] = lambda: None

    async def run(self, write: Write, cut: Callable[[], object]) -> None:
        """Write the changes until the time is up, the client is too slow, or it goes away.

        Args:
            write: sends bytes; waits as long as the client does not read.
            cut: called when the client is too slow: the connection has to go, even though a write still waits.
        """
        self._cut = cut
        unsubscribe = self._core.store.subscribe(self._kind.resource, self._take)
        forget_kind = self._core.registry.on_change(self._end_with_kind)
        try:
            first = self._opening()
            if first:
                await write(first)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    await self._follow(write)
            if self._bookmarks and not self._is_cut:
                await write(self._lines() + self._bookmark())
        finally:
            forget_kind()
            unsubscribe()

    async def _follow(self, write: Write) -> None:
        idle = IdleTimeout(BOOKMARK_SECONDS, self._wake)
        try:
            while not self._is_cut:
                idle.restart()
                await self._wake.wait()
                self._wake.clear()
                lines = self._lines()
                if lines:
                    await write(lines)
                elif idle.has_expired and self._bookmarks:
                    await write(self._bookmark())
        finally:
            idle.cancel()

    def _end_with_kind(self) -> None:
        """A kind that is served differently, or no more, ends its watches: what they show would be another thing."""
        kind = self._kind
        if self._core.registry.find(kind.group, kind.version, kind.plural) is not kind:
            self._is_cut = True
            self._wake.set()

    def _take(self, event: Event) -> None:
        if event.new.version <= self._version:
            return
        if self._namespace and event.new.obj["metadata"].get("namespace") != self._namespace:
            return
        if len(self._waiting) >= MOST_WAITING_EVENTS:
            self._is_cut = True
            self._waiting.clear()
            self._cut()
        elif not self._is_cut:
            self._waiting.append(event)
        self._wake.set()

    def _opening(self) -> bytes:
        """What the stream begins with: the present objects, the changes since a version, or the refusal."""
        store = self._core.store
        if self._sends_initial or self._version == 0:
            present = [Event("ADDED", self._kind.resource, each, None) for each in self._present()]
            lines = b"".join(line for each in present if (line := self._line(each)))
            return lines + self._bookmark(ends_initial=True) if self._sends_initial else lines
        try:
            missed = store.since(self._kind.resource, self._version)
        except Forgotten as error:
            self._is_cut = True
            self._bookmarks = False
            text = f"too old resource version: {self._version} ({error.oldest})"
            return _error(status.expired(text).body())
        mine = [
            each
            for each in missed
            if not self._namespace or each.new.obj["metadata"].get("namespace") == self._namespace
        ]
        return b"".join(line for each in mine if (line := self._line(each)))

    def _present(self) -> list[Stored]:
        return self._core.store.list(self._kind.resource, self._namespace)

    def _lines(self) -> bytes:
        waiting = self._waiting
        lines: list[bytes] = []
        while waiting:
            line = self._line(waiting.popleft())
            if line is not None:
                lines.append(line)
        return b"".join(lines)

    def _line(self, event: Event) -> bytes | None:
        kind = self._seen_as(event)
        if kind is None:
            return None
        if kind != event.type and kind == "DELETED" and event.old is not None:
            # The client knows the old labels; the object it is shown is the last one that matched, at the new version.
            gone = {**event.old.obj, "metadata": {**event.old.obj["metadata"]}}
            gone["metadata"]["resourceVersion"] = str(event.new.version)
            return self._encoded(kind, Stored(gone, event.new.version))
        return self._encoded(kind, event.new)

    def _encoded(self, kind: str, stored: Stored) -> bytes:
        if self._render is None:
            return _line_of(kind, stored.encoded)
        return _line_of(kind, self._render(stored))

    def _seen_as(self, event: Event) -> str | None:
        if self._fits is None:
            return event.type
        was = event.old is not None and event.type != "ADDED" and self._fits(event.old.obj)
        if event.type == "DELETED":
            return "DELETED" if was else None
        fits = self._fits(event.new.obj)
        if fits:
            return "MODIFIED" if was else "ADDED"
        return "DELETED" if was else None

    def _bookmark(self, *, ends_initial: bool = False) -> bytes:
        metadata: Object = {"resourceVersion": str(self._core.store.version), "creationTimestamp": None}
        if ends_initial:
            metadata["annotations"] = {_INITIAL_END: "true"}
        obj = {"kind": self._kind.kind, "apiVersion": self._kind.api_version, "metadata": metadata}
        return _line_of("BOOKMARK", orjson.dumps(obj))


def _line_of(kind: str, encoded: bytes) -> bytes:
    return b'{"type":"%s","object":%s}\n' % (kind.encode(), encoded)


def _error(body: Object) -> bytes:
    return _line_of("ERROR", orjson.dumps(body))


def _version(query: Mapping[str, str]) -> int:
    asked = query.get("resourceVersion", "")
    try:
        return int(asked or 0)
    except ValueError:
        text = f'resourceVersion: Invalid value: "{asked}": strconv.ParseUint: parsing "{asked}": invalid syntax'
        raise status.StatusError(500, "", text) from None

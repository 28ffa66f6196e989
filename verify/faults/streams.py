"""What happens to the events of a watch on their way: lost, repeated, late, behind others, or the last ones ever."""

import asyncio
import json
from collections.abc import AsyncIterator

from verify.faults.asked import Asked
from verify.faults.script import Rule

BEHIND_SECONDS = 2.0
BOOKMARK = b'"type":"BOOKMARK"'
GONE_STATUS = {
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Failure",
    "message": "too old resource version",
    "reason": "Expired",
    "code": 410,
}
GONE = json.dumps({"type": "ERROR", "object": GONE_STATUS}).encode() + b"\n"


class BrokenError(Exception):
    """The connection is to be closed in the middle."""


class Passed:
    """How many events each client has got of each resource; who waits for more is woken."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = {}
        self._news = asyncio.Condition()

    async def note(self, asked: Asked) -> None:
        """One more event has gone to a client."""
        key = asked.agent, asked.resource
        async with self._news:
            self._counts[key] = self._counts.get(key, 0) + 1
            self._news.notify_all()

    async def await_more(self, agent: str, resource: str, seconds: float) -> None:
        """Returns once the client has got another event of the resource, or after so many seconds."""
        key = agent, resource
        seen = self._counts.get(key, 0)
        async with self._news:
            try:
                async with asyncio.timeout(seconds):
                    await self._news.wait_for(lambda: self._counts.get(key, 0) > seen)
            except TimeoutError:
                return


async def altered(events: AsyncIterator[bytes], rule: Rule, asked: Asked, passed: Passed) -> AsyncIterator[bytes]:
    """The lines of a watch as a client gets them; bookmarks are no events and are not counted.

    Raises:
        BrokenError: the connection breaks here.
    """
    number = 0
    limit = int(rule.values[0]) if rule.fault in _ENDS else None
    if limit == 0:
        async for line in _end(rule):
            yield line
        return
    async for line in events:
        is_event = not _is_bookmark(line)
        number += is_event
        async for one in _one(line, number if is_event else 0, rule, asked, passed):
            yield one
        if is_event and number == limit:
            async for last in _end(rule):
                yield last
            return


_ENDS = {"half-open", "cut", "end", "gone"}


async def _one(line: bytes, number: int, rule: Rule, asked: Asked, passed: Passed) -> AsyncIterator[bytes]:
    """What becomes of one line; bookmarks have the number 0."""
    match rule.fault:
        case "lose-event" if number == int(rule.values[0]):
            return
        case "repeat-event" if number == int(rule.values[0]):
            yield line
        case "hold":
            await asyncio.sleep(float(rule.values[0]))
        case "behind" if number:
            seconds = float(rule.values[1]) if len(rule.values) > 1 else BEHIND_SECONDS
            await passed.await_more(asked.agent, rule.values[0], seconds)
    yield line


async def _end(rule: Rule) -> AsyncIterator[bytes]:
    match rule.fault:
        case "half-open":
            await asyncio.Event().wait()  # until the client or the proxy ends it
        case "cut":
            raise BrokenError
        case "gone":
            yield GONE


def _is_bookmark(line: bytes) -> bool:
    return BOOKMARK in line[:40].replace(b" ", b"")

"""A recording as the page plays it: how everything was at first, and what changed when. Pure."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any, Final

import orjson

from kube.cache.store import Store
from views.model.objects import Objects
from views.page.rows import Row
from views.page.state import PageState

STEP_MS: Final = 100
"""Changes within so many milliseconds are one; an eye sees no more."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One change of a cluster.

    Attributes:
        at: milliseconds since 1970.
        kind: `group`, `composite`, `pod`, `node` or `eviction`.
        new: the record as it is from now on; None when it is gone.
        key: namespace and name of what is gone.
    """

    at: int
    kind: str
    new: Any = None
    key: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Tape:
    """What the browser gets: everything as it was at first, then the changes, each with its time in `now`."""

    full: Row
    deltas: list[Row]
    state: PageState
    """As it is at the end."""


def tape_of(objects: Objects, moments: Iterable[Moment], began: int) -> Tape:
    """The tape of a recording.

    Args:
        objects: as they were at first; they are changed.
        moments: what happened, in its order.
        began: milliseconds since 1970.
    """
    clock = [began]
    state = PageState(objects, lambda: clock[0])
    state.everything_changed()
    state.delta()
    full = state.full()
    deltas: list[Row] = []
    for moment in moments:
        if moment.at >= clock[0] + STEP_MS:
            _note(state, deltas)
            clock[0] = moment.at
        _apply(objects, state, moment)
    _note(state, deltas)
    return Tape(full, deltas, state)


def _note(state: PageState, deltas: list[Row]) -> None:
    delta = state.delta()
    if delta is not None:
        deltas.append(delta)


def _apply(objects: Objects, state: PageState, moment: Moment) -> None:
    if moment.kind == "eviction":
        state.changed("eviction", None, moment.new)
        return
    stores: dict[str, Store[Any]] = {
        "group": objects.groups,
        "composite": objects.composites,
        "pod": objects.members,
        "node": objects.nodes,
    }
    store = stores[moment.kind]
    old = store.put(moment.new) if moment.new is not None else store.remove(*moment.key)
    if old is not None or moment.new is not None:
        state.changed(moment.kind, old, moment.new)


class TapeFeed:
    """Sends the whole tape to whoever comes, and nothing after it."""

    def __init__(self, tape: Tape, about: dict[str, Any]) -> None:
        """`about` goes with it, as with a live feed."""
        body = orjson.dumps({"full": {**about, **tape.full}, "deltas": tape.deltas})
        self._message: Final = b"event: recording\ndata: %b\n\n" % body

    def publish(self) -> bool:
        """Nothing new ever comes."""
        return False

    async def messages(self, last_id: str) -> AsyncIterator[bytes]:
        """The tape; for a browser that comes back it is the same again."""
        del last_id
        yield self._message
        while True:
            await asyncio.sleep(15)
            yield b": still here\n\n"

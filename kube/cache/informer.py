"""Keeps a store equal to what the API server holds: one list, then a watch, for ever.

Invariants:
- Handlers run after the store changed, in the server's order, and see every object that ever was in the store leave it:
  what vanished while we could not watch is found by comparing the next list, and reported as a deletion.
- Same name with another UID is another object: a deletion, then an addition.
- A stream that is silent for longer than the server's bookmarks allow may be dead and is opened again where it stopped. That is
  no trouble by itself: of a kind without any event since it was started, an API server sends no bookmarks either. Whether the
  server is there is seen by the opening.
- Nothing ends `run` but cancellation; every failure is waited out with growing pauses. A reason is logged when it changes.
- Pauses grow while streams do not open or do not last a second. One that did is forgotten with it, whether it told anything or not:
  else a quiet kind whose connection breaks now and then would be followed later each time, in the end by half a minute.
"""

import asyncio
import contextlib
import logging
import random as randomness
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import msgspec

from api.meta import Metadata
from kube.backoff import Backoff
from kube.cache.decoding import Decoder, WatchEvent, event_of, head_of
from kube.cache.store import Indexer, Key, KubeObject, Store
from kube.client.client import Client
from kube.client.errors import Gone, KubeError, OutcomeUnknown, StreamSilent, Unreachable, error_from_status
from kube.client.resources import Resource
from kube.outside import monotonic_seconds, new_random

_log = logging.getLogger(__name__)

T = TypeVar("T", bound=KubeObject)

_BASE_SECONDS = 0.2
_MAX_SECONDS = 30.0
_WATCH_SECONDS = (240.0, 300.0)
_CHANGES_PER_SLICE = 500
_SHORT_STREAM_SECONDS = 1.0
_FAILURES_BEFORE_LIST = 6


@dataclass(frozen=True, slots=True)
class Change(Generic[T]):
    """What happened to one object; `old` is None when added, `new` is None when deleted."""

    kind: Literal["added", "updated", "deleted"]
    old: T | None
    new: T | None


class Informer(Generic[T]):
    """A store that follows one resource, and calls back on every change (client-go's SharedIndexInformer).

    Attributes:
        store: the objects as last seen.
        synced: set once the first list is in the store.

    Args:
        client: talks to the API server.
        resource: the kind to follow.
        decoder: makes records of the server's documents.
        namespace: None for all namespaces.
        label_selector: only objects it matches.
        field_selector: only objects it matches.
        indexers: by name of an index, the values an object is found under.
        silence_seconds: a stream that says nothing for so long is dead; more than a minute, the period of bookmarks.
        clock: monotonic seconds.
        random: spreads lists and watches over time.
    """

    def __init__(  # noqa: PLR0913 (what to follow, then how; all but three optional)
        self,
        client: Client,
        resource: Resource,
        decoder: Decoder[T],
        *,
        namespace: str | None = None,
        label_selector: str | None = None,
        field_selector: str | None = None,
        indexers: Mapping[str, Indexer[T]] | None = None,
        silence_seconds: float = 75.0,
        clock: Callable[[], float] = monotonic_seconds,
        random: randomness.Random | None = None,
    ) -> None:
        self.store: Store[T] = Store(indexers)
        self.synced = asyncio.Event()
        self._client = client
        self._resource = resource
        self._decoder = decoder
        self._namespace = namespace
        self._label_selector = label_selector
        self._field_selector = field_selector
        self._silence_seconds = silence_seconds
        self._clock = clock
        self._random = random or new_random()
        self._backoff = Backoff(_BASE_SECONDS, _MAX_SECONDS, self._random)
        self._handlers: list[Callable[[Change[T]], None]] = []
        self._heard = clock()
        self._version: str | None = None
        self._silences = 0
        self._trouble = ""

    def add_handler(self, callback: Callable[[Change[T]], None]) -> None:
        """Call this for every change from now on; it must be quick and must not raise."""
        self._handlers.append(callback)

    @property
    def is_in_trouble(self) -> bool:
        """Whether the last attempt to list or to watch failed: what has happened since is not in the store yet."""
        return bool(self._trouble)

    def last_heard_seconds(self) -> float:
        """Seconds since the server last said anything: an event, a bookmark, or that it would tell what happens."""
        return self._clock() - self._heard

    async def run(self) -> None:
        """Follow the resource until cancelled."""
        while True:
            try:
                if self._version is None:
                    await self._list()
                await self._watch(self._version or "")
            except Gone:
                # Too old to go on from: the next list says what we missed.
                self._version = None
                await asyncio.sleep(self._backoff.next_seconds())
            except StreamSilent:
                self._recovered()
                self._doubt_silence()
            except KubeError as error:
                self._report(error)
                pause_seconds = self._backoff.next_seconds()
                self._doubt_version(error)
                await asyncio.sleep(pause_seconds)

    # --- listing -----------------------------------------------------------------------------------------------------

    async def _list(self) -> None:
        found: dict[Key, T] = {}
        unreadable: set[Key] = set()
        version = ""
        async for document in self._client.list_pages(
            self._resource,
            self._namespace,
            label_selector=self._label_selector,
            field_selector=self._field_selector,
            timeout_seconds=self._silence_seconds,
        ):
            try:
                page = self._decoder.page(document)
            except msgspec.MsgspecError as error:
                raise OutcomeUnknown(f"list of {self._resource.plural}: {error}") from error
            self._heard = self._clock()
            found.update((item.metadata.key, item) for item in page.items)
            for metadata, reason in page.misfits:
                unreadable.add(metadata.key)
                self._warn_unreadable(metadata, reason)
            version = version or page.resource_version
        await self._adopt(found, unreadable)
        self._version = version
        self.synced.set()

    async def _adopt(self, found: Mapping[Key, T], unreadable: set[Key]) -> None:
        """Make the store equal to a fresh list, in slices so that nothing else in the process waits long."""
        steps = 0
        for key in self.store.keys():  # noqa: SIM118 (the store iterates over objects)
            if key not in found and key not in unreadable:
                self._remove(key)
                steps += 1
                if steps % _CHANGES_PER_SLICE == 0:
                    await asyncio.sleep(0)
        for item in found.values():
            self._put(item)
            steps += 1
            if steps % _CHANGES_PER_SLICE == 0:
                await asyncio.sleep(0)

    # --- watching ----------------------------------------------------------------------------------------------------

    async def _watch(self, version: str) -> None:
        begun = self._clock()
        heard_anything = False
        lasting: asyncio.TimerHandle | None = None

        def opened() -> None:
            nonlocal lasting
            self._heard = self._clock()
            # Of a quiet kind nothing more may come before the stream breaks: that it has lasted is all there is to go by.
            lasting = asyncio.get_running_loop().call_later(_SHORT_STREAM_SECONDS, self._recovered)

        stream = self._client.watch(
            self._resource,
            self._namespace,
            resource_version=version,
            label_selector=self._label_selector,
            field_selector=self._field_selector,
            timeout_seconds=self._random.uniform(*_WATCH_SECONDS),
            silence_seconds=self._silence_seconds,
            opened=opened,
        )
        try:
            async with contextlib.aclosing(stream):
                async for line in stream:
                    self._heard = self._clock()
                    self._silences = 0
                    self._apply(line)
                    if not heard_anything:
                        heard_anything = True
                        self._recovered()
        finally:
            if lasting is not None:
                lasting.cancel()
        if heard_anything or self._clock() - begun >= _SHORT_STREAM_SECONDS:
            self._recovered()
        else:
            # A server that ends every stream at once must not be asked in a tight loop.
            await asyncio.sleep(self._backoff.next_seconds())

    def _apply(self, line: bytes) -> None:
        try:
            event = event_of(line)
        except msgspec.MsgspecError as error:
            raise OutcomeUnknown(f"watch of {self._resource.plural}: unreadable event: {error}") from error
        if event.type == "ERROR":
            raise self._stream_error(event)
        if event.type in {"ADDED", "MODIFIED"}:
            metadata = self._apply_version(event)
        else:
            metadata = head_of(event.object)
            if event.type == "DELETED":
                self._remove(metadata.key)
        if metadata.resource_version:
            self._version = metadata.resource_version

    def _apply_version(self, event: WatchEvent) -> Metadata:
        try:
            item = self._decoder.item(event.object)
        except msgspec.MsgspecError as error:
            # The last readable version stays: what it occupies is still occupied.
            metadata = head_of(event.object)
            self._warn_unreadable(metadata, str(error))
            return metadata
        self._put(item)
        return item.metadata

    def _stream_error(self, event: WatchEvent) -> KubeError:
        try:
            status = msgspec.json.decode(event.object)
        except msgspec.MsgspecError:
            status = None
        return error_from_status(status if isinstance(status, dict) else {}, request=f"WATCH {self._resource.plural}")

    # --- changing the store ------------------------------------------------------------------------------------------

    def _put(self, item: T) -> None:
        metadata = item.metadata
        old = self.store.get(metadata.namespace, metadata.name)
        if old is not None and old.metadata.uid != metadata.uid:
            self._remove(metadata.key)
            old = None
        if old is None:
            self.store.put(item)
            self._tell(Change("added", None, item))
        elif old.metadata.resource_version != metadata.resource_version:
            self.store.put(item)
            self._tell(Change("updated", old, item))

    def _remove(self, key: Key) -> None:
        old = self.store.remove(*key)
        if old is not None:
            self._tell(Change("deleted", old, None))

    def _tell(self, change: Change[T]) -> None:
        for handler in self._handlers:
            handler(change)

    # --- saying how it goes ------------------------------------------------------------------------------------------

    def _doubt_version(self, error: KubeError) -> None:
        """List anew when a reachable server keeps failing the watch: after a restore our version may never come."""
        if not isinstance(error, Unreachable) and self._backoff.attempts >= _FAILURES_BEFORE_LIST:
            self._version = None

    def _doubt_silence(self) -> None:
        """List anew after so many silent streams: a server that was restored may wait for a version that is long past for us."""
        self._silences += 1
        if self._silences >= _FAILURES_BEFORE_LIST:
            self._silences = 0
            self._version = None

    def _recovered(self) -> None:
        self._backoff.reset()
        if self._trouble:
            _log.info("following %s again", self._resource.plural)
            self._trouble = ""

    def _report(self, error: KubeError) -> None:
        reason = str(error)
        if reason != self._trouble:
            self._trouble = reason
            _log.warning("cannot follow %s, trying again: %s", self._resource.plural, reason)

    def _warn_unreadable(self, metadata: Metadata, reason: str) -> None:
        name = f"{metadata.namespace}/{metadata.name}".strip("/")
        _log.warning("ignoring what %s %s says, it is not readable: %s", self._resource.kind, name, reason)

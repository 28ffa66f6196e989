"""A store that already shows what we wrote ourselves (client-go: MutationCache).

An informer learns of our own creation some milliseconds after the server confirmed it. A pass that runs in between would
create again and be told that the object exists. So the answer to a write is kept beside the informer's store until the
informer has caught up with it, or for a limited time: what was deleted in the same moment must not live on here.
"""

from collections.abc import Callable, Hashable, Mapping
from itertools import takewhile
from typing import Final, Generic, TypeVar

from kube.cache.informer import Change
from kube.cache.store import Indexer, KubeObject, Store
from kube.outside import monotonic_seconds

T = TypeVar("T", bound=KubeObject)

KEPT_SECONDS: Final = 30.0
"""How long an answer of the server is kept that the informer does not show."""


class RecentUids:
    """The UIDs that were added during the last so many seconds."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._seconds = seconds
        self._clock = clock
        self._added: dict[str, float] = {}

    def __contains__(self, uid: str) -> bool:
        added = self._added.get(uid)
        return added is not None and self._clock() - added < self._seconds

    def add(self, uid: str) -> None:
        """From now on it counts as added at this moment."""
        self._added.pop(uid, None)
        self._added[uid] = self._clock()

    def discard(self, uid: str) -> None:
        """It counts as never added."""
        self._added.pop(uid, None)

    def pop_expired(self) -> list[str]:
        """Forget those that were added too long ago; gives them."""
        # They stand in the order in which they were added.
        expired = list(takewhile(lambda uid: uid not in self, self._added))
        for uid in expired:
            del self._added[uid]
        return expired


class MutationCache(Generic[T]):
    """The union of an informer's store and our own recent writes; the newer version of an object wins."""

    def __init__(
        self, store: Store[T], indexers: Mapping[str, Indexer[T]], *, clock: Callable[[], float] = monotonic_seconds
    ) -> None:
        """`store` is the informer's; `indexers` are the ones it has. `caught_up` has to be a handler of that informer."""
        self._store = store
        self._written: Store[T] = Store(indexers)
        self._recent = RecentUids(KEPT_SECONDS, clock)

    def get(self, namespace: str, name: str) -> T | None:
        """The object of that name, or None."""
        written = self._current(self._written.get(namespace, name))
        return written if written is not None else self._store.get(namespace, name)

    def by_index(self, index: str, value: Hashable) -> list[T]:
        """The objects to which the index function gave this value."""
        found = {item.metadata.key: item for item in self._store.by_index(index, value)}
        for written in self._written.by_index(index, value):
            if self._current(written) is not None:
                found[written.metadata.key] = written
        return list(found.values())

    def note(self, item: T) -> None:
        """Remember what the server answered to a read or write of ours."""
        known = self._store.get(*item.metadata.key)
        if known is not None and not is_newer(item, known):
            return
        for uid in self._recent.pop_expired():
            self._forget(self._written.by_uid(uid))
        replaced = self._written.put(item)
        if replaced is not None:
            self._recent.discard(replaced.metadata.uid)
        self._recent.add(item.metadata.uid)

    def forget(self, uid: str) -> None:
        """Drop what was noted of this object; the informer's version stays."""
        self._forget(self._written.by_uid(uid))

    def caught_up(self, change: Change[T]) -> None:
        """Forget what the informer has seen by now. A handler for the informer."""
        seen = change.new if change.new is not None else change.old
        written = None if seen is None else self._written.get(*seen.metadata.key)
        if seen is None or written is None:
            return
        # The end of a predecessor says nothing about what we made under its name.
        same_object = seen.metadata.uid == written.metadata.uid
        is_past = same_object if change.new is None else not is_newer(written, seen)
        if is_past:
            self._forget(written)

    def _current(self, item: T | None) -> T | None:
        if item is not None and item.metadata.uid not in self._recent:
            self._forget(item)
            return None
        return item

    def _forget(self, item: T | None) -> None:
        if item is not None:
            self._written.remove(*item.metadata.key)
            self._recent.discard(item.metadata.uid)


def is_newer(item: KubeObject, than: KubeObject) -> bool:
    """Whether this is later news than the other; they may be different objects of one name.

    The versions of one kind are compared as numbers (KEP-5504). Where they are no numbers, what comes later is later.
    """
    try:
        return int(item.metadata.resource_version) > int(than.metadata.resource_version)
    except ValueError:
        return item.metadata.resource_version != than.metadata.resource_version

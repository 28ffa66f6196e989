"""The objects that gangs are made for, as reconcile sees them: slim records, never the bodies they came in.

kopf reports every event about them; what it cannot report (a deletion it missed while its watch was broken) is found out by
a live read before any creation, unless the server has shown the object only just now. The store never goes back to an older
version: the answer to our own patch may arrive before the events that preceded it.
"""

import time
from collections.abc import Callable
from itertools import takewhile
from typing import Final, Generic, TypeVar

from controllers.fresh import is_newer
from kube.cache.store import Key, KubeObject, Store

T = TypeVar("T", bound=KubeObject)

JUST_NOW_SECONDS: Final = 30.0
"""A watch that broke is noticed within this time, so what was shown since is as good as what a read would tell."""


class OwnerStore(Generic[T]):
    """All objects of one kind in the cluster by key; tells its listeners about every change. Belongs to one event loop."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._shown: dict[str, float] = {}
        self._store: Store[T] = Store()
        self._listeners: list[Callable[[Key], None]] = []
        self._leavers: list[Callable[[T], None]] = []

    def __len__(self) -> int:
        return len(self._store)

    def on_change(self, listener: Callable[[Key], None]) -> None:
        """Call this with the key of every object that came, changed or went."""
        self._listeners.append(listener)

    def on_leave(self, listener: Callable[[T], None]) -> None:
        """Call this with every object that went or gave its name to another one."""
        self._leavers.append(listener)

    def get(self, key: Key) -> T | None:
        """The object, or None."""
        return self._store.get(*key)

    def has(self, item: KubeObject) -> bool:
        """Whether this very object, in whatever version, is known."""
        known = self._store.get(*item.metadata.key)
        return known is not None and known.metadata.uid == item.metadata.uid

    def keys(self) -> list[Key]:
        """The keys of all objects."""
        return self._store.keys()

    def was_just_shown(self, item: T) -> bool:
        """Whether this very version of the object is the latest known, and the server has shown the object just now."""
        known, shown = self._store.get(*item.metadata.key), self._shown.get(item.metadata.uid)
        return (
            known is not None
            and shown is not None
            and known.metadata.uid == item.metadata.uid
            and known.metadata.resource_version == item.metadata.resource_version
            and self._clock() - shown < JUST_NOW_SECONDS
        )

    def put(self, item: T) -> None:
        """Keep this version unless a later one is known."""
        self._note_shown(item.metadata.uid)
        known = self._store.get(*item.metadata.key)
        if known is not None and not is_newer(item, known):
            return
        self._store.put(item)
        if known is not None and known.metadata.uid != item.metadata.uid:
            self._tell_left(known)
        self._tell(item.metadata.key)

    def remove(self, item: T) -> None:
        """Forget exactly this object; another one of the same name stays."""
        self._shown.pop(item.metadata.uid, None)
        known = self._store.get(*item.metadata.key)
        if known is None or known.metadata.uid != item.metadata.uid:
            return
        self._store.remove(*item.metadata.key)
        self._tell_left(known)
        self._tell(item.metadata.key)

    def _note_shown(self, uid: str) -> None:
        now = self._clock()
        self._shown.pop(uid, None)
        self._shown[uid] = now
        # They stand in the order in which they were shown.
        past = list(takewhile(lambda each: now - self._shown[each] >= JUST_NOW_SECONDS, self._shown))
        for each in past:
            del self._shown[each]

    def _tell(self, key: Key) -> None:
        for listener in self._listeners:
            listener(key)

    def _tell_left(self, item: T) -> None:
        for listener in self._leavers:
            listener(item)

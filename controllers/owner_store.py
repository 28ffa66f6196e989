"""The objects that gangs are made for, as reconcile sees them: slim records, never the bodies they came in.

kopf reports every event about them; what it cannot report (a deletion it missed while its watch was broken) is found out by
the live read before any creation. The store never goes back to an older version: the answer to our own patch may arrive before
the events that preceded it.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from controllers.fresh import is_newer
from kube.cache.store import Key, KubeObject, Store

T = TypeVar("T", bound=KubeObject)


class OwnerStore(Generic[T]):
    """All objects of one kind in the cluster by key; tells its listeners about every change. Belongs to one event loop."""

    def __init__(self) -> None:
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

    def keys(self) -> list[Key]:
        """The keys of all objects."""
        return self._store.keys()

    def put(self, item: T) -> None:
        """Keep this version unless a later one is known."""
        known = self._store.get(*item.metadata.key)
        if known is not None and not is_newer(item, known):
            return
        self._store.put(item)
        if known is not None and known.metadata.uid != item.metadata.uid:
            self._tell_left(known)
        self._tell(item.metadata.key)

    def remove(self, item: T) -> None:
        """Forget exactly this object; another one of the same name stays."""
        known = self._store.get(*item.metadata.key)
        if known is None or known.metadata.uid != item.metadata.uid:
            return
        self._store.remove(*item.metadata.key)
        self._tell_left(known)
        self._tell(item.metadata.key)

    def _tell(self, key: Key) -> None:
        for listener in self._listeners:
            listener(key)

    def _tell_left(self, item: T) -> None:
        for listener in self._leavers:
            listener(item)

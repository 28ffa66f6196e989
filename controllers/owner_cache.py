"""The objects that gangs are made for (Jobs, LeaderWorkerSets), as reconcile sees them.

An informer follows them like every other kind. Beside its store stands what the server told us in the meantime: the answers to
our own reads and writes, and which objects a read did not find any more. So a pass that was told something does not repeat itself
on the old version.
"""

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from controllers.mutation_cache import KEPT_SECONDS, MutationCache, RecentUids
from kube.cache.informer import Change
from kube.cache.store import Key, KubeObject, Store
from kube.outside import monotonic_seconds

T = TypeVar("T", bound=KubeObject)

JUST_NOW_SECONDS: Final = 30.0
"""A watch that broke is noticed within this time, so what was shown since is as good as what a read would tell."""


class OwnerCache(Generic[T]):
    """All objects of one kind in the cluster by key, in the latest version that is known. Belongs to one event loop."""

    def __init__(self, store: Store[T], *, clock: Callable[[], float] = monotonic_seconds) -> None:
        """`store` is the informer's, whose handler `caught_up` has to be."""
        self._store = store
        self._cache: MutationCache[T] = MutationCache(store, {}, clock=clock)
        self._shown = RecentUids(JUST_NOW_SECONDS, clock)
        self._gone = RecentUids(KEPT_SECONDS, clock)

    def __len__(self) -> int:
        return len(self.keys())

    def get(self, key: Key) -> T | None:
        """The object, or None."""
        item = self._cache.get(*key)
        return None if item is None or item.metadata.uid in self._gone else item

    def has(self, item: KubeObject) -> bool:
        """Whether this very object, in whatever version, is known."""
        known = self.get(item.metadata.key)
        return known is not None and known.metadata.uid == item.metadata.uid

    def keys(self) -> list[Key]:
        """The keys of all objects that the informer shows and that are not known to be gone."""
        return [key for key in self._store.keys() if self.get(key) is not None]  # noqa: SIM118 (the store is no mapping)

    def was_just_shown(self, item: T) -> bool:
        """Whether this very version of the object is the latest known, and the server has shown the object just now."""
        known = self.get(item.metadata.key)
        return (
            known is not None
            and item.metadata.uid in self._shown
            and known.metadata.uid == item.metadata.uid
            and known.metadata.resource_version == item.metadata.resource_version
        )

    def note(self, item: T) -> None:
        """Remember what the server answered to a read or write of ours, unless a later version is known."""
        self._note_shown(item.metadata.uid)
        self._cache.note(item)

    def note_gone(self, item: T) -> None:
        """A read has told that exactly this object is gone; another one of the same name stays."""
        uid = item.metadata.uid
        self._shown.discard(uid)
        self._cache.forget(uid)
        self._gone.pop_expired()
        self._gone.add(uid)

    def doubt(self, uid: str) -> None:
        """What belongs to this object went, which happens when it goes itself: from now on only a read or the informer shows it."""
        self._shown.discard(uid)

    def caught_up(self, change: Change[T]) -> None:
        """The informer has seen this. A handler for the informer."""
        self._cache.caught_up(change)
        if change.new is not None:
            self._note_shown(change.new.metadata.uid)
        elif change.old is not None:
            self._shown.discard(change.old.metadata.uid)
            self._gone.discard(change.old.metadata.uid)

    def _note_shown(self, uid: str) -> None:
        self._shown.add(uid)
        self._shown.pop_expired()

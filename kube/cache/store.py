"""A local copy of one kind of object, with look-ups by key, by UID and by any index.

The store holds one object per (namespace, name), as the API server does; its UID tells whether it is still the same one.
It belongs to one event loop; its objects are immutable by convention, so they may be handed out without copying.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Generic, Protocol, TypeVar

from api.meta import Metadata

Key = tuple[str, str]
"""(namespace, name); the namespace is "" for cluster-scoped objects."""


class KubeObject(Protocol):
    """Anything with the metadata of a Kubernetes object."""

    @property
    def metadata(self) -> Metadata:
        """The object's metadata."""


T = TypeVar("T", bound=KubeObject)
Indexer = Callable[[T], Iterable[Hashable]]


class Store(Generic[T]):
    """Objects by key, by UID and by the values that index functions give them."""

    def __init__(self, indexers: Mapping[str, Indexer[T]] | None = None) -> None:
        self._objects: dict[Key, T] = {}
        self._by_uid: dict[str, Key] = {}
        self._indexers = dict(indexers or {})
        self._indexes: dict[str, dict[Hashable, dict[Key, None]]] = {name: {} for name in self._indexers}

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[T]:
        return iter(self._objects.values())

    def get(self, namespace: str, name: str) -> T | None:
        """The object of that name, or None."""
        return self._objects.get((namespace, name))

    def by_uid(self, uid: str) -> T | None:
        """The object with that UID, or None."""
        key = self._by_uid.get(uid)
        return None if key is None else self._objects[key]

    def by_index(self, index: str, value: Hashable) -> list[T]:
        """The objects that the index function gave this value, oldest entry first."""
        return [self._objects[key] for key in self._indexes[index].get(value, ())]

    def all(self) -> list[T]:
        """All objects."""
        return list(self._objects.values())

    def keys(self) -> list[Key]:
        """The keys of all objects."""
        return list(self._objects)

    def put(self, item: T) -> T | None:
        """Keep this version of the object; gives the one it replaces, which may have had another UID."""
        key = item.metadata.key
        old = self._objects.get(key)
        self._objects[key] = item
        if old is not None and old.metadata.uid != item.metadata.uid:
            self._by_uid.pop(old.metadata.uid, None)
        if item.metadata.uid:
            self._by_uid[item.metadata.uid] = key
        for name, indexer in self._indexers.items():
            self._reindex(name, key, () if old is None else indexer(old), indexer(item))
        return old

    def remove(self, namespace: str, name: str) -> T | None:
        """Forget the object; gives what was there."""
        key = (namespace, name)
        old = self._objects.pop(key, None)
        if old is None:
            return None
        self._by_uid.pop(old.metadata.uid, None)
        for index, indexer in self._indexers.items():
            self._reindex(index, key, indexer(old), ())
        return old

    def _reindex(self, index: str, key: Key, before: Iterable[Hashable], after: Iterable[Hashable]) -> None:
        old, new = set(before), set(after)
        if old == new:
            return
        entries = self._indexes[index]
        for value in old - new:
            keys = entries[value]
            del keys[key]
            if not keys:
                del entries[value]
        for value in new - old:
            entries.setdefault(value, {})[key] = None

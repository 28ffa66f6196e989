"""All objects, in memory, under one version that counts every change.

Invariants: an object in the store is never changed in place; every change gets the next version and is told to the
subscribers before the next one happens; a change names the record it was decided on, so of two only one can win.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence

import orjson

from localcluster.apiserver.kinds.kind import Object, Resource

Key = tuple[str, str]
"""Namespace ("" for cluster-scoped objects) and name."""

REMEMBERED_EVENTS = 8192


class Stored:
    """One version of an object, with its encoding once somebody needed it."""

    __slots__ = ("_encoded", "obj", "version")

    def __init__(self, obj: Object, version: int) -> None:
        self.obj = obj
        self.version = version
        self._encoded: bytes | None = None

    @property
    def encoded(self) -> bytes:
        """The object as JSON; its kind and its version come first."""
        if self._encoded is None:
            obj = self.obj
            self._encoded = orjson.dumps({"kind": obj["kind"], "apiVersion": obj["apiVersion"], **obj})
        return self._encoded

    def copy(self) -> Object:
        """The object once more, sharing nothing with it."""
        copied: Object = orjson.loads(self.encoded)
        return copied


class Event:
    """One change. For DELETED, `new` is the last state with the version of the deletion."""

    __slots__ = ("new", "old", "resource", "type")

    def __init__(self, kind: str, resource: Resource, new: Stored, old: Stored | None) -> None:
        self.type = kind
        self.resource = resource
        self.new = new
        self.old = old


Callback = Callable[[Event], None]
Events = list[Event]
Records = list[Stored]


class Outdated(Exception):
    """The record is not the object's present one."""


class Taken(Exception):
    """The name is taken."""


class Forgotten(Exception):
    """The events after that version are not remembered any more; `oldest` is the first one that is."""

    def __init__(self, oldest: int) -> None:
        super().__init__()
        self.oldest = oldest


class _Collection:
    __slots__ = ("events", "forgotten", "objects", "order", "subscribers")

    def __init__(self, version: int) -> None:
        self.objects: dict[Key, Stored] = {}
        self.order: list[Key] | None = []
        self.subscribers: list[Callback] = []
        self.events: deque[Event] = deque(maxlen=REMEMBERED_EVENTS)
        self.forgotten = version


class Store:
    """Objects by resource, namespace and name."""

    def __init__(self, version: int = 1) -> None:
        self.version = version
        self._first = version
        self._collections: dict[Resource, _Collection] = {}
        self._watchers: list[Callback] = []

    def get(self, resource: Resource, namespace: str, name: str) -> Stored | None:
        """The object's present record."""
        return self._of(resource).objects.get((namespace, name))

    def list(self, resource: Resource, namespace: str = "") -> Records:
        """All records of the resource, or of one namespace, in the order of their keys."""
        collection = self._of(resource)
        if collection.order is None:
            collection.order = sorted(collection.objects)
        objects = collection.objects
        if namespace:
            return [objects[key] for key in collection.order if key[0] == namespace]
        return [objects[key] for key in collection.order]

    def count(self, resource: Resource) -> int:
        """How many objects there are."""
        return len(self._of(resource).objects)

    def resources(self) -> Iterable[Resource]:
        """The resources that have, or had, objects."""
        return tuple(self._collections)

    def put(self, resource: Resource, obj: Object) -> Stored:
        """Keep a new object; it gets its version here.

        Raises:
            Taken: there is one of that name.
        """
        collection = self._of(resource)
        key = key_of(obj)
        if key in collection.objects:
            raise Taken
        stored = self._stamped(obj)
        collection.objects[key] = stored
        collection.order = None
        self._tell(collection, Event("ADDED", resource, stored, None))
        return stored

    def replace(self, resource: Resource, old: Stored, obj: Object) -> Stored:
        """Keep the next version of an object.

        Raises:
            Outdated: `old` is not the present one.
        """
        collection = self._of(resource)
        key = key_of(old.obj)
        if collection.objects.get(key) is not old:
            raise Outdated
        stored = self._stamped(obj)
        collection.objects[key] = stored
        self._tell(collection, Event("MODIFIED", resource, stored, old))
        return stored

    def delete(self, resource: Resource, old: Stored, last: Object | None = None) -> Stored:
        """Forget an object; its last state, with the version of the deletion.

        Raises:
            Outdated: `old` is not the present one.
        """
        collection = self._of(resource)
        key = key_of(old.obj)
        if collection.objects.get(key) is not old:
            raise Outdated
        gone = self._stamped(last if last is not None else {**old.obj, "metadata": dict(old.obj["metadata"])})
        del collection.objects[key]
        collection.order = None
        self._tell(collection, Event("DELETED", resource, gone, old))
        return gone

    def restore(self, resource: Resource, objects: Iterable[Object], version: int) -> None:
        """Take in objects of an earlier life, as they were."""
        collection = self._of(resource)
        for obj in objects:
            collection.objects[key_of(obj)] = Stored(obj, int(obj["metadata"]["resourceVersion"]))
        collection.order = None
        self.version = max(self.version, version)
        self._first = self.version
        for each in self._collections.values():
            each.forgotten = self.version

    def subscribe(self, resource: Resource, callback: Callback) -> Callable[[], None]:
        """Call this after every change of the resource, until the function returned is called."""
        subscribers = self._of(resource).subscribers
        subscribers.append(callback)

        def unsubscribe() -> None:
            if callback in subscribers:
                subscribers.remove(callback)

        return unsubscribe

    def subscribe_all(self, callback: Callback) -> None:
        """Call this after every change of anything."""
        self._watchers.append(callback)

    def since(self, resource: Resource, version: int) -> Sequence[Event]:
        """The changes of the resource after this version.

        Raises:
            Forgotten: not all of them are remembered.
        """
        collection = self._of(resource)
        if version < collection.forgotten:
            raise Forgotten(collection.forgotten + 1)
        found: Events = []
        for event in reversed(collection.events):
            if event.new.version <= version:
                break
            found.append(event)
        found.reverse()
        return found

    def _stamped(self, obj: Object) -> Stored:
        self.version += 1
        obj["metadata"]["resourceVersion"] = str(self.version)
        return Stored(obj, self.version)

    def _tell(self, collection: _Collection, event: Event) -> None:
        events = collection.events
        if len(events) == REMEMBERED_EVENTS:
            collection.forgotten = events[0].new.version
        events.append(event)
        for callback in tuple(collection.subscribers):
            callback(event)
        for callback in self._watchers:
            callback(event)

    def _of(self, resource: Resource) -> _Collection:
        collection = self._collections.get(resource)
        if collection is None:
            collection = self._collections[resource] = _Collection(self._first)
        return collection


def key_of(obj: Object) -> Key:
    """Where an object is kept within its resource."""
    metadata = obj["metadata"]
    return metadata.get("namespace") or "", metadata["name"]

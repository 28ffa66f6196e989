"""Pods that no rule in force can tell apart, counted together; and finding the rules that speak of a pod.

A rule sees of a pod its namespace, some of its labels, and whether it is being deleted. Kin are pods that agree in these, as
far as any rule in force looks at them, and in the keys of all their labels (not the values): so where no rule looks at labels,
all pods of a namespace that are made alike are kin.
"""

from collections.abc import Iterator
from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from scheduler.state.selectors import Labels, Query

Counts = NDArray[np.int32]
Item = TypeVar("Item")
Hook = tuple[str, str] | None
"""A label and a value that a pod must have to match; None when the query names none."""

ANY_NAMESPACE: Final = ""


class Tally:
    """How many pods a query speaks of, by node slot."""

    __slots__ = ("counts", "query")

    def __init__(self, query: Query, slots: int) -> None:
        self.query: Final = query
        self.counts: Counts = np.zeros(slots, dtype=np.int32)

    def add(self, slot: int, pods: int) -> None:
        """Counts pods, or with a negative number no longer."""
        if slot >= len(self.counts):
            self.reach(2 * slot)
        self.counts[slot] += pods

    def reach(self, slots: int) -> None:
        """Makes room for so many slots at least."""
        if slots > len(self.counts):
            self.counts = np.concatenate([self.counts, np.zeros(slots - len(self.counts), dtype=np.int32)])


class KinKey(NamedTuple):
    """What pods of one kin have in common."""

    namespace: str
    label_keys: tuple[str, ...]
    """Of all their labels, whether a rule looks at them or not."""
    visible: tuple[str, ...]
    """The labels that some rule looks at, keys and values in turn."""
    leaving: bool


class Kin:
    """Pods alike, by node slot; `tallies` count them."""

    __slots__ = ("key", "labels", "leaving", "namespace", "tallies", "where")

    def __init__(self, key: KinKey) -> None:
        self.key: Final = key
        self.namespace: Final = key.namespace
        self.labels: Final[Labels] = pairs(key.visible)
        self.leaving: Final = key.leaving
        self.where: dict[int, int] = {}
        self.tallies: list[Tally] = []


def pairs(labels: tuple[str, ...]) -> Labels:
    """Keys and values in turn, as a mapping."""
    return dict(zip(labels[::2], labels[1::2], strict=True))


def hooks(query: Query) -> tuple[Hook, ...]:
    """A matching pod has one of these label values; empty when nothing matches, (None,) when that says nothing."""
    requirements = query.selector.requirements
    if requirements is None:
        return ()
    named = [one for one in requirements if one.operator == "In"]
    if not named:
        return (None,)
    narrowest = min(named, key=lambda one: len(one.values))
    return tuple((narrowest.key, value) for value in narrowest.values)


class QueryIndex(Generic[Item]):
    """Items by the query that belongs to them, found from a pod without asking every query."""

    def __init__(self) -> None:
        self._buckets: dict[str, dict[Hook, dict[Item, None]]] = {}

    def add(self, query: Query, item: Item) -> None:
        """Takes in an item."""
        for namespace in _namespaces(query):
            bucket = self._buckets.setdefault(namespace, {})
            for hook in hooks(query):
                bucket.setdefault(hook, {})[item] = None

    def discard(self, query: Query, item: Item) -> None:
        """Forgets an item that was added with this query."""
        for namespace in _namespaces(query):
            bucket = self._buckets[namespace]
            for hook in hooks(query):
                del bucket[hook][item]
                if not bucket[hook]:
                    del bucket[hook]
            if not bucket:
                del self._buckets[namespace]

    def reaches(self, namespace: str) -> bool:
        """Whether a query may speak of pods of this namespace."""
        return namespace in self._buckets or ANY_NAMESPACE in self._buckets

    def candidates(self, namespace: str, labels: Labels) -> Iterator[Item]:
        """Items whose query may speak of such a pod, some of them twice."""
        for name in (namespace, ANY_NAMESPACE):
            bucket = self._buckets.get(name)
            if bucket:
                yield from bucket.get(None, ())
                for hook in labels.items():
                    yield from bucket.get(hook, ())


def _namespaces(query: Query) -> tuple[str, ...]:
    return (*query.namespaces, ANY_NAMESPACE) if query.namespace_selector is not None else query.namespaces

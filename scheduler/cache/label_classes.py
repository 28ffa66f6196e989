"""Running pods in classes that no rule in force can tell apart, and finding the classes and rules that concern each other.

A rule sees of a pod its namespace, some of its labels, and whether it is being deleted. A class is the pods that agree in these,
as far as any rule in force looks at them, and in the keys of all their labels (not the values): so where no rule looks at labels,
all pods of a namespace that are made alike are one class. Classes are also found by label keys that no rule looks at: when a
rule looks at a key for the first time, or none does any more, only pods that have it need to be told apart anew.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from scheduler.cache.selectors import Labels, Query

MatchesByNode = NDArray[np.int32]
Item = TypeVar("Item")
LabelValue = tuple[str, str] | None
"""A label and a value that a pod must have to match; None when the query names none."""

ANY_NAMESPACE: Final = ""


class MatchCount:
    """How many pods a query selects, by node slot."""

    __slots__ = ("counts", "query")

    def __init__(self, query: Query, slots: int) -> None:
        self.query: Final = query
        self.counts: MatchesByNode = np.zeros(slots, dtype=np.int32)

    def add(self, slot: int, pods: int) -> None:
        """Counts pods, or with a negative number no longer."""
        if slot >= len(self.counts):
            self.reach(2 * slot)
        self.counts[slot] += pods

    def reach(self, slots: int) -> None:
        """Makes room for so many slots at least."""
        if slots > len(self.counts):
            self.counts = np.concatenate([self.counts, np.zeros(slots - len(self.counts), dtype=np.int32)])


class LabelClassKey(NamedTuple):
    """What pods of one class have in common."""

    namespace: str
    label_keys: tuple[str, ...]
    """Of all their labels, whether a rule looks at them or not."""
    visible: tuple[str, ...]
    """The labels that some rule looks at, keys and values in turn."""
    leaving: bool


class LabelClass:
    """Pods alike, by node slot; `match_counts` count them."""

    __slots__ = ("key", "labels", "leaving", "match_counts", "namespace", "where")

    def __init__(self, key: LabelClassKey) -> None:
        self.key: Final = key
        self.namespace: Final = key.namespace
        self.labels: Final[Labels] = pairs(key.visible)
        self.leaving: Final = key.leaving
        self.where: dict[int, int] = {}
        self.match_counts: list[MatchCount] = []


def pairs(labels: tuple[str, ...]) -> Labels:
    """Keys and values in turn, as a mapping."""
    return dict(zip(labels[::2], labels[1::2], strict=True))


def label_values_of(query: Query) -> tuple[LabelValue, ...]:
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
        self._buckets: dict[str, dict[LabelValue, dict[Item, None]]] = {}

    def add(self, query: Query, item: Item) -> None:
        """Takes in an item."""
        for namespace in _namespaces(query):
            bucket = self._buckets.setdefault(namespace, {})
            for label_value in label_values_of(query):
                bucket.setdefault(label_value, {})[item] = None

    def discard(self, query: Query, item: Item) -> None:
        """Forgets an item that was added with this query."""
        for namespace in _namespaces(query):
            bucket = self._buckets[namespace]
            for label_value in label_values_of(query):
                del bucket[label_value][item]
                if not bucket[label_value]:
                    del bucket[label_value]
            if not bucket:
                del self._buckets[namespace]

    def reaches(self, namespace: str) -> bool:
        """Whether a query may select pods of this namespace."""
        return namespace in self._buckets or ANY_NAMESPACE in self._buckets

    def candidates(self, namespace: str, labels: Labels) -> Iterator[Item]:
        """Items whose query may select such a pod, some of them twice."""
        for name in (namespace, ANY_NAMESPACE):
            bucket = self._buckets.get(name)
            if bucket:
                yield from bucket.get(None, ())
                for label_value in labels.items():
                    yield from bucket.get(label_value, ())


def _namespaces(query: Query) -> tuple[str, ...]:
    return (*query.namespaces, ANY_NAMESPACE) if query.namespace_selector is not None else query.namespaces


K = TypeVar("K", bound=Hashable)


class LabelClassIndex:
    """Label classes by key, namespace, label and label key. What is empty is not kept."""

    def __init__(self) -> None:
        self._label_classes: dict[LabelClassKey, LabelClass] = {}
        self._by_namespace: dict[str, dict[LabelClass, None]] = {}
        self._by_label: dict[tuple[str, LabelValue], dict[LabelClass, None]] = {}
        self._by_keys: dict[tuple[str, ...], dict[LabelClass, None]] = {}
        self._with_key: dict[str, dict[tuple[str, ...], None]] = {}

    def __len__(self) -> int:
        return len(self._label_classes)

    def get(self, key: LabelClassKey) -> LabelClass | None:
        """The label class with this key."""
        return self._label_classes.get(key)

    def add(self, label_class: LabelClass) -> None:
        """Takes in a new class."""
        self._label_classes[label_class.key] = label_class
        self._by_namespace.setdefault(label_class.namespace, {})[label_class] = None
        for label_value in label_class.labels.items():
            self._by_label.setdefault((label_class.namespace, label_value), {})[label_class] = None
        label_keys = label_class.key.label_keys
        if label_keys not in self._by_keys:
            for key in label_keys:
                self._with_key.setdefault(key, {})[label_keys] = None
        self._by_keys.setdefault(label_keys, {})[label_class] = None

    def discard(self, label_class: LabelClass) -> None:
        """Forgets a class that was added."""
        del self._label_classes[label_class.key]
        _drop(self._by_namespace, label_class.namespace, label_class)
        for label_value in label_class.labels.items():
            _drop(self._by_label, (label_class.namespace, label_value), label_class)
        label_keys = label_class.key.label_keys
        _drop(self._by_keys, label_keys, label_class)
        if label_keys not in self._by_keys:
            for key in label_keys:
                _drop(self._with_key, key, label_keys)

    def candidates(self, query: Query) -> Iterator[LabelClass]:
        """Label classes that a query may select; they may be changed meanwhile, but none added or discarded."""
        everywhere = query.namespace_selector is not None
        for namespace in self._by_namespace if everywhere else query.namespaces:
            for label_value in label_values_of(query):
                found = (
                    self._by_namespace.get(namespace)
                    if label_value is None
                    else self._by_label.get((namespace, label_value))
                )
                yield from found or ()

    def with_label_keys(self, keys: Iterable[str]) -> dict[LabelClass, None]:
        """Label classes whose pods have a label with one of these keys."""
        sets = {label_keys: None for key in keys for label_keys in self._with_key.get(key, ())}
        return {label_class: None for label_keys in sets for label_class in self._by_keys[label_keys]}


def _drop(table: dict[K, dict], key: K, item: object) -> None:  # type: ignore[type-arg]
    entry = table[key]
    del entry[item]
    if not entry:
        del table[key]


class LabelKeys:
    """Keys that tell pods apart. A key stays known for a while after its last rule: until `outdated` is acted upon."""

    def __init__(self) -> None:
        self.known: Final[set[str]] = set()
        self._rules: Counter[str] = Counter()
        self._unused: dict[str, None] = {}

    def use(self, query: Query) -> None:
        """One rule more asks this."""
        keys = query.keys()
        self._rules.update(keys)
        for key in keys:
            self._unused.pop(key, None)

    def disuse(self, query: Query) -> None:
        """One rule less asks this."""
        keys = query.keys()
        for key in keys:
            self._rules[key] -= 1
            if not self._rules[key]:
                del self._rules[key]
                self._unused[key] = None

    def outdated(self, wanted: Iterable[str]) -> set[str]:
        """Known keys that no rule looks at, nor is about to."""
        return self._unused.keys() - wanted

    def change(self, new: Iterable[str], forgotten: Iterable[str]) -> None:
        """These are known from now on, and those no more."""
        for key in new:
            self.known.add(key)
            if key not in self._rules:
                self._unused[key] = None
        for key in forgotten:
            self.known.discard(key)
            self._unused.pop(key, None)

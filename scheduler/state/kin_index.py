"""All kin, found by what a query or a rule names: namespaces, label values, and the label keys that their pods have.

Kin are found by every label key of their pods, also by those that no rule looks at: when a rule looks at a key for the first
time, or none does any more, only pods that have it need to be told apart anew.
"""

from collections.abc import Hashable, Iterable, Iterator
from typing import TypeVar

from scheduler.state.kin import Hook, Kin, KinKey, hooks
from scheduler.state.selectors import Query

K = TypeVar("K", bound=Hashable)


class KinIndex:
    """Kin by key, namespace, label and label key. What is empty is not kept."""

    def __init__(self) -> None:
        self._kin: dict[KinKey, Kin] = {}
        self._by_namespace: dict[str, dict[Kin, None]] = {}
        self._by_label: dict[tuple[str, Hook], dict[Kin, None]] = {}
        self._by_keys: dict[tuple[str, ...], dict[Kin, None]] = {}
        self._with_key: dict[str, dict[tuple[str, ...], None]] = {}

    def __len__(self) -> int:
        return len(self._kin)

    def get(self, key: KinKey) -> Kin | None:
        """The kin with this key."""
        return self._kin.get(key)

    def add(self, kin: Kin) -> None:
        """Takes in new kin."""
        self._kin[kin.key] = kin
        self._by_namespace.setdefault(kin.namespace, {})[kin] = None
        for hook in kin.labels.items():
            self._by_label.setdefault((kin.namespace, hook), {})[kin] = None
        label_keys = kin.key.label_keys
        if label_keys not in self._by_keys:
            for key in label_keys:
                self._with_key.setdefault(key, {})[label_keys] = None
        self._by_keys.setdefault(label_keys, {})[kin] = None

    def discard(self, kin: Kin) -> None:
        """Forgets kin that were added."""
        del self._kin[kin.key]
        _drop(self._by_namespace, kin.namespace, kin)
        for hook in kin.labels.items():
            _drop(self._by_label, (kin.namespace, hook), kin)
        label_keys = kin.key.label_keys
        _drop(self._by_keys, label_keys, kin)
        if label_keys not in self._by_keys:
            for key in label_keys:
                _drop(self._with_key, key, label_keys)

    def candidates(self, query: Query) -> Iterator[Kin]:
        """Kin that a query may speak of; they may be changed meanwhile, but none added or discarded."""
        everywhere = query.namespace_selector is not None
        for namespace in self._by_namespace if everywhere else query.namespaces:
            for hook in hooks(query):
                found = self._by_namespace.get(namespace) if hook is None else self._by_label.get((namespace, hook))
                yield from found or ()

    def with_label_keys(self, keys: Iterable[str]) -> dict[Kin, None]:
        """Kin whose pods have a label with one of these keys."""
        sets = {label_keys: None for key in keys for label_keys in self._with_key.get(key, ())}
        return {kin: None for label_keys in sets for kin in self._by_keys[label_keys]}


def _drop(table: dict[K, dict], key: K, item: object) -> None:  # type: ignore[type-arg]
    entry = table[key]
    del entry[item]
    if not entry:
        del table[key]

"""Which pods run where, as rules about other pods ask it: counts per node, kept current by events.

What is counted: every pod that takes room on a known node, by label class. The pods that a query selects are counted once over
all label classes when it is asked first, and follow the events from then on. The terms of running pods are found from the pod
that they select, because a pod that was there first may refuse newcomers (the symmetry of anti-affinity).

Only labels that some rule looks at tell label classes apart. A rule that looks at a label nobody looked at before splits the
classes of those pods that have it, and no others; when no rule looks at it any more, it is forgotten with the next query.
"""

from collections import OrderedDict
from collections.abc import Mapping, Set
from typing import Final

from scheduler.cache.label_classes import (
    LabelClass,
    LabelClassIndex,
    LabelClassKey,
    LabelKeys,
    MatchCount,
    MatchesByNode,
    QueryIndex,
)
from scheduler.cache.nodes import NodeTable
from scheduler.cache.pod_rules import AffinityTerm, AffinityTerms
from scheduler.cache.records import PodRecord
from scheduler.cache.selectors import Labels, Query

MOST_MATCH_COUNTS: Final = 256
"""Queries whose counts are kept; the least recently asked goes first."""

PodsOnNodes = Mapping[str, Mapping[str, PodRecord]]
"""The pods that take room, by node name and UID."""

_NO_LABELS: Final[Labels] = {}


class ExistingTerm:
    """A term that running pods carry; `where` says how many of them run on which node slot."""

    __slots__ = ("term", "where")

    def __init__(self, term: AffinityTerm, where: dict[int, int]) -> None:
        self.term: Final = term
        self.where: Final = where


class TopologyIndex:
    """Running pods by what rules about other pods can see of them.

    Args:
        nodes: the node table.
        pods_on: the pods that take room, by node name and UID; kept by the caller.
    """

    def __init__(self, nodes: NodeTable, pods_on: PodsOnNodes) -> None:
        self._nodes: Final = nodes
        self._pods_on: Final = pods_on
        self._keys: Final = LabelKeys()
        self._label_classes: Final = LabelClassIndex()
        self._match_counts: OrderedDict[Query, MatchCount] = OrderedDict()
        self._asked: set[Query] = set()
        """Those of the queries that were asked since `forget_unused`."""
        self._questions: QueryIndex[MatchCount] = QueryIndex()
        self._owners: dict[AffinityTerms, tuple[dict[int, int], tuple[ExistingTerm, ...]]] = {}
        self._existing_terms: QueryIndex[ExistingTerm] = QueryIndex()
        self._namespaces: dict[str, Labels] = {}
        self._is_put_off = False
        """Nobody has asked yet: what is counted by label class is counted when somebody does."""

    # --- events ------------------------------------------------------------------------------------------------------

    def enter(self, slot: int, pod: PodRecord) -> bool:
        """A pod takes room; True when somebody asked about such pods."""
        if pod.affinity_terms is not None:
            self._carry_terms(slot, pod.affinity_terms)
        if self._is_put_off:
            return False
        label_class = self._class_of(pod)
        label_class.where[slot] = label_class.where.get(slot, 0) + 1
        for match_count in label_class.match_counts:
            match_count.add(slot, 1)
        return bool(label_class.match_counts)

    def leave(self, slot: int, pod: PodRecord) -> bool:
        """Undoes `enter`; True when its absence may matter to somebody by more than the room it gives back."""
        if pod.affinity_terms is not None:
            self._drop_terms(slot, pod.affinity_terms)
        if self._is_put_off:
            return pod.affinity_terms is not None
        label_class = self._class_of(pod)
        _decrease(label_class.where, slot)
        for match_count in label_class.match_counts:
            match_count.add(slot, -1)
        if not label_class.where:
            self._label_classes.discard(label_class)
        return bool(label_class.match_counts) or pod.affinity_terms is not None

    def set_namespace(self, name: str, labels: Labels | None) -> bool:
        """A namespace came, changed or (None) went; True when that can matter to anybody."""
        if (self._namespaces.get(name) or {}) == (labels or {}):
            return False
        if labels:
            self._namespaces[name] = labels
        else:
            del self._namespaces[name]
        stale = [query for query in self._match_counts if query.looks_at_namespaces]
        for query in stale:
            self._discard(query)
        return bool(stale) or self._existing_terms.reaches(name)

    def put_off(self) -> None:
        """Many pods come, and perhaps nobody will ask: until somebody does only terms are followed.

        Without effect once there are pods. Not for a scheduler at work: whoever asks first would wait until all are counted.
        """
        self._is_put_off = not self._pods_on

    # --- questions ---------------------------------------------------------------------------------------------------

    def counts(self, query: Query) -> MatchesByNode:
        """How many pods the query selects, `[node]`; not to be written to."""
        self._catch_up()
        self._asked.add(query)
        match_count = self._match_counts.get(query)
        if match_count is None:
            match_count = self._count(query)
            while len(self._match_counts) > MOST_MATCH_COUNTS:
                self._discard(next(iter(self._match_counts)))
        else:
            self._match_counts.move_to_end(query)
        match_count.reach(self._nodes.slots)
        return match_count.counts[: self._nodes.slots]

    def forget_unused(self) -> None:
        """The counts of queries that nobody has asked since this was called last go; who asks counts anew."""
        for query in [each for each in self._match_counts if each not in self._asked]:
            self._discard(query)
        self._asked.clear()

    def has_existing_terms(self, namespace: str) -> bool:
        """Whether terms of running pods may select pods of this namespace; cheap."""
        return self._existing_terms.reaches(namespace)

    def existing_terms_for(self, namespace: str, labels: Labels) -> list[ExistingTerm]:
        """The terms of running pods that select a pod like this."""
        found = dict.fromkeys(self._existing_terms.candidates(namespace, labels))
        return [existing for existing in found if existing.term.query.meets(namespace, labels, self.labels_of)]

    def meets(self, query: Query, namespace: str, labels: Labels) -> bool:
        """Whether a query selects a pod like this."""
        return query.meets(namespace, labels, self.labels_of)

    def visible(self, pod: PodRecord) -> tuple[str, ...]:
        """The labels of a pod that some rule looks at, keys and values in turn."""
        known = self._keys.known
        if not known:
            return ()
        return tuple(part for item in pod.labels.items() if item[0] in known for part in item)

    def looks_at(self, keys: Set[str]) -> bool:
        """Whether some rule looks at one of these labels."""
        return not self._keys.known.isdisjoint(keys)

    def use_label_keys(self, keys: Set[str]) -> None:
        """Somebody is about to ask by these labels; those that nobody asks by any more are forgotten."""
        self._split_by(keys, self._keys.outdated(keys))

    @property
    def namespaces(self) -> Mapping[str, Labels]:
        """The labels of all namespaces that have some."""
        return self._namespaces

    def labels_of(self, namespace: str) -> Labels:
        """The labels of a namespace."""
        return self._namespaces.get(namespace, _NO_LABELS)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _catch_up(self) -> None:
        if not self._is_put_off:
            return
        self._is_put_off = False
        for name, pods in self._pods_on.items():
            slot = self._nodes.slot_of.get(name)
            if slot is None:
                continue
            for pod in pods.values():
                where = self._class_of(pod).where
                where[slot] = where.get(slot, 0) + 1

    def _class_of(self, pod: PodRecord) -> LabelClass:
        key = LabelClassKey(pod.namespace, tuple(pod.labels), self.visible(pod), pod.terminating)
        label_class = self._label_classes.get(key)
        if label_class is None:
            label_class = LabelClass(key)
            self._label_classes.add(label_class)
            asked = dict.fromkeys(self._questions.candidates(label_class.namespace, label_class.labels))
            label_class.match_counts = [
                match_count for match_count in asked if self._selects(match_count.query, label_class)
            ]
        return label_class

    def _split_by(self, keys: Set[str], outdated: Set[str] = frozenset()) -> None:
        """By these labels, and by the outdated ones no more: pods that have one of them become other classes."""
        new = keys - self._keys.known
        if not (new or outdated):
            return
        self._keys.change(new, outdated)
        changed = new | outdated
        concerned = self._label_classes.with_label_keys(changed)
        for label_class in concerned:
            self._label_classes.discard(label_class)
        for slot in {slot: None for label_class in concerned for slot in label_class.where}:
            for pod in self._pods_on[self._nodes.names[slot]].values():
                if not changed.isdisjoint(pod.labels):
                    where = self._class_of(pod).where
                    where[slot] = where.get(slot, 0) + 1

    def _selects(self, query: Query, label_class: LabelClass) -> bool:
        return not (query.skips_leaving and label_class.leaving) and self.meets(
            query, label_class.namespace, label_class.labels
        )

    def _count(self, query: Query) -> MatchCount:
        self._split_by(query.keys())
        self._keys.use(query)
        match_count = self._match_counts[query] = MatchCount(query, self._nodes.slots)
        self._questions.add(query, match_count)
        for label_class in self._label_classes.candidates(query):
            if self._selects(query, label_class):
                label_class.match_counts.append(match_count)
                for slot, pods in label_class.where.items():
                    match_count.add(slot, pods)
        return match_count

    def _discard(self, query: Query) -> None:
        match_count = self._match_counts.pop(query)
        self._asked.discard(query)
        self._questions.discard(query, match_count)
        for label_class in self._label_classes.candidates(query):
            if match_count in label_class.match_counts:
                label_class.match_counts.remove(match_count)
        self._keys.disuse(query)

    def _carry_terms(self, slot: int, affinity_terms: AffinityTerms) -> None:
        if affinity_terms not in self._owners:
            self._split_by(affinity_terms.pod_label_keys)
            where: dict[int, int] = {}
            existing_terms = tuple(ExistingTerm(term, where) for term in affinity_terms.terms)
            for existing in existing_terms:
                self._existing_terms.add(existing.term.query, existing)
                self._keys.use(existing.term.query)
            self._owners[affinity_terms] = (where, existing_terms)
        where = self._owners[affinity_terms][0]
        where[slot] = where.get(slot, 0) + 1

    def _drop_terms(self, slot: int, affinity_terms: AffinityTerms) -> None:
        where, existing_terms = self._owners[affinity_terms]
        _decrease(where, slot)
        if not where:
            for existing in existing_terms:
                self._existing_terms.discard(existing.term.query, existing)
                self._keys.disuse(existing.term.query)
            del self._owners[affinity_terms]


def _decrease(where: dict[int, int], slot: int) -> None:
    where[slot] -= 1
    if not where[slot]:
        del where[slot]

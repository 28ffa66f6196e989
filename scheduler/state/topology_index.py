"""Which pods run where, as rules about other pods ask it: counts per node, kept current by events.

What is counted: every pod that takes room on a known node, by kin. A question is counted once over all kin when it is asked
first, and follows the events from then on. The terms of running pods are found from the pod they speak of, because a pod
that was there first may refuse newcomers (the symmetry of anti-affinity).

Only labels that some rule looks at tell kin apart. A rule that looks at a label nobody looked at before makes those pods be told
apart anew that have it, and no others; when no rule looks at it any more, it is forgotten with the next question.
"""

from collections import OrderedDict
from collections.abc import Mapping, Set
from typing import Final

from scheduler.state.label_classes import Counts, Kin, KinIndex, KinKey, LabelKeys, QueryIndex, Tally
from scheduler.state.nodes import NodeTable
from scheduler.state.pod_rules import Bonds, Tie
from scheduler.state.records import PodRecord
from scheduler.state.selectors import Labels, Query

MOST_TALLIES: Final = 256
"""Counted questions that are kept; the least recently asked goes first."""

Tenants = Mapping[str, Mapping[str, PodRecord]]
"""The pods that take room, by node name and UID."""

_NO_LABELS: Final[Labels] = {}


class Hold:
    """A term that running pods carry, and on which slots they run."""

    __slots__ = ("tie", "where")

    def __init__(self, tie: Tie, where: dict[int, int]) -> None:
        self.tie: Final = tie
        self.where: Final = where


class Neighbours:
    """Running pods by what rules can see of them."""

    def __init__(self, nodes: NodeTable, tenants: Tenants) -> None:
        self._nodes: Final = nodes
        self._tenants: Final = tenants
        self._keys: Final = LabelKeys()
        self._kin: Final = KinIndex()
        self._tallies: OrderedDict[Query, Tally] = OrderedDict()
        self._questions: QueryIndex[Tally] = QueryIndex()
        self._owners: dict[Bonds, tuple[dict[int, int], tuple[Hold, ...]]] = {}
        self._holds: QueryIndex[Hold] = QueryIndex()
        self._namespaces: dict[str, Labels] = {}

    # --- events ------------------------------------------------------------------------------------------------------

    def enter(self, slot: int, pod: PodRecord) -> bool:
        """A pod takes room; True when somebody asked about such pods."""
        if pod.bonds is not None:
            self._carry(slot, pod.bonds)
        kin = self._kin_of(pod)
        kin.where[slot] = kin.where.get(slot, 0) + 1
        for tally in kin.tallies:
            tally.add(slot, 1)
        return bool(kin.tallies)

    def leave(self, slot: int, pod: PodRecord) -> bool:
        """Undoes `enter`; True when its absence may matter to somebody by more than the room it gives back."""
        if pod.bonds is not None:
            self._drop(slot, pod.bonds)
        kin = self._kin_of(pod)
        _decrease(kin.where, slot)
        for tally in kin.tallies:
            tally.add(slot, -1)
        if not kin.where:
            self._kin.discard(kin)
        return bool(kin.tallies) or pod.bonds is not None

    def set_namespace(self, name: str, labels: Labels | None) -> bool:
        """A namespace came, changed or (None) went; True when that can matter to anybody."""
        if (self._namespaces.get(name) or {}) == (labels or {}):
            return False
        if labels:
            self._namespaces[name] = labels
        else:
            del self._namespaces[name]
        stale = [query for query in self._tallies if query.looks_at_namespaces]
        for query in stale:
            self._discard(query)
        return bool(stale) or self._holds.reaches(name)

    # --- questions ---------------------------------------------------------------------------------------------------

    def counts(self, query: Query) -> Counts:
        """Pods the query speaks of, by node slot; not to be written to."""
        tally = self._tallies.get(query)
        if tally is None:
            tally = self._count(query)
            while len(self._tallies) > MOST_TALLIES:
                self._discard(next(iter(self._tallies)))
        else:
            self._tallies.move_to_end(query)
        tally.reach(self._nodes.slots)
        return tally.counts[: self._nodes.slots]

    def is_held(self, namespace: str) -> bool:
        """Whether terms of running pods may speak of pods of this namespace; cheap."""
        return self._holds.reaches(namespace)

    def holds_on(self, namespace: str, labels: Labels) -> list[Hold]:
        """The terms of running pods that speak of a pod like this."""
        found = dict.fromkeys(self._holds.candidates(namespace, labels))
        return [hold for hold in found if hold.tie.query.meets(namespace, labels, self.labels_of)]

    def meets(self, query: Query, namespace: str, labels: Labels) -> bool:
        """Whether a query speaks of a pod like this."""
        return query.meets(namespace, labels, self.labels_of)

    def visible(self, pod: PodRecord) -> tuple[str, ...]:
        """The labels of a pod that some rule looks at, keys and values in turn."""
        known = self._keys.known
        if not known:
            return ()
        return tuple(part for item in pod.labels.items() if item[0] in known for part in item)

    def learn(self, keys: Set[str]) -> None:
        """Somebody is about to ask by these labels; those that nobody asks by any more are forgotten."""
        self._tell_apart(keys, self._keys.outdated(keys))

    def labels_of(self, namespace: str) -> Labels:
        """The labels of a namespace."""
        return self._namespaces.get(namespace, _NO_LABELS)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _kin_of(self, pod: PodRecord) -> Kin:
        key = KinKey(pod.namespace, tuple(pod.labels), self.visible(pod), pod.terminating)
        kin = self._kin.get(key)
        if kin is None:
            kin = Kin(key)
            self._kin.add(kin)
            asked = dict.fromkeys(self._questions.candidates(kin.namespace, kin.labels))
            kin.tallies = [tally for tally in asked if self._speaks_of(tally.query, kin)]
        return kin

    def _tell_apart(self, keys: Set[str], outdated: Set[str] = frozenset()) -> None:
        """By these labels, and by the outdated ones no more: pods that have one of them become other kin."""
        new = keys - self._keys.known
        if not (new or outdated):
            return
        self._keys.change(new, outdated)
        changed = new | outdated
        concerned = self._kin.with_label_keys(changed)
        for kin in concerned:
            self._kin.discard(kin)
        for slot in {slot: None for kin in concerned for slot in kin.where}:
            for pod in self._tenants[self._nodes.names[slot]].values():
                if not changed.isdisjoint(pod.labels):
                    where = self._kin_of(pod).where
                    where[slot] = where.get(slot, 0) + 1

    def _speaks_of(self, query: Query, kin: Kin) -> bool:
        return not (query.skips_leaving and kin.leaving) and self.meets(query, kin.namespace, kin.labels)

    def _count(self, query: Query) -> Tally:
        self._tell_apart(query.keys())
        self._keys.use(query)
        tally = self._tallies[query] = Tally(query, self._nodes.slots)
        self._questions.add(query, tally)
        for kin in self._kin.candidates(query):
            if self._speaks_of(query, kin):
                kin.tallies.append(tally)
                for slot, pods in kin.where.items():
                    tally.add(slot, pods)
        return tally

    def _discard(self, query: Query) -> None:
        tally = self._tallies.pop(query)
        self._questions.discard(query, tally)
        for kin in self._kin.candidates(query):
            if tally in kin.tallies:
                kin.tallies.remove(tally)
        self._keys.disuse(query)

    def _carry(self, slot: int, bonds: Bonds) -> None:
        if bonds not in self._owners:
            self._tell_apart(bonds.pod_label_keys)
            where: dict[int, int] = {}
            holds = tuple(Hold(tie, where) for tie in bonds.ties)
            for hold in holds:
                self._holds.add(hold.tie.query, hold)
                self._keys.use(hold.tie.query)
            self._owners[bonds] = (where, holds)
        where = self._owners[bonds][0]
        where[slot] = where.get(slot, 0) + 1

    def _drop(self, slot: int, bonds: Bonds) -> None:
        where, holds = self._owners[bonds]
        _decrease(where, slot)
        if not where:
            for hold in holds:
                self._holds.discard(hold.tie.query, hold)
                self._keys.disuse(hold.tie.query)
            del self._owners[bonds]


def _decrease(where: dict[int, int], slot: int) -> None:
    where[slot] -= 1
    if not where[slot]:
        del where[slot]

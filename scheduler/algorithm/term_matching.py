"""Which members the terms of rules select, compared once per rule and distinct labels, once per decision.

A rule that asks for a label value is only compared with pods that have it. Queries are told apart by identity first: they live
as long as the pods' signatures do, and comparing long ones costs. Members that carry the same terms, or the same labels as far as
rules see them, are matched together.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Final, NamedTuple

from scheduler.cache.pod_rules import AffinityTerm, AffinityTerms
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.selectors import Labels, Query, Selector
from scheduler.cache.steps import Steps
from scheduler.cache.topology_index import TopologyIndex
from scheduler.plugins.inter_pod_affinity import HARD_POD_AFFINITY_WEIGHT

LabelsKey = tuple[str, tuple[tuple[str, str], ...]]
"""Namespace and labels of a pod, as a value."""


class PodLabels(NamedTuple):
    """The namespace of the pods of one signature, and the labels that rules see."""

    namespace: str
    labels: Labels

    @property
    def labels_key(self) -> LabelsKey:
        """The same as a value."""
        return (self.namespace, tuple(self.labels.items()))


class LabelMatches:
    """Distinct namespaces and labels of pods. Spends `steps` for every comparison."""

    def __init__(self, topology_index: TopologyIndex, all_labels: Iterable[PodLabels], steps: Steps) -> None:
        self._topology_index: Final = topology_index
        self._steps: Final = steps
        self._all_labels: Final[dict[LabelsKey, PodLabels]] = {}
        self._by_label: Final[dict[tuple[str, str], list[LabelsKey]]] = {}
        self._numbers: Final[dict[int, int]] = {}
        self._number_of: Final[dict[Query, int]] = {}
        self._selected: Final[dict[int, list[LabelsKey]]] = {}
        for pod_labels in all_labels:
            labels_key = pod_labels.labels_key
            if labels_key not in self._all_labels:
                self._all_labels[labels_key] = pod_labels
                for label in pod_labels.labels.items():
                    self._by_label.setdefault(label, []).append(labels_key)

    def number(self, query: Query) -> int:
        """Equal queries have the same number."""
        number = self._numbers.get(id(query))
        if number is None:
            self._steps.spend(query.steps)
            number = self._numbers[id(query)] = self._number_of.setdefault(query, len(self._number_of))
        return number

    def selected(self, query: Query) -> list[LabelsKey]:
        """The labels that a query selects."""
        number = self.number(query)
        found = self._selected.get(number)
        if found is None:
            candidates = self._candidates(query.selector)
            self._steps.spend(query.steps * (1 + len(candidates)))
            found = [
                labels_key
                for labels_key in candidates
                if self._topology_index.meets(query, *self._all_labels[labels_key])
            ]
            self._selected[number] = found
        return found

    def told_apart(self, queries: Iterable[Query]) -> dict[LabelsKey, Hashable]:
        """By labels: something equal for those that none of these queries, and no term of a running pod, tells apart."""
        found: dict[LabelsKey, list[int]] = {labels_key: [] for labels_key in self._all_labels}
        for number, query in {self.number(query): query for query in queries}.items():
            for labels_key in self.selected(query):
                found[labels_key].append(number)
        return {labels_key: (*numbers, *self._existing_terms(labels_key)) for labels_key, numbers in found.items()}

    def _candidates(self, selector: Selector) -> Collection[LabelsKey]:
        """Those that have what the rarest of the label values has that the selector asks for."""
        if selector.requirements is None:
            return ()
        named = [
            [self._by_label.get((one.key, value), ()) for value in one.values]
            for one in selector.requirements
            if one.operator == "In"
        ]
        if not named:
            return self._all_labels
        rarest = min(named, key=lambda found: sum(map(len, found)))
        return [labels_key for classes in rarest for labels_key in classes]

    def _existing_terms(self, labels_key: LabelsKey) -> list[tuple[int]]:
        pod_labels = self._all_labels[labels_key]
        if not self._topology_index.has_existing_terms(pod_labels.namespace):
            return []
        return [(id(existing),) for existing in self._topology_index.existing_terms_for(*pod_labels)]


AmountsByTerms = Mapping[AffinityTerms, int]
"""What every pod that carries these terms adds."""

_ByKey = dict[str, dict[AffinityTerms, int]]
_ENTRY: Final = 300
"""Steps to enter one number into a table."""


class MemberTerms:
    """Which signatures the terms of which signatures select."""

    def __init__(
        self, topology_index: TopologyIndex, all_labels: Mapping[PodSignature, PodLabels], steps: Steps
    ) -> None:
        self._steps: Final = steps
        self._matches: Final = LabelMatches(topology_index, all_labels.values(), steps)
        self._labels_key_of: Final = {signature: pod_labels.labels_key for signature, pod_labels in all_labels.items()}
        self._signatures: Final[dict[LabelsKey, list[PodSignature]]] = {}
        self._carriers: Final[dict[AffinityTerms, list[PodSignature]]] = {}
        for signature, labels_key in self._labels_key_of.items():
            self._signatures.setdefault(labels_key, []).append(signature)
            if signature.rules.affinity_terms is not None:
                self._carriers.setdefault(signature.rules.affinity_terms, []).append(signature)
        self._repelling: Final[dict[LabelsKey, _ByKey]] = {}
        self._wishing: Final[dict[LabelsKey, _ByKey]] = {}
        self._match()

    def labels_key(self, signature: PodSignature) -> LabelsKey:
        """What rules see of a signature."""
        return self._labels_key_of[signature]

    def number(self, query: Query) -> int:
        """Equal queries have the same number."""
        return self._matches.number(query)

    def selected(self, query: Query) -> list[PodSignature]:
        """The signatures that a query selects."""
        return [signature for labels_key in self._matches.selected(query) for signature in self._signatures[labels_key]]

    def repelling(self, signature: PodSignature) -> Mapping[str, AmountsByTerms]:
        """The required anti-affinity of members that selects this signature, by topology key."""
        return self._repelling.get(self._labels_key_of[signature], {})

    def preferring(self, signature: PodSignature) -> Mapping[str, AmountsByTerms]:
        """What else the terms of members mean to this signature, as weights by topology key."""
        return self._wishing.get(self._labels_key_of[signature], {})

    def by_signature(self, amounts: AmountsByTerms) -> dict[PodSignature, int]:
        """The same amounts by signature."""
        found: dict[PodSignature, int] = {}
        for affinity_terms, amount in amounts.items():
            if amount:
                for signature in self._carriers[affinity_terms]:
                    found[signature] = found.get(signature, 0) + amount
        self._steps.spend(_ENTRY * len(found))
        return found

    def _match(self) -> None:
        for affinity_terms in self._carriers:
            for term in affinity_terms.terms:
                classes = self._matches.selected(term.query)
                self._steps.spend(_ENTRY * len(classes))
                weight = 1 if term.kind == "anti_affinity" else weight_of(term)
                to = self._repelling if term.kind == "anti_affinity" else self._wishing
                for labels_key in classes if weight else ():
                    amounts = to.setdefault(labels_key, {}).setdefault(term.key, {})
                    amounts[affinity_terms] = amounts.get(affinity_terms, 0) + weight


def weight_of(term: AffinityTerm) -> int:
    """What a term that does not refuse means to the pods it selects."""
    return HARD_POD_AFFINITY_WEIGHT if term.kind == "required" else term.weight

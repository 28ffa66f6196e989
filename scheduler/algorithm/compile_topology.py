"""Compiles the rules about other pods of the pods to be placed: once per decision, for all nodes."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.devices.device_claims import MemberDeviceClaims
from scheduler.algorithm.term_matching import MemberTerms, PodLabels, weight_of
from scheduler.algorithm.topology import (
    HOSTNAME,
    CompiledSpreadConstraint,
    PreFilterState,
    Source,
    Topology,
    TopologyGroup,
)
from scheduler.algorithm.volume_claims import MemberVolumeClaims
from scheduler.cache.label_classes import MatchesByNode
from scheduler.cache.node_columns import Codes
from scheduler.cache.node_rules import NodeRules
from scheduler.cache.nodes import NodeTable
from scheduler.cache.pod_rules import AffinityTerm, AffinityTerms, TopologySpreadConstraint
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.selectors import Query
from scheduler.cache.steps import ONE_SCAN
from scheduler.cache.topology_index import ExistingTerm, TopologyIndex
from scheduler.plugins import node_affinity, taint_toleration

_SCANS_OF_A_SUM: Final = 6
"""A sum by value costs so many scans of all nodes."""
_ONE_SLOT: Final = 100
"""Steps to take over where one running pod is."""
_NO_SOURCE: Final = Source()


def compile_topology(
    nodes: NodeTable,
    topology_index: TopologyIndex,
    labels_of: Mapping[PodSignature, PodLabels],
    defaults: Mapping[PodSignature, tuple[TopologySpreadConstraint, ...]],
    volume_claims: MemberVolumeClaims | None = None,
    device_claims: MemberDeviceClaims | None = None,
) -> Topology:
    """The topology of some signatures.

    Args:
        nodes: the node table.
        topology_index: the pods that run.
        labels_of: by signature the namespace and the labels that rules see of its pods.
        defaults: soft constraints of signatures that state none; they count pods that run, not the members.
        volume_claims: the volumes of the members; None when nobody has volumes that matter.
        device_claims: the devices that members ask for; None when nobody asks for any.

    Raises:
        OverBudgetError: that takes more steps than the computation under way may take.
    """
    made = Topology(nodes, topology_index, labels_of, volume_claims, device_claims)
    compiler = _Compiler(made, topology_index, MemberTerms(topology_index, labels_of, nodes.steps), defaults)
    for signature, pod_labels in labels_of.items():
        made.prefilter_states[signature] = compiler.prefilter(signature, pod_labels)
    return made


class _Compiler:
    """Fills a `Topology`; what several signatures have in common is made once."""

    def __init__(
        self,
        made: Topology,
        topology_index: TopologyIndex,
        terms: MemberTerms,
        defaults: Mapping[PodSignature, tuple[TopologySpreadConstraint, ...]],
    ) -> None:
        self._made: Final = made
        self._nodes: Final = made.nodes
        self._topology_index: Final = topology_index
        self._terms: Final = terms
        self._defaults: Final = defaults
        self._shared: dict[Hashable, PreFilterState] = {}
        self._counts_of: dict[int, MatchesByNode] = {}
        self._held: dict[Hashable, int] = {}
        self._counted: dict[tuple[int, str], int] = {}
        self._spread: dict[tuple[int, NodeRules], tuple[int, NDArray[np.intp]]] = {}
        self._accepting: dict[NodeRules, tuple[NDArray[np.bool_], NDArray[np.bool_]]] = {}

    def prefilter(self, signature: PodSignature, pod_labels: PodLabels) -> PreFilterState:
        """Shared by all signatures that have the same rules and whose labels look the same to every rule."""
        defaults = self._defaults.get(signature, ())
        key = (id(signature.rules), self._terms.labels_key(signature), tuple(map(id, defaults)))
        prefilter = self._shared.get(key)
        if prefilter is None:
            prefilter = self._shared[key] = self._new_prefilter_state(signature, pod_labels)
            for spread in defaults:
                even = CompiledSpreadConstraint(
                    spread, *self._soft_place(spread, signature, self._nodes.alive), counts_itself=False
                )
                prefilter.soft_spreads.append(even)
        return prefilter

    def _new_prefilter_state(self, signature: PodSignature, pod_labels: PodLabels) -> PreFilterState:
        prefilter = PreFilterState()
        affinity_terms = signature.rules.affinity_terms
        if affinity_terms is not None:
            self._own_terms(prefilter, signature, affinity_terms)
        existing_terms = (
            self._topology_index.existing_terms_for(*pod_labels)
            if self._topology_index.has_existing_terms(pod_labels.namespace)
            else []
        )
        self._terms_of_others(prefilter, signature, pod_labels, existing_terms)
        self._preferred_terms(prefilter, signature, affinity_terms, existing_terms)
        if signature.rules.spread_constraints:
            self._spreads(prefilter, signature, pod_labels)
        return prefilter

    def _own_terms(self, prefilter: PreFilterState, signature: PodSignature, affinity_terms: AffinityTerms) -> None:
        if affinity_terms.all_required is not None:
            prefilter.affinity = [self._pods(affinity_terms.all_required, term.key) for term in affinity_terms.required]
            prefilter.is_of_its_kind = signature in self._terms.selected(affinity_terms.all_required)
        prefilter.anti_affinity = [
            self._pods(term.query, term.key) for term in affinity_terms.anti_affinity if self._is_on_nodes(term.key)
        ]

    def _is_on_nodes(self, key: str) -> bool:
        """Whether any node has this label: terms that keep pods apart by a label mean nothing without it."""
        return bool(self._nodes.label_column(key).codes.any())

    def _terms_of_others(
        self,
        prefilter: PreFilterState,
        signature: PodSignature,
        pod_labels: PodLabels,
        existing_terms: Iterable[ExistingTerm],
    ) -> None:
        by_key: dict[str, list[tuple[ExistingTerm, int]]] = {}
        for existing in existing_terms:
            if existing.term.kind == "anti_affinity":
                by_key.setdefault(existing.term.key, []).append((existing, 1))
        coming = self._terms.repelling(signature)
        for key in {**by_key, **coming}:
            if not self._is_on_nodes(key):
                continue
            held, effects = by_key.get(key, ()), coming.get(key, {})
            # Whom the same terms keep off looks at the same numbers.
            same = (key, tuple(id(existing) for existing, _ in held), tuple(effects.items()))
            if same not in self._held:
                source = Source(pod_labels=pod_labels, key=key)
                self._held[same] = self._held_place(key, held, self._terms.by_signature(effects), source)
            prefilter.existing_anti_affinity.append(self._held[same])

    def _preferred_terms(
        self,
        prefilter: PreFilterState,
        signature: PodSignature,
        affinity_terms: AffinityTerms | None,
        existing_terms: Iterable[ExistingTerm],
    ) -> None:
        by_key: dict[str, list[tuple[ExistingTerm, int]]] = {}
        for existing in existing_terms:
            if weight := weight_of(existing.term):
                by_key.setdefault(existing.term.key, []).append((existing, weight))
        preferred: dict[str, list[AffinityTerm]] = {}
        for term in affinity_terms.preferred if affinity_terms else ():
            preferred.setdefault(term.key, []).append(term)
        coming = self._terms.preferring(signature)
        for key in {**by_key, **preferred, **coming}:
            if not self._is_on_nodes(key):
                continue
            effects = self._terms.by_signature(coming.get(key, {}))
            for term in preferred.get(key, ()):
                for other in self._terms.selected(term.query):
                    effects[other] = effects.get(other, 0) + term.weight
            at = self._held_place(key, by_key.get(key, ()), effects)
            group = self._made.groups[at]
            for term in preferred.get(key, ()):
                group.counts[:] += term.weight * self._by_value(group.codes, len(group.counts), term.query)
            prefilter.preferred_affinity.append(at)

    # --- topology groups ----------------------------------------------------------------------------------------------

    def _pods(self, query: Query, key: str) -> int:
        same = (self._terms.number(query), key)
        at = self._counted.get(same)
        if at is None:
            column = self._nodes.label_column(key)
            sums = self._by_value(column.codes, len(column.values), query)
            at = self._counted[same] = self._add(TopologyGroup(column.codes, sums), Source(query))
            self._note_effects(at, query)
        return at

    def _held_place(
        self,
        key: str,
        existing_terms: Iterable[tuple[ExistingTerm, int]],
        effects: Mapping[PodSignature, int],
        source: Source = _NO_SOURCE,
    ) -> int:
        column = self._nodes.label_column(key)
        codes, sums = column.codes, np.zeros(len(column.values), dtype=np.int64)
        for existing, weight in existing_terms:
            self._nodes.steps.spend(ONE_SCAN + _ONE_SLOT * len(existing.where))
            slots = np.fromiter(existing.where, dtype=np.intp, count=len(existing.where))
            pods = np.fromiter(existing.where.values(), dtype=np.int64, count=len(existing.where))
            np.add.at(sums, codes[slots], weight * pods)
        sums[0] = 0
        at = self._add(TopologyGroup(codes, sums), source)
        for signature, amount in effects.items():
            if amount:
                self._made.effects[signature][at] = amount
        return at

    def _by_value(
        self, codes: Codes, size: int, query: Query, eligible: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        self._nodes.steps.spend(_SCANS_OF_A_SUM * (ONE_SCAN + len(codes)))
        counts = self._counts(query)
        if eligible is not None:
            counts = counts * eligible
        sums = np.bincount(codes, weights=counts, minlength=size).astype(np.int64)
        sums[0] = 0
        return sums

    def _counts(self, query: Query) -> MatchesByNode:
        number = self._terms.number(query)
        found = self._counts_of.get(number)
        if found is None:
            found = self._counts_of[number] = self._topology_index.counts(query)
        return found

    def _note_effects(self, at: int, query: Query) -> None:
        for signature in self._terms.selected(query):
            self._made.effects[signature][at] = 1

    def _add(self, group: TopologyGroup, source: Source = _NO_SOURCE) -> int:
        self._made.groups.append(group)
        self._made.sources.append(source)
        return len(self._made.groups) - 1

    # --- spreading ---------------------------------------------------------------------------------------------------

    def _spreads(self, prefilter: PreFilterState, signature: PodSignature, pod_labels: PodLabels) -> None:
        hard = [spread for spread in signature.rules.spread_constraints if spread.is_hard]
        soft_spreads = [spread for spread in signature.rules.spread_constraints if not spread.is_hard]
        labelled = self._labelled(hard)
        for spread in hard:
            at, values = self._spread_place(spread, signature.rules, labelled)
            self._note_effects(at, spread.query)
            prefilter.hard_spreads.append(
                CompiledSpreadConstraint(spread, at, values, spread.selector.matches(pod_labels.labels))
            )
        if not soft_spreads:
            return
        labelled = self._labelled(soft_spreads)
        prefilter.soft_spread_nodes = labelled
        for spread in soft_spreads:
            at, values = self._soft_place(spread, signature, labelled)
            self._note_effects(at, spread.query)
            prefilter.soft_spreads.append(CompiledSpreadConstraint(spread, at, values, counts_itself=False))

    def _soft_place(
        self, spread: TopologySpreadConstraint, signature: PodSignature, labelled: NDArray[np.bool_]
    ) -> tuple[int, NDArray[np.intp]]:
        if spread.key == HOSTNAME:
            return self._per_node(spread), np.empty(0, dtype=np.intp)
        return self._spread_place(spread, signature.rules, labelled)

    def _labelled(self, spreads: Iterable[TopologySpreadConstraint]) -> NDArray[np.bool_]:
        labelled = self._nodes.alive.copy()
        for spread in spreads:
            self._nodes.steps.spend(ONE_SCAN + self._nodes.slots)
            labelled &= self._nodes.label_column(spread.key).codes != 0
        return labelled

    def _spread_place(
        self, spread: TopologySpreadConstraint, rules: NodeRules, labelled: NDArray[np.bool_]
    ) -> tuple[int, NDArray[np.intp]]:
        found = self._spread.get((id(spread), rules))
        if found is None:
            eligible = labelled & self._counting(spread, rules)
            column = self._nodes.label_column(spread.key)
            codes = column.codes
            sums = self._by_value(codes, len(column.values), spread.query, eligible)
            at = self._add(TopologyGroup(codes, sums, eligible), Source(spread.query))
            values = np.flatnonzero(np.bincount(codes[eligible], minlength=1))
            found = self._spread[id(spread), rules] = (at, values)
        return found

    def _per_node(self, spread: TopologySpreadConstraint) -> int:
        codes = np.arange(1, self._nodes.slots + 1, dtype=np.int32)
        codes[self._nodes.label_column(spread.key).codes == 0] = 0
        return self._add(TopologyGroup(codes, self._by_value(codes, len(codes) + 1, spread.query)))

    def _counting(self, spread: TopologySpreadConstraint, rules: NodeRules) -> NDArray[np.bool_]:
        if rules not in self._accepting:
            self._nodes.steps.spend(rules.steps(self._nodes.slots))
            slots = np.arange(self._nodes.slots)
            verdicts = (plugin.filter_nodes(rules, self._nodes, slots) for plugin in (node_affinity, taint_toleration))
            everybody = np.ones(len(slots), dtype=np.bool_)
            by_affinity, by_taints = (everybody if one is None else one.codes == 0 for one in verdicts)
            self._accepting[rules] = (by_affinity, by_taints)
        by_affinity, by_taints = self._accepting[rules]
        counting = np.ones(self._nodes.slots, dtype=np.bool_)
        if spread.honours_affinity:
            counting &= by_affinity
        if spread.honours_taints:
            counting &= by_taints
        return counting

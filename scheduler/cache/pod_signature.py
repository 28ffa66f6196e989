"""Signatures: pods with equal needs share one object, found by the raw bytes of what decides them.

Signatures that differ in their images only share a `base`: they fit on the same nodes, so what is computed about that is shared.

The tables hold their entries weakly: a demand, a set of rules or a signature lives as long as a pod (or a compiled view of it)
does, so DaemonSets, which make one set of rules per pod, do not fill them.
"""

from collections.abc import Mapping
from typing import Final, TypeVar
from weakref import WeakValueDictionary

from api.pod import PodSpec
from scheduler.cache.demand import Demand, demand_key, parse_demand
from scheduler.cache.node_rules import NodeRules, affinity_key, parse_rules, rules_key
from scheduler.cache.pod_rules import AffinityTerms, parse_affinity_terms
from scheduler.cache.scoring import DEFAULT, Scoring
from scheduler.cache.selectors import Labels


class PodSignature:
    """Everything that decides where a pod can be placed and would best be; compared by identity.

    Args:
        demand: what it takes of a node.
        rules: which nodes it accepts and prefers.
        images: one per container, as written.
        base: what it shares with all signatures that fit on the same nodes; None when it is that itself.
        scoring: how its profile scores nodes.
    """

    __slots__ = ("__weakref__", "_base", "demand", "images", "rules", "scoring")

    def __init__(
        self,
        demand: Demand,
        rules: NodeRules,
        images: tuple[str, ...] = (),
        base: "PodSignature | None" = None,
        scoring: Scoring = DEFAULT,
    ) -> None:
        self.scoring: Final = scoring
        self.demand: Final = demand
        self.rules: Final = rules
        self.images: Final = images
        self._base = base

    @property
    def base(self) -> "PodSignature":
        """What it shares with all signatures that fit on the same nodes: `demand`, `rules` and `scoring`."""
        return self._base or self

    def variant(self) -> "PodSignature":
        """A signature of its own with the same content, to tell some pods of this signature from the others."""
        return PodSignature(self.demand, self.rules, self.images, self.base, self.scoring)

    @property
    def problem(self) -> str:
        """Why no pod of this signature can be placed by us at all, empty when it can."""
        return self.demand.problem or self.rules.problem


PodsBySignature = Mapping[PodSignature, int]
"""How many pods of each signature are to be placed."""


class Texts:
    """The bytes that shared objects were read from, so that a pod can be written again exactly as it was read."""

    def __init__(
        self, demands: Mapping[Demand, bytes], rules: Mapping[NodeRules, bytes], terms: Mapping[AffinityTerms, bytes]
    ) -> None:
        """By object: the keys under which `SignatureTable` finds them."""
        self.demands: Final = demands
        self.rules: Final = rules
        self.terms: Final = terms


class SignatureTable:
    """Finds the demand, rules, terms about other pods and signature of a pod, parsing each distinct one once."""

    def __init__(self) -> None:
        self._demands: WeakValueDictionary[bytes, Demand] = WeakValueDictionary()
        self._rules: WeakValueDictionary[bytes, NodeRules] = WeakValueDictionary()
        self._bonds: WeakValueDictionary[bytes, AffinityTerms] = WeakValueDictionary()
        self._bases: WeakValueDictionary[tuple[Demand, NodeRules, int], PodSignature] = WeakValueDictionary()
        self._signatures: WeakValueDictionary[tuple[PodSignature, str], PodSignature] = WeakValueDictionary()

    def demand(self, spec: PodSpec) -> Demand:
        """What the pod takes of a node."""
        key = demand_key(spec)
        found = self._demands.get(key)
        if found is None:
            found = self._demands[key] = parse_demand(spec)
        return found

    def affinity_terms(self, spec: PodSpec, namespace: str, labels: Labels) -> AffinityTerms | None:
        """What ties the pod to others; None as well when that cannot be read."""
        try:
            return self._affinity_terms_of(spec, namespace, labels)
        except (ValueError, RecursionError):
            return None

    def signature(self, spec: PodSpec, namespace: str, labels: Labels, scoring: Scoring = DEFAULT) -> PodSignature:
        """The signature of a pod that is to be placed.

        Args:
            spec: of the pod.
            namespace: of the pod.
            labels: of the pod.
            scoring: of its profile.
        """
        return self._with_images(self.base(self.demand(spec), self.rules(spec, namespace, labels), scoring), spec)

    def rules(self, spec: PodSpec, namespace: str, labels: Labels) -> NodeRules:
        """Which nodes a pod accepts and prefers; arguments as of `signature`."""
        key = rules_key(spec, namespace, labels)
        rules = self._rules.get(key)
        if rules is None:
            rules = self._rules[key] = parse_rules(spec, namespace, labels, self._affinity_terms_of)
        return rules

    def texts(self) -> Texts:
        """The bytes of all demands, rules and terms there are."""
        return Texts(_inverse(self._demands), _inverse(self._rules), _inverse(self._bonds))

    def _affinity_terms_of(self, spec: PodSpec, namespace: str, labels: Labels) -> AffinityTerms | None:
        key = affinity_key(spec.affinity, namespace, labels) if spec.affinity else b""
        if not key:
            return None
        found = self._bonds.get(key)
        if found is None:
            found = parse_affinity_terms(spec.affinity, namespace, labels)
            if found is not None:
                self._bonds[key] = found
        return found

    def base(self, demand: Demand, rules: NodeRules, scoring: Scoring = DEFAULT) -> PodSignature:
        """The signature of pods that take this and accept these nodes, whatever their images."""
        key = (demand, rules, id(scoring))
        found = self._bases.get(key)
        if found is None:
            found = self._bases[key] = PodSignature(demand, rules, scoring=scoring)
        return found

    def _with_images(self, base: PodSignature, spec: PodSpec) -> PodSignature:
        images = " ".join(container.image for container in (*spec.init_containers, *spec.containers))
        if not images.strip():
            return base
        found = self._signatures.get((base, images))
        if found is None:
            found = self._signatures[base, images] = PodSignature(
                base.demand, base.rules, tuple(images.split(" ")), base, base.scoring
            )
        return found


T = TypeVar("T")


def _inverse(table: WeakValueDictionary[bytes, T]) -> dict[T, bytes]:
    return {value: key for key, value in list(table.items())}

"""What a pod's spec asks about other pods: affinity and anti-affinity terms, and topology spread constraints."""

from typing import Annotated, Final, Literal

import msgspec

from api.constants import MAX_INT32
from scheduler.cache.selectors import NOTHING, Labels, Query, RawSelector, Selector, parse_selector, with_own_labels

Weight = Annotated[int, msgspec.Meta(ge=1, le=100)]
"""Of a preferred term, in the bounds of the Kubernetes API. What is announced in an annotation has met no API server."""

TermKind = Literal["required", "anti_affinity", "preferred"]
"""Required affinity, required anti-affinity, preferred affinity (or, with a negative weight, anti-affinity)."""


class AffinityTerm(msgspec.Struct, frozen=True, gc=False):
    """One term: the pods it selects, and the node label within one value of which it holds."""

    kind: TermKind
    query: Query
    key: str
    weight: int = 0
    """Of a preferred term, signed; 0 for required ones."""


class AffinityTerms:
    """All terms of a pod, shared by the pods that write the same; compared by identity."""

    __slots__ = ("__weakref__", "all_required", "anti_affinity", "pod_label_keys", "preferred", "required")

    def __init__(self, ties: tuple[AffinityTerm, ...]) -> None:
        self.required: Final = tuple(term for term in ties if term.kind == "required")
        self.anti_affinity: Final = tuple(term for term in ties if term.kind == "anti_affinity")
        self.preferred: Final = tuple(term for term in ties if term.kind == "preferred")
        self.all_required: Final = self._together()
        """The pods that all required affinity terms select: only these satisfy any of the terms."""
        self.pod_label_keys: Final = frozenset().union(*(term.query.keys() for term in ties))
        """The labels of pods that its terms look at."""

    @property
    def terms(self) -> tuple[AffinityTerm, ...]:
        """All terms."""
        return (*self.required, *self.anti_affinity, *self.preferred)

    def _together(self) -> Query | None:
        if not self.required:
            return None
        first, *others = (term.query for term in self.required)
        return msgspec.structs.replace(first, others=tuple(others)) if others else first


class _Term(msgspec.Struct, frozen=True, rename="camel"):
    topology_key: str = ""
    label_selector: RawSelector | None = None
    namespaces: tuple[str, ...] | None = None
    namespace_selector: RawSelector | None = None
    match_label_keys: tuple[str, ...] | None = None
    mismatch_label_keys: tuple[str, ...] | None = None


class _Weighted(msgspec.Struct, frozen=True, rename="camel"):
    pod_affinity_term: _Term
    weight: Weight


class _Terms(msgspec.Struct, frozen=True):
    required: tuple[_Term, ...] | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )
    preferred: tuple[_Weighted, ...] | None = msgspec.field(
        default=None, name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class _Affinity(msgspec.Struct, frozen=True, rename="camel"):
    pod_affinity: _Terms | None = None
    pod_anti_affinity: _Terms | None = None


_NO_TERMS: Final = _Terms()
_decode_affinity: Final = msgspec.json.Decoder(_Affinity | None).decode


def parse_affinity_terms(affinity: msgspec.Raw, namespace: str, labels: Labels) -> AffinityTerms | None:
    """The affinity terms of a pod of this namespace with these labels, None when it has none.

    Raises:
        ValueError: it cannot be read (msgspec's errors are ValueErrors).
    """
    decoded = _decode_affinity(affinity)
    if decoded is None:
        return None
    near, far = decoded.pod_affinity or _NO_TERMS, decoded.pod_anti_affinity or _NO_TERMS

    def parsed(kind: TermKind, term: _Term, weight: int = 0) -> AffinityTerm:
        return AffinityTerm(kind, _pods_of_term(term, namespace, labels), term.topology_key, weight)

    terms = (
        *(parsed("required", term) for term in near.required or ()),
        *(parsed("anti_affinity", term) for term in far.required or ()),
        *(parsed("preferred", one.pod_affinity_term, one.weight) for one in near.preferred or ()),
        *(parsed("preferred", one.pod_affinity_term, -one.weight) for one in far.preferred or ()),
    )
    return AffinityTerms(terms) if terms else None


def _pods_of_term(term: _Term, namespace: str, labels: Labels) -> Query:
    selector = parse_selector(term.label_selector)
    named = {name for name in term.namespaces or () if name}
    return Query(
        selector=with_own_labels(selector, labels, term.match_label_keys, term.mismatch_label_keys),
        namespaces=tuple(sorted(named)) if named or term.namespace_selector is not None else (namespace,),
        namespace_selector=parse_selector(term.namespace_selector) if term.namespace_selector is not None else None,
    )


_Positive = Annotated[int, msgspec.Meta(ge=1, le=MAX_INT32)]


class TopologySpreadConstraint(msgspec.Struct, frozen=True, gc=False):
    """One constraint of one pod."""

    key: str
    query: Query
    """The pods that count."""
    selector: Selector
    """What the pod itself must match to count as well."""
    max_skew: int
    is_hard: bool
    """DoNotSchedule; otherwise it is a preference (ScheduleAnyway)."""
    min_domains: int = 1
    honours_affinity: bool = True
    """Only nodes that the pod's selector and affinity accept count."""
    honours_taints: bool = False
    """Only nodes whose taints the pod tolerates count."""


class _Constraint(msgspec.Struct, frozen=True, rename="camel"):
    max_skew: _Positive = 1
    topology_key: str = ""
    when_unsatisfiable: str = "DoNotSchedule"
    label_selector: RawSelector | None = None
    min_domains: _Positive | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] | None = None


_decode_constraints: Final = msgspec.json.Decoder(tuple[_Constraint, ...] | None).decode


def parse_spread_constraints(raw: msgspec.Raw, namespace: str, labels: Labels) -> tuple[TopologySpreadConstraint, ...]:
    """The constraints of a pod of this namespace with these labels.

    Raises:
        ValueError: they cannot be read (msgspec's errors are ValueErrors).
    """
    return tuple(_constraint_of(constraint, namespace, labels) for constraint in _decode_constraints(raw) or ())


def pods_counted_by(selector: Selector, namespace: str) -> Query:
    """The pods that a constraint with this selector counts; without requirements nobody, as in kube-scheduler."""
    return Query(selector if selector.requirements else NOTHING, (namespace,), skips_leaving=True)


def _constraint_of(raw: _Constraint, namespace: str, labels: Labels) -> TopologySpreadConstraint:
    selector = with_own_labels(parse_selector(raw.label_selector), labels, raw.match_label_keys)
    return TopologySpreadConstraint(
        key=raw.topology_key,
        query=pods_counted_by(selector, namespace),
        selector=selector,
        max_skew=raw.max_skew,
        is_hard=raw.when_unsatisfiable == "DoNotSchedule",
        min_domains=1 if raw.min_domains is None else raw.min_domains,
        honours_affinity=raw.node_affinity_policy != "Ignore",
        honours_taints=raw.node_taints_policy == "Honor",
    )

"""Where a pod may run and would like to, apart from what it takes: node selector, affinities, tolerations, spreading.

Rules are parsed once per distinct bytes. What cannot be read is recorded as `problem`: a pod is refused with that text rather
than placed where its constraint is broken.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from api.features import NO_FEATURES, required_features
from api.pod import PodSpec
from scheduler.cache.pod_rules import AffinityTerms, TopologySpreadConstraint, Weight, parse_spread_constraints
from scheduler.cache.pod_volumes import limits
from scheduler.cache.selectors import FIELD_PREFIX, NAME_FIELD, Labels, Operator, Requirement, whole_number
from scheduler.cache.steps import ONE_SCAN


class Toleration(msgspec.Struct, frozen=True, gc=False):
    """One toleration; empty key, value and effect match as Kubernetes defines it."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


NodeTerm = tuple[Requirement, ...]
"""All of these must hold; an empty term matches no node."""


class NodeRules:
    """Which nodes a pod accepts, shared by all pods with the same bytes; compared by identity.

    Args:
        selector: the pod's node selector.
        terms: required node affinity: at least one must match; None without it.
        preferred: preferred node affinity: terms with their weights.
        tolerations: of taints.
        spread_constraints: topology spread constraints.
        affinity_terms: terms about other pods, None without any.
        mounts: its pods have volumes that limit where they run; which ones is different for every pod.
        features: what a node's kubelet must declare.
        asks_devices: its pods have resource claims; which ones is different for every pod.
        problem: why no pod with these rules can be placed, empty when it can.
    """

    __slots__ = (
        "__weakref__",
        "_values",
        "affinity_terms",
        "asks_devices",
        "features",
        "mounts",
        "preferred",
        "problem",
        "requirements",
        "selector",
        "spread_constraints",
        "terms",
        "tolerations",
    )

    def __init__(  # noqa: PLR0913 (one for each kind of rule)
        self,
        *,
        selector: NodeTerm = (),
        terms: tuple[NodeTerm, ...] | None = None,
        preferred: tuple[tuple[int, NodeTerm], ...] = (),
        tolerations: tuple[Toleration, ...] = (),
        spread_constraints: tuple[TopologySpreadConstraint, ...] = (),
        affinity_terms: AffinityTerms | None = None,
        mounts: bool = False,
        features: frozenset[str] = NO_FEATURES,
        asks_devices: bool = False,
        problem: str = "",
    ) -> None:
        self.selector: Final = selector
        self.terms: Final = terms
        self.preferred: Final = preferred
        """Preferences with their weights."""
        self.tolerations: Final = tolerations
        self.spread_constraints: Final = spread_constraints
        self.affinity_terms: Final = affinity_terms
        self.mounts: Final = mounts
        self.features: Final = features
        self.asks_devices: Final = asks_devices
        self.problem: Final = problem
        requirements = [one for term in (selector, *(terms or ()), *(term for _, term in preferred)) for one in term]
        self.requirements: Final = len(requirements) + len(terms or ()) + len(preferred)
        """How much there is to ask of a node."""
        self._values: Final = sum(len(one.values) for one in requirements) + len(tolerations)

    def steps(self, nodes: int) -> int:
        """What judging so many nodes by the node's own rules costs (`scheduler.cache.steps`)."""
        return (3 * ONE_SCAN + 2 * nodes) * self.requirements + 150 * self._values

    @property
    def concerns_pods(self) -> bool:
        """True when it matters which other pods run where."""
        return self.affinity_terms is not None or bool(self.spread_constraints)

    @property
    def pod_label_keys(self) -> set[str]:
        """The labels of pods that its rules look at."""
        keys = set(self.affinity_terms.pod_label_keys) if self.affinity_terms else set()
        for spread in self.spread_constraints:
            keys |= spread.selector.keys()
        return keys


class _Expression(msgspec.Struct, frozen=True):
    key: str
    operator: Operator
    values: tuple[str, ...] | None = None


class _Term(msgspec.Struct, frozen=True, rename="camel"):
    match_expressions: tuple[_Expression, ...] | None = None
    match_fields: tuple[_Expression, ...] | None = None


class _NodeSelector(msgspec.Struct, frozen=True, rename="camel"):
    node_selector_terms: tuple[_Term, ...] | None = None


_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


class _Preferred(msgspec.Struct, frozen=True):
    weight: Weight
    preference: _Term


class _NodeAffinity(msgspec.Struct, frozen=True):
    required: _NodeSelector | None = msgspec.field(default=None, name=_REQUIRED)
    preferred: tuple[_Preferred, ...] | None = msgspec.field(default=None, name=_PREFERRED)


class _Affinity(msgspec.Struct, frozen=True, rename="camel"):
    node_affinity: _NodeAffinity | None = None


_decode_selector: Final = msgspec.json.Decoder(dict[str, str] | None).decode
_decode_affinity: Final = msgspec.json.Decoder(_Affinity | None).decode
_decode_node_selector: Final = msgspec.json.Decoder(_NodeSelector | None).decode
_decode_tolerations: Final = msgspec.json.Decoder(tuple[Toleration, ...] | None).decode

_POD_TERMS: Final = b'"podA'
"""In the JSON of every affinity that speaks of pods."""
_OWN_LABELS: Final = b"atchLabelKeys"
"""In the JSON of every rule that refers to the pod's own labels."""

_MOUNTS: Final = b"mounts"


def rules_key(spec: PodSpec, namespace: str, labels: Labels) -> bytes:
    """The bytes that decide the rules; equal bytes mean equal rules."""
    parts: list[bytes | msgspec.Raw] = [
        spec.node_selector,
        spec.affinity,
        spec.tolerations,
        spec.topology_spread_constraints,
        spec.resource_claims,
    ]
    if any(map(limits, spec.volumes)):
        parts.append(_MOUNTS)
    features = required_features(spec)
    if features:
        parts.append("\x01".join(sorted(features)).encode())
    if spec.topology_spread_constraints:
        parts.append(_whose(bytes(spec.topology_spread_constraints), namespace, labels))
    if spec.affinity:
        parts.append(affinity_key(spec.affinity, namespace, labels))
    return b"\x00".join(parts)


def affinity_key(affinity: msgspec.Raw, namespace: str, labels: Labels) -> bytes:
    """The bytes that decide the affinity terms of a pod; empty when it has none."""
    text = bytes(affinity)
    return text + _whose(text, namespace, labels) if _POD_TERMS in text else b""


def _whose(text: bytes, namespace: str, labels: Labels) -> bytes:
    """What else decides about rules that look at other pods: the namespace, and the pod's labels where a rule asks for them."""
    own = [namespace, *(part for item in labels.items() for part in item)] if _OWN_LABELS in text else [namespace]
    return "\x01".join(own).encode()


def parse_rules(
    spec: PodSpec,
    namespace: str,
    labels: Labels,
    affinity_terms_of: Callable[[PodSpec, str, Labels], AffinityTerms | None],
) -> NodeRules:
    """The rules of a pod; never raises for what a user wrote.

    Args:
        spec: of the pod.
        namespace: of the pod.
        labels: of the pod.
        affinity_terms_of: the terms about other pods; may raise ValueError for what a user wrote.
    """
    try:
        selector = _decode_selector(spec.node_selector) if spec.node_selector else None
        affinity = _decode_affinity(spec.affinity) if spec.affinity else None
        tolerations = _decode_tolerations(spec.tolerations) if spec.tolerations else None
        raw = spec.topology_spread_constraints
        return NodeRules(
            selector=tuple(Requirement(key, "In", (value,)) for key, value in sorted((selector or {}).items())),
            terms=_terms(affinity.node_affinity if affinity else None),
            preferred=_preferred(affinity.node_affinity if affinity else None),
            tolerations=tolerations or (),
            spread_constraints=parse_spread_constraints(raw, namespace, labels) if raw else (),
            affinity_terms=affinity_terms_of(spec, namespace, labels),
            mounts=any(map(limits, spec.volumes)),
            features=required_features(spec),
            asks_devices=_is_given(spec.resource_claims),
        )
    except (ValueError, msgspec.MsgspecError, RecursionError) as error:
        return NodeRules(problem=f"its placement rules cannot be read: {error}")


def _terms(affinity: _NodeAffinity | None) -> tuple[NodeTerm, ...] | None:
    if affinity is None or affinity.required is None:
        return None
    return tuple(_term(term) for term in affinity.required.node_selector_terms or ())


def parse_node_terms(raw: msgspec.Raw) -> tuple[NodeTerm, ...]:
    """The terms of a node selector, of which one must match; none, which nothing matches, when they cannot be read."""
    try:
        selector = _decode_node_selector(raw)
        return tuple(_term(term) for term in selector.node_selector_terms or ()) if selector else ()
    except (ValueError, msgspec.MsgspecError, RecursionError):
        return ()


def _preferred(affinity: _NodeAffinity | None) -> tuple[tuple[int, NodeTerm], ...]:
    preferred_terms = affinity.preferred or () if affinity else ()
    found = ((term.weight, _term(term.preference)) for term in preferred_terms)
    return tuple((weight, term) for weight, term in found if term)


def _term(term: _Term) -> NodeTerm:
    labels = (_requirement(expression, "") for expression in term.match_expressions or ())
    fields = (_requirement(expression, FIELD_PREFIX) for expression in term.match_fields or ())
    return (*labels, *fields)


def _requirement(expression: _Expression, prefix: str) -> Requirement:
    values = expression.values or ()
    if prefix and (expression.key != NAME_FIELD or expression.operator not in {"In", "NotIn"}):
        raise ValueError(f"matchFields knows only {NAME_FIELD} with In or NotIn")
    if expression.operator in {"Gt", "Lt"} and (len(values) != 1 or whole_number(values[0]) is None):
        raise ValueError(f"{expression.operator} on {expression.key} needs exactly one whole number")
    return Requirement(prefix + expression.key, expression.operator, values)


def _is_given(claims: msgspec.Raw) -> bool:
    return bool(claims) and bytes(claims) not in {b"[]", b"null"}

"""Where a pod may run, apart from what it takes: node selector, required node affinity, tolerations.

Rules are parsed once per distinct bytes. Constraints this scheduler does not evaluate yet are recorded as `problem`: a pod
is refused with that text rather than placed where its constraint is broken.
"""

from typing import Final, Literal

import msgspec

from api.pod import PodSpec, Volume

Operator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]

FIELD_PREFIX: Final = "\x00"
"""Marks the key of a requirement on a field (`metadata.name`) rather than on a label; no label starts like that."""

NAME_FIELD: Final = "metadata.name"


class Requirement(msgspec.Struct, frozen=True, gc=False):
    """One comparison with a label, or with a field of the node when the key starts with `FIELD_PREFIX`."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()


class Toleration(msgspec.Struct, frozen=True, gc=False):
    """One toleration; empty key, value and effect match as Kubernetes defines it."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


Term = tuple[Requirement, ...]
"""All of these must hold; an empty term matches no node."""


class NodeRules:
    """Which nodes a pod accepts, shared by all pods with the same bytes; compared by identity."""

    __slots__ = ("__weakref__", "problem", "selector", "terms", "tolerations")

    def __init__(
        self,
        *,
        selector: Term = (),
        terms: tuple[Term, ...] | None = None,
        tolerations: tuple[Toleration, ...] = (),
        problem: str = "",
    ) -> None:
        self.selector: Final = selector
        self.terms: Final = terms
        """At least one must match; None without required node affinity."""
        self.tolerations: Final = tolerations
        self.problem: Final = problem


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


class _NodeAffinity(msgspec.Struct, frozen=True):
    required: _NodeSelector | None = msgspec.field(default=None, name=_REQUIRED)


class _PodAffinity(msgspec.Struct, frozen=True):
    required: tuple[msgspec.Raw, ...] | None = msgspec.field(default=None, name=_REQUIRED)


class _Affinity(msgspec.Struct, frozen=True, rename="camel"):
    node_affinity: _NodeAffinity | None = None
    pod_affinity: _PodAffinity | None = None
    pod_anti_affinity: _PodAffinity | None = None


class _Spread(msgspec.Struct, frozen=True, rename="camel"):
    when_unsatisfiable: str = "DoNotSchedule"


_decode_selector: Final = msgspec.json.Decoder(dict[str, str] | None).decode
_decode_affinity: Final = msgspec.json.Decoder(_Affinity | None).decode
_decode_tolerations: Final = msgspec.json.Decoder(tuple[Toleration, ...] | None).decode
_decode_spread: Final = msgspec.json.Decoder(tuple[_Spread, ...] | None).decode

_VOLUMES: Final = {
    "persistent_volume_claim": "volumes from persistent volume claims",
    "ephemeral": "ephemeral volumes",
    "gce_persistent_disk": "GCE disks",
    "aws_elastic_block_store": "EBS volumes",
    "iscsi": "iSCSI volumes",
    "rbd": "RBD volumes",
}


def rules_key(spec: PodSpec) -> bytes:
    """The bytes that decide the rules; equal bytes mean equal rules."""
    parts: list[bytes | msgspec.Raw] = [
        spec.node_selector,
        spec.affinity,
        spec.tolerations,
        spec.topology_spread_constraints,
        spec.resource_claims,
    ]
    parts += [b",".join(_limiting_kinds(volume)) for volume in spec.volumes if _limiting_kinds(volume)]
    return b"\x00".join(parts)


def parse_rules(spec: PodSpec) -> NodeRules:
    """The rules of a pod; never raises for what a user wrote."""
    try:
        selector = _decode_selector(spec.node_selector) if spec.node_selector else None
        affinity = _decode_affinity(spec.affinity) if spec.affinity else None
        tolerations = _decode_tolerations(spec.tolerations) if spec.tolerations else None
        spread = _decode_spread(spec.topology_spread_constraints) if spec.topology_spread_constraints else None
        return NodeRules(
            selector=tuple(Requirement(key, "In", (value,)) for key, value in sorted((selector or {}).items())),
            terms=_terms(affinity.node_affinity if affinity else None),
            tolerations=tolerations or (),
            problem=_unsupported(spec, affinity, spread or ()),
        )
    except (ValueError, msgspec.MsgspecError, RecursionError) as error:
        return NodeRules(problem=f"its placement rules cannot be read: {error}")


def _terms(affinity: _NodeAffinity | None) -> tuple[Term, ...] | None:
    if affinity is None or affinity.required is None:
        return None
    return tuple(_term(term) for term in affinity.required.node_selector_terms or ())


def _term(term: _Term) -> Term:
    labels = (_requirement(expression, "") for expression in term.match_expressions or ())
    fields = (_requirement(expression, FIELD_PREFIX) for expression in term.match_fields or ())
    return (*labels, *fields)


def _requirement(expression: _Expression, prefix: str) -> Requirement:
    values = expression.values or ()
    if prefix and (expression.key != NAME_FIELD or expression.operator not in {"In", "NotIn"}):
        raise ValueError(f"matchFields knows only {NAME_FIELD} with In or NotIn")
    if expression.operator in {"Gt", "Lt"} and (len(values) != 1 or _integer(values[0]) is None):
        raise ValueError(f"{expression.operator} on {expression.key} needs exactly one whole number")
    return Requirement(prefix + expression.key, expression.operator, values)


def matches(requirement: Requirement, value: str | None) -> bool:
    """Whether a node whose label (or field) has this value, None when it lacks it, meets the requirement."""
    match requirement.operator:
        case "In":
            return value in requirement.values
        case "NotIn":
            return value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    number, bound = _integer(value), _integer(requirement.values[0])
    if number is None or bound is None:
        return False
    return number > bound if requirement.operator == "Gt" else number < bound


def _integer(text: str | None) -> int | None:
    if text is None or len(text) > 20:
        return None
    try:
        return int(text) if text.lstrip("+-").isdecimal() else None
    except ValueError:
        return None


def _limiting_kinds(volume: Volume) -> list[bytes]:
    return [kind.encode() for kind in _VOLUMES if getattr(volume, kind)]


def _unsupported(spec: PodSpec, affinity: _Affinity | None, spread: tuple[_Spread, ...]) -> str:
    found: list[str] = []
    if affinity and affinity.pod_affinity and affinity.pod_affinity.required:
        found.append("required pod affinity")
    if affinity and affinity.pod_anti_affinity and affinity.pod_anti_affinity.required:
        found.append("required pod anti-affinity")
    if any(constraint.when_unsatisfiable == "DoNotSchedule" for constraint in spread):
        found.append("topology spread with DoNotSchedule")
    kinds = {kind.decode() for volume in spec.volumes for kind in _limiting_kinds(volume)}
    found += [text for kind, text in _VOLUMES.items() if kind in kinds]
    if spec.resource_claims and bytes(spec.resource_claims) not in {b"[]", b"null"}:
        found.append("resource claims")
    return f"not supported yet by this scheduler: {', '.join(found)}" if found else ""

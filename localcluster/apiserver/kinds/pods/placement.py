"""Rules for the parts of a pod spec that say where the pod may run.

Pure.
"""

from typing import Any

from localcluster.apiserver.fielderrors import (
    FieldError,
    duplicate,
    forbidden_field,
    invalid_value,
    required,
    unsupported,
)
from localcluster.apiserver.kinds.kind import Object
from localcluster.apiserver.kinds.labelselectors import validate_selector
from localcluster.apiserver.kinds.metadata import validate_labels
from localcluster.apiserver.kinds.names import qualified_name_problems

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_NODE_OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"})
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_GATED = "cannot be set until all schedulingGates have been cleared"
_KEYLESS = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'


def validate_placement(spec: Object, field: str) -> list[FieldError]:
    """Node selector, affinity, tolerations, topology spread, scheduling gates."""
    errors = validate_labels(spec.get("nodeSelector") or {}, f"{field}.nodeSelector")
    errors += _validate_affinity(spec.get("affinity") or {}, f"{field}.affinity")
    for number, each in enumerate(spec.get("tolerations") or []):
        errors += _validate_toleration(each, f"{field}.tolerations[{number}]")
    for number, each in enumerate(spec.get("topologySpreadConstraints") or []):
        errors += _validate_spread(each, f"{field}.topologySpreadConstraints[{number}]")
    return errors + _validate_gates(spec, field)


def _validate_gates(spec: Object, field: str) -> list[FieldError]:
    gates = spec.get("schedulingGates") or []
    errors: list[FieldError] = []
    seen: set[str] = set()
    for number, gate in enumerate(gates):
        name = gate.get("name") or ""
        where = f"{field}.schedulingGates[{number}]"
        errors += [invalid_value(where, name, each) for each in qualified_name_problems(name)]
        if name in seen:
            errors.append(duplicate(where, name))
        seen.add(name)
    return errors


def validate_unbound_while_gated(spec: Object) -> list[FieldError]:
    """A new pod may not skip its own scheduling gates."""
    if spec.get("schedulingGates") and spec.get("nodeName"):
        return [forbidden_field("spec.nodeName", _GATED)]
    return []


def _validate_toleration(toleration: Object, field: str) -> list[FieldError]:
    key, operator = toleration.get("key") or "", toleration.get("operator") or ""
    effect = toleration.get("effect") or ""
    errors: list[FieldError] = []
    if key:
        errors += [invalid_value(f"{field}.key", key, each) for each in qualified_name_problems(key)]
    elif operator != "Exists":
        errors.append(invalid_value(f"{field}.operator", operator, _KEYLESS))
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        errors.append(invalid_value(f"{field}.effect", effect, text))
    if operator not in {"", "Equal", "Exists"}:
        errors.append(unsupported(f"{field}.operator", operator, ("Equal", "Exists")))
    elif operator == "Exists" and toleration.get("value"):
        text = "value must be empty when `operator` is 'Exists'"
        errors.append(invalid_value(f"{field}.operator", toleration["value"], text))
    if effect and effect not in _EFFECTS:
        errors.append(unsupported(f"{field}.effect", effect, _EFFECTS))
    return errors


def _validate_spread(spread: Object, field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    skew = spread.get("maxSkew") or 0
    if skew <= 0:
        errors.append(invalid_value(f"{field}.maxSkew", skew, "must be greater than zero"))
    if not spread.get("topologyKey"):
        errors.append(required(f"{field}.topologyKey", "can not be empty"))
    action = spread.get("whenUnsatisfiable") or ""
    if action not in {"DoNotSchedule", "ScheduleAnyway"}:
        errors.append(unsupported(f"{field}.whenUnsatisfiable", action, ("DoNotSchedule", "ScheduleAnyway")))
    return errors + validate_selector(spread.get("labelSelector"), f"{field}.labelSelector")


def _validate_affinity(affinity: Object, field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    node = affinity.get("nodeAffinity") or {}
    needed = node.get(_REQUIRED)
    if needed is not None:
        where = f"{field}.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
        terms = needed.get("nodeSelectorTerms") or []
        if not terms:
            errors.append(required(where, "must have at least one node selector term"))
        for number, term in enumerate(terms):
            errors += validate_node_term(term, f"{where}[{number}]")
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = (affinity.get(kind) or {}).get(_REQUIRED) or []
        for number, term in enumerate(terms):
            errors += _validate_pod_term(term, f"{field}.{kind}.{_REQUIRED}[{number}]")
        for number, wish in enumerate((affinity.get(kind) or {}).get(_PREFERRED) or []):
            term = wish.get("podAffinityTerm") or {}
            errors += _validate_pod_term(term, f"{field}.{kind}.{_PREFERRED}[{number}].podAffinityTerm")
    return errors


def validate_node_term(term: Object, field: str) -> list[FieldError]:
    """One term of a node selector."""
    errors: list[FieldError] = []
    for number, each in enumerate(term.get("matchExpressions") or []):
        errors += _validate_expression(each, f"{field}.matchExpressions[{number}]")
    return errors


def _validate_expression(expression: Any, field: str) -> list[FieldError]:
    operator, values = expression.get("operator") or "", expression.get("values") or []
    key = expression.get("key") or ""
    errors: list[FieldError] = []
    if operator not in _NODE_OPERATORS:
        errors.append(invalid_value(f"{field}.operator", operator, "not a valid selector operator"))
    elif operator in {"In", "NotIn"} and not values:
        errors.append(required(f"{field}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in {"Exists", "DoesNotExist"} and values:
        text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        errors.append(forbidden_field(f"{field}.values", text))
    elif operator in {"Gt", "Lt"} and len(values) != 1:
        text = "must be specified single value when `operator` is 'Lt' or 'Gt'"
        errors.append(required(f"{field}.values", text))
    return errors + [invalid_value(f"{field}.key", key, each) for each in qualified_name_problems(key)]


def _validate_pod_term(term: Object, field: str) -> list[FieldError]:
    errors = [] if term.get("topologyKey") else [required(f"{field}.topologyKey", "can not be empty")]
    for key in ("labelSelector", "namespaceSelector"):
        errors += validate_selector(term.get(key), f"{field}.{key}")
    return errors

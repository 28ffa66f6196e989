"""Rules for what a Job says about failing and succeeding.

Pure.
"""

from localcluster.apiserver.fielderrors import (
    OMITTED,
    FieldError,
    duplicate,
    invalid_value,
    required,
    too_many,
    unsupported,
)
from localcluster.apiserver.kinds.kind import Object

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_MOST_RULES = 20
_MOST_VALUES = 255


def validate_failure_policy(spec: Object, field: str) -> list[FieldError]:
    """`podFailurePolicy`."""
    rules = spec["podFailurePolicy"].get("rules") or []
    if len(rules) > _MOST_RULES:
        return [too_many(f"{field}.rules", len(rules), _MOST_RULES)]
    containers = spec["template"]["spec"]
    names = {each.get("name") for key in ("containers", "initContainers") for each in containers.get(key) or []}
    errors: list[FieldError] = []
    for number, rule in enumerate(rules):
        errors += _validate_rule(rule, spec, f"{field}.rules[{number}]", names)
    return errors


def _validate_rule(rule: Object, spec: Object, field: str, names: set[str | None]) -> list[FieldError]:
    errors: list[FieldError] = []
    action = rule.get("action") or ""
    if not action:
        errors.append(required(f"{field}.action", "valid values: " + ", ".join(f'"{each}"' for each in _ACTIONS)))
    elif action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        errors.append(invalid_value(f"{field}.action", action, "requires the backoffLimitPerIndex to be set"))
    elif action not in _ACTIONS:
        errors.append(unsupported(f"{field}.action", action, _ACTIONS))
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or []
    if codes is not None:
        errors += _validate_codes(codes, f"{field}.onExitCodes", names)
    for number, pattern in enumerate(conditions):
        errors += _validate_pattern(pattern, f"{field}.onPodConditions[{number}]")
    if codes is not None and conditions:
        text = "specifying both OnExitCodes and OnPodConditions is not supported"
        errors.append(_bare(field, text))
    if codes is None and not conditions:
        errors.append(_bare(field, "specifying one of OnExitCodes and OnPodConditions is required"))
    return errors


def _bare(field: str, text: str) -> FieldError:
    """A complaint about a whole rule, whose value is not shown."""
    return invalid_value(field, OMITTED, text)


def _validate_codes(codes: Object, field: str, names: set[str | None]) -> list[FieldError]:
    errors: list[FieldError] = []
    operator, values = codes.get("operator") or "", codes.get("values") or []
    if operator not in {"In", "NotIn"}:
        errors.append(unsupported(f"{field}.operator", operator, ("In", "NotIn")))
    container = codes.get("containerName")
    if container is not None and container not in names:
        errors.append(
            invalid_value(
                f"{field}.containerName",
                container,
                "must be one of the container or initContainer names in the pod template",
            )
        )
    if not values:
        errors.append(invalid_value(f"{field}.values", [], "at least one value is required"))
    elif len(values) > _MOST_VALUES:
        errors.append(too_many(f"{field}.values", len(values), _MOST_VALUES))
    for number, value in enumerate(values):
        if operator == "In" and value == 0:
            errors.append(invalid_value(f"{field}.values[{number}]", value, "must not be 0 for the In operator"))
        if value in values[:number]:
            errors.append(duplicate(f"{field}.values[{number}]", value))
    return errors


def _validate_pattern(pattern: Object, field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if not pattern.get("type"):
        errors.append(required(f"{field}.type"))
    if pattern.get("status") not in {"True", "False", "Unknown"}:
        errors.append(unsupported(f"{field}.status", pattern.get("status") or "", ("False", "True", "Unknown")))
    return errors


def validate_success_policy(spec: Object, field: str) -> list[FieldError]:
    """`successPolicy`."""
    policy = spec["successPolicy"]
    if spec.get("completionMode") != "Indexed":
        return [invalid_value(field, policy, "requires indexed completion mode")]
    rules = policy.get("rules") or []
    if not rules:
        return [required(f"{field}.rules", "at least one rules must be specified when the successPolicy is specified")]
    errors: list[FieldError] = []
    for number, rule in enumerate(rules):
        if rule.get("succeededCount") is None and not rule.get("succeededIndexes"):
            where = f"{field}.rules[{number}]"
            errors.append(required(where, "at least one of succeededCount or succeededIndexes must be specified"))
    return errors

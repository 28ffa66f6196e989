"""Rules for LabelSelector objects, wherever a kind has one.

Pure. The sentences are those of apimachinery's ValidateLabelSelector.
"""

from localcluster.apiserver.fielderrors import FieldError, forbidden_field, invalid_value, required
from localcluster.apiserver.kinds.kind import Object
from localcluster.apiserver.kinds.metadata import validate_labels
from localcluster.apiserver.kinds.names import label_value_problem, qualified_name_problems


def validate_selector(selector: Object | None, field: str) -> list[FieldError]:
    """What is wrong with a selector; none at all is fine."""
    if not selector:
        return []
    errors = validate_labels(selector.get("matchLabels") or {}, f"{field}.matchLabels")
    for number, each in enumerate(selector.get("matchExpressions") or []):
        errors += _validate_requirement(each, f"{field}.matchExpressions[{number}]")
    return errors


def _validate_requirement(requirement: Object, field: str) -> list[FieldError]:
    key, operator = requirement.get("key") or "", requirement.get("operator") or ""
    values = requirement.get("values") or []
    errors: list[FieldError] = []
    if operator in {"In", "NotIn"}:
        if not values:
            errors.append(required(f"{field}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            errors.append(forbidden_field(f"{field}.values", text))
    else:
        errors.append(invalid_value(f"{field}.operator", operator, "not a valid selector operator"))
    errors += [invalid_value(f"{field}.key", key, each) for each in qualified_name_problems(key)]
    for number, value in enumerate(values):
        if problem := label_value_problem(value):
            errors.append(invalid_value(f"{field}.values[{number}]", value, problem))
    return errors

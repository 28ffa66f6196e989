"""Which nodes a slice, a device or an allocation is for. Pure."""

from dataclasses import dataclass
from typing import Any, Final

from localcluster.apiserver.fielderrors import FieldError, invalid_value, required
from localcluster.apiserver.kinds.kind import Object
from localcluster.apiserver.kinds.names import subdomain_problems
from localcluster.apiserver.kinds.pods.placement import validate_node_term

_TERMS: Final = "nodeSelectorTerms"


@dataclass(frozen=True, slots=True)
class Choice:
    """The fields of which one says it, and what is said when none or several do.

    Attributes:
        empty_name: the complaint about a node name without a letter.
        several: what is added where several are given.
    """

    keys: tuple[str, ...]
    text: str
    empty_name: str
    several: str = ""


def chosen_nodes(holder: Object, field: str, choice: Choice) -> list[FieldError]:
    """The faults of the choice, and of what was chosen."""
    errors: list[FieldError] = []
    given = []
    for key in choice.keys:
        value = holder.get(key)
        if value is None:
            continue
        if not value and key != "nodeSelector":
            text = choice.empty_name if key == "nodeName" else "must be either unset or set to true"
            errors.append(invalid_value(f"{field}.{key}", value, text))
            continue
        given.append(f"`{key}`")
        errors += _chosen(key, value, f"{field}.{key}")
    if not given:
        errors.append(required(field, choice.text))
    elif len(given) > 1:
        errors.append(invalid_value(field, "{" + ", ".join(given) + "}", choice.text + choice.several))
    return errors


def _chosen(key: str, value: Any, field: str) -> list[FieldError]:
    if key == "nodeName":
        return [invalid_value(field, value, each) for each in subdomain_problems(value)]
    return selector_errors(value, field) if key == "nodeSelector" else []


def selector_errors(selector: Object, field: str) -> list[FieldError]:
    """The faults of a node selector."""
    terms, where = selector.get(_TERMS) or [], f"{field}.{_TERMS}"
    if not terms:
        return [required(where, "must have at least one node selector term")]
    return [error for number, term in enumerate(terms) for error in validate_node_term(term, f"{where}[{number}]")]


def as_go_shows(terms: list[Object]) -> list[Object]:
    """Node selector terms as a complaint about them shows them: with all fields, by the names that Go has for them."""
    return [
        {
            shown: [
                {"Key": each.get("key"), "Operator": each.get("operator"), "Values": each.get("values")}
                for each in term[key]
            ]
            if term.get(key)
            else None
            for key, shown in (("matchExpressions", "MatchExpressions"), ("matchFields", "MatchFields"))
        }
        for term in terms
    ]

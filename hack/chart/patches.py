"""A JSON patch of a component as conditions: what it adds is there when the component is chosen, what it removes when it is not.

So a component is written once, for kustomize, and is a value in the chart. Only what our patches use is understood; anything
else is refused, and whoever writes it sees that at once.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from hack.chart.nodes import Guarded, negated


class UnknownPatchError(ValueError):
    """A patch says what cannot be said as a condition."""


def apply_under(condition: str, patch: Iterable[Mapping[str, Any]], body: dict[str, Any]) -> None:
    """Change the object so that it is the patched one where the condition holds, and the old one elsewhere."""
    for operation in patch:
        *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
        container: Any = body
        for part in parents:
            container = _child(container, part, condition)
        match operation["op"]:
            case "test":
                if _child(container, last, condition) != operation["value"]:
                    raise UnknownPatchError(f"{operation['path']} is not {operation['value']!r}")
            case "add":
                _add(container, last, Guarded(condition, operation["value"]))
            case "remove":
                _remove(container, last, condition)
            case other:
                raise UnknownPatchError(f"{other} {operation['path']}")


def _add(container: Any, key: str, node: Guarded) -> None:
    if isinstance(container, list) and key == "-":
        container.append(node)
    elif isinstance(container, dict) and key not in container:
        container[key] = node
    else:
        raise UnknownPatchError(f"add {key}: only new fields, and items at the end of lists")


def _remove(container: Any, key: str, condition: str) -> None:
    place = _place(container, key, condition)
    container[place] = Guarded(negated(condition), container[place])


def _child(container: Any, key: str, condition: str) -> Any:
    return container[_place(container, key, condition)]


def _place(container: Any, key: str, condition: str) -> Any:
    """Where the patch finds that key: what it has removed already does not count any more."""
    if isinstance(container, dict):
        return key
    gone = negated(condition)
    there = [i for i, each in enumerate(container) if not (isinstance(each, Guarded) and each.condition == gone)]
    return there[int(key)]

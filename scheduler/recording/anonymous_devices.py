"""Made-up names in objects about devices: names of people's making are hidden, what selectors may read of devices is not.

Selectors (CEL) are asked about a device's driver, attributes and capacities, so these keep their names, and expressions their
text. The texts of attributes that no expression of the file names are hidden too: serial numbers, addresses. Where an expression
may look at attributes without naming them, or make up names, all texts are kept.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

KINDS: Final = frozenset(
    {
        "deviceclasses", "resourceslices", "resourceclaims", "devicetaintrules", "resourceclaimtemplates",
        "assumed_claims",
    }
)  # fmt: skip
"""Fields of the inputs with objects about devices."""

_WITH_EXPRESSIONS: Final = KINDS - {"resourceslices", "devicetaintrules"}

EXPRESSION: Final = "expression"
_KEPT: Final = frozenset(
    {
        "driver", "allocationMode", "extendedResourceName", "matchAttribute", "distinctAttribute", "resource",
        "bindingConditions", "bindingFailureConditions",
    }
)  # fmt: skip
"""Fields whose texts are kept: what drivers call things, and what things are."""
_KEPT_WHOLE: Final = frozenset({"capacity", "counters", "consumedCapacity"})
"""Amounts by the names that drivers give them."""
_AS_THEY_ARE: Final = _KEPT | _KEPT_WHOLE
_OF_REQUESTS: Final = frozenset({"request", "requests"})
"""Names of requests, of their alternatives after a slash."""
_OF_TEXTS: Final = frozenset({"string", "strings"})
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MAKES_UP_NAMES: Final = re.compile(
    r"\+|\.\s*(?:all|exists|exists_one|existsOne|map|filter|transform\w*|join|replace|substring|split|reverse|format|quote|charAt"
    r"|lowerAscii|upperAscii|trim|decode|encode|flatten|slice|sort\w*)\s*\("
)
"""Calls with which an expression can reach attributes that it does not name."""


def looked_at(plain: Mapping[str, Any]) -> frozenset[str] | None:
    """Words in the expressions of these inputs, among which are the attributes they look at; None when it may be any."""
    expressions = {text for kind in _WITH_EXPRESSIONS for text in _expressions(_objects(plain, kind))}
    if any(_MAKES_UP_NAMES.search(text) for text in expressions):
        return None
    return frozenset(word for text in expressions for word in _IDENTIFIER.findall(text))


def _objects(plain: Mapping[str, Any], kind: str) -> Any:
    return (plain.get("objects") or {}).get(kind) or (plain.get("scheduler") or {}).get(kind) or ()


def _expressions(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, found in value.items():
            if key == EXPRESSION and isinstance(found, str):
                yield found
            else:
                yield from _expressions(found)
    elif isinstance(value, list | tuple):
        for found in value:
            yield from _expressions(found)


class DeviceWalk:
    """Goes through an object about devices.

    Args:
        others: goes through what is like anywhere else; takes the name of a field and its value.
        looked_at: words of expressions; None: any attribute may be looked at.
        say: gives the word for an expression; None: expressions are kept.
    """

    def __init__(
        self,
        others: Callable[[str, Any], Any],
        looked_at: frozenset[str] | None,
        say: Callable[[str], str] | None = None,
    ) -> None:
        self._others: Final = others
        self._looked_at: Final = looked_at
        self._say: Final = say

    def value(self, field: str, value: Any) -> Any:
        """The value with made-up names."""
        if field in _AS_THEY_ARE:
            return value
        if isinstance(value, str):
            return self._text(field, value)
        if field == "attributes" and isinstance(value, dict):
            return {name: self._attribute(name, found) for name, found in value.items()}
        if field in {"metadata", "nodeSelector"}:
            return self._others(field, value)
        if isinstance(value, dict):
            return {key: self.value(key, found) for key, found in value.items()}
        if isinstance(value, list):
            return [self.value(field, found) for found in value]
        return self._others(field, value)

    def _text(self, field: str, text: str) -> Any:
        if field == EXPRESSION:
            return text if self._say is None else self._say(text)
        if field in _OF_REQUESTS:
            return "/".join(self._others("name", part) for part in text.split("/"))
        return self._others(field, text)

    def _attribute(self, name: str, found: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._looked_at is None or name.rpartition("/")[2] in self._looked_at:
            return found
        return {kind: self._others("name", value) if kind in _OF_TEXTS else value for kind, value in found.items()}

"""Objects with nodes in them, written as the text of a Helm template.

Names that an installation may choose (the namespace) are found in any scalar, so that none is forgotten.
"""

from collections.abc import Mapping
from typing import Any, Final

import yaml

from hack.chart.nodes import MORE, Expression, Guarded, Optional, Subtree

_WIDTH: Final = 1_000_000
_STEP: Final = "  "


class Emitter:
    """Writes objects as templates.

    Args:
        names: texts that are replaced wherever they stand in a scalar, by an expression each.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names: Final = names

    def document(self, body: Mapping[str, Any], *, condition: str | None = None) -> str:
        """One object as a document, there under the condition only."""
        lines = ["---", *self._mapping(body, "")]
        if condition is not None:
            lines = [f"{{{{- if {condition} }}}}", *lines, "{{- end }}"]
        return "\n".join(lines) + "\n"

    def _mapping(self, body: Mapping[str, Any], indent: str) -> list[str]:
        return [line for key, value in body.items() for line in self._field(self._scalar(key), value, indent)]

    def _field(self, key: str, value: Any, indent: str) -> list[str]:
        match value:
            case Guarded(condition, inner):
                return _guarded(condition, self._field(key, inner, indent))
            case Optional(path):
                inner_lines = [f"{indent}{key}:", f"{indent}{_STEP}{{{{- toYaml . | nindent {len(indent) + 2} }}}}"]
                return [f"{{{{- with {path} }}}}", *inner_lines, "{{- end }}"]
            case Subtree(path) if key == MORE:
                return [f"{{{{- with {path} }}}}", f"{indent}{{{{- toYaml . | nindent {len(indent)} }}}}", "{{- end }}"]
            case Subtree(path):
                return [f"{indent}{key}:", f"{indent}{_STEP}{{{{- toYaml {path} | nindent {len(indent) + 2} }}}}"]
            case dict() if value:
                return [f"{indent}{key}:", *self._mapping(value, indent + _STEP)]
            case list() | tuple() if value:
                return [f"{indent}{key}:", *self._items(value, indent + _STEP)]
            case _:
                return self._scalar_lines(f"{indent}{key}: ", value, indent)

    def _items(self, items: list[Any] | tuple[Any, ...], indent: str) -> list[str]:
        return [line for item in items for line in self._item(item, indent)]

    def _item(self, item: Any, indent: str) -> list[str]:
        match item:
            case Guarded(condition, inner):
                return _guarded(condition, self._item(inner, indent))
            case dict() if item:
                return _dashed(self._mapping(item, indent + _STEP), indent)
            case list() | tuple() if item:
                return _dashed(self._items(item, indent + _STEP), indent)
            case _:
                return self._scalar_lines(f"{indent}- ", item, indent)

    def _scalar_lines(self, start: str, value: Any, indent: str) -> list[str]:
        if isinstance(value, Expression):
            return [f"{start}{{{{ {value.text} }}}}"]
        if isinstance(value, str) and "\n" in value:
            mark = "|" if value.endswith("\n") else "|-"
            inner = indent + _STEP
            lines = value.removesuffix("\n").split("\n")
            return [start + mark, *(f"{inner}{self._named(line)}" if line else "" for line in lines)]
        return [start + self._scalar(value)]

    def _scalar(self, value: Any) -> str:
        text = yaml.safe_dump(value, default_flow_style=True, width=_WIDTH, allow_unicode=True)
        return self._named(text.removesuffix("\n").removesuffix("\n...").strip())

    def _named(self, text: str) -> str:
        text = text.replace("{{", '{{ "{{" }}')
        for name, expression in self._names.items():
            text = text.replace(name, f"{{{{ {expression} }}}}")
        return text


def _guarded(condition: str, lines: list[str]) -> list[str]:
    return [f"{{{{- if {condition} }}}}", *lines, "{{- end }}"]


def _dashed(lines: list[str], indent: str) -> list[str]:
    """The lines of a mapping or list, begun with a dash. The first may not be conditional: the dash would be, too."""
    if lines[0].startswith("{{-"):
        raise ValueError(f"an item must not begin with a condition: {lines[0]}")
    return [f"{indent}- {lines[0].removeprefix(indent + _STEP)}", *lines[1:]]

"""Which metrics and labels an expression of Prometheus uses. Enough of the language for ours: anything stranger is refused.

What it means is Prometheus' own matter (`promtool`); this only says whether there is such a metric, and such a label.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

TARGET_LABELS: Final = frozenset({"namespace", "pod", "container", "instance", "job"})
"""What Prometheus adds of its own to every series of ours."""
OTHERS: Final = frozenset({"process_resident_memory_bytes", "process_cpu_seconds_total"})
"""Served by every process of any kind."""

_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_SELECTOR: Final = re.compile(r"\b([a-zA-Z_:][\w:]*)\s*\{([^}]*)\}")
_NAME: Final = re.compile(r"\b(?:tutti|process|up|kube|python)_\w+")
_GROUPING: Final = re.compile(r"\b(?:by|on|without|ignoring)\s*\(([^)]*)\)")
_MATCHER: Final = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)")


def problems(expression: str, series: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """What the expression names and nobody serves."""
    text = _STRING.sub('""', expression)
    names = set(_NAME.findall(_without_lists(text)))
    for name in sorted(names - series.keys() - OTHERS):
        yield f"no metric {name}"
    for name, matchers in _SELECTOR.findall(text):
        known = series.get(name, frozenset()) | TARGET_LABELS
        yield from (f"{name} has no label {label}" for label in _MATCHER.findall(matchers) if label not in known)
    known = frozenset().union(*(series.get(name, frozenset()) for name in names)) | TARGET_LABELS
    for group in _GROUPING.findall(text):
        labels = {label.strip() for label in group.split(",")} - {""}
        yield from (f"no metric of the expression has a label {label}" for label in sorted(labels - known))


def _without_lists(text: str) -> str:
    return _GROUPING.sub("", re.sub(r"\{[^}]*\}", "", text))

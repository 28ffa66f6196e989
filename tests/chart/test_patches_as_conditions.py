"""A component's JSON patch becomes conditions: what it adds and removes, and what cannot be said that way."""

from typing import Any

import pytest

from hack.chart.emit import Emitter
from hack.chart.nodes import Guarded
from hack.chart.patches import UnknownPatchError, apply_under

CHOSEN = ".Values.chosen"


def patched(body: dict[str, Any], *operations: dict[str, Any]) -> str:
    apply_under(CHOSEN, operations, body)
    return Emitter({}).document(body)


def test_what_is_added_is_there_when_the_component_is_chosen() -> None:
    text = patched({"args": ["one"]}, {"op": "add", "path": "/args/-", "value": "two"})
    assert text == "---\nargs:\n  - one\n{{- if .Values.chosen }}\n  - two\n{{- end }}\n"


def test_what_is_removed_is_there_when_it_is_not() -> None:
    text = patched({"args": ["one", "two"]}, {"op": "remove", "path": "/args/1"})
    assert text == "---\nargs:\n  - one\n{{- if not (.Values.chosen) }}\n  - two\n{{- end }}\n"


def test_places_count_as_after_the_steps_before() -> None:
    body = {"args": ["one", "two", "three"]}
    patched(body, {"op": "remove", "path": "/args/0"}, {"op": "remove", "path": "/args/0"})
    assert [isinstance(each, Guarded) for each in body["args"]] == [True, True, False]


def test_a_value_that_is_not_as_the_patch_expects_is_an_error() -> None:
    with pytest.raises(UnknownPatchError, match="/kind"):
        patched({"kind": "Pod"}, {"op": "test", "path": "/kind", "value": "Job"})


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "replace", "path": "/args/0", "value": "x"},
        {"op": "add", "path": "/args/0", "value": "x"},
        {"op": "add", "path": "/args", "value": []},
        {"op": "move", "from": "/args", "path": "/other"},
    ],
)
def test_what_cannot_be_a_condition_is_refused(operation: dict[str, Any]) -> None:
    with pytest.raises(UnknownPatchError):
        patched({"args": ["one"]}, operation)


def test_braces_of_others_stay_as_they_are() -> None:
    text = Emitter({}).document({"summary": "{{ $value }} of {{ $labels.queue }}"})
    assert '{{ "{{" }} $value }}' in text

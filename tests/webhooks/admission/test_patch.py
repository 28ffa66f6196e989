"""JSON patches made by saying how the object should be."""

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.webhooks.builders import apply
from webhooks.admission.patch import Patch

KEYS = st.sampled_from(["a", "b", "c/d", "e~f", "tutti.scheduler/gate"])
DOCUMENTS = st.recursive(
    st.one_of(st.none(), st.integers(0, 3), st.text("xy", max_size=2)),
    lambda inner: st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
ROOTS = st.dictionaries(KEYS, DOCUMENTS, max_size=4)
PATHS = st.lists(KEYS, min_size=1, max_size=4).map(tuple)


def test_missing_parents_are_made_in_one_operation() -> None:
    patch = Patch({"spec": {}})
    patch.set(("spec", "template", "metadata", "labels", "tutti.scheduler/managed"), "embedded")
    assert patch.operations == (
        {
            "op": "add",
            "path": "/spec/template",
            "value": {"metadata": {"labels": {"tutti.scheduler/managed": "embedded"}}},
        },
    )


def test_a_null_parent_is_replaced() -> None:
    patch = Patch({"metadata": {"annotations": None}})
    patch.set(("metadata", "annotations", "a"), "1")
    assert patch.operations == ({"op": "add", "path": "/metadata/annotations", "value": {"a": "1"}},)


def test_slashes_and_tildes_in_keys_are_escaped() -> None:
    patch = Patch({"annotations": {}})
    patch.set(("annotations", "a/b~c"), "1")
    assert patch.operations[0]["path"] == "/annotations/a~1b~0c"


def test_what_is_there_already_makes_no_operation() -> None:
    patch = Patch({"spec": {"suspend": True}})
    patch.set(("spec", "suspend"), value=True)
    patch.remove(("spec", "other"))
    patch.remove(("elsewhere", "other"))
    assert patch.operations == ()


def test_an_element_goes_to_the_end_of_its_list() -> None:
    patch = Patch({"owners": [1]})
    patch.append(("owners",), 2)
    patch.append(("fresh",), 3)
    assert apply({"owners": [1]}, patch.operations) == {"owners": [1, 2], "fresh": [3]}


@given(ROOTS, st.lists(st.tuples(PATHS, st.one_of(st.just("remove"), DOCUMENTS)), max_size=6))
def test_the_operations_lead_to_what_the_patch_shows(
    document: dict[str, Any], changes: list[tuple[tuple[str, ...], Any]]
) -> None:
    before = copy.deepcopy(document)
    patch = Patch(document)
    for path, value in changes:
        if value == "remove":
            patch.remove(path)
        else:
            patch.set(path, value)
            assert patch.get(*path) == value
    result = apply(document, patch.operations)
    assert all(result.get(key) == patch.get(key) for key in {*result, "a", "b"})
    assert document == before

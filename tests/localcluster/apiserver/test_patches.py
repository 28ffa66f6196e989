"""The three patches on plain values."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcluster.apiserver.patches.jsonpatch import apply_json_patch
from localcluster.apiserver.patches.merge import merge
from localcluster.apiserver.patches.strategic import strategic_merge
from localcluster.apiserver.status import StatusError

JSON = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(target=JSON, patch=JSON)
def test_a_merge_patch_without_nulls_is_found_in_the_result(target: Any, patch: Any) -> None:
    merged = merge(target, patch)

    def contains(whole: Any, part: Any) -> bool:
        if not isinstance(part, dict):
            return bool(whole == part)
        return isinstance(whole, dict) and all(key in whole and contains(whole[key], part[key]) for key in part)

    assert contains(merged, patch)


def test_a_null_takes_a_field_away() -> None:
    assert merge({"a": 1, "b": {"c": 2}}, {"a": None, "b": {"c": None, "d": None}}) == {"b": {}}


@pytest.mark.parametrize(
    ("operations", "result"),
    [
        ([{"op": "add", "path": "/a/-", "value": 3}], {"a": [1, 2, 3], "b~/": 0}),
        ([{"op": "add", "path": "/a/0", "value": 0}], {"a": [0, 1, 2], "b~/": 0}),
        ([{"op": "remove", "path": "/a/1"}], {"a": [1], "b~/": 0}),
        ([{"op": "replace", "path": "/b~0~1", "value": 5}], {"a": [1, 2], "b~/": 5}),
        ([{"op": "move", "from": "/a/0", "path": "/c"}], {"a": [2], "b~/": 0, "c": 1}),
        ([{"op": "copy", "from": "/a", "path": "/c"}], {"a": [1, 2], "b~/": 0, "c": [1, 2]}),
        ([{"op": "test", "path": "/a", "value": [1, 2]}], {"a": [1, 2], "b~/": 0}),
    ],
)
def test_json_patch_operations(operations: Any, result: Any) -> None:
    assert apply_json_patch({"a": [1, 2], "b~/": 0}, operations) == result


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/x"},
        {"op": "replace", "path": "/x", "value": 1},
        {"op": "add", "path": "/a/9", "value": 1},
        {"op": "test", "path": "/a", "value": 1},
        {"op": "jump", "path": "/a"},
        {"path": "/a"},
        "nothing",
    ],
)
def test_json_patch_operations_that_do_not_fit_are_refused(operation: Any) -> None:
    with pytest.raises(StatusError) as refused:
        apply_json_patch({"a": [1]}, [operation])
    assert refused.value.code == 422


def test_containers_and_their_variables_are_merged_by_name() -> None:
    target = {"containers": [{"name": "a", "image": "1", "env": [{"name": "X", "value": "1"}]}, {"name": "b"}]}
    patch = {"containers": [{"name": "a", "image": "2", "env": [{"name": "Y", "value": "2"}]}, {"name": "c"}]}
    merged = strategic_merge(target, patch)
    assert [each["name"] for each in merged["containers"]] == ["a", "c", "b"]
    assert merged["containers"][0] == {
        "name": "a",
        "image": "2",
        "env": [{"name": "Y", "value": "2"}, {"name": "X", "value": "1"}],
    }


def test_lists_without_a_key_are_replaced() -> None:
    assert strategic_merge({"tolerations": [{"key": "a"}]}, {"tolerations": [{"key": "b"}]}) == {
        "tolerations": [{"key": "b"}]
    }


def test_directives() -> None:
    target = {"containers": [{"name": "a"}, {"name": "b"}], "finalizers": ["x", "y"], "m": {"k": 1, "l": 2}}
    patch = {
        "containers": [{"name": "a", "$patch": "delete"}],
        "$deleteFromPrimitiveList/finalizers": ["x"],
        "finalizers": ["z"],
        "m": {"$patch": "replace", "n": 3},
    }
    assert strategic_merge(target, patch) == {"containers": [{"name": "b"}], "finalizers": ["z", "y"], "m": {"n": 3}}


def test_the_order_of_items_can_be_set() -> None:
    target = {"containers": [{"name": "a"}, {"name": "b"}]}
    patch = {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}], "containers": [{"name": "a", "image": "i"}]}
    assert [each["name"] for each in strategic_merge(target, patch)["containers"]] == ["b", "a"]


def test_ports_are_told_apart_by_what_they_have() -> None:
    container = strategic_merge({"ports": [{"containerPort": 1}]}, {"ports": [{"containerPort": 2}]})
    service = strategic_merge({"ports": [{"port": 1, "name": "a"}]}, {"ports": [{"port": 1, "name": "b"}]})
    assert len(container["ports"]) == 2
    assert service["ports"] == [{"port": 1, "name": "b"}]

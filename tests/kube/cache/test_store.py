"""The store's look-ups agree with what was put into it, whatever the order of changes."""

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from kube.cache.store import Store
from tests.kube.cache.builders import Thing, thing


def as_thing(document: dict[str, Any]) -> Thing:
    return msgspec.convert(document, Thing)


def by_node() -> Store[Thing]:
    return Store({"node": lambda item: [item.spec.node_name] if item.spec.node_name else []})


names = st.sampled_from(["a", "b", "c"])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), names, st.sampled_from(["u1", "u2"]), st.sampled_from(["", "n1", "n2"])),
        st.tuples(st.just("remove"), names, st.just(""), st.just("")),
    ),
    max_size=30,
)


@settings(deadline=None)
@given(steps)
def test_indexes_and_uids_always_equal_a_recount(script: list[tuple[str, str, str, str]]) -> None:
    store = by_node()
    truth: dict[str, Thing] = {}
    for number, (verb, name, uid, node) in enumerate(script):
        if verb == "put":
            item = as_thing(thing(name, number, uid=f"{name}-{uid}", nodeName=node))
            assert store.put(item) is truth.get(name)
            truth[name] = item
        else:
            assert store.remove("ns", name) is truth.pop(name, None)
    assert len(store) == len(truth)
    assert {item.metadata.name: item for item in store.all()} == truth
    for node in ("n1", "n2"):
        expected = {name for name, item in truth.items() if item.spec.node_name == node}
        assert {item.metadata.name for item in store.by_index("node", node)} == expected
    for name in ("a", "b", "c"):
        for uid in ("u1", "u2"):
            found = store.by_uid(f"{name}-{uid}")
            current = truth.get(name)
            assert found is (current if current and current.metadata.uid == f"{name}-{uid}" else None)


def test_what_is_not_there_is_none_or_empty() -> None:
    store = by_node()
    assert store.get("ns", "x") is None
    assert store.by_uid("x") is None
    assert store.by_index("node", "x") == []
    assert store.remove("ns", "x") is None

"""The store: one version for everything, changes in order, one winner of two."""

import pytest

from localcluster.apiserver.store.memory import REMEMBERED_EVENTS, Event, Forgotten, Outdated, Store, Taken

MAPS = ("", "configmaps")


def named(name: str, namespace: str = "n") -> dict[str, object]:
    return {"metadata": {"name": name, "namespace": namespace}}


def test_every_change_gets_the_next_version() -> None:
    store = Store()
    a = store.put(MAPS, named("a"))
    b = store.put(("", "pods"), named("a"))
    c = store.replace(MAPS, a, named("a"))
    gone = store.delete(MAPS, c)
    assert [each.version for each in (a, b, c, gone)] == [2, 3, 4, 5]
    assert gone.obj["metadata"]["resourceVersion"] == "5"
    assert store.get(MAPS, "n", "a") is None


def test_of_two_changes_of_one_record_one_is_outdated() -> None:
    store = Store()
    first = store.put(MAPS, named("a"))
    store.replace(MAPS, first, named("a"))
    with pytest.raises(Outdated):
        store.replace(MAPS, first, named("a"))
    with pytest.raises(Outdated):
        store.delete(MAPS, first)
    with pytest.raises(Taken):
        store.put(MAPS, named("a"))


def test_lists_are_sorted_and_of_one_namespace_if_asked() -> None:
    store = Store()
    for name, namespace in (("b", "n"), ("a", "z"), ("a", "n")):
        store.put(MAPS, named(name, namespace))
    assert [each.obj["metadata"]["name"] for each in store.list(MAPS, "n")] == ["a", "b"]
    assert [each.obj["metadata"]["namespace"] for each in store.list(MAPS)] == ["n", "n", "z"]


def test_subscribers_hear_everything_until_they_leave() -> None:
    store, heard = Store(), list[Event]()
    leave = store.subscribe(MAPS, heard.append)
    stored = store.put(MAPS, named("a"))
    store.put(("", "pods"), named("a"))
    store.delete(MAPS, stored)
    leave()
    store.put(MAPS, named("b"))
    assert [each.type for each in heard] == ["ADDED", "DELETED"]


def test_changes_are_remembered_for_a_while() -> None:
    store = Store()
    stored = store.put(MAPS, named("a"))
    for _ in range(REMEMBERED_EVENTS):
        stored = store.replace(MAPS, stored, named("a"))
    assert len(store.since(MAPS, stored.version - 3)) == 3
    assert store.since(MAPS, stored.version) == []
    with pytest.raises(Forgotten):
        store.since(MAPS, 1)

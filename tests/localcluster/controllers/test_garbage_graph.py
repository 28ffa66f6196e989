"""Who is garbage, judged on a graph of owners."""

from typing import Any

import msgspec
import pytest

from api.meta import Metadata, OwnerReference
from kube.client.resources import CONFIG_MAPS
from localcluster.controllers.garbage.graph import (
    FOREGROUND,
    ORPHAN,
    Graph,
    Node,
    Owner,
    Step,
    next_step,
    remaining_owners,
)


def node(uid: str, *owners: str, held: str | None = None, namespace: str = "ns", blocking: bool = False) -> Node:
    metadata: dict[str, Any] = {"name": uid, "uid": uid, "namespace": namespace}
    if held is not None:
        metadata |= {"deletionTimestamp": "2026-01-02T03:04:05Z", "finalizers": [held] if held else []}
    references = tuple(
        OwnerReference("v1", "ConfigMap", owner, owner, block_owner_deletion=blocking or None) for owner in owners
    )
    meta = msgspec.structs.replace(msgspec.convert(metadata, Metadata), owner_references=references)
    return Node(CONFIG_MAPS, meta)


def graph(*nodes: Node, gone: tuple[str, ...] = ()) -> Graph:
    made = Graph()
    for each in nodes:
        made.put(each)
    for uid in gone:
        made.mark_gone(uid)
    return made


def step(of: Node, *others: Node, gone: tuple[str, ...] = ()) -> Step:
    known = graph(of, *others, gone=gone)
    return next_step(known, of, [(owner, known.judge(of, owner)) for owner in of.owners])


@pytest.mark.parametrize(
    ("of", "others", "gone", "expected"),
    [
        (node("a"), [], (), Step.NOTHING),
        (node("a", "o"), [node("o")], (), Step.NOTHING),
        (node("a", "o"), [], ("o",), Step.DELETE),
        (node("a", "o", "p"), [node("p")], ("o",), Step.DROP_OWNERS),
        (node("a", "o", "p"), [], ("o", "p"), Step.DELETE),
        (node("a", "o"), [node("o", held=FOREGROUND)], (), Step.DELETE),
        (node("a", "o"), [node("o", held=FOREGROUND), node("child", "a")], (), Step.DELETE_FOREGROUND),
        (node("a", "o", "p"), [node("o", held=FOREGROUND), node("p")], (), Step.DROP_OWNERS),
        (node("a", "o", held=""), [], ("o",), Step.NOTHING),
        (node("a", held=FOREGROUND), [], (), Step.FINISH_FOREGROUND),
        (node("a", held=FOREGROUND), [node("child", "a")], (), Step.FINISH_FOREGROUND),
        (node("a", held=FOREGROUND), [node("child", "a", blocking=True)], (), Step.PRESS_DEPENDENTS),
        (node("a", held=ORPHAN), [node("child", "a")], (), Step.ORPHAN),
        (node("a", "o"), [node("o", namespace="other")], (), Step.DELETE),
        (node("a", "o"), [node("o", namespace="")], (), Step.NOTHING),
    ],
)
def test_what_is_done_with_an_object(of: Node, others: list[Node], gone: tuple[str, ...], expected: Step) -> None:
    assert step(of, *others, gone=gone) is expected


def test_an_owner_nobody_knows_is_not_taken_for_gone() -> None:
    of = node("a", "stranger")
    assert graph(of).judge(of, of.owners[0]) is Owner.UNKNOWN


def test_an_object_that_left_is_gone_for_good_and_one_that_is_forgotten_is_unknown() -> None:
    child = node("a", "o")
    known = graph(node("o"), child)
    known.remove("o")
    assert known.judge(child, child.owners[0]) is Owner.GONE
    known = graph(node("o"), child)
    known.forget("o")
    assert known.judge(child, child.owners[0]) is Owner.UNKNOWN


def test_dependents_follow_the_references() -> None:
    known = graph(node("o"), node("a", "o"), node("b", "o"))
    assert {each.uid for each in known.dependents("o")} == {"a", "b"}
    known.put(node("a"))
    assert {each.uid for each in known.dependents("o")} == {"b"}
    known.remove("b")
    assert known.dependents("o") == []


def test_only_living_owners_remain() -> None:
    of = node("a", "gone", "dying", "solid")
    known = graph(of, node("dying", held=FOREGROUND), node("solid"), gone=("gone",))
    verdicts = [(owner, known.judge(of, owner)) for owner in of.owners]
    assert [owner.uid for owner in remaining_owners(verdicts)] == ["solid"]

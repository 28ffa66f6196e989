"""The page's rows follow the cluster, and say no more than what has changed."""

import random
from typing import Any

import pytest

from api.podgroup import PodGroup
from kube.cache.store import Store
from tests.views.builders import build, cluster, composite, condition, group, machine, pod, refused, scheduled
from views.model.eviction import EvictionEvent
from views.model.objects import Objects
from views.page.history import MOST_CHANGES, continued
from views.page.state import KEEP_GONE_MS, PageState

LEAVES = condition("DisruptionTarget", "True", "PreemptionByScheduler")


class Watched:
    """A cluster whose changes the page hears of."""

    def __init__(self, objects: Objects) -> None:
        self.now = 1_600_000_000_000
        self.objects = objects
        self.state = PageState(objects, lambda: self.now)
        self.state.everything_changed()
        self.first = self.state.delta()

    def put(self, kind: str, item: Any) -> None:
        self.state.changed(kind, self._store(kind).put(item), item)

    def remove(self, kind: str, namespace: str, name: str) -> None:
        self.state.changed(kind, self._store(kind).remove(namespace, name), None)

    def _store(self, kind: str) -> Store[Any]:
        stores: dict[str, Store[Any]] = {
            "pod": self.objects.members,
            "group": self.objects.groups,
            "composite": self.objects.composites,
            "node": self.objects.nodes,
        }
        return stores[kind]

    def delta(self) -> dict[str, Any]:
        self.now += 1_000
        return self.state.delta() or {}


def with_one_gang() -> Watched:
    pods = [pod("a"), pod("b")]
    return Watched(cluster([group("g", refused(), job="j")], pods, nodes=[machine("n"), machine("m")]))


def test_a_pod_changes_its_gang_and_its_node_and_nothing_else() -> None:
    there = with_one_gang()
    there.put("pod", pod("a", "Pending", node="n", cpu="1500m"))
    said = there.delta()
    assert said.keys() == {"now", "gangs", "nodes"}
    (gang,), (node,) = said["gangs"], said["nodes"]
    assert (gang["name"], gang["state"], gang["pods"]) == ("job/j", "starting", [1, 1, 0, 0, 0])
    assert (node["name"], node["used"], node["gangs"]) == ("n", [1500, 1], [[gang["id"], 1]])
    assert there.delta() == {}
    assert there.state.full()["resources"] == ["cpu", "pods"]


def test_the_states_of_a_gang_are_kept_with_their_times() -> None:
    there = with_one_gang()
    for phase in ("Pending", "Running"):
        for name in "ab":
            there.put("pod", pod(name, phase, node="n"))
        there.delta()
    there.put("pod", pod("a", "Running", LEAVES, node="n"))
    there.delta()
    (gang,) = there.state.full()["gangs"]
    begun = 1_600_000_000_000
    assert [state for _, state in gang["history"]] == ["waiting", "starting", "running", "preempted"]
    assert [at for at, _ in gang["history"]][1:] == [begun + 1_000, begun + 2_000, begun + 3_000]


def test_a_gang_that_left_between_two_looks_is_seen_to_have_left() -> None:
    there = Watched(cluster([group("g", scheduled())], [pod("a", "Running", node="n"), pod("b", "Running", node="n")]))
    for name in "ab":
        there.put("pod", pod(name, "Running", LEAVES, node="n"))
        there.remove("pod", "ns", name)
    (gang,) = there.delta()["gangs"]
    assert [state for _, state in gang["history"]][-3:] == ["running", "preempted", "held"]
    assert gang["history"] == there.state.full()["gangs"][0]["history"]


def test_of_a_gang_that_runs_already_it_is_known_since_when() -> None:
    there = Watched(cluster([group("g", scheduled())], [pod("a", "Running", node="n"), pod("b", "Running", node="n")]))
    (gang,) = there.state.full()["gangs"]
    assert [state for _, state in gang["history"]] == ["waiting", "running"]


def test_a_gang_that_is_gone_stays_to_be_seen_for_a_while() -> None:
    there = with_one_gang()
    there.remove("group", "ns", "g")
    (gang,) = there.delta()["gangs"]
    assert gang["state"] == "gone"
    there.now += KEEP_GONE_MS + 1
    assert there.state.is_dirty
    assert there.delta()["forgotten"] == ["uid-g"]
    assert there.state.full()["gangs"] == []


def test_another_gang_of_the_same_name_is_another_row() -> None:
    there = with_one_gang()
    there.remove("group", "ns", "g")
    again: PodGroup = build(PodGroup, {"metadata": {"name": "g", "namespace": "ns", "uid": "other"}})
    there.put("group", again)
    there.delta()
    rows = {row["uid"]: row for row in there.state.full()["gangs"]}
    assert rows["uid-g"]["state"] == "gone"
    assert rows["other"]["state"] == "waiting"
    assert rows["other"]["id"] != rows["uid-g"]["id"]


def test_an_eviction_says_who_left_which_node_for_whom() -> None:
    there = with_one_gang()
    there.put("group", group("big", refused(), job="big"))
    there.put("pod", pod("a", "Running", LEAVES, node="n"))
    there.remove("pod", "ns", "a")
    event = {
        "metadata": {"name": "e", "namespace": "ns", "uid": "e"},
        "eventTime": "2020-01-01T00:00:01.5Z",
        "regarding": {"kind": "Pod", "namespace": "ns", "name": "a", "uid": "uid-a"},
        "related": {"kind": "PodGroup", "namespace": "ns", "name": "big", "uid": "uid-big"},
    }
    heard: EvictionEvent = build(EvictionEvent, event)
    there.state.changed("eviction", None, heard)
    there.state.changed("eviction", heard, heard)
    (said,) = there.delta()["evictions"]
    assert (said["gang"], said["pod"], said["node"], said["for"]) == ("job/j", "a", "n", "ns/job/big")
    assert said["at"] == 1_577_836_801_500


def test_other_resources_are_told_with_all_nodes() -> None:
    there = with_one_gang()
    there.put("node", machine("x"))
    assert "resources" not in there.delta()
    there.put("node", build(type(machine("g")), {"metadata": {"name": "g"}, "allocatable": {"cpu": 1, "gpu": 2}}))
    said = there.delta()
    assert said["resources"] == ["cpu", "gpu", "pods"]
    assert len(said["nodes"]) == 4
    there.remove("node", "", "x")
    assert there.delta()["lost"] == ["x"]


def test_a_history_is_bounded() -> None:
    history: list[list[Any]] = []
    for at in range(MOST_CHANGES * 2):
        history = continued(history, f"state-{at % 3}", at)
    assert len(history) == MOST_CHANGES
    assert history[-1][0] == MOST_CHANGES * 2 - 1


@pytest.mark.parametrize("seed", range(20))
def test_what_is_kept_up_to_date_equals_what_is_made_anew(seed: int) -> None:
    """Applying all deltas to the first picture gives the last one."""
    chance = random.Random(seed)
    there = Watched(cluster([], nodes=[machine(f"n{each}") for each in range(3)]))
    gangs = {row["uid"]: row for row in (there.first or {}).get("gangs", [])}
    nodes = {row["name"]: row for row in (there.first or {}).get("nodes", [])}
    for _ in range(200):
        _change(there, chance)
        if chance.random() < 0.4:
            _apply(there.delta(), gangs, nodes)
    _apply(there.delta(), gangs, nodes)
    anew = PageState(there.objects, lambda: there.now)
    anew.everything_changed()
    anew.delta()
    assert _comparable(anew.full()) == _comparable({"gangs": gangs.values(), "nodes": nodes.values()})


def _change(there: Watched, chance: random.Random) -> None:
    kind = chance.choice(["pod", "pod", "pod", "group", "node"])
    name = f"{kind[0]}{chance.randrange(4)}"
    if chance.random() < 0.25:
        there.remove(kind, "" if kind == "node" else "ns", name)
    elif kind == "pod":
        node = chance.choice(["", "n0", "n1", "n2"])
        phase = chance.choice(["Running", "Succeeded"]) if node else "Pending"
        there.put("pod", pod(name, phase, node=node, group=f"g{chance.randrange(4)}", cpu=chance.choice(["1", "2"])))
    elif kind == "group":
        there.put("group", group(name, chance.choice([refused(), scheduled()])))
    else:
        there.put("node", machine(name, chance.choice(["4", "8"])))


def _apply(delta: dict[str, Any], gangs: dict[str, Any], nodes: dict[str, Any]) -> None:
    if "resources" in delta:
        nodes.clear()
    gangs.update({row["uid"]: row for row in delta.get("gangs", [])})
    for uid in delta.get("forgotten", []):
        del gangs[uid]
    nodes.update({row["name"]: row for row in delta.get("nodes", [])})
    for name in delta.get("lost", []):
        del nodes[name]


def _comparable(full: dict[str, Any]) -> tuple[Any, Any]:
    """Numbers of gangs depend on the order in which they came."""
    uids = {row["id"]: row["uid"] for row in full["gangs"] if row["state"] != "gone"}
    gangs = {
        row["uid"]: {key: value for key, value in row.items() if key not in {"id", "history"}}
        for row in full["gangs"]
        if row["state"] != "gone"
    }
    nodes = {
        row["name"]: {**row, "gangs": sorted((uids.get(number, ""), count) for number, count in row["gangs"])}
        for row in full["nodes"]
    }
    return gangs, nodes


def test_a_gang_says_which_tree_it_is_in_also_when_that_changes_above_its_parent() -> None:
    there = Watched(cluster([group("g", parent="inner"), group("alone")], [pod("a")], composites=[composite("inner")]))
    assert {row["group"]: row["tree"] for row in there.state.full()["gangs"]} == {"g": "inner", "alone": ""}
    there.put("composite", composite("inner", parent="outer"))
    assert [(row["group"], row["tree"]) for row in there.delta()["gangs"]] == [("g", "outer")]
    there.remove("composite", "ns", "inner")
    assert [(row["group"], row["tree"]) for row in there.delta()["gangs"]] == [("g", "inner")]

"""A label key that a rule looks at concerns the pods that have it, for as long as a rule looks at it."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from scheduler.cache import topology_index as module
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import PodRecord
from scheduler.cache.selectors import Query, Requirement, Selector, selector_of
from scheduler.cache.topology_index import TopologyIndex
from tests.placement.case import HOSTNAME, apart, selector, term
from tests.scheduler.core import build


class Watched(dict[str, PodRecord]):
    """The pods of a node; counts how many of them were looked at."""

    looked_at = 0

    def values(self) -> Any:
        Watched.looked_at += len(self)
        return super().values()


class Scene:
    """Nodes with pods, and what is told about them."""

    def __init__(self, nodes: int) -> None:
        self.state = ClusterState(frozenset({"tutti"}))
        for number in range(nodes):
            self.state.upsert_node(build.node(f"n{number}"))
        self.tenants: dict[str, dict[str, PodRecord]] = {f"n{number}": Watched() for number in range(nodes)}
        self.neighbours = TopologyIndex(self.state.nodes, self.tenants)

    def enter(self, name: str, node: str, **more: Any) -> None:
        pod = self.state.slim_pod(build.pod(name, on=node, **more))
        self.neighbours.enter(self.state.nodes.slot_of[node], pod)
        self.tenants[node][pod.uid] = pod

    def leave(self, name: str, node: str) -> None:
        pod = self.tenants[node].pop(f"uid-of-{name}")
        self.neighbours.leave(self.state.nodes.slot_of[node], pod)

    def looked_at(self) -> int:
        """Pods that were looked at since this was asked last."""
        found, Watched.looked_at = Watched.looked_at, 0
        return found

    def counted(self, query: Query) -> dict[str, int]:
        counts = self.neighbours.counts(query)
        return {node: int(counts[slot]) for node, slot in self.state.nodes.slot_of.items() if counts[slot]}

    def known(self, *keys: str) -> list[str]:
        """Which of these labels tell pods apart."""
        pod = self.state.slim_pod(build.pod("asked", labels=dict.fromkeys(keys, "x")))
        return list(self.neighbours.visible(pod)[::2])


def of(key: str, *values: str) -> Query:
    """Pods with one of these values."""
    return Query(selector_of([Requirement(key, "In", values)]), (build.NAMESPACE,))


@pytest.fixture
def scene() -> Iterator[Scene]:
    made = Scene(100)
    for number in range(1000):
        made.enter(f"other-{number}", f"n{number % 100}", scheduler="another", labels={"app": "web", "n": str(number)})
    made.looked_at()
    yield made
    made.looked_at()


def test_a_key_that_nobody_has_costs_no_look_at_any_pod(scene: Scene) -> None:
    for number in range(300):
        assert scene.counted(of(f"key-{number}", "x")) == {}
    assert scene.looked_at() == 0


def test_a_key_that_one_pod_has_costs_a_look_at_the_pods_of_its_node(scene: Scene) -> None:
    scene.enter("mine", "n7", labels={"mine": "x", "app": "web"})
    assert scene.counted(of("mine", "x")) == {"n7": 1}
    assert scene.looked_at() == 11


def test_terms_of_a_running_pod_cost_no_look_at_pods_without_their_keys(scene: Scene) -> None:
    terms = [term(selector(**{f"key-{number}": "x"}), HOSTNAME) for number in range(100)]
    scene.enter("mine", "n7", spec=apart(*terms))
    assert scene.looked_at() == 0
    assert scene.known("key-0", "key-99") == ["key-0", "key-99"]


def test_a_key_is_forgotten_after_the_last_question_that_looks_at_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_MATCH_COUNTS", 2)
    scene.counted(of("app", "web"))
    assert scene.known("app") == ["app"]
    for number in range(2):
        scene.counted(of("n", str(number)))
    scene.neighbours.use_label_keys(set())
    assert scene.known("app", "n") == ["n"]
    assert sum(scene.counted(of("app", "web")).values()) == 1000


def test_counts_that_nobody_asks_for_any_more_are_forgotten_and_made_anew_for_who_asks(scene: Scene) -> None:
    web, first = of("app", "web"), of("n", "0")
    scene.counted(web)
    scene.counted(first)
    scene.neighbours.forget_unused()
    scene.looked_at()
    scene.counted(web)
    scene.counted(first)
    assert scene.looked_at() == 0, "both were asked just before"

    scene.neighbours.forget_unused()
    scene.counted(web)
    scene.neighbours.forget_unused()
    scene.neighbours.use_label_keys(set())
    assert scene.known("app", "n") == ["app"]
    scene.enter("newcomer", "n7", labels={"app": "web", "n": "0"})
    assert sum(scene.counted(web).values()) == 1001
    assert scene.counted(first)["n7"] >= 1


def test_a_key_is_forgotten_when_the_last_pod_whose_terms_look_at_it_went(scene: Scene) -> None:
    for name in ("one", "two"):
        scene.enter(name, "n7", spec=apart(term(selector(app="web"), HOSTNAME)))
    scene.leave("one", "n7")
    scene.neighbours.use_label_keys(set())
    assert scene.known("app") == ["app"]
    scene.leave("two", "n7")
    scene.neighbours.use_label_keys(set())
    assert scene.known("app") == []


def test_a_key_about_to_be_asked_for_is_not_forgotten_before(scene: Scene) -> None:
    scene.neighbours.use_label_keys({"app"})
    scene.neighbours.use_label_keys({"app", "n"})
    assert scene.known("app", "n") == ["app", "n"]


@pytest.mark.parametrize("seed", range(5))
def test_whatever_is_learned_and_forgotten_the_counts_are_right(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_MATCH_COUNTS", 3)
    chance, scene = random.Random(seed), Scene(5)
    queries = [Query(_selector(chance), _namespaces(chance), _everywhere(chance)) for _ in range(12)]
    where: dict[str, str] = {}
    for number in range(600):
        name = f"p{number}"
        if where and chance.random() < 0.45:
            gone = chance.choice(list(where))
            scene.leave(gone, where.pop(gone))
        else:
            where[name] = chance.choice(list(scene.tenants))
            labels = {key: chance.choice("xy") for key in chance.sample("abcd", chance.randint(0, 4))}
            spec = apart(term(selector(**{chance.choice("abcd"): "x"}), HOSTNAME)) if chance.random() < 0.3 else {}
            namespace = chance.choice([build.NAMESPACE, "other"])
            scene.enter(name, where[name], labels=labels, spec=spec, namespace=namespace)
        if chance.random() < 0.3:
            scene.neighbours.use_label_keys(set(chance.sample("abcd", 1)))
        if chance.random() < 0.1:
            scene.neighbours.forget_unused()
        query = chance.choice(queries)
        assert scene.counted(query) == _brute(scene, query)


def _brute(scene: Scene, query: Query) -> dict[str, int]:
    met = {
        node: sum(query.meets(pod.namespace, pod.labels, scene.neighbours.labels_of) for pod in dict.values(pods))
        for node, pods in scene.tenants.items()
    }
    return {node: count for node, count in met.items() if count}


def _selector(chance: random.Random) -> Selector:
    operator = chance.choice(["In", "NotIn", "Exists", "DoesNotExist"])
    values = ("x",) if operator in {"In", "NotIn"} else ()
    keys = chance.sample("abcd", chance.randint(1, 2))
    return selector_of([Requirement(key, operator, values) for key in keys])  # type: ignore[arg-type]


def _namespaces(chance: random.Random) -> tuple[str, ...]:
    return tuple(sorted(chance.sample([build.NAMESPACE, "other"], chance.randint(1, 2))))


def _everywhere(chance: random.Random) -> Selector | None:
    return Selector(()) if chance.random() < 0.2 else None

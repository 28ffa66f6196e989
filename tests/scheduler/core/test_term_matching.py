"""Which members the terms of rules select: compared once for each rule and distinct labels, and what they add to whom."""

from typing import Any

import pytest

from scheduler.algorithm.term_matching import LabelMatches, MemberTerms, PodLabels
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.selectors import Query, Requirement, Selector
from scheduler.cache.steps import Steps
from tests.placement.case import HOSTNAME, ZONE, apart, avoids, likes, near, selector, term
from tests.scheduler.core.build import NAMESPACE, group_key
from tests.scheduler.core.world import World

FIRST, SECOND, BARE = {"app": "a", "tier": "x"}, {"app": "b", "tier": "x"}, dict[str, str]()


def query(*requirements: Requirement, namespaces: tuple[str, ...] = (NAMESPACE,)) -> Query:
    return Query(Selector(requirements), namespaces)


def asks(key: str, *values: str) -> Requirement:
    return Requirement(key, "In", values)


def matcher(*labels: dict[str, str], namespace: str = NAMESPACE) -> tuple[LabelMatches, Steps]:
    steps = Steps()
    return LabelMatches(World().state.topology_index, [PodLabels(namespace, one) for one in labels], steps), steps


def selected(found: LabelMatches, asked: Query) -> list[dict[str, str]]:
    return [dict(labels) for _, labels in found.selected(asked)]


@pytest.mark.parametrize(
    ("asked", "labels"),
    [
        (query(asks("app", "a")), [FIRST]),
        (query(asks("app", "a", "b")), [FIRST, SECOND]),
        (query(asks("tier", "x"), asks("app", "b")), [SECOND]),
        (query(asks("app", "c")), []),
        (query(Requirement("app", "NotIn", ("a",))), [SECOND, BARE]),
        (query(Requirement("app", "DoesNotExist")), [BARE]),
        (query(), [FIRST, SECOND, BARE]),
        (Query(Selector(), (NAMESPACE,)), []),
        (query(asks("app", "a"), namespaces=("other",)), []),
    ],
)
def test_a_query_selects_those_whose_labels_and_namespace_meet_it(asked: Query, labels: list[dict[str, str]]) -> None:
    found, _ = matcher(FIRST, SECOND, BARE, FIRST)
    assert selected(found, asked) == labels


def test_only_those_are_compared_that_have_the_rarest_value_which_is_asked_for() -> None:
    many = [{"tier": "x", "number": str(number)} for number in range(50)]
    asked = query(asks("number", "7"), asks("tier", "x"))
    found, steps = matcher(*many)
    few, few_steps = matcher(many[7])
    assert selected(found, asked) == selected(few, asked) == [many[7]]
    assert steps.spent == few_steps.spent


def test_a_query_is_compared_once_and_equal_ones_are_one() -> None:
    found, steps = matcher(FIRST, SECOND)
    asked, same = query(asks("app", "a")), query(asks("app", "a"))
    found.selected(asked)
    # To compare the query itself, and then with one pod's labels and with none.
    assert steps.spent == 3 * asked.steps
    found.selected(asked)
    assert steps.spent == 3 * asked.steps
    assert found.number(same) == found.number(asked)
    assert steps.spent == 4 * asked.steps
    assert found.number(query(asks("app", "b"))) != found.number(asked)


def test_labels_are_told_apart_by_the_queries_that_select_one_and_not_the_other() -> None:
    found, _ = matcher(FIRST, SECOND, BARE)
    first, second, bare = (PodLabels(NAMESPACE, one).labels_key for one in (FIRST, SECOND, BARE))
    by_tier = found.told_apart([query(asks("tier", "x"))])
    assert by_tier[first] == by_tier[second] != by_tier[bare]
    by_app = found.told_apart([query(asks("tier", "x")), query(asks("app", "a"))])
    assert len({by_app[first], by_app[second], by_app[bare]}) == 3


def test_terms_of_pods_that_run_tell_labels_apart_too() -> None:
    world = World()
    world.node("n1")
    world.pod("there", on="n1", scheduler="other", spec=apart(term(selector(app="a"), HOSTNAME)))
    world.state.topology_index.use_label_keys({"app"})
    found = LabelMatches(
        world.state.topology_index, [PodLabels(NAMESPACE, one) for one in (FIRST, SECOND, BARE)], Steps()
    )
    first, second, bare = (PodLabels(NAMESPACE, one).labels_key for one in (FIRST, SECOND, BARE))
    told = found.told_apart([])
    assert told[first] != told[second] == told[bare]


# --- what members mean to each other -----------------------------------------------------------------------------------


class Members:
    """Members with labels and rules, one signature each."""

    def __init__(self, **members: tuple[str, dict[str, Any]]) -> None:
        """By name the value of the label `app`, and the rules."""
        world = World()
        world.group("g", len(members))
        for number, (name, (app, spec)) in enumerate(members.items()):
            world.pod(name, group="g", labels={"app": app}, spec=spec, cpu=number + 1)
        state = world.state.item(group_key("g"))
        assert state is not None
        self.of = dict(zip(members, state.pending, strict=True))
        self.steps = Steps()
        labels = {self.of[name]: PodLabels(NAMESPACE, {"app": app}) for name, (app, _) in members.items()}
        self.terms = MemberTerms(world.state.topology_index, labels, self.steps)

    def names(self, amounts: dict[PodSignature, int]) -> dict[str, int]:
        return {name: amounts[signature] for name, signature in self.of.items() if signature in amounts}

    def repelling(self, name: str) -> dict[str, dict[str, int]]:
        found = self.terms.repelling(self.of[name])
        return {key: self.names(self.terms.by_signature(amounts)) for key, amounts in found.items()}

    def preferring(self, name: str) -> dict[str, dict[str, int]]:
        found = self.terms.preferring(self.of[name])
        return {key: self.names(self.terms.by_signature(amounts)) for key, amounts in found.items()}


def test_required_anti_affinity_repels_whom_it_selects() -> None:
    members = Members(
        alone=("a", apart(term(selector(app="b"), HOSTNAME), term(selector(app="b"), ZONE))), other=("b", {})
    )
    assert members.repelling("other") == {HOSTNAME: {"alone": 1}, ZONE: {"alone": 1}}
    assert members.repelling("alone") == {}
    assert members.preferring("other") == {}


def test_wishes_of_members_add_up_for_each_label() -> None:
    wish = likes((5, term(selector(app="b"), ZONE)), (7, term(selector(app="b"), ZONE)))
    dislike = avoids((3, term(selector(app="b"), ZONE)))
    members = Members(one=("a", wish), two=("a", dislike), other=("b", {}))
    assert members.preferring("other") == {ZONE: {"one": 12, "two": -3}}
    assert members.repelling("other") == {}


def test_required_affinity_attracts_whom_it_selects_by_a_weight_of_one() -> None:
    members = Members(one=("a", near(term(selector(app="b"), ZONE))), other=("b", {}))
    assert members.preferring("other") == {ZONE: {"one": 1}}


def test_wishes_that_cancel_each_other_mean_nothing() -> None:
    rules = likes((5, term(selector(app="b"), ZONE)))
    rules["affinity"] |= avoids((5, term(selector(app="b"), ZONE)))["affinity"]
    members = Members(one=("a", rules), other=("b", {}))
    assert members.preferring("other") == {ZONE: {}}


def test_a_query_selects_every_signature_with_such_labels() -> None:
    members = Members(one=("a", {}), two=("a", {}), other=("b", {}))
    found = members.terms.selected(query(asks("app", "a")))
    assert [name for name, signature in members.of.items() if signature in found] == ["one", "two"]

"""What disruption budgets let go: counted as kube-scheduler counts it."""

from typing import Any

import msgspec
import pytest

from api.meta import Metadata
from scheduler.cache.disruption_budgets import Budget, Budgets, BudgetSpec, BudgetStatus
from scheduler.cache.records import PodRecord
from scheduler.cache.selectors import RawRequirement, RawSelector
from tests.scheduler.core import build
from tests.scheduler.core.world import World

WEB = {"app": "web"}


def pods(count: int, *, labels: dict[str, str] | None = None, **more: Any) -> list[PodRecord]:
    """Pods on a node, `p-0` and so on; all web servers unless it says otherwise."""
    world, found = World(), []
    for number in range(count):
        world.pod(f"p-{number}", on="n0", **more)
        record = world.state.pod(f"uid-of-p-{number}")
        assert record is not None
        found.append(msgspec.structs.replace(record, labels=WEB if labels is None else labels))
    return found


def budget(
    allowed: int, labels: dict[str, str], *, name: str = "b", uid: str = "1", gone: tuple[str, ...] = ()
) -> Budget:
    """A budget that lets so many of the pods with these labels go."""
    metadata = Metadata(name=name, namespace=build.NAMESPACE, uid=uid)
    status = BudgetStatus(disruptions_allowed=allowed, disrupted_pods=dict.fromkeys(gone, ""))
    return Budget(metadata, BudgetSpec(RawSelector(match_labels=labels)), status)


def violators(units: list[tuple[PodRecord, ...]], *budgets: Budget, asked: tuple[PodRecord, ...] = ()) -> list[bool]:
    known = Budgets()
    for one in budgets:
        known.upsert(one)
    return known.violators(units, asked)


def test_every_pod_of_a_unit_counts() -> None:
    first, second, third = pods(3)
    assert violators([(first, second), (third,)], budget(2, WEB)) == [False, True]
    assert violators([(first, second), (third,)], budget(1, WEB)) == [True, True]
    assert violators([()], budget(0, WEB)) == [False]


def test_those_who_were_asked_already_count_before_all_others() -> None:
    first, second = pods(2)
    assert violators([(second,)], budget(1, WEB), asked=(first,)) == [True]


def test_those_whom_the_budget_has_let_go_count_no_more() -> None:
    first, second = pods(2)
    assert violators([(first,), (second,)], budget(1, WEB, gone=("p-0",))) == [False, False]


@pytest.mark.parametrize(("labels", "is_violating"), [({}, False), ({"app": "x"}, True)])
def test_a_budget_for_everybody_protects_pods_with_labels_only(labels: dict[str, str], is_violating: bool) -> None:
    assert violators([(pods(1, labels=labels)[0],)], budget(0, {})) == [is_violating]


def test_pods_of_other_labels_and_other_namespaces_do_not_count() -> None:
    assert violators([(pods(1, labels={"app": "db"})[0],)], budget(0, WEB)) == [False]
    assert violators([(pods(1, namespace="team-b")[0],)], budget(0, WEB)) == [False]


@pytest.mark.parametrize("order", [(0, 5), (5, 0)])
def test_one_budget_that_does_not_allow_it_is_enough(order: tuple[int, int]) -> None:
    budgets = [budget(allowed, WEB, name=f"b{number}") for number, allowed in enumerate(order)]
    assert violators([(pods(1)[0],)], *budgets) == [True]


def test_a_budget_that_went_protects_nobody_and_its_successor_does() -> None:
    known, [pod] = Budgets(), pods(1)
    old, new = budget(0, WEB, uid="1"), budget(0, WEB, uid="2")
    known.upsert(old)
    known.upsert(new)
    known.remove(old)
    assert (len(known), list(known)) == (1, [new])
    assert known.violators([(pod,)], ()) == [True]
    known.remove(new)
    known.remove(new)
    assert (len(known), list(known)) == (0, [])
    assert known.violators([(pod,)], ()) == [False]


def test_a_budget_whose_selector_cannot_be_read_protects_nobody() -> None:
    unknown = RawSelector(match_expressions=(RawRequirement("app", "Like", ("web",)),))
    metadata = Metadata(name="b", namespace=build.NAMESPACE, uid="1")
    assert violators([(pods(1)[0],)], Budget(metadata, BudgetSpec(unknown), BudgetStatus())) == [False]


def test_when_one_budget_goes_the_others_of_its_namespace_still_protect() -> None:
    known, [pod] = Budgets(), pods(1)
    first, second = budget(0, WEB, name="first"), budget(0, WEB, name="second")
    known.upsert(first)
    known.upsert(second)
    known.remove(first)
    assert list(known) == [second]
    assert known.violators([(pod,)], ()) == [True]

"""The CRDs that config/ ships, against the cases that the conformance tests put to a real API server."""

import copy
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from localcluster.apiserver.extension.definitions.correctness import definition_errors
from localcluster.apiserver.extension.definitions.kinds import kinds_of
from localcluster.apiserver.extension.definitions.strategy import DefinitionStrategy
from localcluster.apiserver.kinds.kind import KindInfo, RequestContext, User
from localcluster.apiserver.patches.merge import merge
from tests.conformance import test_crd_rules as cases
from tests.localcluster.extension.crds import Object

CRDS = Path(__file__).resolve().parents[3] / "config" / "crd"
CONTEXT = RequestContext(User("admin"), "2026-01-01T00:00:00Z", random.Random(1))


def crd(plural: str) -> Object:
    document: Object = yaml.safe_load((CRDS / f"{plural}.yaml").read_text())
    DefinitionStrategy().default(document)
    return document


KINDS: dict[str, KindInfo] = {plural: kinds_of(crd(plural))[0] for plural in ("podgroups", "workloads")}


def table(test: Callable[..., None]) -> list[Any]:
    (mark,) = (mark for mark in test.pytestmark if mark.name == "parametrize")  # type: ignore[attr-defined]
    return list(mark.args[1])


def created(plural: str, spec: Object) -> tuple[Object, list[str]]:
    kind = KINDS[plural]
    obj: Object = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "x"}}
    obj["spec"] = copy.deepcopy(spec)
    assert kind.strategy.decode(obj) == [] or "other" in str(spec)
    kind.strategy.default(obj)
    kind.strategy.prepare_create(obj, CONTEXT)
    return obj, [str(each) for each in kind.strategy.validate(obj, None, "")]


def changed(plural: str, old: Object, change: Object, subresource: str = "") -> tuple[Object, list[str]]:
    strategy = KINDS[plural].strategy
    new = merge(copy.deepcopy(old), change)
    strategy.decode(new)
    strategy.default(new)
    strategy.prepare_update(new, old, subresource, CONTEXT)
    return new, [str(each) for each in strategy.validate(new, old, subresource)]


def assert_refused(complaints: list[str], field: str, words: str) -> None:
    assert any(f"{field}: " in each and words in each for each in complaints), complaints


@pytest.mark.parametrize("plural", KINDS)
def test_our_crds_are_correct(plural: str) -> None:
    assert definition_errors(crd(plural)) == []


@pytest.mark.parametrize("spec", table(cases.test_a_podgroup_within_the_rules_is_taken))
def test_a_podgroup_within_the_rules_is_taken(spec: Object) -> None:
    obj, complaints = created("podgroups", spec)
    assert complaints == []
    assert obj["spec"]["disruptionMode"] == spec.get("disruptionMode", {"single": {}})


@pytest.mark.parametrize(("spec", "field", "words"), table(cases.test_a_podgroup_that_breaks_a_rule_is_refused))
def test_a_podgroup_that_breaks_a_rule_is_refused(spec: Object, field: str, words: str) -> None:
    _, complaints = created("podgroups", spec)
    assert_refused([each.replace("<nil>: ", f"{field}: ") for each in complaints], field, words)


@pytest.mark.parametrize("spec", table(cases.test_a_workload_within_the_rules_is_taken))
def test_a_workload_within_the_rules_is_taken(spec: Object) -> None:
    assert created("workloads", spec)[1] == []


@pytest.mark.parametrize(("spec", "field", "words"), table(cases.test_a_workload_that_breaks_a_rule_is_refused))
def test_a_workload_that_breaks_a_rule_is_refused(spec: Object, field: str, words: str) -> None:
    assert_refused(created("workloads", spec)[1], field, words)


@pytest.mark.parametrize("field", cases.CHANGED)
def test_what_a_podgroup_was_created_with_stays(field: str) -> None:
    old, _ = created("podgroups", cases.FULL)
    for value in (cases.CHANGED[field], None):
        _, complaints = changed("podgroups", old, {"spec": {field: value}})
        assert_refused(complaints, f"spec.{field}", cases.IMMUTABLE)


def test_min_count_may_change_and_is_a_new_generation() -> None:
    old, _ = created("podgroups", cases.group())
    new, complaints = changed("podgroups", old, {"spec": cases.policy(gang={"minCount": 5})})
    assert complaints == []
    assert (old["metadata"]["generation"], new["metadata"]["generation"]) == (1, 2)


def test_the_templates_of_a_workload_may_change_their_order_but_not_their_number() -> None:
    first, second = cases.template("a"), cases.template("b", disruptionMode={"all": {}})
    old, _ = created("workloads", cases.load(first, second))
    assert changed("workloads", old, {"spec": cases.load(second, first)})[1] == []
    _, complaints = changed("workloads", old, {"spec": cases.load(first)})
    assert_refused(complaints, "spec.podGroupTemplates", "Forbidden: item may not be removed")


def test_a_status_update_changes_the_status_alone_and_is_no_new_generation() -> None:
    old, _ = created("podgroups", cases.claims("a"))
    dated = {
        "type": "T", "status": "False", "reason": "R", "message": "m",
        "lastTransitionTime": "2026-01-01T00:00:00.123456Z",
    }  # fmt: skip
    change = {"spec": {"priority": 7}, "metadata": {"labels": {"a": "b"}}, "status": {"conditions": [dated]}}
    new, complaints = changed("podgroups", old, change, "status")
    assert complaints == []
    assert (new["spec"], new["status"]) == (old["spec"], {"conditions": [dated]})
    assert new["metadata"].get("labels") is None
    assert new["metadata"]["generation"] == 1
    _, complaints = changed("podgroups", old, {"status": {"resourceClaimStatuses": [{"name": "b"}]}}, "status")
    assert_refused(complaints, "status.resourceClaimStatuses", "must match the name")
    _, complaints = changed("podgroups", old, {"status": {"conditions": [dated, dated]}}, "status")
    assert_refused(complaints, "status.conditions[1]", "Duplicate value")


def test_the_status_is_dropped_from_a_new_object_and_from_other_updates() -> None:
    kind = KINDS["podgroups"]
    obj: Object = {"metadata": {"name": "x"}, "spec": cases.group(), "status": {"conditions": []}}
    kind.strategy.prepare_create(obj, CONTEXT)
    assert "status" not in obj
    new, _ = changed("podgroups", obj, {"status": {"conditions": []}})
    assert "status" not in new

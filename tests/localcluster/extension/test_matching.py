"""Whether a write is the business of a webhook or a policy."""

import pytest

from localcluster.apiserver.extension.admission.conditions import ConditionError, conditions_hold
from localcluster.apiserver.extension.admission.matching import (
    covers_resource,
    matches_namespace,
    matches_object,
    matches_rules,
)
from localcluster.apiserver.extension.admission.question import question, variables
from tests.localcluster.extension.crds import CONFIG_MAP, NAMESPACE, NODE, POD, Object, asked, config_map


def rule(resources: str, *, operations: str = "CREATE", group: str = "", scope: str = "*") -> Object:
    return {
        "apiGroups": [group], "apiVersions": ["v1"], "operations": [operations], "resources": [resources], "scope": scope,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "matches"),
    [
        (rule("pods"), True),
        (rule("*"), True),
        (rule("*/*"), True),
        (rule("pods", operations="*"), True),
        (rule("pods", group="*"), True),
        (rule("pods", scope="Namespaced"), True),
        (rule("pods", scope="Cluster"), False),
        (rule("pods", operations="UPDATE"), False),
        (rule("pods/status"), False),
        (rule("pods", group="apps"), False),
        (rule("jobs"), False),
    ],
)
def test_a_rule_covers_operations_and_resources(rule: Object, matches: bool) -> None:
    assert matches_rules([rule], asked(kind=POD)) is matches


def test_a_rule_for_some_names_covers_their_resource_and_none_but_them() -> None:
    named = rule("pods") | {"resourceNames": ["a"]}
    pods = [asked(kind=POD, obj={"metadata": {"name": name}}) for name in ("a", "b")]
    assert [matches_rules([named], each) for each in pods] == [True, False]
    assert all(covers_resource([named], each) for each in pods)
    assert not covers_resource([named], asked(kind=POD, subresource="status"))


@pytest.mark.parametrize(
    ("resources", "matches"),
    [("pods", False), ("*", False), ("pods/status", True), ("pods/*", True), ("*/status", True), ("*/*", True)],
)
def test_a_subresource_is_named_apart(resources: str, matches: bool) -> None:
    assert matches_rules([rule(resources)], asked(kind=POD, subresource="status")) is matches


def test_a_namespace_is_known_by_its_labels_and_its_name() -> None:
    named = {
        "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]}]
    }
    here: Object = {"metadata": {"name": "here", "labels": {"team": "a"}}}
    system: Object = {"metadata": {"name": "kube-system"}}
    assert matches_namespace(named, asked(), here)
    assert not matches_namespace(named, asked(), system)
    assert matches_namespace({"matchLabels": {"team": "a"}}, asked(), here)
    assert not matches_namespace(named, asked(kind=NAMESPACE, obj=system), None)
    assert matches_namespace({"matchLabels": {"team": "z"}}, asked(kind=NODE, obj={"metadata": {}}), None)


def test_an_object_counts_by_its_labels_before_or_after() -> None:
    selector = {"matchLabels": {"a": "b"}}
    with_label, without = config_map(labels={"a": "b"}), config_map()
    assert matches_object(selector, asked("UPDATE", obj=without, old=with_label))
    assert matches_object(selector, asked(obj=with_label))
    assert not matches_object(selector, asked(obj=without))


def hold(*expressions: str, policy: str = "Fail") -> bool:
    conditions = [{"name": f"c{number}", "expression": each} for number, each in enumerate(expressions)]
    return conditions_hold(conditions, variables(asked(obj=config_map(a="b"))), failure_policy=policy)


def test_conditions_know_the_objects_and_the_request() -> None:
    assert hold("object.data.a == 'b'", "oldObject == null", "!has(request.subResource) && request.dryRun == false")
    assert hold("request.operation == 'CREATE' && request.userInfo.username == 'admin' && request.namespace == 'here'")
    assert hold("request.resource.resource == 'configmaps' && request.kind.kind == 'ConfigMap'")
    assert not hold("object.data.a == 'c'")


def test_a_false_condition_outweighs_an_error() -> None:
    assert not hold("object.nope.x == 1", "false")


def test_an_error_in_a_condition_is_judged_by_the_failure_policy() -> None:
    assert not hold("object.nope == 1", policy="Ignore")
    with pytest.raises(ConditionError) as caught:
        hold("object.nope == 1", "object.zip == 2", "true")
    assert str(caught.value) == (
        "[expression 'object.nope == 1' resulted in error: no such key: nope, "
        "expression 'object.zip == 2' resulted in error: no such key: zip]"
    )


def test_a_patch_is_told_as_the_update_that_it_is() -> None:
    attributes = asked("UPDATE", obj=config_map(), old=config_map())
    attributes.options = {"kind": "PatchOptions", "apiVersion": "meta.k8s.io/v1", "force": True, "fieldManager": "me"}
    assert question(attributes)["options"] == {
        "kind": "UpdateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "me",
    }  # fmt: skip


def test_an_object_whose_name_is_to_be_generated_has_none_in_the_request() -> None:
    attributes = asked(obj={"metadata": {"generateName": "c-"}})
    assert "name" not in question(attributes)
    assert question(asked(obj=config_map(), kind=CONFIG_MAP))["name"] == "c"

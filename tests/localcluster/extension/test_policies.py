"""ValidatingAdmissionPolicy: what a policy refuses, warns of, and says; recorded from a real server."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from localcluster.apiserver.admission import AdmissionAttributes
from localcluster.apiserver.extension.admission.authorizing import authorizer_of
from localcluster.apiserver.extension.admission.correctness import binding_errors, policy_errors
from localcluster.apiserver.extension.admission.policies import bound_policies, check_policies
from localcluster.apiserver.rbac import Attributes
from localcluster.apiserver.status import StatusError
from tests.localcluster.extension.crds import POD, Object, asked, config_map

SHIPPED = Path(__file__).resolve().parents[3] / "config" / "policy" / "pod-group.yaml"
HERE: Object = {"metadata": {"name": "here"}}
MAY = {
    ("admin", Attributes("get", resource="pods", namespace="here")),
    ("admin", Attributes("create", path="/x")),
    ("admin", Attributes("touch", resource="configmaps", namespace="here", name="c")),
    ("system:serviceaccount:here:robot", Attributes("use", "batch", "jobs", "status", name="j")),
}
DENIED = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: "


def policy(**spec: Any) -> Object:
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]
    validations = [{"expression": "object.data.a == 'z'"}]
    given = {"failurePolicy": "Fail", "matchConstraints": {"resourceRules": rules}, "validations": validations, **spec}
    return {"metadata": {"name": "p"}, "spec": given}


def binding(*actions: str, **spec: Any) -> Object:
    return {
        "metadata": {"name": "b"},
        "spec": {"policyName": "p", "validationActions": list(actions or ["Deny"]), **spec},
    }


def judge(policy: Object, binding: Object, attributes: AdmissionAttributes | None = None) -> StatusError | None:
    write = attributes or asked(obj=config_map(a="b"))
    authorizer = authorizer_of(write, lambda user, wanted: (user.name, wanted) in MAY)
    try:
        check_policies(bound_policies([policy], [binding]), write, HERE, authorizer)
    except StatusError as refusal:
        return refusal
    return None


@pytest.mark.parametrize(
    ("spec", "code", "told"),
    [
        ({}, 422, "failed expression: object.data.a == 'z'"),
        ({"validations": [{"expression": "false", "message": "m"}, {"expression": "false", "message": "n"}]}, 422, "m"),
        ({"validations": [{"expression": "false", "message": "m", "reason": "Forbidden"}]}, 403, "m"),
        ({"validations": [{"expression": "false", "messageExpression": "'a is ' + object.data.a"}]}, 422, "a is b"),
        ({"validations": [{"expression": "false", "message": "m", "messageExpression": "object.data.z"}]}, 422, "m"),
        (
            {"validations": [{"expression": "object.nope == 1", "message": "m"}]},
            422,
            "expression 'object.nope == 1' resulted in error: no such key: nope",
        ),
        (
            {"matchConditions": [{"name": "x", "expression": "object.nope == 1"}]},
            422,
            "expression 'object.nope == 1' resulted in error: no such key: nope",
        ),
        (
            {
                "variables": [
                    {"name": "v", "expression": "object.data.a"},
                    {"name": "w", "expression": "variables.v + 'x'"},
                ],
                "validations": [
                    {"expression": "variables.w == 'bx' && namespaceObject.metadata.name == 'here'"},
                    {"expression": "false", "messageExpression": "'w is ' + variables.w"},
                ],
            },
            422,
            "w is bx",
        ),
        (
            {
                "variables": [{"name": "v", "expression": "object.nope"}],
                "validations": [{"expression": "variables.v == 'x'"}],
            },
            422,
            (
                "expression 'variables.v == 'x'' resulted in error: composited variable \"v\" fails to evaluate: "
                "no such key: nope"
            ),
        ),
        ({"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}, 422, "failed to configure policy: paramKind is not"),
    ],
)
def test_a_policy_refuses_in_the_words_of_the_real_server(spec: Object, code: int, told: str) -> None:
    refusal = judge(policy(**spec), binding())
    assert refusal is not None
    assert refusal.code == code
    assert refusal.message.startswith(f'configmaps "c" is forbidden: {DENIED}{told}')
    assert refusal.details["causes"] == [{"message": refusal.message.removeprefix('configmaps "c" is forbidden: ')}]


@pytest.mark.parametrize(
    ("policy", "binding"),
    [
        (policy(matchConditions=[{"name": "x", "expression": "false"}]), binding()),
        (policy(failurePolicy="Ignore", validations=[{"expression": "object.nope == 1"}]), binding()),
        (policy(), binding("Audit")),
        (policy(), binding(matchResources={"objectSelector": {"matchLabels": {"x": "y"}}})),
        (policy(), binding(policyName="other")),
        (policy(matchConstraints={"resourceRules": []}), binding()),
    ],
)
def test_a_policy_that_is_not_concerned_or_only_looks_lets_pass(policy: Object, binding: Object) -> None:
    assert judge(policy, binding) is None


def test_a_policy_that_warns_lets_pass() -> None:
    attributes = asked(obj=config_map(a="b"))
    assert judge(policy(validations=[{"expression": "false", "message": "m"}]), binding("Warn"), attributes) is None
    assert attributes.warnings == ["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': m"]


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("authorizer.group('').resource('pods').namespace('here').check('get').allowed()", True),
        ("authorizer.group('').resource('pods').namespace('there').check('get').allowed()", False),
        ("authorizer.path('/x').check('create').allowed()", True),
        ("authorizer.requestResource.check('touch').allowed()", True),
        ("authorizer.requestResource.check('get').allowed()", False),
        (
            (
                "authorizer.serviceAccount('here', 'robot').group('batch').resource('jobs').subresource('status').name('j')"
                ".check('use').allowed()"
            ),
            True,
        ),
        ("object.data.a == 'b' || authorizer.path('/y').check('get').allowed()", True),
        ("!authorizer.path('/y').check('get').errored()", True),
    ],
)
def test_an_expression_may_ask_what_the_sender_may_do(expression: str, allowed: bool) -> None:
    assert (judge(policy(validations=[{"expression": expression}]), binding()) is None) is allowed


MEMBER: Object = {"metadata": {"name": "p", "annotations": {"tutti.scheduler/pod-group": "g"}}}
PLAIN: Object = {"metadata": {"name": "p"}}
OTHER: Object = {"metadata": {"name": "p", "annotations": {"tutti.scheduler/other": "x"}}}


def shipped(new: Object, old: Object, subresource: str) -> StatusError | None:
    policy, binding = yaml.safe_load_all(SHIPPED.read_text())
    return judge(policy, binding, asked("UPDATE", kind=POD, obj=new, old=old, subresource=subresource))


@pytest.mark.parametrize("subresource", ["", "status"])
@pytest.mark.parametrize(("new", "old"), [(MEMBER, MEMBER), (PLAIN, PLAIN), (MEMBER, PLAIN)])
def test_the_policy_we_ship_lets_a_pod_keep_or_get_its_group(new: Object, old: Object, subresource: str) -> None:
    assert shipped(new, old, subresource) is None


@pytest.mark.parametrize("subresource", ["", "status"])
@pytest.mark.parametrize("new", [PLAIN, OTHER])
def test_the_policy_we_ship_refuses_to_take_the_group_from_a_pod(new: Object, subresource: str) -> None:
    refusal = shipped(new, MEMBER, subresource)
    assert refusal is not None
    assert (refusal.code, refusal.reason) == (422, "Invalid")
    assert "the group of a pod cannot be changed or removed" in refusal.message


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"matchConstraints": None}, "spec.matchConstraints: Required value"),
        ({"failurePolicy": "X"}, 'spec.failurePolicy: Unsupported value: "X": supported values: "Fail", "Ignore"'),
        (
            {"validations": []},
            "spec.validations: Required value: validations or auditAnnotations must contain at least one item",
        ),
        ({"variables": [{"name": "1a", "expression": "1"}]}, "spec.variables[0].name: Invalid value"),
        (
            {"validations": [{"expression": "variables.a == 1"}]},
            (
                'spec.validations[0].expression: Invalid value: "variables.a == 1": compilation failed: ERROR: <input>:1:1: '
                "undeclared reference to 'variables'"
            ),
        ),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(spec: Object, told: str) -> None:
    assert any(str(each).startswith(told) for each in policy_errors(policy(**spec)))


def test_a_binding_names_a_policy_and_what_to_do() -> None:
    assert list(binding_errors(binding())) == []
    fields = [each.field for each in binding_errors({"spec": {"validationActions": ["Foo", "Deny", "Deny"]}})]
    assert fields == ["spec.policyName", "spec.validationActions[0]", "spec.validationActions[2]"]
    assert "must not contain both Deny and Warn" in str(next(binding_errors(binding("Deny", "Warn"))))

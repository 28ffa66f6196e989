"""What our own Workload and PodGroup accept and refuse, case by case, on a real API server.

The rules and, as far as a CRD can have them, the words are those of scheduling.k8s.io/v1beta1. The objects live in a namespace
that no webhook of ours looks at, so that it is the CRD alone that answers.
"""

import secrets
from collections.abc import Callable
from typing import Any

import pytest

from tests.conformance.definitions import install_definitions
from verify.clusters.client import Api, ApiError, Object
from verify.clusters.controlplane import ControlPlane

NAMESPACE = "kube-public"
LONG = "a" * 254
IMMUTABLE = "field is immutable"

Make = Callable[[str, Object], Object]


@pytest.fixture(scope="module")
def api(control_plane: ControlPlane, group_api: str) -> Api:
    if group_api != "own":
        pytest.skip("this control plane has the built-in kinds; it needs no CRDs")
    install_definitions(control_plane.admin)
    return control_plane.admin


@pytest.fixture
def make(api: Api, request: pytest.FixtureRequest) -> Make:
    """Creates an object with that spec, and removes it after the test."""

    def create(kind: str, spec: Object) -> Object:
        name = f"case-{secrets.token_hex(4)}"
        made = api.create(kind, {**_type(kind), "metadata": {"name": name}, "spec": spec}, NAMESPACE)
        request.addfinalizer(lambda: api.delete(kind, name, NAMESPACE))
        return made

    return create


def _type(kind: str) -> Object:
    return {"apiVersion": "tutti.scheduler/v1beta1", "kind": "PodGroup" if kind == "podgroups" else "Workload"}


def group(**fields: Any) -> Object:
    return {"schedulingPolicy": {"gang": {"minCount": 2}}, **fields}


def policy(**fields: Any) -> Object:
    return {"schedulingPolicy": fields}


def topology(*keys: str) -> Object:
    return group(schedulingConstraints={"topology": [{"key": key} for key in keys]})


def reference(workload: str = "w", template: str = "t") -> Object:
    return group(workloadRef={"workloadName": workload, "templateName": template})


def claims(*names: str, **fields: Any) -> Object:
    return group(resourceClaims=[{"name": name, **(fields or {"resourceClaimName": "c"})} for name in names])


def template(name: str = "t", **fields: Any) -> Object:
    return {"name": name, "schedulingPolicy": {"gang": {"minCount": 2}}, **fields}


def load(*templates: Object, **fields: Any) -> Object:
    return {"podGroupTemplates": list(templates), **fields}


def controller(**fields: str) -> Object:
    return load(template(), controllerRef={"apiGroup": "batch", "kind": "Job", "name": "j", **fields})


@pytest.mark.parametrize(
    "spec",
    [
        group(),
        policy(basic={}),
        group(disruptionMode={"all": {}}),
        group(priority=1_000_000_000),
        group(priority=-5),
        group(priorityClassName="high", preemptionPolicy="Never"),
        group(schedulingConstraints={}),
        topology("topology.kubernetes.io/zone"),
        topology("a" * 253 + "/" + "b" * 63),
        reference("a.b"),
        claims("a", "b"),
    ],
)
def test_a_podgroup_within_the_rules_is_taken(make: Make, spec: Object) -> None:
    assert make("podgroups", spec)["spec"]["disruptionMode"] == spec.get("disruptionMode", {"single": {}})


@pytest.mark.parametrize(
    ("spec", "field", "words"),
    [
        (policy(), "spec.schedulingPolicy", "must specify one of: `basic`, `gang`"),
        (
            policy(basic={}, gang={"minCount": 1}),
            "spec.schedulingPolicy",
            "must specify exactly one of: `basic`, `gang`",
        ),
        (policy(gang={}), "spec.schedulingPolicy.gang.minCount", "Required value"),
        (policy(gang={"minCount": 0}), "spec.schedulingPolicy.gang.minCount", "greater than or equal to 1"),
        (policy(gang={"minCount": -1}), "spec.schedulingPolicy.gang.minCount", "greater than or equal to 1"),
        (policy(gang={"minCount": "3"}), "spec.schedulingPolicy.gang.minCount", "must be of type integer"),
        pytest.param(
            policy(gang={"minCount": 2**31}),
            "spec.schedulingPolicy.gang.minCount",
            "int32",
            marks=pytest.mark.since(37, "older servers do not look at the format int32 of a custom resource"),
        ),
        ({}, "spec.schedulingPolicy", "Required value"),
        (group(disruptionMode={}), "spec.disruptionMode", "must specify one of: `single`, `all`"),
        (group(disruptionMode={"all": {}, "single": {}}), "spec.disruptionMode", "must specify exactly one of"),
        (group(priority=1_000_000_001), "spec.priority", "less than or equal to 1000000000"),
        (group(priorityClassName="high/priority"), "spec.priorityClassName", "a lowercase RFC 1123 subdomain"),
        (group(preemptionPolicy="Maybe"), "spec.preemptionPolicy", 'supported values: "Never", "PreemptLowerPriority"'),
        (topology(""), "spec.schedulingConstraints.topology[0].key", "at least 1 chars"),
        (topology("a/b/c"), "spec.schedulingConstraints.topology[0].key", "name part must consist of"),
        (topology("b" * 64), "spec.schedulingConstraints.topology[0].key", "name part must consist of"),
        (topology(LONG + "/b"), "spec.schedulingConstraints.topology[0].key", "name part must consist of"),
        (topology("a", "b"), "spec.schedulingConstraints.topology", "Too many: 2: must have at most 1 item"),
        (reference(workload=""), "spec.workloadRef.workloadName", "at least 1 chars"),
        (reference(workload=LONG), "spec.workloadRef.workloadName", "Too long: may not be"),
        (reference(workload="A_"), "spec.workloadRef.workloadName", "a lowercase RFC 1123 subdomain"),
        (reference(template="t.x"), "spec.workloadRef.templateName", "must not contain dots"),
        (reference(template="temp/late"), "spec.workloadRef.templateName", "a lowercase RFC 1123 label"),
        (claims("a", "a"), "spec.resourceClaims[1]", "Duplicate value"),
        (claims(*"abcde"), "spec.resourceClaims", "Too many: 5: must have at most 4 items"),
        (claims("a", other="x"), "spec.resourceClaims[0]", "must specify one of: `resourceClaimName`"),
        (
            claims("a", resourceClaimName="x", resourceClaimTemplateName="y"),
            "spec.resourceClaims[0]",
            "must specify exactly one of: `resourceClaimName`",
        ),
    ],
)
def test_a_podgroup_that_breaks_a_rule_is_refused(make: Make, spec: Object, field: str, words: str) -> None:
    refused(lambda: make("podgroups", spec), field, words)


FULL = group(
    workloadRef={"workloadName": "w", "templateName": "t"},
    schedulingConstraints={"topology": [{"key": "zone"}]},
    resourceClaims=[{"name": "a", "resourceClaimName": "c"}],
    priorityClassName="high",
    priority=3,
    preemptionPolicy="Never",
    disruptionMode={"all": {}},
)
CHANGED: Object = {
    "workloadRef": {"workloadName": "other"},
    "schedulingConstraints": {"topology": [{"key": "rack"}]},
    "resourceClaims": [{"name": "b", "resourceClaimName": "c"}],
    "priorityClassName": "low",
    "priority": 4,
    "preemptionPolicy": "PreemptLowerPriority",
    "disruptionMode": {"all": None, "single": {}},
}


@pytest.mark.parametrize("field", CHANGED)
def test_what_a_podgroup_was_created_with_stays(api: Api, make: Make, field: str) -> None:
    made = make("podgroups", FULL)
    for value in (CHANGED[field], None):
        refused(lambda to=value: patch(api, "podgroups", made, {field: to}), f"spec.{field}", IMMUTABLE)  # type: ignore[misc]


@pytest.mark.parametrize("field", sorted(set(CHANGED) - {"disruptionMode"}))
def test_what_a_podgroup_was_created_without_cannot_be_added(api: Api, make: Make, field: str) -> None:
    made = make("podgroups", policy(basic={}))
    refused(lambda: patch(api, "podgroups", made, {field: FULL[field]}), f"spec.{field}", IMMUTABLE)


def test_min_count_may_change_but_the_kind_of_policy_may_not(api: Api, make: Make) -> None:
    made = make("podgroups", group())
    patch(api, "podgroups", made, policy(gang={"minCount": 5}))
    to_basic = policy(gang=None, basic={})
    refused(
        lambda: patch(api, "podgroups", made, to_basic), "schedulingPolicy.gang", "field cannot be cleared once set"
    )
    basic, to_gang = make("podgroups", policy(basic={})), policy(basic=None, gang={"minCount": 1})
    refused(
        lambda: patch(api, "podgroups", basic, to_gang), "schedulingPolicy.gang", "field cannot be set once created"
    )


@pytest.mark.parametrize(
    "spec",
    [
        load(*(template(f"t{number}") for number in range(8))),
        load(template(priority=1, priorityClassName="x"), template("u", priority=1, priorityClassName="x")),
        controller(),
        controller(apiGroup=""),
        controller(name="..."),
    ],
)
def test_a_workload_within_the_rules_is_taken(make: Make, spec: Object) -> None:
    assert "disruptionMode" not in make("workloads", spec)["spec"]["podGroupTemplates"][0]


@pytest.mark.parametrize(
    ("spec", "field", "words"),
    [
        ({}, "spec.podGroupTemplates", "Required value"),
        (load(), "spec.podGroupTemplates", "at least 1 items"),
        (
            load(*(template(f"t{n}") for n in range(9))),
            "spec.podGroupTemplates",
            "Too many: 9: must have at most 8 items",
        ),
        (load(template(), template()), "spec.podGroupTemplates[1]", "Duplicate value"),
        (load(template("")), "spec.podGroupTemplates[0].name", "at least 1 chars"),
        (load(template("A")), "spec.podGroupTemplates[0].name", "a lowercase RFC 1123 label"),
        (load(template("a.b")), "spec.podGroupTemplates[0].name", "must not contain dots"),
        (load(template("a" * 64)), "spec.podGroupTemplates[0].name", "Too long: may not be"),
        (load(template(schedulingPolicy={})), "spec.podGroupTemplates[0].schedulingPolicy", "must specify one of"),
        (load(template(priority=0), template("u")), "spec", "detected multiple priority configurations"),
        (load(template(priorityClassName="x"), template("u")), "spec", "detected multiple priority configurations"),
        (
            load(template(priority=1_000_000_001)),
            "spec.podGroupTemplates[0].priority",
            "less than or equal to 1000000000",
        ),
        (controller(kind=""), "spec.controllerRef.kind", "at least 1 chars"),
        (controller(kind="a/b"), "spec.controllerRef.kind", "may not contain '/'"),
        (controller(name="a%b"), "spec.controllerRef.name", "may not contain '%'"),
        (controller(name=".."), "spec.controllerRef.name", "may not be '..'"),
        (controller(apiGroup="Bad_"), "spec.controllerRef.apiGroup", "a lowercase RFC 1123 subdomain"),
    ],
)
def test_a_workload_that_breaks_a_rule_is_refused(make: Make, spec: Object, field: str, words: str) -> None:
    refused(lambda: make("workloads", spec), field, words)


def test_the_templates_of_a_workload_are_fixed_but_for_min_count_and_order(api: Api, make: Make) -> None:
    first, second = template("a"), template("b", disruptionMode={"all": {}})
    made = make("workloads", load(first, second))
    patch(api, "workloads", made, load(second, {**first, "schedulingPolicy": {"gang": {"minCount": 9}}}))
    single, basic = {**second, "disruptionMode": {"single": {}}}, {**second, "schedulingPolicy": {"basic": {}}}
    for templates, field, words in (
        ([first, second, template("c")], "spec.podGroupTemplates", "Forbidden: item may not be added"),
        ([first], "spec.podGroupTemplates", "Forbidden: item may not be removed"),
        ([first, single], "spec.podGroupTemplates[1].disruptionMode", IMMUTABLE),
        ([first, basic], "spec.podGroupTemplates[1].schedulingPolicy.gang", "field cannot be cleared once set"),
    ):
        refused(lambda to=templates: patch(api, "workloads", made, load(*to)), field, words)  # type: ignore[misc]


@pytest.mark.parametrize("change", [{"name": "k"}, None])
def test_a_workload_stays_with_its_controller(api: Api, make: Make, change: Object | None) -> None:
    made = make("workloads", controller())
    refused(lambda: patch(api, "workloads", made, {"controllerRef": change}), "spec.controllerRef", IMMUTABLE)


def test_a_status_takes_conditions_and_nothing_else(api: Api, make: Make) -> None:
    made = make("podgroups", claims("a"))
    path = f"{api.path('podgroups', NAMESPACE, made['metadata']['name'])}/status"
    condition = {"type": "PodGroupInitiallyScheduled", "status": "False", "reason": "Unschedulable"}
    dated = {**condition, "message": "no room", "lastTransitionTime": "2026-01-01T00:00:00.123456Z"}
    body = {"status": {"conditions": [dated]}, "spec": {"priority": 7}}
    answer = api.request("PATCH", path, body, kind="merge")
    assert answer["status"]["conditions"] == [dated]
    assert "priority" not in answer["spec"]
    # Kubernetes 1.30 leaves out the `status.` before them.
    for conditions, field, words in (
        ([dated, dated], "conditions[1]", "Duplicate value"),
        ([{**dated, "reason": ""}], "conditions[0].reason", "at least 1 chars"),
        ([condition], "conditions[0].lastTransitionTime", "Required value"),
    ):
        change = {"status": {"conditions": conditions}}
        refused(lambda to=change: api.request("PATCH", path, to, kind="merge"), field, words)  # type: ignore[misc]
    unknown = {"status": {"resourceClaimStatuses": [{"name": "b"}]}}
    refused(
        lambda: api.request("PATCH", path, unknown, kind="merge"), "status.resourceClaimStatuses", "must match the name"
    )


def patch(api: Api, kind: str, made: Object, spec: Object) -> Object:
    return api.patch(kind, made["metadata"]["name"], {"spec": spec}, NAMESPACE)


def refused(attempt: Callable[[], object], field: str, words: str) -> None:
    """The server refuses the object as invalid, and says where and why."""
    with pytest.raises(ApiError) as caught:
        attempt()
    assert caught.value.status == 422, caught.value
    assert f"{field}: " in caught.value.message or caught.value.message.endswith(field)
    assert words in caught.value.message

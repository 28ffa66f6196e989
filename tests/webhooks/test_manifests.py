"""What `config/webhook` and `config/policy` ship fits the server and the one predicate that says what a gang is."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import cel
import pytest
import yaml

from api.constants import (
    DELEGATED_TEMPLATE,
    GATE,
    LWS_WORKER_INDEX,
    MANAGED,
    MUTATING_CONFIGURATION,
    POD_GROUP,
    POD_GROUP_UID,
    POLICY,
    PROVIDER,
    SYSTEM_NAMESPACE,
    VALIDATING_CONFIGURATION,
    WEBHOOK_SERVICE,
)
from api.webhookconfig import path_of
from providers.selection import standard_providers
from tests.webhooks.all_routes import all_routes
from tests.webhooks.builders import Object, job, owner, patched, request
from webhooks.admission.config import AdmissionConfig
from webhooks.admission.review import ALLOWED
from webhooks.job.defaulter import default_job
from webhooks.job.update_defaulter import default_updated_job
from webhooks.job.validator import validate_job_update

CONFIG = Path(__file__).parents[2] / "config"
MUTATING = yaml.safe_load((CONFIG / "webhook" / "mutating.yaml").read_text())
VALIDATING = yaml.safe_load((CONFIG / "webhook" / "validating.yaml").read_text())
POLICY_OBJECTS = list(yaml.safe_load_all((CONFIG / "policy" / "pod-group.yaml").read_text()))
ENTRIES: dict[str, Object] = {entry["name"]: entry for entry in MUTATING["webhooks"] + VALIDATING["webhooks"]}
NAMED = pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES.keys())


def is_sent(name: str, new: Object, old: Object | None = None) -> bool:
    """Whether the API server would call this webhook, by its match conditions."""
    conditions = ENTRIES[name].get("matchConditions", [])
    return all(holds(condition["expression"], new, old) for condition in conditions)


def holds(expression: str, new: Object, old: Object | None = None) -> bool:
    result = cel.evaluate(expression, {"object": new, "oldObject": old})
    assert isinstance(result, bool)
    return result


def test_the_configurations_have_the_names_the_process_looks_for() -> None:
    assert MUTATING["metadata"]["name"] == MUTATING_CONFIGURATION
    assert VALIDATING["metadata"]["name"] == VALIDATING_CONFIGURATION


def test_every_path_is_served_for_its_resource_and_operation_and_none_is_forgotten() -> None:
    served = all_routes(classes=lambda: None)
    called: dict[str, set[str]] = {}
    for entry in ENTRIES.values():
        path = path_of(entry["clientConfig"])
        for rule in entry["rules"]:
            (group,), (resource,) = rule["apiGroups"], rule["resources"]
            assert served[path].resource == (group, resource)
            called.setdefault(path, set()).update(rule["operations"])
    assert called == {path: set(route.handlers) for path, route in served.items()}


@NAMED
def test_the_service_is_ours(entry: Object) -> None:
    service = entry["clientConfig"]["service"]
    assert (service["namespace"], service["name"], service["port"]) == (SYSTEM_NAMESPACE, WEBHOOK_SERVICE, 443)


@NAMED
def test_a_call_is_bounded_and_without_side_effects(entry: Object) -> None:
    assert entry["timeoutSeconds"] == 3
    assert entry["sideEffects"] == "None"
    assert entry["admissionReviewVersions"] == ["v1"]
    assert entry["matchPolicy"] == "Equivalent"


@NAMED
def test_system_namespaces_never_meet_us(entry: Object) -> None:
    (expression,) = entry["namespaceSelector"]["matchExpressions"]
    assert expression["key"] == "kubernetes.io/metadata.name"
    assert expression["operator"] == "NotIn"
    assert set(expression["values"]) == {"kube-system", "kube-node-lease", "kube-public", SYSTEM_NAMESPACE}


@NAMED
def test_only_what_would_go_wrong_for_good_is_refused_while_the_server_is_down(entry: Object) -> None:
    guards = {"kube-scheduler.leaders.pods.tutti.scheduler", "kube-scheduler.pods.tutti.scheduler"}
    guards |= {"podgroups.tutti.scheduler", "compositepodgroups.tutti.scheduler"}
    guards |= {"parents.built-in.podgroups.tutti.scheduler", "parallelism.jobs.tutti.scheduler"}
    guards |= {f"preemption-priority.{group}podgroups.tutti.scheduler" for group in ("", "built-in.")}
    assert entry["failurePolicy"] == ("Fail" if entry["name"] in guards else "Ignore")


@NAMED
def test_no_update_of_a_pod_is_ever_sent(entry: Object) -> None:
    for rule in entry["rules"]:
        assert "pods" not in rule["resources"] or rule["operations"] == ["CREATE"]
        assert not any("*" in part or "/" in part for part in rule["resources"])


def test_every_pod_meets_at_most_one_of_the_pod_webhooks() -> None:
    selectors = [ENTRIES[name]["objectSelector"] for name in ENTRIES if name.endswith("pods.tutti.scheduler")]
    assert len(selectors) == 4
    for labels, matches in (
        ({}, 0),
        ({LWS_WORKER_INDEX: "0"}, 0),
        ({MANAGED: "embedded"}, 1),
        ({MANAGED: "kube-scheduler"}, 1),
        ({MANAGED: "embedded", LWS_WORKER_INDEX: "0"}, 1),
        ({MANAGED: "kube-scheduler", LWS_WORKER_INDEX: "0"}, 1),
        ({MANAGED: "embedded", LWS_WORKER_INDEX: "1"}, 1),
        ({MANAGED: "kube-scheduler", LWS_WORKER_INDEX: "1"}, 1),
    ):
        assert sum(selects(selector, labels) for selector in selectors) == matches


def selects(selector: Object, labels: Mapping[str, str]) -> bool:
    def fits(expression: Object) -> bool:
        value = labels.get(expression["key"])
        if expression["operator"] == "Exists":
            return value is not None
        if expression["operator"] == "In":
            return value in expression["values"]
        assert expression["operator"] == "NotIn"
        return value not in expression["values"]

    exact = all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())
    return exact and all(fits(expression) for expression in selector.get("matchExpressions", []))


SIZES: list[dict[str, Any]] = [
    {"parallelism": parallelism, "completions": completions, "indexed": indexed}
    for parallelism in (None, 0, 1, 3)
    for completions in (None, 1, 3, 6)
    for indexed in (True, False)
]
TRAITS: list[dict[str, Any]] = [
    {},
    {"annotations": {POLICY: "gang"}},
    {"annotations": {POLICY: "basic"}},
    {"annotations": {POLICY: "none"}},
    {"annotations": {POLICY: "wrong"}},
    {"annotations": {PROVIDER: "wrong"}},
    {"annotations": {GATE: "pod-group"}, "suspend": True},
    {
        "annotations": {"mine": "1"},
        "labels": {"a": "b"},
        "template_labels": {"a": "b"},
        "template_annotations": {"a": "b"},
    },
    {"owners": [owner("CronJob")]},
    {"owners": [owner("JobSet")]},
    {"owners": [owner("JobSet", controller=False)]},
    {"owners": [owner("JobSet")], "annotations": {DELEGATED_TEMPLATE: "workers"}},
    {"owners": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "y"}, owner("CronJob")]},
    {"managedBy": "kubernetes.io/job-controller"},
    {"managedBy": "somebody.else/controller"},
    {"scheduling": {}},
    {"template_spec": {"schedulingGroup": {"podGroupName": "mine"}}},
    {"scheduler_name": "acme"},
    {"suspend": True},
    {"template_labels": {MANAGED: "embedded"}, "template_annotations": {POD_GROUP: "g"}},
    {"template_annotations": {POD_GROUP: "g"}},
]


@pytest.mark.parametrize("trait", TRAITS, ids=repr)
def test_every_job_that_concerns_us_is_sent(trait: dict[str, Any]) -> None:
    for size in SIZES:
        new = job(**size, **trait)
        response = default_job(request(new), AdmissionConfig(standard_providers()))
        if response != ALLOWED:
            assert is_sent("create.jobs.tutti.scheduler", new), (size, response)


@pytest.mark.parametrize("trait", TRAITS, ids=repr)
def test_a_job_that_says_nothing_of_us_and_is_no_gang_is_never_sent(trait: dict[str, Any]) -> None:
    if "tutti.scheduler/" in repr(trait) or DELEGATED_TEMPLATE in repr(trait):
        return
    for size in SIZES:
        gang_shaped = size["indexed"] and size["parallelism"] == size["completions"] == 3
        foreign = trait.keys() & {"template_spec"} or "JobSet" in repr(trait) or "else" in repr(trait)
        plain_owner = "False" in repr(trait)
        expected = (gang_shaped and (plain_owner or not foreign)) or "scheduling" in trait
        assert is_sent("create.jobs.tutti.scheduler", job(**size, **trait)) is bool(expected), size


TEMPLATES: list[dict[str, Any]] = [
    {},
    {"template_labels": {"a": "b"}},
    {"template_labels": {MANAGED: "embedded"}},
    {"template_annotations": {POD_GROUP: "g"}},
]


@pytest.mark.parametrize("old_template", TEMPLATES, ids=repr)
@pytest.mark.parametrize("new_template", TEMPLATES, ids=repr)
@pytest.mark.parametrize("change", [{}, {"parallelism": 5}, {"suspend": True}, {"parallelism": None}], ids=repr)
def test_every_update_that_concerns_us_is_sent(
    old_template: dict[str, Any], new_template: dict[str, Any], change: dict[str, Any]
) -> None:
    old, new = job(**old_template), job(**{**new_template, **change})
    managed = MANAGED in old_template.get("template_labels", {})
    assert is_sent("update.jobs.tutti.scheduler", new, old) is (managed and new["spec"] != old["spec"])
    assert is_sent("parallelism.jobs.tutti.scheduler", new, old) is (managed and "parallelism" in change)
    if default_updated_job(request(new, old), providers=standard_providers()).patch:
        assert is_sent("update.jobs.tutti.scheduler", new, old)
    if not validate_job_update(request(new, old)).allowed:
        assert is_sent("parallelism.jobs.tutti.scheduler", new, old)


def _held() -> Object:
    """A Job as it is stored after its admission, with metadata of its user's."""
    new = job(template_labels={"a": "b"}, template_annotations={"c": "d"})
    return patched(new, default_job(request(new), AdmissionConfig(standard_providers())))


def _released() -> Object:
    """The same Job after the controllers' patch."""
    found = _held()
    found["spec"]["suspend"] = False
    found["spec"]["template"]["metadata"]["annotations"] |= {POD_GROUP: "g", POD_GROUP_UID: "u"}
    del found["metadata"]["annotations"][GATE]
    return found


def test_the_release_of_a_gang_is_not_sent_and_would_not_be_changed() -> None:
    assert not is_sent("update.jobs.tutti.scheduler", _released(), _held())
    assert default_updated_job(request(_released(), _held()), providers=standard_providers()).patch == ()


def _lose(*path: str) -> Callable[[Object], None]:
    def change(new: Object) -> None:
        target = new
        for part in path[:-1]:
            target = target[part]
        del target[path[-1]]

    return change


def _put(*path: str, value: Any) -> Callable[[Object], None]:
    def change(new: Object) -> None:
        target = new
        for part in path[:-1]:
            target = target[part]
        target[path[-1]] = value

    return change


TEMPLATE = ("spec", "template")
LOSSES: list[Callable[[Object], None]] = [
    _lose(*TEMPLATE, "metadata"),
    _lose(*TEMPLATE, "metadata", "labels"),
    _lose(*TEMPLATE, "metadata", "labels", MANAGED),
    _put(*TEMPLATE, "metadata", "labels", MANAGED, value="volcano"),
    _lose(*TEMPLATE, "metadata", "annotations"),
    _lose(*TEMPLATE, "metadata", "annotations", POD_GROUP),
    _lose(*TEMPLATE, "metadata", "annotations", POD_GROUP_UID),
    _lose(*TEMPLATE, "spec", "schedulerName"),
    _put(*TEMPLATE, "spec", "schedulerName", value="default-scheduler"),
    _lose("spec", "podFailurePolicy"),
    _put("spec", "podReplacementPolicy", value="TerminatingOrFailed"),
    _put("metadata", "annotations", GATE, value="pod-group"),
]


@pytest.mark.parametrize("loss", LOSSES)
def test_a_gang_that_lost_what_admission_minds_is_sent(loss: Callable[[Object], None]) -> None:
    old, new = _released(), _released()
    new["spec"]["backoffLimit"] = 9
    assert not is_sent("update.jobs.tutti.scheduler", new, old)
    loss(new)
    assert is_sent("update.jobs.tutti.scheduler", new, old)
    assert default_updated_job(request(new, old), providers=standard_providers()).patch


@pytest.mark.parametrize(
    ("before", "after", "allowed"),
    [
        (None, None, True),
        (None, "g", True),
        ("g", "g", True),
        ("g", "h", False),
        ("g", "", False),
        ("g", None, False),
    ],
)
@pytest.mark.parametrize("others", [{}, {"x": "y"}])
def test_the_group_of_a_pod_is_said_once(
    before: str | None, after: str | None, allowed: bool, others: dict[str, str]
) -> None:
    spec = POLICY_OBJECTS[0]["spec"]
    old, new = _pod(before, others), _pod(after, others)
    asked = all(holds(condition["expression"], new, old) for condition in spec["matchConditions"])
    denied = asked and not all(holds(rule["expression"], new, old) for rule in spec["validations"])
    assert denied is not allowed


def _pod(group: str | None, others: dict[str, str]) -> Object:
    annotations = {**others, **({} if group is None else {POD_GROUP: group})}
    return {"metadata": {"name": "p", **({"annotations": annotations} if annotations else {})}}


def test_the_policy_guards_updates_only_and_is_in_force() -> None:
    policy, binding = POLICY_OBJECTS
    (rule,) = policy["spec"]["matchConstraints"]["resourceRules"]
    assert rule["operations"] == ["UPDATE"]
    assert set(rule["resources"]) == {"pods", "pods/status"}
    assert binding["spec"] == {"policyName": policy["metadata"]["name"], "validationActions": ["Deny"]}

"""Webhook configurations and admission policies as an installation writes them, and as they may not be written."""

from typing import Any

from tests.parity.scripts.admission import webhook
from tests.parity.scripts.objects import Object, of
from tests.parity.steps import Script, Step, delete, get, patch, post, put, quiet

HOOKS = "/apis/admissionregistration.k8s.io/v1"
MUTATING = f"{HOOKS}/mutatingwebhookconfigurations"
VALIDATING = f"{HOOKS}/validatingwebhookconfigurations"
POLICIES = f"{HOOKS}/validatingadmissionpolicies"
BINDINGS = f"{HOOKS}/validatingadmissionpolicybindings"
TRIAL = {"dryRun": "All"}
GROUP = "admissionregistration.k8s.io/v1"
PEM = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K"
SERVICE = {"namespace": "tutti-system", "name": "tutti-webhooks", "path": "/mutate"}


def hooks(kind: str, **more: Any) -> Object:
    """A configuration under a name of this script's own."""
    made = webhook(kind, **more)
    return {**made, "metadata": {"name": f"parity-gate-{kind.lower()}"}}


def rule(**more: Any) -> list[Object]:
    """A rule about what is never sent."""
    usual = {"apiGroups": ["nothing.org"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["things"]}
    return [{**usual, **more}]


BAD_HOOKS: dict[str, Object] = {
    "no side effects told": {"sideEffects": None},
    "side effects": {"sideEffects": "Unknown"},
    "no versions": {"admissionReviewVersions": []},
    "unknown versions": {"admissionReviewVersions": ["v9"]},
    "both addresses": {"clientConfig": {"url": "https://127.0.0.1:1/x", "service": SERVICE}},
    "an open address": {"clientConfig": {"url": "http://127.0.0.1:1/x"}},
    "an address with a user": {"clientConfig": {"url": "https://me@127.0.0.1:1/x"}},
    "an address with a query": {"clientConfig": {"url": "https://127.0.0.1:1/x?y=z"}},
    "a service of no name": {"clientConfig": {"service": {"namespace": "n"}}},
    "a service of no namespace": {"clientConfig": {"service": {"name": "n"}}},
    "a service of a path of nothing": {"clientConfig": {"service": {**SERVICE, "path": "/a//b"}}},
    "a service of a bad path": {"clientConfig": {"service": {**SERVICE, "path": "mutate"}}},
    "a service of a bad port": {"clientConfig": {"service": {**SERVICE, "port": 0}}},
    "a bundle that is no base64": {"clientConfig": {"service": SERVICE, "caBundle": "?"}},
    "a bundle that is no certificate": {"clientConfig": {"service": SERVICE, "caBundle": "YQ=="}},
    "no time": {"timeoutSeconds": 0},
    "too much time": {"timeoutSeconds": 31},
    "an unknown failure policy": {"failurePolicy": "Perhaps"},
    "an unknown match policy": {"matchPolicy": "Perhaps"},
    "a rule without operations": {"rules": rule(operations=[])},
    "a rule of an unknown operation": {"rules": rule(operations=["LOOK"])},
    "a rule of all and one operation": {"rules": rule(operations=["*", "CREATE"])},
    "a rule of all and one group": {"rules": rule(apiGroups=["*", "a"])},
    "a rule without versions": {"rules": rule(apiVersions=[])},
    "a rule without resources": {"rules": rule(resources=[])},
    "a rule of all and one resource": {"rules": rule(resources=["*", "things"])},
    "a rule of a part of all": {"rules": rule(resources=["*/*", "things/status"])},
    "a rule of an unknown scope": {"rules": rule(scope="Here")},
    "a bad selector": {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Near"}]}},
    "a condition of no name": {"matchConditions": [{"expression": "true"}]},
    "two conditions of one name": {"matchConditions": [{"name": "a", "expression": "true"}] * 2},
    "a condition that is no truth": {"matchConditions": [{"name": "a", "expression": "1"}]},
    "a condition of unknown names": {"matchConditions": [{"name": "a", "expression": "nothing.here"}]},
}


def changed(**client: Any) -> Object:
    """What the webhook process writes: its address and its CA."""
    return {"webhooks": hooks("Mutating", clientConfig=client)["webhooks"]}


HOOKS_SCRIPT = Script(
    "gates",
    [
        *(
            post(f"a hook with {what}", MUTATING, hooks("Mutating", **more), query=TRIAL)
            for what, more in BAD_HOOKS.items()
        ),
        post("a hook of an unknown second round", MUTATING, hooks("Mutating", reinvocationPolicy="Twice")),
        post(
            "two hooks of one name",
            VALIDATING,
            {**hooks("Validating"), "webhooks": hooks("Validating")["webhooks"] * 2},
        ),
        post("no hooks", VALIDATING, {**hooks("Validating"), "webhooks": []}, query=TRIAL),
        post(
            "create",
            MUTATING,
            hooks("Mutating", clientConfig={"service": SERVICE}),
            keep={"version": "metadata.resourceVersion"},
            keep_as="made",
        ),
        get("read", f"{MUTATING}/parity-gate-mutating"),
        patch(
            "point it at a process",
            f"{MUTATING}/parity-gate-mutating",
            {"metadata": {"resourceVersion": "${version}"}, **changed(url="https://127.0.0.1:9443/x", caBundle=PEM)},
        ),
        patch(
            "point it by what was read before",
            f"{MUTATING}/parity-gate-mutating",
            {"metadata": {"resourceVersion": "${version}"}, **changed(url="https://127.0.0.1:9444/x", caBundle=PEM)},
        ),
        patch("a bundle that is none", f"{MUTATING}/parity-gate-mutating", changed(service=SERVICE, caBundle="YQ==")),
        patch("a bundle that is no base64", f"{MUTATING}/parity-gate-mutating", changed(service=SERVICE, caBundle="?")),
        patch("no address", f"{MUTATING}/parity-gate-mutating", changed()),
        patch(
            "the bundle alone, strategically",
            f"{MUTATING}/parity-gate-mutating",
            {"webhooks": [{"name": "one.example.org", "clientConfig": {"caBundle": PEM}}]},
            "strategic",
        ),
        patch(
            "the bundle alone, by position",
            f"{MUTATING}/parity-gate-mutating",
            [{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": PEM}],
            "json",
        ),
        patch("what is not there", f"{MUTATING}/parity-gate-nothing", changed(service=SERVICE)),
        put("install again by what was read before", f"{MUTATING}/parity-gate-mutating", {}, onto="made"),
        quiet(get("look again", f"{MUTATING}/parity-gate-mutating", keep_as="now")),
        put("install again", f"{MUTATING}/parity-gate-mutating", changed(service=SERVICE), onto="now", keep_as="now"),
        put("install as it is", f"{MUTATING}/parity-gate-mutating", {}, onto="now"),
        delete("drop it", f"{MUTATING}/parity-gate-mutating"),
    ],
)
VALIDATION = {"expression": "object.metadata.name != 'bad'", "message": "It is bad."}


def policy(name: str = "parity-gate-bad", **more: Any) -> Object:
    """A policy about what is never sent."""
    spec = {"matchConstraints": {"resourceRules": rule()}, "validations": [VALIDATION], **more}
    return of(
        GROUP, "ValidatingAdmissionPolicy", name, spec={key: each for key, each in spec.items() if each is not None}
    )


def binding(name: str = "parity-gate-bad", **more: Any) -> Object:
    """Where a policy counts, and what then happens."""
    spec = {"policyName": "parity-gate", "validationActions": ["Deny"], **more}
    return of(
        GROUP,
        "ValidatingAdmissionPolicyBinding",
        name,
        spec={key: each for key, each in spec.items() if each is not None},
    )


BAD_POLICIES: dict[str, Object] = {
    "nothing to match": {"matchConstraints": None},
    "no rules": {"matchConstraints": {"resourceRules": []}},
    "no validations": {"validations": []},
    "an empty expression": {"validations": [{"expression": " "}]},
    "an expression that cannot be read": {"validations": [{"expression": "object."}]},
    "an expression that is no truth": {"validations": [{"expression": "object.metadata.name"}]},
    "an expression of unknown names": {"validations": [{"expression": "subject == 1"}]},
    "an unknown reason": {"validations": [{**VALIDATION, "reason": "Mood"}]},
    "a message of two lines": {"validations": [{**VALIDATION, "message": "a\nb"}]},
    "a message that cannot be read": {"validations": [{**VALIDATION, "messageExpression": "object."}]},
    "a message that is no text": {"validations": [{**VALIDATION, "messageExpression": "1"}]},
    "an unknown failure policy": {"failurePolicy": "Perhaps"},
    "two conditions of one name": {"matchConditions": [{"name": "a", "expression": "true"}] * 2},
    "a condition that cannot be read": {"matchConditions": [{"name": "a", "expression": "("}]},
    "a variable of a bad name": {"variables": [{"name": "a-b", "expression": "1"}]},
    "two variables of one name": {"variables": [{"name": "a", "expression": "1"}] * 2},
    "a variable that cannot be read": {"variables": [{"name": "a", "expression": "("}]},
    "an unknown scope": {"matchConstraints": {"resourceRules": rule(scope="Here")}},
    "parameters of no kind": {"paramKind": {"apiVersion": "v1"}},
}
BAD_BINDINGS: dict[str, Object] = {
    "no policy": {"policyName": None},
    "no actions": {"validationActions": []},
    "unknown actions": {"validationActions": ["Shout"]},
    "an action twice": {"validationActions": ["Deny", "Deny"]},
    "warning and denying": {"validationActions": ["Deny", "Warn"]},
    "parameters by name and labels": {"paramRef": {"name": "a", "selector": {}}},
    "a bad selector": {
        "matchResources": {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Near"}]}}
    },
}


def _bad(noun: str, path: str, cases: dict[str, Object], make: Any) -> list[Step]:
    return [post(f"a {noun} with {what}", path, make(**more), query=TRIAL) for what, more in cases.items()]


POLICIES_SCRIPT = Script(
    "policies",
    [
        *_bad("policy", POLICIES, BAD_POLICIES, policy),
        *_bad("binding", BINDINGS, BAD_BINDINGS, binding),
        post(
            "a policy of all sorts",
            POLICIES,
            policy(
                "parity-gate",
                failurePolicy="Fail",
                matchConditions=[{"name": "a", "expression": "has(object.metadata)"}],
                variables=[{"name": "name", "expression": "object.metadata.name"}],
                validations=[{"expression": "variables.name != 'a'", "messageExpression": "variables.name + '!'"}],
            ),
            keep_as="made",
        ),
        post("its binding", BINDINGS, binding("parity-gate"), keep_as="bound"),
        put(
            "install the policy again",
            f"{POLICIES}/parity-gate",
            {"spec": {"validations": [VALIDATION]}},
            onto="made",
        ),
        put("install the policy by what was read before", f"{POLICIES}/parity-gate", {"spec": {}}, onto="made"),
        put(
            "install the binding again",
            f"{BINDINGS}/parity-gate",
            {"spec": {"validationActions": ["Audit"]}},
            onto="bound",
        ),
        patch(
            "let the policy be unreadable", f"{POLICIES}/parity-gate", {"spec": {"validations": [{"expression": "("}]}}
        ),
        delete("drop the binding", f"{BINDINGS}/parity-gate"),
        delete("drop the policy", f"{POLICIES}/parity-gate"),
    ],
)

SCRIPTS = [HOOKS_SCRIPT, POLICIES_SCRIPT]

"""Webhook configurations and admission policies."""

from tests.parity.scripts.objects import Object, of
from tests.parity.steps import Script, delete, post, table

CORE = "/api/v1/namespaces/{ns}"
HOOKS = "/apis/admissionregistration.k8s.io/v1"


def webhook(kind: str, **more: object) -> Object:
    """A webhook configuration that matches nothing that is ever sent."""
    hook = {
        "name": "one.example.org",
        "clientConfig": {"url": "https://127.0.0.1:1/x"},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "rules": [
            {"apiGroups": ["nothing.org"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["things"]}
        ],
        **more,
    }
    return of(
        "admissionregistration.k8s.io/v1", f"{kind}WebhookConfiguration", f"parity-{kind.lower()}", webhooks=[hook]
    )


POLICY = of(
    "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicy",
    "parity-policy",
    spec={
        "matchConstraints": {
            "resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
            ]
        },
        "validations": [
            {
                "expression": "!has(object.metadata.labels) || !('forbidden' in object.metadata.labels)",
                "message": "no forbidden labels",
            }
        ],
    },
)
BINDING = of(
    "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicyBinding",
    "parity-policy",
    spec={
        "policyName": "parity-policy",
        "validationActions": ["Deny"],
        "matchResources": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "parity-admission"}}},
    },
)
FORBIDDEN = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "labels": {"forbidden": "1"}}}
ONLY_HERE = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "parity-admission"}}}
SECRET_RULE = {
    "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["secrets"]}],
    "timeoutSeconds": 1,
}
ADMISSION = Script(
    "admission",
    [
        post("a mutating webhook", f"{HOOKS}/mutatingwebhookconfigurations", webhook("Mutating")),
        post("a validating webhook", f"{HOOKS}/validatingwebhookconfigurations", webhook("Validating")),
        table("mutating webhooks", f"{HOOKS}/mutatingwebhookconfigurations/parity-mutating"),
        table("validating webhooks", f"{HOOKS}/validatingwebhookconfigurations/parity-validating"),
        post(
            "a webhook without side effects told",
            f"{HOOKS}/validatingwebhookconfigurations",
            webhook("Validating", sideEffects="Some"),
        ),
        post(
            "a webhook without an address",
            f"{HOOKS}/validatingwebhookconfigurations",
            webhook("Validating", clientConfig={}),
        ),
        post(
            "a webhook with a bad name", f"{HOOKS}/validatingwebhookconfigurations", webhook("Validating", name="one")
        ),
        post(
            "a webhook with a bad condition",
            f"{HOOKS}/validatingwebhookconfigurations",
            webhook("Validating", matchConditions=[{"name": "x", "expression": "1 +"}]),
        ),
        delete("drop the mutating one", f"{HOOKS}/mutatingwebhookconfigurations/parity-mutating"),
        delete("drop the validating one", f"{HOOKS}/validatingwebhookconfigurations/parity-validating"),
        post(
            "a webhook that does not answer, ignored",
            f"{HOOKS}/mutatingwebhookconfigurations",
            webhook("Mutating", failurePolicy="Ignore", **SECRET_RULE, **ONLY_HERE),
        ),
        post("it changes nothing", f"{CORE}/secrets", of("v1", "Secret", "ignored")),
        delete("drop it", f"{HOOKS}/mutatingwebhookconfigurations/parity-mutating"),
        post(
            "a webhook that must answer",
            f"{HOOKS}/validatingwebhookconfigurations",
            webhook("Validating", failurePolicy="Fail", **SECRET_RULE, **ONLY_HERE),
        ),
        post(
            "it refuses by being silent",
            f"{CORE}/secrets",
            of("v1", "Secret", "refused"),
            query={"dryRun": "All"},
            until=("code", 500),
        ),
        delete("drop this one", f"{HOOKS}/validatingwebhookconfigurations/parity-validating"),
        post("a policy", f"{HOOKS}/validatingadmissionpolicies", POLICY),
        post("its binding", f"{HOOKS}/validatingadmissionpolicybindings", BINDING),
        table("policies", f"{HOOKS}/validatingadmissionpolicies/parity-policy"),
        table("policy bindings", f"{HOOKS}/validatingadmissionpolicybindings/parity-policy"),
        post("the policy refuses", f"{CORE}/configmaps", FORBIDDEN, query={"dryRun": "All"}, until=("code", 422)),
        post("the policy lets others pass", f"{CORE}/configmaps", of("v1", "ConfigMap", "fine")),
        delete("drop the binding", f"{HOOKS}/validatingadmissionpolicybindings/parity-policy"),
        delete("drop the policy", f"{HOOKS}/validatingadmissionpolicies/parity-policy"),
    ],
)

SCRIPTS = [ADMISSION]

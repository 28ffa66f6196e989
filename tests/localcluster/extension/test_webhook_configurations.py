"""What a webhook configuration must be to be taken; sentences recorded from a real server."""

import pytest

from localcluster.apiserver.extension.admission.correctness import webhook_errors
from tests.localcluster.extension.crds import Object

RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"name": "short"},
            'webhooks[0].name: Invalid value: "short": should be a domain with at least three segments separated by dots',
        ),
        ({"sideEffects": None}, "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun"),
        (
            {"clientConfig": {}},
            "webhooks[0].clientConfig: Required value: exactly one of url or service is required",
        ),
        (
            {"clientConfig": {"url": "http://x/y"}},
            (
                "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; "
                "desired format: https://host[/path]"
            ),
        ),
        (
            {"timeoutSeconds": 31},
            "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds",
        ),
        (
            {"rules": [{**RULE, "operations": ["create"]}]},
            (
                'webhooks[0].rules[0].operations[0]: Unsupported value: "create": supported values: "*", "CONNECT", "CREATE", '
                '"DELETE", "UPDATE"'
            ),
        ),
        (
            {"rules": [{**RULE, "resources": ["*", "pods"]}]},
            (
                'webhooks[0].rules[0].resources: Invalid value: ["*","pods"]: if \'*\' is present, must not specify other '
                "resources without subresources"
            ),
        ),
        (
            {"matchConditions": [{"name": "c", "expression": "foo == 1"}]},
            (
                'webhooks[0].matchConditions[0].expression: Invalid value: "foo == 1": compilation failed: ERROR: '
                "<input>:1:1: undeclared reference to 'foo' (in container '')\n | foo == 1\n | ^"
            ),
        ),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(change: Object, told: str) -> None:
    hook = {
        "name": "h.example.com",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": {"service": {"namespace": "a", "name": "b"}},
        "rules": [RULE, {**RULE, "resources": ["*", "pods/*"]}],
    }
    assert list(webhook_errors({"webhooks": [hook]})) == []
    assert [str(each) for each in webhook_errors({"webhooks": [{**hook, **change}]})] == [told]

"""Which requests the API server asks about: the webhook configurations. Pure.

Their names are those of a real installation. Only pods that carry the label of a LeaderWorkerSet are asked about, so nobody
else waits for a server that is down.
"""

import base64
from typing import Any, Final

from api.constants import LWS_NAME
from kube.client.resources import LEADER_WORKER_SETS, PODS, Resource
from localcluster.controllers.definitions import MANAGED_BY
from localcluster.controllers.leaderworkersets.admission.review import DEFAULTING_PATH, POD_PATH, VALIDATING_PATH

MUTATING_NAME: Final = "lws-mutating-webhook-configuration"
VALIDATING_NAME: Final = "lws-validating-webhook-configuration"
TIMEOUT_SECONDS: Final = 10


def mutating(base_url: str, authority: bytes) -> dict[str, Any]:
    """The MutatingWebhookConfiguration of a server at `https://host:port` whose authority (PEM) is to be trusted."""
    hooks = [
        _hook("mleaderworkerset.kb.io", base_url + DEFAULTING_PATH, authority, LEADER_WORKER_SETS, "CREATE", "UPDATE"),
        _hook("mpod.kb.io", base_url + POD_PATH, authority, PODS, "CREATE")
        | {"objectSelector": {"matchExpressions": [{"key": LWS_NAME, "operator": "Exists"}]}},
    ]
    return _configuration("MutatingWebhookConfiguration", MUTATING_NAME, hooks)


def validating(base_url: str, authority: bytes) -> dict[str, Any]:
    """The ValidatingWebhookConfiguration of the same server."""
    url = base_url + VALIDATING_PATH
    hook = _hook("vleaderworkerset.kb.io", url, authority, LEADER_WORKER_SETS, "CREATE", "UPDATE")
    return _configuration("ValidatingWebhookConfiguration", VALIDATING_NAME, [hook])


def _hook(name: str, url: str, authority: bytes, resource: Resource, *operations: str) -> dict[str, Any]:
    rule = {
        "apiGroups": [resource.group],
        "apiVersions": [resource.version],
        "resources": [resource.plural],
        "operations": list(operations),
    }
    return {
        "name": name,
        "clientConfig": {"url": url, "caBundle": base64.b64encode(authority).decode("ascii")},
        "rules": [rule],
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
        "admissionReviewVersions": ["v1"],
    }


def _configuration(kind: str, name: str, hooks: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name, "labels": dict(MANAGED_BY)},
        "webhooks": hooks,
    }

"""What the webhook configurations of stand-ins are made of. Pure."""

import base64
from collections.abc import Sequence
from typing import Any, Final

from kube.client.resources import PODS, Resource
from localcluster.controllers.definitions import MANAGED_BY

TIMEOUT_SECONDS: Final = 10

Object = dict[str, Any]


def hook(name: str, url: str, authority: bytes, resource: Resource, *operations: str) -> Object:
    """One webhook: these operations on this kind are asked about at that address."""
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


def pod_hook(name: str, url: str, authority: bytes, label: str) -> Object:
    """A webhook about new pods that carry the label: nobody else waits for a server that is down."""
    selector = {"matchExpressions": [{"key": label, "operator": "Exists"}]}
    return hook(name, url, authority, PODS, "CREATE") | {"objectSelector": selector}


def configuration(resource: Resource, name: str, hooks: Sequence[Object]) -> Object:
    """A configuration with these webhooks, mutating or validating ones."""
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {"name": name, "labels": dict(MANAGED_BY)},
        "webhooks": list(hooks),
    }

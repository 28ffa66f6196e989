"""The request as webhooks and expressions see it: the `request` of an AdmissionReview."""

from typing import Any

from localcluster.apiserver.admission import AdmissionAttributes
from localcluster.apiserver.extension.cel.authorizer import AuthorizerVariable

Object = dict[str, Any]


def question(attributes: AdmissionAttributes, uid: str = "") -> Object:
    """Everything about the request but the objects."""
    kind = attributes.kind
    group, _, version = attributes.object_api_version.rpartition("/")
    asked_kind = {"group": group, "version": version, "kind": attributes.object_kind}
    resource = {"group": kind.group, "version": kind.version, "resource": kind.plural}
    user = attributes.user
    asked: Object = {
        "uid": uid,
        "kind": asked_kind,
        "resource": resource,
        "requestKind": asked_kind,
        "requestResource": resource,
        "operation": attributes.verb,
        "userInfo": {"username": user.name, "groups": list(user.groups)},
        "dryRun": attributes.dry_run,
        "options": _options(attributes),
    }
    name = name_of(attributes)
    if name:
        asked["name"] = name
    if attributes.subresource:
        asked["subResource"] = asked["requestSubResource"] = attributes.subresource
    if attributes.namespace:
        asked["namespace"] = attributes.namespace
    if user.uid:
        asked["userInfo"]["uid"] = user.uid
    if user.extra:
        asked["userInfo"]["extra"] = {key: list(values) for key, values in user.extra.items()}
    return asked


def _options(attributes: AdmissionAttributes) -> Object:
    """The options of the request; those of a patch are told as the options of the update that it is."""
    options = attributes.options
    if options.get("kind") != "PatchOptions":
        return options
    return {**{key: value for key, value in options.items() if key != "force"}, "kind": "UpdateOptions"}


def name_of(attributes: AdmissionAttributes) -> str:
    """The name of the object; empty as long as it is to be generated."""
    return attributes.name or str(((attributes.obj or {}).get("metadata") or {}).get("name") or "")


def refusal_name(attributes: AdmissionAttributes) -> str:
    """What a refusal calls the object: its name, or the beginning of the name it would have got."""
    metadata = (attributes.obj or {}).get("metadata") or {}
    return name_of(attributes) or str(metadata.get("generateName") or "Unknown")


def review(attributes: AdmissionAttributes, uid: str) -> Object:
    """The AdmissionReview that asks a webhook."""
    request = question(attributes, uid) | {"object": attributes.obj, "oldObject": attributes.old}
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}


def variables(attributes: AdmissionAttributes, authorizer: AuthorizerVariable | None = None) -> Object:
    """What match conditions may mention."""
    return {
        "object": attributes.obj,
        "oldObject": attributes.old,
        "request": question(attributes),
        "namespaceObject": {},
        "authorizer": authorizer or {},
    }

"""Answers to AdmissionReviews in the form the API server wants. Pure."""

import base64
from typing import Any, Final

import orjson

Object = dict[str, Any]

_PATCHED: Final = (("spec",), ("metadata", "labels"))


def reviewed(request: Object, response: Object) -> Object:
    """The AdmissionReview that answers a request with this; `{}` allows it as it is."""
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": request["uid"], "allowed": True} | response,
    }


def refusal(message: str, code: int, reason: str) -> Object:
    """The response that refuses a request."""
    return {"allowed": False, "status": {"status": "Failure", "message": message, "code": code, "reason": reason}}


def patch(old: Object, new: Object) -> Object:
    """The response that makes the object this one, which differs in its spec and its labels only."""
    operations = [
        {"op": "add", "path": "/" + "/".join(path), "value": _at(new, path)}
        for path in _PATCHED
        if _at(old, path) != _at(new, path)
    ]
    if not operations:
        return {}
    return {"patchType": "JSONPatch", "patch": base64.b64encode(orjson.dumps(operations)).decode()}


def _at(obj: Object, path: tuple[str, ...]) -> Any:
    value: Any = obj
    for key in path:
        value = (value or {}).get(key)
    return value

"""Answers to AdmissionReviews: which decision a request asks for, and the answer in the form the API server wants. Pure."""

import base64
from typing import Any, Final

import orjson

from localcluster.apiserver.fielderrors import FieldError
from localcluster.controllers.leaderworkersets.admission.defaults import defaulted
from localcluster.controllers.leaderworkersets.admission.pods import Unfit, admitted
from localcluster.controllers.leaderworkersets.admission.validation import complaints, complaints_of_change

Object = dict[str, Any]

DEFAULTING_PATH: Final = "/mutate-leaderworkerset-x-k8s-io-v1-leaderworkerset"
VALIDATING_PATH: Final = "/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset"
POD_PATH: Final = "/mutate--v1-pod"

_PATCHED: Final = (("spec",), ("metadata", "labels"))


def answer(path: str, review: Object) -> Object:
    """The AdmissionReview that answers one.

    Raises:
        KeyError: it is none, or the path is nobody's.
        TypeError: it is none.
    """
    request = review["request"]
    response: Object = {"uid": request["uid"], "allowed": True}
    if path == DEFAULTING_PATH:
        response |= _patch(request["object"], defaulted(request["object"]))
    elif path == POD_PATH:
        response |= _admit(request)
    elif path == VALIDATING_PATH:
        old = request.get("oldObject")
        new = request["object"]
        response |= _verdict(complaints(new) if old is None else complaints_of_change(new, old))
    else:
        raise KeyError(path)
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}


def _admit(request: Object) -> Object:
    pod = request["object"]
    try:
        return _patch(pod, admitted(pod, str(request.get("namespace", ""))))
    except Unfit as error:
        return _refusal(str(error), 500, "InternalError")


def _verdict(errors: list[FieldError]) -> Object:
    if not errors:
        return {}
    texts = list(dict.fromkeys(str(error) for error in errors))
    return _refusal(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]", 403, "Forbidden")


def _refusal(message: str, code: int, reason: str) -> Object:
    return {"allowed": False, "status": {"status": "Failure", "message": message, "code": code, "reason": reason}}


def _patch(old: Object, new: Object) -> Object:
    """The parts that changed, as a JSON patch."""
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

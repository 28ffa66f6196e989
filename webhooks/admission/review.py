"""AdmissionReview (admission.k8s.io/v1): what comes in, what goes out.

Nothing that arrives can be trusted: without client certificates anybody on the network may post here. So nothing is acted
upon, an answer holds nothing but what follows from the question, and whatever cannot be read is one `Malformed`, never a
traceback.
"""

import base64
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import msgspec
import orjson

API_VERSION: Final = "admission.k8s.io/v1"
KIND: Final = "AdmissionReview"
MAX_WARNING: Final = 256
"""The API server cuts longer warnings."""

_REASONS: Final = {403: "Forbidden", 422: "Invalid", 503: "ServiceUnavailable"}


class Malformed(Exception):
    """The body is no AdmissionReview we can read; `str()` says why in one line."""


NOTHING: Final = msgspec.Raw(b"")


class GroupResource(msgspec.Struct, frozen=True):
    """The resource of a request, as the server matched it."""

    group: str = ""
    version: str = ""
    resource: str = ""


class Request(msgspec.Struct, frozen=True, rename="camel"):
    """The question: may this be done to that object?"""

    uid: str
    operation: str
    resource: GroupResource
    name: str = ""
    namespace: str = ""
    sub_resource: str = ""
    object: msgspec.Raw = NOTHING
    old_object: msgspec.Raw = NOTHING


class _Review(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str
    kind: str
    request: Request


@dataclass(frozen=True, slots=True)
class Response:
    """The answer.

    Attributes:
        allowed: whether the request goes on.
        message: why not, for the person who asked.
        code: the HTTP status of a refusal.
        patch: JSON patch operations on the object.
        warnings: lines that kubectl shows beside the result.
    """

    allowed: bool = True
    message: str = ""
    code: int = 200
    patch: tuple[dict[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()


ALLOWED: Final = Response()
"""Allowed, nothing to change."""


def denied(message: str, *, code: int = 422) -> Response:
    """A refusal, with the HTTP status that its user sees."""
    return Response(allowed=False, message=message, code=code)


_decode: Final = msgspec.json.Decoder(_Review).decode
_UNREADABLE: Final = (msgspec.MsgspecError, UnicodeError, ValueError, RecursionError, OverflowError)


def read_review(body: bytes) -> Request:
    """The request of an AdmissionReview.

    Raises:
        Malformed: it is none, or of another version.
    """
    try:
        review = _decode(body)
    except _UNREADABLE as error:
        raise Malformed(f"the body is no AdmissionReview: {_one_line(error)}") from error
    if review.kind != KIND or review.api_version != API_VERSION:
        raise Malformed(f"the body is no {KIND} of {API_VERSION}")
    return review.request


T = TypeVar("T")


def decode_object(request: Request, kind: type[T]) -> tuple[dict[str, Any], T]:
    """The object as it would be stored: as it came, and typed.

    Raises:
        Malformed: the request has none, or its fields are of the wrong kinds.
    """
    return _typed(request.object, dict[str, Any], "object"), _typed(request.object, kind, "object")


def decode_old_object(request: Request, kind: type[T]) -> T:
    """The object as it is stored now, typed.

    Raises:
        Malformed: the request has none, or its fields are of the wrong kinds.
    """
    return _typed(request.old_object, kind, "oldObject")


def _typed(document: msgspec.Raw, kind: type[T], field: str) -> T:
    if bytes(document) in {b"", b"null"}:
        raise Malformed(f"request.{field} is missing")
    try:
        return msgspec.json.decode(document, type=kind)
    except _UNREADABLE as error:
        raise Malformed(f"request.{field}: {_one_line(error)}") from error


def write_review(uid: str, response: Response) -> bytes:
    """The AdmissionReview that answers the request with that UID."""
    answer: dict[str, Any] = {"uid": uid, "allowed": response.allowed}
    if not response.allowed:
        answer["status"] = {
            "status": "Failure",
            "message": response.message,
            "code": response.code,
            "reason": _REASONS.get(response.code, "Invalid"),
        }
    if response.patch:
        answer["patchType"] = "JSONPatch"
        answer["patch"] = base64.b64encode(orjson.dumps(response.patch)).decode()
    if response.warnings:
        answer["warnings"] = [warning[:MAX_WARNING] for warning in response.warnings]
    return orjson.dumps({"apiVersion": API_VERSION, "kind": KIND, "response": answer})


def _one_line(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return " ".join(str(error).split())[:200]

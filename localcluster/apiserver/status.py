"""Refusals as the real server words them: code, reason, sentence and details of a Status.

Pure. One exception carries a Status through all layers; only the request handler turns it into an answer.
"""

from collections.abc import Sequence
from typing import Any

from localcluster.apiserver.fielderrors import FieldError
from localcluster.apiserver.kinds.kind import KindInfo, Object

CONTENT_TYPES = "application/json, application/yaml, application/vnd.kubernetes.protobuf"


class StatusError(Exception):
    """The request is refused with this Status."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: Object | None = None,
        *,
        retry_after_seconds: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details: Object = details if details is not None else {}
        self._shows_details = details is not None
        self.retry_after_seconds = retry_after_seconds

    def body(self) -> Object:
        """The Status object."""
        status: Object = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        details = dict(self.details)
        if self.retry_after_seconds is not None:
            details["retryAfterSeconds"] = self.retry_after_seconds
        if details or self._shows_details:
            status["details"] = details
        status["code"] = self.code
        return status


def success(kind: KindInfo, name: str, uid: str, *, code: int = 200) -> Object:
    """The Status that answers a deletion."""
    details = _about(kind, name) | {"uid": uid}
    body: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
    return body if code == 200 else body | {"code": code}


def _about(kind: KindInfo | None, name: str = "") -> Object:
    details: Object = {}
    if name:
        details["name"] = name
    if kind is not None and kind.group:
        details["group"] = kind.group
    if kind is not None:
        details["kind"] = kind.plural
    return details


def not_found(kind: KindInfo, name: str) -> StatusError:
    """There is no such object."""
    return StatusError(404, "NotFound", f'{kind.qualified} "{name}" not found', _about(kind, name))


def no_such_path() -> StatusError:
    """There is no such resource."""
    return StatusError(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(kind: KindInfo, name: str) -> StatusError:
    """The name is taken."""
    return StatusError(409, "AlreadyExists", f'{kind.qualified} "{name}" already exists', _about(kind, name))


def generate_name_conflict(kind: KindInfo, name: str) -> StatusError:
    """Every generated name was taken."""
    text = f'{kind.qualified} "{name}" already exists, the server was not able to generate a unique name for the object'
    return StatusError(409, "AlreadyExists", text, _about(kind, name), retry_after_seconds=1)


def conflict(kind: KindInfo, name: str, text: str) -> StatusError:
    """The object is not in the state the request was made for."""
    message = f'Operation cannot be fulfilled on {kind.qualified} "{name}": {text}'
    return StatusError(409, "Conflict", message, _about(kind, name))


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def modified(kind: KindInfo, name: str) -> StatusError:
    """The object has changed since it was read."""
    return conflict(kind, name, MODIFIED)


def invalid(kind: KindInfo, name: str, errors: Sequence[FieldError]) -> StatusError:
    """The object breaks rules."""
    texts = list(dict.fromkeys(str(each) for each in errors))
    told = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    details: Object = {}
    if name:
        details["name"] = name
    if kind.resource[0]:
        details["group"] = kind.resource[0]
    if kind.kind:
        details["kind"] = kind.kind
    details |= {"causes": [each.cause() for each in errors]}
    return StatusError(422, "Invalid", f'{kind.qualified_kind} "{name}" is invalid: {told}', details)


def unversioned(kind: KindInfo, name: str, error: FieldError) -> StatusError:
    """An update of a kind that is only updated from a known version; upstream names the resource here, not the kind."""
    details = _about(kind, name) | {"causes": [error.cause()]}
    return StatusError(422, "Invalid", f'{kind.qualified} "{name}" is invalid: {error}', details)


def forbidden(kind: KindInfo, name: str, text: str) -> StatusError:
    """The request may not be carried out, for a reason other than access rights."""
    named = f'{kind.qualified} "{name}"' if name else kind.qualified
    return StatusError(403, "Forbidden", f"{named} is forbidden: {text}", _about(kind, name))


def bad_request(text: str, details: Object | None = None) -> StatusError:
    """The request makes no sense."""
    return StatusError(400, "BadRequest", text, details)


def unauthorized() -> StatusError:
    """Nobody knows who sent it."""
    return StatusError(401, "Unauthorized", "Unauthorized")


def expired(text: str) -> StatusError:
    """The version asked for is forgotten."""
    return StatusError(410, "Expired", text)


def too_large_version(asked: int, current: int) -> StatusError:
    """The version asked for lies in the future."""
    causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    text = f"Timeout: Too large resource version: {asked}, current: {current}"
    return StatusError(504, "Timeout", text, {"causes": causes}, retry_after_seconds=1)


def internal(text: str) -> StatusError:
    """The server has failed."""
    details: Object = {"causes": [{"message": text}]}
    return StatusError(500, "InternalError", f"Internal error occurred: {text}", details)


def method_not_allowed() -> StatusError:
    """The resource has no such verb."""
    text = "the server does not allow this method on the requested resource"
    return StatusError(405, "MethodNotAllowed", text, {})


def unsupported_media_type(accepted: str = CONTENT_TYPES) -> StatusError:
    """The body is of a type the server does not read."""
    text = f"the body of the request was in an unknown format - accepted media types include: {accepted}"
    return StatusError(415, "UnsupportedMediaType", text)


def not_acceptable() -> StatusError:
    """The client wants a type the server does not write."""
    streams = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
    text = f"406: Not Acceptable\n\nAvailable representations: {CONTENT_TYPES}, {streams}"
    return StatusError(406, "NotAcceptable", text, {})


def body_too_large(limit_bytes: int) -> StatusError:
    """The body is longer than the server reads."""
    text = f"Request entity too large: limit is {limit_bytes}"
    return StatusError(413, "RequestEntityTooLarge", text)


def too_many_requests(text: str, *, retry_after_seconds: int, causes: Sequence[Any] = ()) -> StatusError:
    """Not now."""
    details: Object = {"causes": list(causes)} if causes else {}
    return StatusError(429, "TooManyRequests", text, details, retry_after_seconds=retry_after_seconds or None)

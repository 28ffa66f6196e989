"""What can go wrong between us and the API server, sorted by what the caller may conclude.

    KubeError
    ├── AnsweredError           the server answered with a Status
    │   ├── BadRequest          400
    │   ├── Unauthorized        401
    │   ├── Forbidden           403
    │   ├── NotFound            404
    │   ├── Conflict            409, reason Conflict: somebody changed the object, or a precondition failed
    │   ├── AlreadyExists       409, reason AlreadyExists
    │   ├── Gone                410, or reason Expired: the resource version or continue token is too old
    │   ├── Invalid             422
    │   ├── TooManyRequests     429
    │   └── ServerError         5xx
    ├── NotSent                 our own guard forbade the write (the lease is gone): it was certainly not carried out
    ├── Unreachable             connecting failed: the request was certainly not carried out
    └── OutcomeUnknown          sent, and the answer was lost: it may have been carried out
        └── StreamSilent        a stream that the server had begun brought nothing for too long

Invariant: nobody above `kube.client` ever sees an exception of aiohttp or of a JSON library, and `str(error)` is one
readable line. The question every writer has to ask, "may my write have happened?", is `outcome_unknown`.
"""

from typing import Any

import orjson

from api.errors import TuttiError

_MAX_MESSAGE = 1024


def one_line(text: str) -> str:
    """The text with every run of white space made one blank, cut to a bounded length."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _MAX_MESSAGE else flat[: _MAX_MESSAGE - 1] + "…"


class KubeError(TuttiError):
    """A request to the API server did not succeed."""

    @property
    def outcome_unknown(self) -> bool:
        """Whether a write that ended with this error may have been carried out nevertheless."""
        return False


class AnsweredError(KubeError):
    """The server answered with an error status.

    Attributes:
        status: the HTTP status code.
        reason: the machine-readable reason of the Status object, or the HTTP phrase.
        message: the server's sentence.
        details: the `details` of the Status object (name, group, kind, causes), or {}.
        retry_after_seconds: what the server asked us to wait, when it did.
        request: verb and path, for the reader.
    """

    def __init__(
        self,
        status: int,
        reason: str = "",
        message: str = "",
        details: dict[str, Any] | None = None,
        retry_after_seconds: float | None = None,
        *,
        request: str = "",
    ) -> None:
        self.status = status
        self.reason = reason
        self.message = message
        self.details = details or {}
        self.retry_after_seconds = retry_after_seconds
        self.request = request
        super().__init__(self._sentence())

    def has_cause(self, reason: str) -> bool:
        """Whether the server names this reason among the causes."""
        return _has_cause(self.details, "reason", reason)

    def _sentence(self) -> str:
        code = f"{self.status} {self.reason}".strip()
        sentence = one_line(self.message) or "no reason was given"
        return f"{self.request}: {sentence} ({code})" if self.request else f"{sentence} ({code})"


class BadRequest(AnsweredError):
    """400: the request makes no sense to the server."""


class Unauthorized(AnsweredError):
    """401: the credentials are missing, wrong or expired."""


class Forbidden(AnsweredError):
    """403: the identity lacks a right, or admission refused."""


class NotFound(AnsweredError):
    """404: no such object, or no such resource."""


class Conflict(AnsweredError):
    """409, reason Conflict: the object changed meanwhile, or a UID or version precondition failed.

    A patch with the UID of another object is one, too, though the server calls it invalid (422, of `metadata.uid`): the name
    belongs to somebody else by now.
    """


class AlreadyExists(AnsweredError):
    """409, reason AlreadyExists: an object of that name is there, whoever made it."""


class Gone(AnsweredError):
    """410 or reason Expired: the resource version or continue token is too old to go on from."""


class Invalid(AnsweredError):
    """422: the object breaks the schema or a validation rule."""


class TooManyRequests(AnsweredError):
    """429: the server, or a disruption budget, asks to come back later. Nothing was done."""


class ServerError(AnsweredError):
    """5xx. Only a 503 that says when to come back is a refusal; after any other the write may have happened."""

    @property
    def outcome_unknown(self) -> bool:
        """True unless the server refused the request before acting on it."""
        return not (self.status == 503 and self.retry_after_seconds is not None)


class NotSent(KubeError):
    """The process may not write any more, so nothing was sent."""


class Unreachable(KubeError):
    """Connecting failed: the request was certainly not carried out. `cause` says why, without the request."""

    def __init__(self, cause: str, *, request: str = "") -> None:
        self.cause = cause
        super().__init__(f"{request}: cannot connect: {cause}" if request else f"cannot connect: {cause}")


class OutcomeUnknown(KubeError):
    """The request was sent and the answer was lost: read before doing it again."""

    @property
    def outcome_unknown(self) -> bool:
        """Always true."""
        return True


class StreamSilent(OutcomeUnknown):
    """The server began to answer, and then nothing came for as long as was allowed: there is nothing to tell, or nobody."""


_BY_STATUS: dict[int, type[AnsweredError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: TooManyRequests,
}
_BY_REASON: dict[str, type[AnsweredError]] = {"AlreadyExists": AlreadyExists, "Expired": Gone, "Gone": Gone}


def error_from_answer(
    status: int, body: bytes, *, retry_after_seconds: float | None = None, request: str = ""
) -> AnsweredError:
    """The error for an answer that is not a success, whether or not its body is a Status object.

    Args:
        status: the HTTP status code.
        body: as it came.
        retry_after_seconds: what the answer's header says, None without one.
        request: method and path, for the reader.
    """
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        answer = None
    if not isinstance(answer, dict):
        answer = {"message": body[:_MAX_MESSAGE].decode("utf-8", "replace")}
    return error_from_status(answer, status, retry_after_seconds=retry_after_seconds, request=request)


def error_from_status(
    answer: dict[str, Any], status: int | None = None, *, retry_after_seconds: float | None = None, request: str = ""
) -> AnsweredError:
    """The error that a Status object describes.

    Args:
        answer: the Status object.
        status: the HTTP status code, which overrides the object's; an ERROR event of a watch has only the latter.
        retry_after_seconds: what the answer's header says, None without one.
        request: method and path, for the reader.
    """
    code = status if status is not None else answer.get("code")
    code = code if isinstance(code, int) else 500
    reason = answer.get("reason")
    reason = reason if isinstance(reason, str) else ""
    details = answer.get("details")
    details = details if isinstance(details, dict) else {}
    kind = _BY_REASON.get(reason) or _BY_STATUS.get(code) or (ServerError if code >= 500 else AnsweredError)
    if kind is Invalid and _has_cause(details, "field", "metadata.uid"):
        kind = Conflict
    return kind(
        code,
        reason,
        str(answer.get("message") or ""),
        details,
        retry_after_seconds,
        request=request,
    )


def _has_cause(details: dict[str, Any], key: str, value: str) -> bool:
    causes = details.get("causes")
    return isinstance(causes, list) and any(isinstance(cause, dict) and cause.get(key) == value for cause in causes)

"""What a webhook answered: read, checked, and put into the words of the real server where it is no proper answer.

Pure. `WebhookFailed` is a webhook that did not do its work, to be judged by its failure policy; a denial is a StatusError.
"""

import base64
import binascii
from dataclasses import dataclass
from typing import Any, Final

import orjson

from localcluster.apiserver.status import StatusError

Object = dict[str, Any]

_HTTP_SENTENCES: Final = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    403: "unknown",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the request",
}


class WebhookFailed(Exception):
    """The webhook gave no usable answer; `str()` says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A proper answer: the refusal if it is one, the patch if there is one, and warnings for the sender."""

    refusal: StatusError | None
    patch: list[Object] | None
    warnings: tuple[str, ...]


def read_answer(name: str, uid: str, code: int, body: bytes, *, mutating: bool) -> Answer:
    """The answer of the webhook of this name to the review of this UID.

    Raises:
        WebhookFailed: it is no proper answer.
    """
    response = _response(code, body)
    if response.get("uid") != uid:
        raise _improper(f'expected response.uid="{uid}", got "{response.get("uid", "")}"')
    warnings = tuple(str(each) for each in response.get("warnings") or () if each)
    refusal = None if response.get("allowed") is True else _refusal(name, response.get("status"))
    return Answer(refusal, _patch(response, mutating=mutating), warnings)


def _response(code: int, body: bytes) -> Object:
    if code >= 300:
        unknown = 'an error on the server ("unknown") has prevented the request from succeeding'
        raise WebhookFailed(f"failed to call webhook: {_HTTP_SENTENCES.get(code, unknown)}")
    try:
        review = orjson.loads(body)
    except ValueError as error:
        raise WebhookFailed(f"failed to call webhook: couldn't get version/kind; json parse error: {error}") from error
    if not isinstance(review, dict):
        told = "json: cannot unmarshal into Go value of type struct"
        raise WebhookFailed(f"failed to call webhook: couldn't get version/kind; json parse error: {told}")
    version, kind = review.get("apiVersion"), review.get("kind")
    if (version or kind) and (version, kind) != ("admission.k8s.io/v1", "AdmissionReview"):
        unknown = f'no kind "{kind}" is registered for version "{version}" in scheme "pkg/runtime/scheme.go:111"'
        raise WebhookFailed(f"failed to call webhook: {unknown}")
    response = review.get("response")
    if not isinstance(response, dict):
        raise _improper("webhook response was absent")
    return response


def _patch(response: Object, *, mutating: bool) -> list[Object] | None:
    patch, kind = response.get("patch"), response.get("patchType")
    if not mutating and (patch or kind):
        raise _improper(f"validating webhook may not return response.{'patch' if patch else 'patchType'}")
    if patch and not kind:
        raise _improper("webhook returned response.patch but not response.patchType")
    if kind and not patch:
        raise _improper("webhook returned response.patchType but not response.patch")
    if not patch:
        return None
    if kind != "JSONPatch":
        raise _improper(f'webhook returned invalid response.patchType of "{kind}"')
    try:
        operations = orjson.loads(base64.b64decode(patch))
    except (ValueError, binascii.Error) as error:
        raise WebhookFailed(f"received undecodable patch in webhook response: {error}") from error
    if not isinstance(operations, list):
        raise WebhookFailed("received undecodable patch in webhook response: it is no list")
    return operations


def _refusal(name: str, told: Any) -> StatusError:
    status = told if isinstance(told, dict) else {}
    given = status.get("code")
    code = given if isinstance(given, int) and given >= 400 else 400
    denied = f'admission webhook "{name}" denied the request'
    why = status.get("message") or status.get("reason")
    details = status.get("details")
    return StatusError(
        code,
        str(status.get("reason") or ""),
        f"{denied}: {why}" if why else f"{denied} without explanation",
        details if isinstance(details, dict) else None,
    )


def _improper(text: str) -> WebhookFailed:
    return WebhookFailed(f"received invalid webhook response: {text}")

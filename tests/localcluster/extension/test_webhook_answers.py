"""What a webhook's answer means, and what is told when it is none; recorded from a real server."""

import base64
from typing import Any

import orjson
import pytest

from localcluster.apiserver.extension.admission.answers import Answer, WebhookFailed, read_answer

OPERATIONS = [{"op": "add", "path": "/metadata/labels", "value": {}}]
PATCH = base64.b64encode(orjson.dumps(OPERATIONS)).decode()


def review(**response: Any) -> bytes:
    given = {"uid": "u", "allowed": True, **response}
    return orjson.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": given})


def read(body: bytes, code: int = 200, *, mutating: bool = True) -> Answer:
    return read_answer("h.example.com", "u", code, body, mutating=mutating)


def test_a_proper_answer_is_a_verdict_a_patch_and_warnings() -> None:
    answer = read(review(patchType="JSONPatch", patch=PATCH, warnings=["w", ""]))
    assert answer == Answer(None, OPERATIONS, ("w",))


@pytest.mark.parametrize(
    ("status", "code", "reason", "told"),
    [
        ({"message": "no", "code": 422, "reason": "Invalid"}, 422, "Invalid", ": no"),
        (None, 400, "", " without explanation"),
        ({"code": 409}, 409, "", " without explanation"),
        ({"reason": "Because"}, 400, "Because", ": Because"),
        ({"message": "m", "code": 200, "status": "Success"}, 400, "", ": m"),
    ],
)
def test_a_denial_is_told_with_its_code_and_the_name_of_the_webhook(
    status: object, code: int, reason: str, told: str
) -> None:
    refusal = read(review(allowed=False, status=status)).refusal
    assert refusal is not None
    assert (refusal.code, refusal.reason) == (code, reason)
    assert refusal.message == f'admission webhook "h.example.com" denied the request{told}'


def test_the_details_of_a_denial_are_kept() -> None:
    details = {"name": "q", "causes": [{"field": "x", "message": "m", "reason": "r"}]}
    refusal = read(review(allowed=False, status={"message": "no", "details": details})).refusal
    assert refusal is not None
    assert refusal.details == details


@pytest.mark.parametrize(
    ("code", "body", "mutating", "told"),
    [
        (500, b"boom", True, 'failed to call webhook: an error on the server ("unknown") has prevented the request'),
        (404, b"", True, "failed to call webhook: the server could not find the requested resource"),
        (200, b"not json", True, "failed to call webhook: couldn't get version/kind; json parse error: "),
        (200, b"[]", True, "failed to call webhook: couldn't get version/kind; json parse error: "),
        (200, b"{}", True, "received invalid webhook response: webhook response was absent"),
        (
            200,
            b'{"apiVersion": "v1", "kind": "Pod", "response": {}}',
            True,
            'failed to call webhook: no kind "Pod" is registered for version "v1" in scheme',
        ),
        (200, review(uid="o"), True, 'received invalid webhook response: expected response.uid="u", got "o"'),
        (200, review(patch=PATCH), True, "received invalid webhook response: webhook returned response.patch but not"),
        (
            200,
            review(patchType="JSONPatch"),
            True,
            "received invalid webhook response: webhook returned response.patchType",
        ),
        (
            200,
            review(patchType="Other", patch=PATCH),
            True,
            "received invalid webhook response: webhook returned invalid",
        ),
        (200, review(patchType="JSONPatch", patch="eno="), True, "received undecodable patch in webhook response: "),
        (
            200,
            review(patchType="JSONPatch", patch=PATCH),
            False,
            "received invalid webhook response: validating webhook may not return response.patch",
        ),
    ],
)
def test_what_is_no_answer_is_told(code: int, body: bytes, mutating: bool, told: str) -> None:
    with pytest.raises(WebhookFailed) as caught:
        read(body, code, mutating=mutating)
    assert str(caught.value).startswith(told)

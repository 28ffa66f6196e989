"""AdmissionReview in and out."""

import base64
import json
from typing import Any

import pytest

from api.job import Job
from tests.webhooks.builders import job, review
from webhooks.admission.review import (
    Malformed,
    Response,
    decode_object,
    decode_old_object,
    denied,
    read_review,
    write_review,
)


def body(**changes: Any) -> bytes:
    return json.dumps({**review(job()), **changes}).encode()


def test_a_review_is_read() -> None:
    request = read_review(body())
    assert (request.uid, request.operation) == ("review-uid", "CREATE")
    assert decode_object(request, Job)[1].parallelism == 3


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"\xff\xfe",
        b'{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"',
        body(kind="Job"),
        body(apiVersion="admission.k8s.io/v1beta1"),
        body(request=None),
        body(request=[]),
        body(request={"uid": 1, "operation": "CREATE", "resource": {}}),
        body(extra=float("nan")),
        body(extra=float("inf")),
        b"[" * 5000 + b"]" * 5000,
        b'{"kind":' + b"[" * 100_000,
    ],
)
def test_what_is_no_review_is_malformed(broken: bytes) -> None:
    with pytest.raises(Malformed) as refused:
        read_review(broken)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "broken",
    [
        "null",
        "[]",
        "7",
        '{"spec": []}',
        '{"spec": {"parallelism": "3"}}',
        '{"spec": {"parallelism": ' + "9" * 5000 + "}}",
        '{"spec": {"parallelism": 3.5}}',
        '{"metadata": {"annotations": {"a": 1}}}',
        '{"metadata": {"annotations": ["a"]}}',
        '{"x": ' + "[" * 5000 + "]" * 5000 + "}",
        '{"x": NaN}',
    ],
)
def test_an_object_of_the_wrong_kind_is_malformed(broken: str) -> None:
    text = json.dumps(review(job())).replace(json.dumps(job()), broken)
    with pytest.raises(Malformed):
        decode_object(read_review(text.encode()), Job)


def test_a_missing_object_is_malformed() -> None:
    request = read_review(body())
    with pytest.raises(Malformed, match="oldObject is missing"):
        decode_old_object(request, Job)


def test_a_refusal_carries_code_and_reason() -> None:
    answer = json.loads(write_review("u", denied("no", code=403)))
    assert answer["response"] == {
        "uid": "u",
        "allowed": False,
        "status": {"status": "Failure", "message": "no", "code": 403, "reason": "Forbidden"},
    }


def test_a_patch_travels_in_base64() -> None:
    operation = {"op": "remove", "path": "/a"}
    response = json.loads(write_review("u", Response(patch=(operation,))))["response"]
    assert response["patchType"] == "JSONPatch"
    assert json.loads(base64.b64decode(response["patch"])) == [operation]


def test_warnings_are_kept_short() -> None:
    response = json.loads(write_review("u", Response(warnings=("w" * 1000,))))["response"]
    assert len(response["warnings"][0]) == 256


def test_an_answer_without_changes_says_only_that() -> None:
    assert json.loads(write_review("u", Response()))["response"] == {"uid": "u", "allowed": True}

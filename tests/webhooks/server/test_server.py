"""The HTTPS end: only readable reviews get a verdict, everything else one clean refusal."""

import json
import ssl
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from api.constants import (
    METRIC_ADMISSION_REFUSALS,
    PATH_MUTATE_JOBS,
    PATH_MUTATE_POD_GROUPS,
    PATH_MUTATE_PODS,
    PATH_MUTATE_STATEFUL_SETS,
    PATH_VALIDATE_JOBS,
)
from tests.lws.builders import worker_set
from tests.webhooks.builders import Object, job, pod, review
from tests.webhooks.running import RunningServer
from webhooks.server.limits import Limits
from webhooks.server.server import MAX_BODY_BYTES

PATHS = [PATH_MUTATE_JOBS, PATH_MUTATE_PODS, PATH_MUTATE_POD_GROUPS, PATH_VALIDATE_JOBS]
SLOW_ENOUGH = settings(max_examples=60, deadline=None)


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with RunningServer() as running:
        yield running


@contextmanager
def no_fuss(server: RunningServer) -> Iterator[None]:
    """Nothing is logged about what strangers send."""
    before = len(server.records.kept)
    yield
    assert [record.getMessage() for record in server.records.kept[before:]] == []


def padded(size_bytes: int) -> bytes:
    """A review of a Job that is this big."""
    new = job()
    new["metadata"]["annotations"] = {"padding": "x" * (size_bytes - len(json.dumps(review(job()))) - 50)}
    return json.dumps(review(new)).encode()


def test_an_answer_that_needs_a_look_up_is_waited_for(server: RunningServer) -> None:
    asked = review(job())
    asked["request"]["resource"] = {"group": "apps", "version": "v1", "resource": "statefulsets"}
    asked["request"]["object"] = worker_set(group=None)
    answer = server.post(PATH_MUTATE_STATEFUL_SETS, json.dumps(asked).encode())
    assert answer.status == 200
    assert answer.json["response"] == {"uid": "review-uid", "allowed": True}


def test_a_review_gets_a_verdict(server: RunningServer) -> None:
    answer = server.post(PATH_MUTATE_JOBS, json.dumps(review(job())).encode())
    assert answer.status == 200
    response = answer.json["response"]
    assert response["uid"] == "review-uid"
    assert response["allowed"] is True
    assert response["patchType"] == "JSONPatch"


def test_a_refusal_by_rule_is_an_answer_and_no_error(server: RunningServer) -> None:
    new = job(annotations={"tutti.scheduler/min-count": "0"})
    answer = server.post(PATH_MUTATE_JOBS, json.dumps(review(new)).encode())
    assert answer.status == 200
    assert answer.json["response"]["allowed"] is False


def test_a_large_job_is_read_whole(server: RunningServer) -> None:
    assert server.post(PATH_MUTATE_JOBS, padded(MAX_BODY_BYTES - 1000)).status == 200


@pytest.mark.parametrize(
    "path", ["/", "/mutate", "/mutate/jobs/", "/mutate/Jobs", "/validate/pods", "/metrics", "/%00"]
)
def test_an_unknown_path_is_not_found(server: RunningServer, path: str) -> None:
    assert server.post(path, json.dumps(review(job())).encode()).status == 404


def test_other_methods_are_refused(server: RunningServer) -> None:
    assert server.post(PATH_MUTATE_JOBS, b"", method="GET").status == 405


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (PATH_MUTATE_PODS, review(job())),
        (PATH_MUTATE_JOBS, review(pod())),
        (PATH_VALIDATE_JOBS, review(job())),
        (PATH_MUTATE_PODS, review(pod(), pod())),
        (PATH_MUTATE_JOBS, {**review(job()), "request": {**review(job())["request"], "subResource": "status"}}),
    ],
)
def test_a_question_at_the_wrong_address_is_no_silent_yes(server: RunningServer, path: str, body: Object) -> None:
    answer = server.post(path, json.dumps(body).encode())
    assert answer.status == 400
    assert answer.body.startswith(b"this path ")


def test_a_body_beyond_the_limit_is_refused(server: RunningServer) -> None:
    with no_fuss(server):
        assert server.post(PATH_MUTATE_JOBS, padded(MAX_BODY_BYTES + 1000)).status == 413


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "GZIP", "gzip, identity", "zstd"])
def test_compressed_bodies_are_refused_unread(server: RunningServer, coding: str) -> None:
    bomb = zlib.compress(b"0" * (1 << 22))
    with no_fuss(server):
        assert server.post(PATH_MUTATE_JOBS, bomb, Content_Encoding=coding).status == 415


def test_other_content_types_are_refused(server: RunningServer) -> None:
    with no_fuss(server):
        answer = server.post(PATH_MUTATE_JOBS, json.dumps(review(job())).encode(), Content_Type="text/plain")
    assert answer.status == 415


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 5000 + b"]" * 5000,
        b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":' + b"9" * 5000 + b"}",
        json.dumps(review(job())).replace('"parallelism": 3', '"parallelism": ' + "9" * 5000).encode(),
        json.dumps(review(job())).replace('"parallelism": 3', '"parallelism": NaN').encode(),
        json.dumps(review(job())).replace('"parallelism": 3', '"x": ' + "[" * 5000 + "]" * 5000).encode(),
        b"\x00" * 1000,
        b'"' + b"\xff" * 1000 + b'"',
    ],
    ids=["deep", "huge request", "huge number", "NaN", "deep inside", "zeroes", "no text"],
)
def test_what_breaks_parsers_gets_a_clean_refusal(server: RunningServer, body: bytes) -> None:
    with no_fuss(server):
        answer = server.post(PATH_MUTATE_JOBS, body)
    assert answer.status == 400
    assert b"Traceback" not in answer.body
    assert len(answer.body) < 400


JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=10), inner, max_size=4)),
    max_leaves=10,
)


@SLOW_ENOUGH
@given(path=st.sampled_from(PATHS), body=st.binary(max_size=2000))
def test_random_bodies_never_cause_an_error_of_ours(server: RunningServer, path: str, body: bytes) -> None:
    with no_fuss(server):
        assert server.post(path, body).status == 400


@SLOW_ENOUGH
@given(path=st.sampled_from(PATHS), part=st.sampled_from(["metadata", "spec", "object", "request"]), value=JSON_VALUES)
def test_reviews_with_parts_of_the_wrong_kind_never_cause_an_error_of_ours(
    server: RunningServer, path: str, part: str, value: Any
) -> None:
    kinds = {PATH_MUTATE_PODS: pod(), PATH_MUTATE_POD_GROUPS: {**pod(), "kind": "PodGroup"}}
    new = kinds.get(path, job())
    old = job() if path == PATH_VALIDATE_JOBS else None
    document = review(new, old)
    if part == "request":
        document[part] = value
    elif part == "object":
        document["request"][part] = value
    else:
        document["request"]["object"] = {**new, part: value}
    with no_fuss(server):
        assert server.post(path, json.dumps(document).encode()).status in {200, 400}


@SLOW_ENOUGH
@given(cut=st.integers(0, 900), tail=st.binary(max_size=20))
@example(cut=900, tail=b"")
@example(cut=900, tail=b"}")  # whole again
def test_truncated_reviews_never_cause_an_error_of_ours(server: RunningServer, cut: int, tail: bytes) -> None:
    document = review(job())
    whole = json.dumps(document).encode()
    sent = whole[: min(cut, len(whole) - 1)] + tail
    with no_fuss(server):
        assert server.post(PATH_MUTATE_JOBS, sent).status == (200 if is_json_of(document, sent) else 400)


def is_json_of(document: Object, text: bytes) -> bool:
    try:
        return bool(json.loads(text) == document)
    except ValueError:
        return False


@settings(max_examples=25, deadline=None)
@given(data=st.binary(min_size=1, max_size=300))
def test_bytes_that_are_no_http_never_cause_an_error_of_ours(server: RunningServer, data: bytes) -> None:
    with no_fuss(server):
        answer = server.raw(data + b"\r\n\r\n")
    assert not answer.startswith(b"HTTP/1.1 5")
    assert b"Traceback" not in answer


@pytest.mark.parametrize(
    "request_lines",
    [
        b"POST /mutate/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n",
        b"POST /mutate/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"POST /mutate/jobs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz",
        b"POST /mutate/jobs HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 100_000 + b"\r\n",
    ],
    ids=["negative length", "two lengths", "no chunk", "long header"],
)
def test_broken_framing_gets_a_clean_refusal(server: RunningServer, request_lines: bytes) -> None:
    with no_fuss(server):
        answer = server.raw(request_lines + b"\r\n")
    assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.0 400"))
    assert b"Traceback" not in answer


def test_refusals_are_counted(server: RunningServer) -> None:
    def counted() -> float:
        return server.registry.get_sample_value(METRIC_ADMISSION_REFUSALS, {"status": "400"}) or 0.0

    before = counted()
    server.post(PATH_MUTATE_JOBS, b"{}")
    assert counted() == before + 1


def test_old_tls_is_refused(server: RunningServer) -> None:
    assert server.context.minimum_version == ssl.TLSVersion.TLSv1_2
    with server.connect() as connection:
        assert connection.version() in {"TLSv1.2", "TLSv1.3"}
        assert connection.selected_alpn_protocol() is None


def test_clients_that_send_too_slowly_or_nothing_are_cut_off() -> None:
    with RunningServer(Limits(read_seconds=0.2, idle_seconds=0.4)) as server:
        head = b"POST /mutate/jobs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n"
        assert server.raw(head + b"{").startswith(b"HTTP/1.1 408")
        with server.connect() as silent:
            silent.settimeout(10)
            assert silent.recv(1) == b""


def test_a_connection_is_kept_for_longer_than_an_api_server_keeps_it() -> None:
    go_closes_idle_connections_after_seconds = 90
    assert Limits().idle_seconds > go_closes_idle_connections_after_seconds
    with RunningServer(Limits(read_seconds=0.1)) as server, server.connect() as unused:
        unused.settimeout(0.5)
        with pytest.raises(TimeoutError):
            unused.recv(1)


def test_a_server_that_leaves_answers_on_every_connection_once_more_and_takes_new_ones() -> None:
    body = json.dumps(review(job())).encode()
    request = (
        b"POST /mutate/jobs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        % len(body)
    )
    with RunningServer() as server:
        with server.connect() as kept:
            kept.sendall(request + body)
            assert b"connection: close" not in kept.recv(65536).lower()
            server.server.leave()
            kept.sendall(request + body)
            last = kept.recv(65536)
            assert last.startswith(b"HTTP/1.1 200")
            assert b"connection: close" in last.lower()
            assert kept.recv(1) == b""
        answer = server.post(PATH_MUTATE_JOBS, body)
        assert (answer.status, server.server.is_listening) == (200, True)


def test_a_request_in_flight_is_finished_when_the_server_stops() -> None:
    body = json.dumps(review(job())).encode()
    head = b"POST /mutate/jobs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    with RunningServer() as server:
        with server.connect() as connection:
            connection.sendall(head + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
            assert connection.recv(1000).startswith(b"HTTP/1.1 100")
            stopping = threading.Thread(target=lambda: server.run(server.server.stop()))
            stopping.start()
            connection.sendall(body)
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        stopping.join()
        assert not server.server.is_listening
        with pytest.raises(ConnectionError):
            server.connect()

"""Bad input gets the real server's answer, and the server goes on."""

import io

import pytest

from tests.localcluster.apiserver.rest import PODS, Rest, pod


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "unexpected end of JSON input ({)"),
        (b"", "unexpected end of JSON input (<empty>)"),
        (b"[]", "cannot unmarshal array into Go value of type struct"),
    ],
)
async def test_malformed_json_is_a_bad_request(rest: Rest, body: bytes, message: str) -> None:
    answer = await rest.ask("POST", PODS, body)
    assert (answer.code, answer.body["reason"]) == (400, "BadRequest")
    assert answer.message.startswith(
        "the object provided is unrecognized (must be of type Pod): couldn't get version/kind"
    )
    assert message in answer.message


async def test_another_kind_is_a_bad_request(rest: Rest) -> None:
    answer = await rest.ask("POST", PODS, {"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "x"}})
    assert answer.message == (
        'Job in version "v1" cannot be handled as a Pod: converting (v1.Job) to (core.Pod): unknown conversion'
    )


async def test_too_large_a_body_is_refused(rest: Rest) -> None:
    answer = await rest.ask("POST", PODS, io.BytesIO(b"x" * (3 * 1024 * 1024 + 5)))
    assert (answer.code, answer.message) == (413, "Request entity too large: limit is 3145728")
    await rest.create(PODS, pod())


async def test_bodies_of_other_types_are_unsupported(rest: Rest) -> None:
    answer = await rest.ask("POST", PODS, b"{}", content_type="text/plain")
    assert (answer.code, answer.body["reason"]) == (415, "UnsupportedMediaType")


async def test_a_manifest_in_yaml_is_read(rest: Rest) -> None:
    body = b"metadata: {name: m}\ndata: {a: b}\n"
    answer = await rest.ask("POST", "/api/v1/namespaces/default/configmaps", body, content_type="application/yaml")
    assert (answer.code, answer.body["data"]) == (201, {"a": "b"})


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/api/v1/namespaces/default/podz", 404),
        ("GET", "/apis/nope/v1/foo", 404),
        ("PUT", "/api/v1/pods", 405),
        ("POST", "/api/v1/pods", 405),
        ("POST", PODS + "/p", 405),
        ("GET", PODS + "/p/nothing", 404),
        ("GET", "/api/v1/namespaces/default/nodes", 404),
        ("GET", "/nothing", 404),
    ],
)
async def test_unknown_paths_and_methods(rest: Rest, method: str, path: str, code: int) -> None:
    body = pod() if method in {"POST", "PUT"} else None
    assert (await rest.ask(method, path, body)).code == code


@pytest.mark.parametrize("query", ["dryRun=maybe", "fieldValidation=maybe"])
async def test_unknown_options_are_invalid(rest: Rest, query: str) -> None:
    answer = await rest.ask("POST", f"{PODS}?{query}", pod())
    assert answer.code == 422
    assert answer.message.startswith('CreateOptions.meta.k8s.io "" is invalid')


@pytest.mark.parametrize(
    ("content_type", "body", "code", "message"),
    [
        ("application/json", {}, 415, "415: Unsupported Media Type"),
        ("application/merge-patch+json", b"{", 400, "invalid JSON patch"),
        (
            "application/json-patch+json",
            {"a": 1},
            400,
            "error decoding patch: json: cannot unmarshal object into Go value",
        ),
        ("application/merge-patch+json", {"spec": {"containers": 3}}, 422, ' "" is invalid: patch: Invalid value'),
        ("application/merge-patch+json", {"metadata": {"name": "q"}}, 400, "the name of the object (q) does not match"),
    ],
)
async def test_bad_patches(rest: Rest, content_type: str, body: object, code: int, message: str) -> None:
    await rest.create(PODS, pod())
    answer = await rest.patch(f"{PODS}/p", body, content_type)
    assert answer.code == code
    assert answer.message.startswith(message)


async def test_a_format_the_server_does_not_write_is_not_acceptable(rest: Rest) -> None:
    assert (await rest.ask("GET", PODS, accept="text/html")).code == 406

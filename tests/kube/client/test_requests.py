"""What the client sends for each verb, and what it makes of a success."""

import pytest

from kube.client.client import Client, PatchKind
from kube.client.errors import BadRequest, OutcomeUnknown
from kube.client.resources import EVENTS, JOBS, NODES, PODS
from tests.kube.scripted_server import ScriptedServer, ok, text


async def test_get_reads_one_object(server: ScriptedServer, client: Client) -> None:
    server.then(ok({"kind": "Pod"}))
    assert await client.get(PODS, "a", "ns") == {"kind": "Pod"}
    assert (server.requests[0].method, server.requests[0].path) == ("GET", "/api/v1/namespaces/ns/pods/a")


async def test_a_cluster_scoped_object_has_no_namespace_in_its_path(server: ScriptedServer, client: Client) -> None:
    server.then(ok({}))
    await client.get(NODES, "n1")
    assert server.requests[0].path == "/api/v1/nodes/n1"


async def test_create_posts_to_the_collection(server: ScriptedServer, client: Client) -> None:
    server.then(ok({"metadata": {"uid": "u"}}, status=201))
    made = await client.create(JOBS, {"kind": "Job"}, "ns", dry_run=True)
    seen = server.requests[0]
    assert made == {"metadata": {"uid": "u"}}
    assert (seen.method, seen.path, seen.query) == ("POST", "/apis/batch/v1/namespaces/ns/jobs", {"dryRun": "All"})
    assert seen.headers["Content-Type"] == "application/json"
    assert seen.json == {"kind": "Job"}


async def test_create_without_parsing_does_not_look_at_the_answer(server: ScriptedServer, client: Client) -> None:
    server.then(text("this is no JSON", status=201))
    assert await client.create(PODS, {}, "ns", name="p", subresource="binding", parse=False) == {}
    assert server.requests[0].path == "/api/v1/namespaces/ns/pods/p/binding"


async def test_replace_puts_the_whole_object(server: ScriptedServer, client: Client) -> None:
    server.then(ok({"a": 1}))
    await client.replace(JOBS, {"b": 2}, "j", "ns", subresource="status")
    seen = server.requests[0]
    assert (seen.method, seen.path, seen.json) == ("PUT", "/apis/batch/v1/namespaces/ns/jobs/j/status", {"b": 2})


@pytest.mark.parametrize("kind", list(PatchKind))
async def test_a_patch_names_its_type(server: ScriptedServer, client: Client, kind: PatchKind) -> None:
    server.then(ok())
    await client.patch(PODS, {"x": 1}, "p", "ns", kind=kind, field_manager="tutti")
    seen = server.requests[0]
    assert (seen.method, seen.headers["Content-Type"]) == ("PATCH", kind.value)
    assert seen.query["fieldManager"] == "tutti"
    assert ("force" in seen.query) is (kind is PatchKind.APPLY)


async def test_a_json_patch_is_a_list(server: ScriptedServer, client: Client) -> None:
    server.then(ok())
    await client.patch(PODS, [{"op": "remove", "path": "/x"}], "p", "ns", kind=PatchKind.JSON, parse=False)
    assert server.requests[0].json == [{"op": "remove", "path": "/x"}]


async def test_a_delete_always_carries_the_uid(server: ScriptedServer, client: Client) -> None:
    server.then(ok())
    await client.delete(PODS, "p", "ns", uid="u1", resource_version="7", grace_seconds=0)
    assert server.requests[0].json == {
        "preconditions": {"uid": "u1", "resourceVersion": "7"},
        "propagationPolicy": "Background",
        "gracePeriodSeconds": 0,
    }


async def test_a_list_follows_continue_and_joins_the_pages(server: ScriptedServer, client: Client) -> None:
    server.then(
        ok({"metadata": {"resourceVersion": "5", "continue": "more"}, "items": [{"n": 1}]}),
        ok({"metadata": {"resourceVersion": "5"}, "items": [{"n": 2}]}),
    )
    whole = await client.list(PODS, label_selector="a=b", field_selector="spec.nodeName=x")
    assert whole == {"metadata": {"resourceVersion": "5"}, "items": [{"n": 1}, {"n": 2}]}
    first, second = server.requests
    assert first.query == {"labelSelector": "a=b", "fieldSelector": "spec.nodeName=x", "limit": "500"}
    assert second.query["continue"] == "more"


ITEMS_BEFORE_METADATA = '{"items": [{"metadata": {"continue": "not this"}}], "metadata": {"continue": "more"}}'
METADATA_FIRST = (
    '{"kind": "List", "metadata": {"continue": "more", "note": "\\"items\\":"}, "items": [{"metadata": {}}]}'
)
NESTED = '{"metadata": {"items": {"continue": "not this"}, "continue": "more"}, "items": []}'


@pytest.mark.parametrize("page", [METADATA_FIRST, ITEMS_BEFORE_METADATA, NESTED])
@pytest.mark.parametrize("looks_through", [True, False])
async def test_the_next_page_is_found_wherever_the_page_names_it(
    server: ScriptedServer, client: Client, page: str, looks_through: bool
) -> None:
    server.then(text(page), ok({"metadata": {}, "items": []}))
    pages = [each async for each in client.list_pages(PODS, looks_through=looks_through)]
    assert pages[0].decode() == page
    assert server.requests[1].query["continue"] == "more"


@pytest.mark.parametrize("looks_through", [True, False])
async def test_an_answer_that_is_no_list_is_told(server: ScriptedServer, client: Client, looks_through: bool) -> None:
    server.then(text('{"kind": "Status"}'))
    with pytest.raises(OutcomeUnknown, match="no list"):
        [each async for each in client.list_pages(PODS, looks_through=looks_through)]


async def test_null_items_are_an_empty_list(server: ScriptedServer, client: Client) -> None:
    server.then(ok({"metadata": {"resourceVersion": "5"}, "items": None}))
    assert (await client.list(PODS))["items"] == []


async def test_a_name_cannot_leave_its_place_in_the_path(server: ScriptedServer, client: Client) -> None:
    server.then(ok())
    await client.get(PODS, "../../nodes/x?watch=1", "ns")
    assert server.requests[0].path == "/api/v1/namespaces/ns/pods/../../nodes/x?watch=1"  # as decoded by the server
    for name in ("", ".", ".."):
        with pytest.raises(BadRequest):
            await client.get(PODS, name, "ns")
    assert len(server.requests) == 1


async def test_request_json_reaches_any_path(server: ScriptedServer, client: Client) -> None:
    server.then(ok({"gitVersion": "v1.37.0"}))
    assert (await client.request_json("GET", "/version", params={"a": "b"}))["gitVersion"] == "v1.37.0"
    assert server.requests[0].query == {"a": "b"}


async def test_every_request_is_observed(server: ScriptedServer) -> None:
    seen: list[tuple[str, str, str]] = []
    server.then(ok(), text("{}", status=404))
    async with Client(
        server.credentials, user_agent="t", observe=lambda verb, plural, code, _: seen.append((verb, plural, code))
    ) as client:
        await client.create(EVENTS, {}, "ns")
        with pytest.raises(Exception, match="404"):
            await client.get(PODS, "p", "ns")
    assert seen == [("create", "events", "200"), ("get", "pods", "404")]

"""Lists and watches: selectors, pages, versions, bookmarks."""

import asyncio

import pytest

from localcluster.apiserver.server import ApiServer
from localcluster.apiserver.verbs import watch as watching
from localcluster.apiserver.verbs.forms import Form
from tests.localcluster.apiserver.rest import PODS, Rest, binding, pod

MAPS = "/api/v1/namespaces/default/configmaps"


def names(listing: dict[str, object]) -> list[str]:
    return [each["metadata"]["name"] for each in listing["items"]]  # type: ignore[attr-defined]


async def three_maps(rest: Rest) -> None:
    for name, labels in (("a", {"x": "1"}), ("b", {"x": "2"}), ("c", {})):
        await rest.create(MAPS, {"metadata": {"name": name, "labels": labels}})


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("x=1", ["a"]),
        ("x==1", ["a"]),
        ("x!=1", ["b", "c"]),
        ("x", ["a", "b"]),
        ("!x", ["c"]),
        ("x in (1, 2)", ["a", "b"]),
        ("x notin (1)", ["b", "c"]),
        ("x,x!=2", ["a"]),
    ],
)
async def test_label_selectors(rest: Rest, selector: str, found: list[str]) -> None:
    await three_maps(rest)
    assert names(await rest.get(f"{MAPS}?labelSelector={selector}")) == found


@pytest.mark.parametrize("selector", ["a b", "a in (b", "x=a b", "a in b"])
async def test_senseless_label_selectors_are_refused(rest: Rest, selector: str) -> None:
    answer = await rest.ask("GET", f"{MAPS}?labelSelector={selector}")
    assert answer.code == 400
    assert answer.message.startswith("unable to parse requirement")
    bare = await rest.ask("GET", f"{MAPS}?labelSelector==")
    assert bare.message == "found '=', expected: !, identifier, or 'end of string'"


async def test_field_selectors(rest: Rest) -> None:
    await rest.create(PODS, pod("free", schedulerName="mine"))
    await rest.create(PODS, pod("bound", nodeName="n1"))
    for selector, found in (
        ("spec.nodeName=n1", ["bound"]),
        ("spec.nodeName!=n1", ["free"]),
        ("spec.nodeName=", ["free"]),
        ("spec.schedulerName=mine,status.phase=Pending", ["free"]),
        ("metadata.name=bound", ["bound"]),
        ("status.phase!=Pending", []),
    ):
        assert names(await rest.get(f"/api/v1/pods?fieldSelector={selector}")) == found, selector
    answer = await rest.ask("GET", "/api/v1/pods?fieldSelector=spec.foo=1")
    assert (answer.code, answer.message) == (400, "field label not supported: spec.foo")


async def test_pages_show_one_moment(rest: Rest) -> None:
    await three_maps(rest)
    first = await rest.get(f"{MAPS}?limit=2")
    assert names(first) == ["a", "b"]
    assert first["metadata"]["remainingItemCount"] == 1
    await rest.ask("DELETE", f"{MAPS}/c")
    second = await rest.get(f"{MAPS}?limit=2&continue={first['metadata']['continue']}")
    assert names(second) == ["c"]
    assert second["metadata"] == {"resourceVersion": first["metadata"]["resourceVersion"]}


@pytest.mark.parametrize(
    ("query", "code", "reason"),
    [
        ("resourceVersion=abc", 400, "BadRequest"),
        ("resourceVersion=99999999", 504, "Timeout"),
        ("resourceVersion=1&resourceVersionMatch=Exact", 410, "Expired"),
        ("resourceVersionMatch=Exact", 422, "Invalid"),
        ("limit=a", 400, "BadRequest"),
        ("continue=a", 400, "BadRequest"),
    ],
)
async def test_senseless_versions_and_pages_are_refused(rest: Rest, query: str, code: int, reason: str) -> None:
    answer = await rest.ask("GET", f"{MAPS}?{query}")
    assert (answer.code, answer.body["reason"]) == (code, reason)


async def test_a_watch_tells_every_change_after_its_version(rest: Rest) -> None:
    version = (await rest.get("/api/v1/pods"))["metadata"]["resourceVersion"]
    await rest.create(PODS, pod())
    await rest.ask("POST", f"{PODS}/p/binding", binding("p"))
    await rest.ask("DELETE", f"{PODS}/p", {"gracePeriodSeconds": 0})
    events = await rest.watch(f"/api/v1/pods?watch=1&resourceVersion={version}", 4)
    assert [each["type"] for each in events] == ["ADDED", "MODIFIED", "MODIFIED", "DELETED"]
    versions = [int(each["object"]["metadata"]["resourceVersion"]) for each in events]
    assert versions == sorted(versions)


async def test_a_watch_from_nowhere_begins_with_what_is_there(rest: Rest) -> None:
    await three_maps(rest)
    events = await rest.watch(f"{MAPS}?watch=true", 3)
    assert [each["object"]["metadata"]["name"] for each in events] == ["a", "b", "c"]


async def test_a_selecting_watch_sees_objects_come_and_go(rest: Rest) -> None:
    version = (await rest.get(MAPS))["metadata"]["resourceVersion"]
    await rest.create(MAPS, {"metadata": {"name": "m"}})
    await rest.patch(f"{MAPS}/m", {"metadata": {"labels": {"x": "1"}}})
    await rest.patch(f"{MAPS}/m", {"data": {"a": "b"}})
    await rest.patch(f"{MAPS}/m", {"metadata": {"labels": None}})
    events = await rest.watch(f"{MAPS}?watch=1&labelSelector=x%3D1&resourceVersion={version}", 3)
    assert [each["type"] for each in events] == ["ADDED", "MODIFIED", "DELETED"]


async def test_a_watch_ends_in_time_with_a_bookmark(rest: Rest) -> None:
    await three_maps(rest)
    listing = await rest.get(MAPS)
    version = listing["metadata"]["resourceVersion"]
    query = f"watch=1&allowWatchBookmarks=true&timeoutSeconds=1&resourceVersion={version}"
    events = await rest.watched_to_the_end(f"{MAPS}?{query}")
    assert [each["type"] for each in events] == ["BOOKMARK"]
    assert int(events[0]["object"]["metadata"]["resourceVersion"]) >= int(version)


async def test_initial_events_end_with_a_mark(rest: Rest) -> None:
    await three_maps(rest)
    query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    events = await rest.watch(f"{MAPS}?{query}", 4)
    assert [each["type"] for each in events] == ["ADDED"] * 3 + ["BOOKMARK"]
    assert events[3]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


async def test_a_version_too_old_to_watch_from_is_expired(rest: Rest, server: ApiServer) -> None:
    first = (await rest.create(MAPS, {"metadata": {"name": "m"}}))["metadata"]["resourceVersion"]
    stored = server.store.get(("", "configmaps"), "default", "m")
    for number in range(9000):
        assert stored is not None
        new = {**stored.obj, "metadata": {**stored.obj["metadata"]}, "data": {"n": str(number)}}
        stored = server.store.replace(("", "configmaps"), stored, new)
    (event,) = await rest.watched_to_the_end(f"{MAPS}?watch=1&resourceVersion={first}")
    assert event["type"] == "ERROR"
    assert (event["object"]["code"], event["object"]["reason"]) == (410, "Expired")
    assert event["object"]["message"].startswith(f"too old resource version: {first} (")


async def test_a_watcher_that_never_reads_is_cut_and_the_server_goes_on(
    rest: Rest, server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "MOST_WAITING_EVENTS", 10)
    blocked, cuts = asyncio.Event(), list[bool]()
    kind = server.registry.find("", "v1", "configmaps")
    assert kind is not None
    watcher = watching.Watcher(server.core, kind, "", {}, Form.OBJECT)

    async def never(data: bytes) -> None:
        blocked.set()
        await asyncio.Event().wait()

    running = asyncio.create_task(watcher.run(never, lambda: cuts.append(True)))
    await rest.create(MAPS, {"metadata": {"name": "first"}})
    await blocked.wait()
    for number in range(12):
        await rest.create(MAPS, {"metadata": {"name": f"m{number}"}})
    assert cuts == [True]
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert len((await rest.get(MAPS))["items"]) == 13


async def test_metadata_alone_can_be_asked_for(rest: Rest) -> None:
    await three_maps(rest)
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    answer = await rest.ask("GET", MAPS, accept=accept)
    assert answer.body["kind"] == "PartialObjectMetadataList"
    assert set(answer.body["items"][0]) == {"kind", "apiVersion", "metadata"}

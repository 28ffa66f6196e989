"""Group objects of other schedulers are followed from the first Job on that needs their kind, and not before."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any, cast

import orjson
import pytest

from api.meta import Metadata
from controllers.provider_groups import MISSING_SECONDS, KindMissing, ProviderGroups
from kube.client.client import Client
from kube.client.errors import NotFound
from kube.client.resources import Resource
from providers.volcano import KIND


def group(
    name: str, *, owner: str = "uid-of-job", minimum: int = 4, version: int = 1, **metadata: Any
) -> dict[str, Any]:
    reference = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": owner, "controller": True}
    found = {"name": name, "namespace": "team", "uid": f"uid-of-{name}", "resourceVersion": str(version), **metadata}
    return {"metadata": {**found, "ownerReferences": [reference]}, "spec": {"minMember": minimum}}


class Server:
    """One kind, which may not be there; `tell` sends an event to whoever watches."""

    def __init__(self, *objects: dict[str, Any], is_installed: bool = True) -> None:
        self.is_installed = is_installed
        self.asked = 0
        self.objects = objects
        self._events: asyncio.Queue[bytes] = asyncio.Queue()

    def tell(self, kind: str, changed: dict[str, Any]) -> None:
        self._events.put_nowait(orjson.dumps({"type": kind, "object": changed}))

    async def request_json(self, method: str, path: str, *, params: dict[str, str]) -> dict[str, Any]:
        assert (method, path, params) == ("GET", "/apis/scheduling.volcano.sh/v1beta1/podgroups", {"limit": "1"})
        self.asked += 1
        self._require_kind()
        return {"items": []}

    async def list_pages(self, resource: Resource, namespace: str | None = None, **_: Any) -> AsyncIterator[bytes]:
        assert (resource.group, namespace) == (KIND.group, None)
        self._require_kind()
        yield orjson.dumps({"metadata": {"resourceVersion": "1"}, "items": list(self.objects)})

    async def watch(self, *_: Any, **__: Any) -> AsyncIterator[bytes]:
        while True:
            event = await self._events.get()
            self._require_kind()
            yield event

    def _require_kind(self) -> None:
        if not self.is_installed:
            raise NotFound(404, "NotFound", "404 page not found")


class Stage:
    """What follows one server, with a clock of its own."""

    def __init__(self, server: Server) -> None:
        self.now = 0.0
        self.changed: asyncio.Queue[Metadata] = asyncio.Queue()
        self.groups = ProviderGroups(cast("Client", server), on_change=self.changed.put_nowait, clock=lambda: self.now)

    async def __aenter__(self) -> "Stage":
        self._task = asyncio.ensure_future(self.groups.run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def names(self, owner: str = "uid-of-job") -> list[str]:
        return [found.metadata.name for found in await self.groups.owned(KIND, owner)]


async def test_nothing_is_asked_before_a_job_needs_the_kind() -> None:
    server = Server()
    async with Stage(server):
        await asyncio.sleep(0)
        assert server.asked == 0


async def test_the_objects_of_an_owner_are_those_it_controls_and_that_stay() -> None:
    leaving = group("leaving", deletionTimestamp="2026-01-01T00:00:00Z")
    server = Server(group("mine"), group("other", owner="uid-of-other"), leaving)
    async with Stage(server) as stage:
        assert await stage.names() == ["mine"]
        assert await stage.names() == ["mine"]
        assert server.asked == 1


async def test_many_jobs_ask_at_once_and_the_kind_is_followed_once() -> None:
    server = Server(group("mine"))
    async with Stage(server) as stage:
        assert await asyncio.gather(*(stage.names() for _ in range(20))) == [["mine"]] * 20
        server.tell("DELETED", group("mine", version=2))
        assert (await stage.changed.get()).name == "mine"
        assert (await stage.changed.get()).name == "mine"
        assert stage.changed.empty()


async def test_a_missing_kind_is_looked_for_again_after_a_while_for_all_jobs_together() -> None:
    server = Server(is_installed=False)
    async with Stage(server) as stage:
        for _ in range(10):
            with pytest.raises(KindMissing, match=r"podgroups\.scheduling\.volcano\.sh"):
                await stage.names()
        assert server.asked == 1
        server.is_installed = True
        stage.now = MISSING_SECONDS
        assert await stage.names() == []
        assert server.asked == 2


async def test_a_changed_minimum_or_a_deletion_concerns_the_owner_and_a_status_does_not() -> None:
    server = Server(group("mine"))
    async with Stage(server) as stage:
        await stage.names()
        assert (await stage.changed.get()).name == "mine"
        server.tell("MODIFIED", {**group("mine", version=2), "status": {"phase": "Running"}})
        server.tell("MODIFIED", group("mine", version=3, minimum=1))
        told = await stage.changed.get()
        assert told.resource_version == "3"
        server.tell("DELETED", group("mine", version=4))
        assert (await stage.changed.get()).name == "mine"
        assert await stage.names() == []


async def test_a_kind_that_was_taken_away_and_came_back_is_followed_anew_at_once() -> None:
    server = Server(group("mine"), group("other", owner="uid-of-other"))
    async with Stage(server) as stage:
        assert await stage.names() == ["mine"]
        assert {(await stage.changed.get()).name for _ in range(2)} == {"mine", "other"}
        server.is_installed = False
        server.tell("DELETED", group("mine", version=2))
        async with asyncio.timeout(10):
            while not server.asked > 1:
                with contextlib.suppress(KindMissing):
                    await stage.names()
                await asyncio.sleep(0)
        server.is_installed, server.objects = True, (group("other", owner="uid-of-other"),)
        stage.now = MISSING_SECONDS
        assert await stage.names() == []
        told = {(await stage.changed.get()).name for _ in range(3)}
        assert told == {"mine", "other"}, "whoever had an object must look whether it is still there"
        server.tell("DELETED", group("other", owner="uid-of-other", version=9))
        assert (await stage.changed.get()).resource_version == "1"
        assert await stage.names("uid-of-other") == []

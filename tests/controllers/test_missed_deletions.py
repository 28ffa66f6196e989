"""Objects that were deleted while their watch was broken are forgotten with the next look at how many there are."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from controllers.jobs.store import JobStore
from controllers.missed_deletions import forget_deleted
from kube.cache.store import Key
from kube.client.client import Client
from kube.client.resources import JOBS
from tests.controllers.builders import NAMESPACE, job, job_manifest
from tests.controllers.small_server import SmallServer


class Scene:
    """Three Jobs that the store knows and the server has; nothing is told of what happens from now on."""

    def __init__(self, server: SmallServer, client: Client) -> None:
        self.server, self.client = server, client
        self.lists = 0
        self.store = JobStore()
        self.told: list[Key] = []
        server.refuse = self._count

    async def begin(self) -> None:
        for name in ("a", "b", "c"):
            await self.server.put("jobs", job_manifest(name, uid=name))
            self.store.put(job(name, uid=name))
        self.store.on_change(self.told.append)

    async def look(self) -> int:
        return await forget_deleted(self.store, self.client, JOBS)

    def known(self) -> list[str]:
        return sorted(name for _, name in self.store.keys())  # noqa: SIM118 (no mapping)

    def _count(self, request: web.Request) -> None:
        self.lists += request.path.endswith("/jobs") and request.query.get("limit") != "1"


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    async with SmallServer().running() as server, Client(server.credentials, user_agent="test") as client:
        made = Scene(server, client)
        await made.begin()
        yield made


async def test_a_job_that_was_deleted_unnoticed_is_forgotten_and_everybody_hears_of_it(scene: Scene) -> None:
    await scene.server.remove("jobs", NAMESPACE, "b")
    assert await scene.look() == 1
    assert scene.known() == ["a", "c"]
    assert scene.told == [(NAMESPACE, "b")]


async def test_all_jobs_may_have_been_deleted(scene: Scene) -> None:
    for name in ("a", "b", "c"):
        await scene.server.remove("jobs", NAMESPACE, name)
    assert await scene.look() == 3
    assert scene.known() == []


async def test_as_many_as_are_known_are_not_listed(scene: Scene) -> None:
    assert await scene.look() == 0
    assert scene.lists == 0


async def test_a_predecessor_is_forgotten_by_its_identity(scene: Scene) -> None:
    await scene.server.remove("jobs", NAMESPACE, "b")
    await scene.server.put("jobs", job_manifest("b", uid="another"))
    await scene.server.put("jobs", job_manifest("d", uid="d"))
    assert await scene.look() == 1
    assert scene.known() == ["a", "c"]


async def test_nobody_is_forgotten_because_the_server_does_not_answer(scene: Scene) -> None:
    await scene.server.remove("jobs", NAMESPACE, "b")
    scene.server.forbid("jobs")
    assert await scene.look() == 0
    assert scene.known() == ["a", "b", "c"]

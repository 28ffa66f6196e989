"""LeaderWorkerSets are looked after for as long as the cluster knows them, and nobody minds while it does not."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from prometheus_client import CollectorRegistry

from controllers.context import ControllerContext
from controllers.gangs import kind_manager as module
from controllers.gangs.indexes import POD_GROUP_INDEXERS, WORKLOAD_INDEXERS
from controllers.leaderworkersets.controller import SetController
from controllers.metrics import Metrics
from controllers.mutation_cache import MutationCache
from controllers.provider_groups import ProviderGroups
from controllers.settings import ControllersSettings
from kube.cache.store import Store
from kube.client.client import Client
from kube.client.resources import LEADER_WORKER_SETS
from kube.groups.group_api import OWN
from providers.selection import standard_providers
from tests.controllers import small_server
from tests.controllers.small_server import SmallServer
from tests.lws.builders import leader, lws, stateful_set
from tests.lws.world import RecordedEvents

API, PLURAL = "leaderworkerset.x-k8s.io/v1", "leaderworkersets"


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SmallServer]:
    monkeypatch.setitem(small_server.SERVED, "apps/v1", ["statefulsets", "controllerrevisions"])
    monkeypatch.setattr(module, "ASK_SECONDS", 0.05)
    async with SmallServer().running() as running:
        yield running


@contextlib.asynccontextmanager
async def running_manager(server: SmallServer) -> AsyncIterator["asyncio.Task[None]"]:
    async with Client(server.credentials, user_agent="manager") as client:
        manager = module.KindManager(
            ControllerContext(
                client=client,
                group_api=OWN,
                settings=ControllersSettings(),
                providers=standard_providers(),
                workloads=MutationCache(Store(WORKLOAD_INDEXERS), WORKLOAD_INDEXERS),
                pod_groups=MutationCache(Store(POD_GROUP_INDEXERS), POD_GROUP_INDEXERS),
                provider_groups=ProviderGroups(client),
                recorder=RecordedEvents(),
                metrics=Metrics(CollectorRegistry()),
                random=random.Random(1),
            ),
            LEADER_WORKER_SETS,
            SetController,
        )
        task = asyncio.ensure_future(manager.run())
        try:
            yield task
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


class Asked:
    """Counts how often the server is asked for the kind; `go_at_watch` makes the kind vanish at the first watch of it."""

    def __init__(self, server: SmallServer, *, go_at_watch: bool = False) -> None:
        self.paths: list[str] = []
        self._going = go_at_watch
        self._changed = asyncio.Condition()
        server.refuse = self._note

    def _note(self, request: web.Request) -> web.Response | None:
        self.paths.append(request.path)
        self._tell = asyncio.ensure_future(self._notify())
        if not self._going or not (request.query.get("watch") and request.path.endswith(PLURAL)):
            return None
        self._going = False
        self.paths.clear()
        del small_server.SERVED[API]
        return web.json_response({"kind": "Status", "code": 404, "reason": "NotFound"}, status=404)

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def until_asked(self, times: int) -> None:
        async with asyncio.timeout(20), self._changed:
            await self._changed.wait_for(lambda: not self._going and self.paths.count(f"/apis/{API}") >= times)


async def test_the_kind_is_picked_up_when_it_appears(server: SmallServer, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(server)
    async with running_manager(server):
        await asked.until_asked(3)
        assert set(asked.paths) == {f"/apis/{API}"}
        await server.put("statefulsets", stateful_set())
        await server.put("pods", leader(0))
        await server.put(PLURAL, lws(replicas=1))
        monkeypatch.setitem(small_server.SERVED, API, [PLURAL])
        await server.until(lambda: any(key[0] == "podgroups" for key in server.objects))
    assert {write.method for write in server.writes} == {"POST"}


async def test_the_kind_that_goes_is_waited_for_and_the_process_lives_on(
    server: SmallServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(small_server.SERVED, API, [PLURAL])
    await server.put("statefulsets", stateful_set())
    await server.put(PLURAL, lws(replicas=0))
    asked = Asked(server, go_at_watch=True)
    async with running_manager(server) as task:
        await asked.until_asked(3)
        small_server.SERVED[API] = [PLURAL]
        await server.put("pods", leader(0))
        await server.until(lambda: any(key[0] == "podgroups" for key in server.objects))
        assert not task.done()

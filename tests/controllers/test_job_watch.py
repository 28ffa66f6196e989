"""What we use of kopf, and that it does nothing else."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any, cast

import kopf
import pytest

from api.job import Job
from controllers.job_watch import NoMemories, WatchEnded, kopf_settings, report, watch_until_it_ends, watching_registry
from kube.client.client import PAGE_SIZE
from kube.client.credentials import Credentials
from kube.client.resources import JOBS
from tests.controllers.builders import job_manifest
from tests.controllers.small_server import SmallServer


@pytest.fixture
async def server() -> AsyncIterator[SmallServer]:
    async with SmallServer().running() as running:
        yield running


class Reported:
    """Jobs as they are delivered from kopf's thread."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()

    def deliver(self, action: str, job: Job) -> None:
        self._loop.call_soon_threadsafe(self._take, action, job)

    def _take(self, action: str, job: Job) -> None:
        self.told.append((action, job.metadata.name))
        self._changed.set()

    async def until(self, *expected: tuple[str, str]) -> None:
        async with asyncio.timeout(20):
            while Counter(expected) - Counter(self.told):
                self._changed.clear()
                await self._changed.wait()


def test_the_registry_holds_one_event_handler_one_login_and_nothing_that_writes() -> None:
    registry = watching_registry(Credentials(server="http://nowhere"), JOBS, Job, lambda *_: None)
    watching = list(registry._watching.get_all_handlers())
    assert [(h.selector.group, h.selector.version, h.selector.any_name) for h in watching if h.selector] == [
        ("batch", "v1", "jobs")
    ]
    for other in (registry._changing, registry._spawning, registry._indexing, registry._webhooks):
        assert list(other.get_all_handlers()) == []
    activities = [handler.activity for handler in registry._activities.get_all_handlers()]
    assert [activity.value for activity in activities if activity] == ["authentication"]


def test_the_settings_let_kopf_write_nothing_and_start_nothing_of_its_own() -> None:
    settings = kopf_settings()
    body = kopf.Body(cast("kopf.RawBody", job_manifest()))
    patch = kopf.Patch()
    storage, progress = settings.persistence.diffbase_storage, settings.persistence.progress_storage
    storage.store(body=body, patch=patch, essence=storage.build(body=body))
    progress.touch(body=body, patch=patch, value="now")
    assert not patch
    assert storage.fetch(body=body) is None
    assert not settings.posting.enabled
    assert settings.peering.standalone
    assert settings.scanning.disabled
    assert settings.watching.chunk_size == PAGE_SIZE, "all Jobs of the cluster would be in memory at once"
    assert isinstance(settings.watching.server_timeout, int), "the API server refuses 270.0"


@pytest.mark.parametrize(
    ("kind", "action"), [(None, "put"), ("ADDED", "put"), ("MODIFIED", "put"), ("DELETED", "remove")]
)
def test_every_event_of_a_job_is_handed_on(kind: str | None, action: str) -> None:
    delivered: list[tuple[str, str]] = []
    report({"type": kind, "object": job_manifest()}, Job, lambda what, job: delivered.append((what, job.metadata.uid)))
    assert delivered == [(action, job_manifest()["metadata"]["uid"])]


@pytest.mark.parametrize(
    "damage",
    [{"spec": 7}, {"spec": {"parallelism": "many"}}, {"metadata": None}, {"metadata": {"labels": [1]}}],
    ids=["spec", "parallelism", "no metadata", "labels"],
)
def test_a_job_that_cannot_be_read_is_logged_and_left_out(
    damage: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    report({"type": "ADDED", "object": job_manifest() | damage}, Job, lambda *_: pytest.fail("delivered"))
    assert "is not readable" in caplog.text


async def test_a_run_reports_every_change_and_writes_nothing(server: SmallServer) -> None:
    await server.put("jobs", job_manifest("first"))
    reported = Reported()
    watch = asyncio.ensure_future(
        watch_until_it_ends(watching_registry(server.credentials, JOBS, Job, reported.deliver), kopf_settings())
    )
    await reported.until(("put", "first"))
    await server.put("jobs", job_manifest("second", uid="2"))
    await server.put("jobs", job_manifest("second", uid="2", gated=False))
    await server.remove("jobs", "default", "first")
    await reported.until(("put", "second"), ("put", "second"), ("remove", "first"))
    watch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await watch
    assert server.writes == []


async def test_kopf_remembers_no_object_as_it_would_forget_only_those_it_sees_deleted() -> None:
    memories = NoMemories()
    first = await memories.recall(cast("kopf.RawBody", job_manifest()), noticed_by_listing=True)
    assert first.noticed_by_listing
    assert list(memories.iter_all_memories()) == []


async def test_the_end_of_kopf_is_an_error_in_one_line(server: SmallServer) -> None:
    server.break_watch_of("jobs")
    with pytest.raises(WatchEnded) as ended:
        async with asyncio.timeout(20):
            await watch_until_it_ends(
                watching_registry(server.credentials, JOBS, Job, lambda *_: None), kopf_settings()
            )
    assert str(ended.value).startswith("the watch of Jobs has ended: ")
    assert "\n" not in str(ended.value)

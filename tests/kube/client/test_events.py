"""Events: written once, repeated as a series, and never in anybody's way."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from kube.client.client import Client
from kube.client.errors import AlreadyExists, KubeError, NotFound, OutcomeUnknown
from kube.client.events import EventRecorder, ObjectReference
from kube.client.rate_limit import TokenBucket
from kube.client.resources import EVENTS, Resource
from tests.kube.fake_time import in_fake_time, now
from tests.kube.scripted_server import ScriptedServer, ok

JOB = ObjectReference("batch/v1", "Job", "ns", "train", "uid-1")
NODE = ObjectReference("v1", "Node", "", "n1", "uid-2")


class FakeClient:
    """Notes what would be written; raises what the test says."""

    def __init__(self) -> None:
        self.created: list[dict[str, Any]] = []
        self.patched: list[tuple[str, dict[str, Any]]] = []
        self.namespaces: list[str] = []
        self.moments: list[float] = []
        self.trouble: list[KubeError | None] = []

    def _act(self) -> None:
        self.moments.append(now())
        trouble = self.trouble.pop(0) if self.trouble else None
        if trouble is not None:
            raise trouble

    async def create(self, resource: Resource, body: dict[str, Any], namespace: str, *, parse: bool) -> dict[str, Any]:
        assert resource is EVENTS
        assert not parse
        self.namespaces.append(namespace)
        self._act()
        self.created.append(body)
        return {}

    async def patch(
        self, resource: Resource, body: dict[str, Any], name: str, namespace: str, *, parse: bool
    ) -> dict[str, Any]:
        assert resource is EVENTS
        self._act()
        self.patched.append((name, body))
        return {}


def wall_clock() -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=now())


@contextlib.asynccontextmanager
async def recording(client: FakeClient, **options: Any) -> AsyncIterator[EventRecorder]:
    recorder = EventRecorder(
        cast("Client", client), component="tutti-scheduler", instance="me", clock=now, wall_clock=wall_clock, **options
    )
    task = asyncio.create_task(recorder.run())
    try:
        yield recorder
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def waits(recorder: EventRecorder, note: str = "waiting for 3 pods", reason: str = "Waiting") -> None:
    recorder.record(JOB, reason=reason, note=note, action="Schedule", related=NODE)


async def test_an_event_has_every_field_the_api_demands(server: ScriptedServer, client: Client) -> None:
    server.then(ok({}, status=201))
    recorder = EventRecorder(client, component="tutti-scheduler", instance="me")
    task = asyncio.create_task(recorder.run())
    recorder.record(JOB, reason="FailedScheduling", note="no room", type="Warning", action="Schedule", related=NODE)
    await recorder.flush(5)
    task.cancel()
    (seen,) = server.requests
    assert seen.path == "/apis/events.k8s.io/v1/namespaces/ns/events"
    body = seen.json
    assert body["metadata"]["name"].startswith("train.")
    assert body["regarding"] == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "namespace": "ns",
        "name": "train",
        "uid": "uid-1",
    }
    assert body["related"] == {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "uid-2"}
    fields = {
        key: body[key] for key in ("type", "reason", "note", "action", "reportingController", "reportingInstance")
    }
    assert fields == {
        "type": "Warning",
        "reason": "FailedScheduling",
        "note": "no room",
        "action": "Schedule",
        "reportingController": "tutti-scheduler",
        "reportingInstance": "me",
    }
    assert body["eventTime"].endswith("Z")


@in_fake_time
async def test_the_event_of_a_cluster_scoped_object_is_kept_in_default() -> None:
    client = FakeClient()
    async with recording(client) as recorder:
        recorder.record(NODE, reason="R", note="n", action="A")
        await recorder.flush(5)
    assert client.namespaces == ["default"]
    assert "namespace" not in client.created[0]["regarding"]


@in_fake_time
async def test_the_same_thing_again_becomes_a_series() -> None:
    client = FakeClient()
    async with recording(client) as recorder:
        waits(recorder)
        await asyncio.sleep(10)
        waits(recorder)
        await recorder.flush(5)
    assert len(client.created) == 1
    ((name, patch),) = client.patched
    assert name == client.created[0]["metadata"]["name"]
    assert patch["series"]["count"] == 2
    assert patch["series"]["lastObservedTime"] > client.created[0]["eventTime"]


@in_fake_time
async def test_a_thousand_repetitions_cost_a_handful_of_writes() -> None:
    client = FakeClient()
    async with recording(client) as recorder:
        for _ in range(1000):
            waits(recorder)
            await asyncio.sleep(0.5)
        await recorder.flush(5)
    assert len(client.created) == 1
    assert len(client.patched) <= 8
    assert client.patched[-1][1]["series"]["count"] > 300


@in_fake_time
async def test_another_note_reason_or_object_is_another_event() -> None:
    client = FakeClient()
    async with recording(client) as recorder:
        waits(recorder)
        waits(recorder, note="waiting for 2 pods")
        waits(recorder, reason="Other")
        recorder.record(
            ObjectReference("batch/v1", "Job", "ns", "train", "uid-of-its-successor"),
            reason="Waiting",
            note="waiting for 3 pods",
            action="Schedule",
        )
        await recorder.flush(5)
    assert len(client.created) == 4
    assert len({body["metadata"]["name"] for body in client.created}) == 4


@in_fake_time
async def test_two_thousand_events_about_one_object_in_one_microsecond_have_names_of_their_own() -> None:
    client = FakeClient()
    async with recording(client, max_queued=2000) as recorder:
        for number in range(2000):
            waits(recorder, note=f"waiting for {number} pods")
        await recorder.flush(200)
    assert len({body["metadata"]["name"] for body in client.created}) == 2000


@in_fake_time
async def test_after_five_quiet_minutes_it_is_a_new_event() -> None:
    client = FakeClient()
    async with recording(client) as recorder:
        waits(recorder)
        await asyncio.sleep(301)
        waits(recorder)
        await recorder.flush(5)
    assert len(client.created) == 2
    assert not client.patched


@in_fake_time
async def test_a_series_whose_event_is_gone_starts_anew() -> None:
    client = FakeClient()
    async with recording(client) as recorder:
        waits(recorder)
        await asyncio.sleep(10)
        client.trouble = [NotFound(404)]
        waits(recorder)
        await recorder.flush(5)
    assert len(client.created) == 2


@in_fake_time
async def test_failures_are_counted_and_hurt_nobody() -> None:
    client = FakeClient()
    client.trouble = [NotFound(404), OutcomeUnknown("lost"), AlreadyExists(409), None]
    async with recording(client) as recorder:
        for number in range(4):
            waits(recorder, note=f"note {number}")
        await recorder.flush(5)
        assert recorder.failed == 2
        assert [body["note"] for body in client.created] == ["note 3"]


@in_fake_time
async def test_a_long_note_is_cut_to_a_kibibyte_of_utf8() -> None:
    client = FakeClient()
    async with recording(client) as recorder:
        waits(recorder, note="ä" * 3000)
        await recorder.flush(5)
    note = client.created[0]["note"]
    assert 1000 < len(note.encode()) <= 1024
    assert note.endswith("ä…")


@in_fake_time
async def test_a_full_queue_drops_the_oldest_and_counts_it() -> None:
    client = FakeClient()
    async with recording(client, max_queued=3) as recorder:
        for number in range(5):
            waits(recorder, note=f"note {number}")
        assert recorder.dropped == 2
        await recorder.flush(5)
    assert [body["note"] for body in client.created] == ["note 2", "note 3", "note 4"]


@in_fake_time
async def test_writing_is_slowed_down_after_a_burst() -> None:
    client = FakeClient()
    async with recording(client) as recorder:
        for number in range(300):
            waits(recorder, note=f"note {number}")
        await recorder.flush(60)
    assert len(client.created) == 300
    assert client.moments[99] - client.moments[0] < 0.1
    assert 9.5 < client.moments[299] - client.moments[0] < 10.5


@in_fake_time
async def test_the_gate_makes_events_wait() -> None:
    client = FakeClient()
    opened = asyncio.Event()

    async def gate() -> None:
        await opened.wait()

    async with recording(client, gate=gate) as recorder:
        waits(recorder)
        await recorder.flush(30)
        assert not client.created
        opened.set()
        await recorder.flush(30)
    assert len(client.created) == 1


def test_a_bucket_gives_its_burst_and_then_its_rate() -> None:
    moment = 0.0
    bucket = TokenBucket(per_second=2, burst=2, clock=lambda: moment)
    assert [bucket.take() for _ in range(4)] == [0.0, 0.0, 0.5, 1.0]
    moment = 100.0
    assert [bucket.take() for _ in range(3)] == [0.0, 0.0, 0.5]


def test_who_does_not_wait_takes_a_token_only_when_there_is_one() -> None:
    moment = 0.0
    bucket = TokenBucket(per_second=2, burst=2, clock=lambda: moment)
    assert [bucket.try_take() for _ in range(4)] == [True, True, False, False]
    moment = 0.5
    assert [bucket.try_take() for _ in range(2)] == [True, False]

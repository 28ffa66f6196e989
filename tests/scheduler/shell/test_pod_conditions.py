"""Waiting pods hear once why they wait, and pods that are on their way hear nothing."""

import asyncio
import random
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from api.constants import CONDITION_POD_SCHEDULED
from api.pod import Pod
from kube.client.errors import OutcomeUnknown
from scheduler.apicalls.conditions import PodConditions
from scheduler.apicalls.dispatcher import APIDispatcher, Retries
from tests.scheduler.shell.clocks import FakeClock
from tests.scheduler.shell.fake_api import FakeApi, once

PATCH = ("patch", "pods/status")


class Bench:
    def __init__(self) -> None:
        self.api = FakeApi()
        self.clock = FakeClock()
        self.dispatcher = APIDispatcher(concurrency=1, may_write=lambda: True, clock=self.clock)
        self.waiting = True
        self.conditions = self.fresh()
        self.pod = self.decoded(self.api.put("pods", {"metadata": {"namespace": "ns", "name": "p"}, "spec": {}}))

    def fresh(self) -> PodConditions:
        """As after a restart."""
        return PodConditions(
            self.api,
            self.dispatcher,
            is_waiting=lambda _uid: self.waiting,
            retries=Retries(self.clock.later, random.Random(1)),
            wall_clock=lambda: datetime(2026, 1, 2, tzinfo=UTC),
        )

    @staticmethod
    def decoded(stored: dict[str, Any]) -> Pod:
        return msgspec.convert(stored, Pod)

    async def want(self, message: str, reason: str = "Unschedulable", *, or_blockers: bool = False) -> bool:
        is_news = self.conditions.want(self.pod.metadata, reason=reason, message=message, or_blockers=or_blockers)
        await self.dispatcher.idle()
        return is_news

    def now(self) -> dict[str, Any]:
        return self.api.condition("pods", "ns", "p", CONDITION_POD_SCHEDULED)


@pytest.fixture
async def bench() -> Bench:
    return Bench()


async def test_a_waiting_pod_says_why(bench: Bench) -> None:
    assert await bench.want("0/7 nodes are available: 7 Insufficient cpu.")
    assert bench.now() == {
        "type": CONDITION_POD_SCHEDULED,
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/7 nodes are available: 7 Insufficient cpu.",
        "lastProbeTime": None,
        "lastTransitionTime": "2026-01-02T00:00:00Z",
    }


async def test_a_member_is_written_once_per_reason_whatever_the_message(bench: Bench) -> None:
    await bench.want("0/7 nodes are available: 7 Insufficient cpu.")
    assert not await bench.want("0/8 nodes are available: 8 Insufficient memory.")
    assert await bench.want("members differ in priority", "SchedulerError")
    assert len(bench.api.sent(*PATCH)) == 2


async def test_a_lone_pod_hears_of_other_blockers_but_not_of_other_counts(bench: Bench) -> None:
    await bench.want("0/7 nodes are available: 7 Insufficient cpu.", or_blockers=True)
    assert not await bench.want("0/8 nodes are available: 8 Insufficient cpu.", or_blockers=True)
    assert await bench.want("0/8 nodes are available: 8 Insufficient memory.", or_blockers=True)


async def test_what_a_pod_says_is_known_after_a_restart(bench: Bench) -> None:
    await bench.want("0/7 nodes are available: 7 Insufficient cpu.")
    bench.conditions = bench.fresh()
    bench.conditions.observe(bench.decoded(bench.api.peek("pods", "ns", "p")))
    assert not await bench.want("0/9 nodes are available: 9 Insufficient cpu.", or_blockers=True)
    assert len(bench.api.sent(*PATCH)) == 1


async def test_the_time_stays_while_the_status_does(bench: Bench) -> None:
    stored = bench.api.peek("pods", "ns", "p")
    stored["status"] = {
        "conditions": [
            {
                "type": CONDITION_POD_SCHEDULED,
                "status": "False",
                "reason": "Unschedulable",
                "message": "no room",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }
        ]
    }
    bench.conditions.observe(bench.decoded(bench.api.put("pods", stored)))
    await bench.want("members differ", "SchedulerError")
    assert bench.now()["lastTransitionTime"] == "2026-01-01T00:00:00Z"


async def test_a_pod_that_is_being_bound_hears_nothing(bench: Bench) -> None:
    bench.waiting = False
    await bench.want("no room")
    assert bench.api.sent(*PATCH) == []


async def test_what_is_queued_for_a_pod_is_withdrawn_when_it_gets_a_place(bench: Bench) -> None:
    bind_ends = asyncio.Event()

    async def bind() -> str:
        await bind_ends.wait()
        return "bound"

    bench.dispatcher.add_urgent(bind)
    bench.conditions.want(bench.pod.metadata, reason="Unschedulable", message="no room")
    bench.conditions.withdraw(bench.pod.metadata.uid)
    bind_ends.set()
    await bench.dispatcher.idle()
    assert bench.api.sent(*PATCH) == []


async def test_the_answer_about_a_pod_that_went_meanwhile_is_not_remembered(bench: Bench) -> None:
    def gone(verb: str, what: str, _name: str) -> None:
        if (verb, what) == PATCH:
            bench.waiting = False
            bench.conditions.gone(bench.pod.metadata.uid)

    bench.api.after.append(gone)
    assert await bench.want("no room")
    bench.api.after.clear()
    bench.waiting = True
    assert await bench.want("no room"), "somebody who is not known says nothing"


async def test_a_same_named_successor_gets_nothing(bench: Bench) -> None:
    bench.api.remove("pods", "ns", "p")
    bench.api.put("pods", {"metadata": {"namespace": "ns", "name": "p"}, "spec": {}})
    await bench.want("no room")
    assert bench.now() == {}


async def test_a_patch_whose_answer_was_lost_is_simply_repeated(bench: Bench) -> None:
    bench.api.before.append(once(*PATCH, OutcomeUnknown("lost")))
    await bench.want("no room")
    bench.clock.pass_seconds(1.0)
    await bench.dispatcher.idle()
    assert bench.now()["message"] == "no room"

"""One patch per change, on the newest known version, never against somebody else's write or a successor."""

import random
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from api.constants import CONDITION_POD_GROUP_SATISFIED, CONDITION_SCHEDULED
from api.meta import Condition, condition_of
from api.podgroup import PodGroup
from kube.client.errors import Forbidden, OutcomeUnknown, Unreachable
from kube.groups.group_api import OWN
from scheduler.apicalls.conditions import condition
from scheduler.apicalls.dispatcher import APIDispatcher, Retries
from scheduler.apicalls.group_conditions import GroupConditions
from tests.scheduler.shell.clocks import FakeClock
from tests.scheduler.shell.fake_api import FakeApi, always, once

PATCH = ("patch", "podgroups/status")


def refused(message: str) -> Condition:
    return condition(CONDITION_SCHEDULED, is_true=False, reason="Unschedulable", message=message)


SCHEDULED = condition(CONDITION_SCHEDULED, is_true=True, reason="Scheduled", message="")


class Bench:
    def __init__(self) -> None:
        self.api = FakeApi()
        self.clock = FakeClock()
        self.dispatcher = APIDispatcher(concurrency=4, may_write=lambda: True, clock=self.clock)
        self.cached: PodGroup | None = None
        self.conditions = GroupConditions(
            self.api,
            self.dispatcher,
            OWN.pod_groups,
            shown=lambda _namespace, _name: self.cached,
            retries=Retries(self.clock.later, random.Random(1)),
            wall_clock=lambda: datetime(2026, 1, 2, tzinfo=UTC),
        )
        self.group = self.show(self.api.put("podgroups", {"metadata": {"namespace": "ns", "name": "g"}, "spec": {}}))

    def show(self, stored: dict[str, Any]) -> PodGroup:
        """Let the informer see this version."""
        self.cached = msgspec.convert(stored, PodGroup)
        self.conditions.seen(self.cached)
        return self.cached

    def now(self) -> dict[str, Any]:
        return self.api.condition("podgroups", "ns", "g", CONDITION_SCHEDULED)

    async def want(self, wanted: Condition) -> bool:
        is_written = self.conditions.want(self.group.metadata, wanted)
        await self.dispatcher.idle()
        return is_written


@pytest.fixture
async def bench() -> Bench:
    return Bench()


async def test_a_wish_becomes_one_patch(bench: Bench) -> None:
    assert await bench.want(refused("no room"))
    assert bench.now() == {
        "type": CONDITION_SCHEDULED,
        "status": "False",
        "reason": "Unschedulable",
        "message": "no room",
        "lastTransitionTime": "2026-01-02T00:00:00Z",
    }


async def test_the_same_wish_again_writes_nothing_even_while_the_cache_lags(bench: Bench) -> None:
    await bench.want(refused("no room"))
    assert not await bench.want(refused("no room"))
    assert len(bench.api.sent(*PATCH)) == 1


async def test_a_lagging_cache_cannot_take_scheduled_back(bench: Bench) -> None:
    await bench.want(SCHEDULED)
    assert not await bench.want(refused("no room"))
    assert bench.now()["status"] == "True"


async def test_wishes_that_overtake_each_other_are_one_write(bench: Bench) -> None:
    for count in range(5):
        bench.conditions.want(bench.group.metadata, refused(f"{count} of 8"))
    bench.conditions.want(bench.group.metadata, SCHEDULED)
    await bench.dispatcher.idle()
    assert len(bench.api.sent(*PATCH)) == 1
    assert bench.now()["status"] == "True"


async def test_two_kinds_of_condition_are_written_together(bench: Bench) -> None:
    bench.conditions.want(bench.group.metadata, SCHEDULED)
    bench.conditions.want(
        bench.group.metadata,
        condition(CONDITION_POD_GROUP_SATISFIED, is_true=False, reason="BelowMinimum", message="6 of 8"),
    )
    await bench.dispatcher.idle()
    assert len(bench.api.sent(*PATCH)) == 1
    assert bench.api.condition("podgroups", "ns", "g", CONDITION_POD_GROUP_SATISFIED)["status"] == "False"


async def test_what_somebody_else_wrote_meanwhile_is_kept(bench: Bench) -> None:
    theirs = bench.api.peek("podgroups", "ns", "g")
    theirs["status"] = {"conditions": [{"type": "DisruptionTarget", "status": "True", "observedGeneration": 3}]}
    bench.api.put("podgroups", theirs)
    await bench.want(refused("no room"))
    assert bench.now()["reason"] == "Unschedulable"
    assert bench.api.condition("podgroups", "ns", "g", "DisruptionTarget")["observedGeneration"] == 3


async def test_scheduled_that_the_server_shows_first_is_not_taken_back(bench: Bench) -> None:
    theirs = bench.api.peek("podgroups", "ns", "g")
    theirs["status"] = {"conditions": [{"type": CONDITION_SCHEDULED, "status": "True", "reason": "Scheduled"}]}
    bench.api.put("podgroups", theirs)
    await bench.want(refused("no room"))
    assert bench.now()["status"] == "True"


@pytest.mark.parametrize("lost", [False, True], ids=["answered", "lost"])
async def test_of_a_group_that_went_before_the_answer_came_nothing_is_remembered_or_told(
    bench: Bench, *, lost: bool
) -> None:
    def gone(verb: str, what: str, _name: str) -> OutcomeUnknown | None:
        if (verb, what) != PATCH:
            return None
        bench.cached = None
        bench.conditions.gone(bench.group.metadata.uid)
        return OutcomeUnknown("lost") if lost else None

    said: list[str] = []
    bench.api.after.append(gone)
    bench.conditions.want(bench.group.metadata, refused("no room"), then=lambda: said.append("refused"))
    await bench.dispatcher.idle()
    assert bench.conditions.current(bench.group.metadata) == ()
    assert bench.clock.waiting == 0
    assert said == []


async def test_a_same_named_successor_gets_nothing(bench: Bench) -> None:
    bench.api.remove("podgroups", "ns", "g")
    bench.api.put("podgroups", {"metadata": {"namespace": "ns", "name": "g"}, "spec": {}})
    await bench.want(refused("no room"))
    assert bench.now() == {}


async def test_a_lost_answer_is_looked_at_before_writing_again(bench: Bench) -> None:
    bench.api.after.append(once(*PATCH, OutcomeUnknown("lost")))
    await bench.want(refused("no room"))
    assert bench.now()["reason"] == "Unschedulable"
    assert len(bench.api.sent(*PATCH)) == 1


async def test_a_write_that_did_not_get_through_comes_back_with_the_latest_wish(bench: Bench) -> None:
    bench.api.before.append(once(*PATCH, Unreachable("no route")))
    said: list[str] = []
    bench.conditions.want(bench.group.metadata, refused("no room"), then=lambda: said.append("refused"))
    await bench.dispatcher.idle()
    assert said == []
    bench.conditions.want(bench.group.metadata, SCHEDULED, then=lambda: said.append("scheduled"))
    await bench.dispatcher.idle()
    bench.clock.pass_seconds(60.0)
    await bench.dispatcher.idle()
    assert bench.now()["status"] == "True"
    assert said == ["scheduled"]


@pytest.mark.parametrize("is_said_before", [True, False])
async def test_what_contradicts_a_write_under_way_is_written_after_it(bench: Bench, *, is_said_before: bool) -> None:
    whole = condition(CONDITION_POD_GROUP_SATISFIED, is_true=True, reason="Recovered", message="")
    short = condition(CONDITION_POD_GROUP_SATISFIED, is_true=False, reason="BelowMinimum", message="1 of 2")
    if is_said_before:
        await bench.want(whole)
    group = bench.group.metadata
    said_meanwhile: list[Condition | None] = []

    def while_it_is_under_way(verb: str, what: str, _name: str) -> None:
        if (verb, what) == PATCH and not said_meanwhile:
            said_meanwhile.append(condition_of(bench.conditions.to_be(group), short.type))
            assert bench.conditions.want(group, whole)

    bench.api.before.append(while_it_is_under_way)
    await bench.want(short)
    assert [one and one.status for one in said_meanwhile] == ["False"]
    assert bench.api.condition("podgroups", "ns", "g", short.type)["status"] == "True"
    assert condition_of(bench.conditions.to_be(group), short.type) == condition_of(
        bench.conditions.current(group), short.type
    )


async def test_a_start_under_way_that_is_shown_already_is_not_contradicted(bench: Bench) -> None:
    group = bench.group.metadata
    followed: list[str] = []

    def it_is_shown_before_it_is_answered(verb: str, what: str, _name: str) -> None:
        if (verb, what) == PATCH:
            bench.show(bench.api.peek("podgroups", "ns", "g"))
            assert not bench.conditions.want(group, refused("no room"), then=lambda: followed.append("refused"))

    bench.api.after.append(it_is_shown_before_it_is_answered)
    await bench.want(SCHEDULED)
    assert (bench.now()["status"], followed, len(bench.api.sent(*PATCH))) == ("True", [], 1)


async def test_a_missing_right_is_said_in_the_log_and_not_repeated(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.api.before.append(always(*PATCH, Forbidden(403, "Forbidden", "cannot patch podgroups/status")))
    await bench.want(refused("no room"))
    assert "cannot patch podgroups/status" in caplog.text
    assert bench.clock.waiting == 0


async def test_an_event_follows_only_after_the_condition_stands(bench: Bench) -> None:
    seen: list[str] = []
    bench.conditions.want(bench.group.metadata, refused("no room"), then=lambda: seen.append(bench.now()["reason"]))
    assert seen == []
    await bench.dispatcher.idle()
    assert seen == ["Unschedulable"]

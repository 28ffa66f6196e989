"""What can go wrong between a candidate and the last of its deletes."""

import asyncio
from typing import Any

import pytest

from kube.client.errors import Forbidden, Invalid, KubeError, NotFound, OutcomeUnknown, ServerError
from kube.client.resources import Resource
from tests.scheduler.shell.fake_api import Fault, always, once
from tests.scheduler.shell.preemption import HIGH, LOW, MID, Arena

WHOLE: dict[str, Any] = {"disruptionMode": {"all": {}}}


@pytest.fixture
async def arena() -> Arena:
    return Arena()


def full_node(arena: Arena, name: str = "n0", pods: int = 2) -> None:
    arena.node(name, pods)
    for number in range(pods):
        arena.pod(f"low-{name}-{number}", on=name)


def at_first_nomination(arena: Arena, what: Any) -> None:
    """Lets something happen when the first nomination is written."""
    done: list[bool] = []

    def fault(verb: str, resource: str, name: str) -> KubeError | None:
        if (verb, resource) == ("patch", "pods/status") and name.startswith("g-") and not done:
            done.append(True)
            what()
        return None

    arena.api.before.append(fault)


@pytest.mark.parametrize(
    "error", [ServerError(500, "InternalError", "try again"), Forbidden(403, "Forbidden", "not now")], ids=str
)
async def test_a_group_goes_whole_although_deletes_fail_half_way(arena: Arena, error: KubeError) -> None:
    arena.node("n0", 5)
    arena.group("v", 5, LOW, **WHOLE)
    arena.members("v", 5, priority=LOW, on="n0")
    left = [6]

    def fails_for_a_while(verb: str, what: str, name: str) -> KubeError | None:
        if (verb, what, name) == ("delete", "pods", "v-2") and left[0]:
            left[0] -= 1
            return error
        return None

    arena.api.before.append(fails_for_a_while)
    async with arena.scheduler():
        arena.gang("g", 5)
        await arena.api.until(lambda: arena.runs("g", 5))
    assert not any(arena.is_there(f"v-{number}") for number in range(5))
    assert arena.metric("tutti_evictions_total") == 5


async def test_a_group_of_which_one_is_gone_goes_whole_although_its_preemptor_is_deleted(arena: Arena) -> None:
    arena.node("n0", 3)
    arena.group("v", 3, LOW, **WHOLE)
    arena.members("v", 3, priority=LOW, on="n0")

    def preemptor_goes(verb: str, what: str, name: str) -> KubeError | None:
        if (verb, what) == ("delete", "pods") and arena.is_there("g-0"):
            for number in range(3):
                arena.api.remove("pods", "ns", f"g-{number}")
            return ServerError(500, "InternalError", "try again")
        return None

    arena.api.before.append(preemptor_goes)
    async with arena.scheduler():
        arena.gang("g", 3)
        await arena.api.until(lambda: not any(arena.is_there(f"v-{number}") for number in range(3)))


def delete_preemptor(arena: Arena) -> None:
    for number in range(2):
        arena.api.remove("pods", "ns", f"g-{number}")
    arena.api.remove("podgroups", "ns", "g")


async def test_a_preemptor_deleted_after_planning_evicts_nobody(arena: Arena) -> None:
    full_node(arena)
    at_first_nomination(arena, lambda: delete_preemptor(arena))
    async with arena.scheduler() as scheduler:
        arena.gang("g", 2)
        await arena.api.until(lambda: not arena.is_there("g-0"))
        await scheduler.dispatcher.idle()
        assert not len(scheduler.state.nominator)
    assert arena.deleted == []
    assert arena.metric("tutti_wasted_evictions_total") == 0


async def test_a_preemptor_deleted_after_planning_asks_no_gang_of_a_job_to_suspend(arena: Arena) -> None:
    arena.node("n0", 2)
    arena.group("v", 2, LOW, of_job=True, **WHOLE)
    arena.members("v", 2, priority=LOW, on="n0", of_job=True)
    at_first_nomination(arena, lambda: delete_preemptor(arena))
    async with arena.scheduler() as scheduler:
        arena.gang("g", 2)
        await arena.api.until(lambda: not arena.is_there("g-0"))
        await scheduler.dispatcher.idle()
        assert not len(scheduler.state.nominator)
    assert arena.metric("tutti_evictions_total") == 0
    assert arena.group_says("v", "DisruptionTarget")[0] != "True"


@pytest.mark.parametrize("whole", [False, True])
async def test_a_preemptor_that_starts_elsewhere_while_a_victim_is_marked_evicts_nobody(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    arena.node("n0", 2)
    arena.group("v", 2, LOW, **(WHOLE if whole else {}))
    arena.members("v", 2, priority=LOW, on="n0")
    usual = arena.api.patch

    async def patch(resource: Resource, body: Any, name: str, *arguments: Any, **more: Any) -> Any:
        if name.startswith("v-"):
            arena.node("n1", 2)
            await arena.api.until(lambda: arena.runs("g", 2))
        return await usual(resource, body, name, *arguments, **more)

    monkeypatch.setattr(arena.api, "patch", patch)
    async with arena.scheduler() as scheduler:
        arena.gang("g", 2)
        await arena.api.until(lambda: arena.marked("v-0") != {} or arena.marked("v-1") != {})
        await scheduler.dispatcher.idle()
    assert arena.deleted == []
    assert arena.metric("tutti_evictions_total") == 0
    assert arena.metric("tutti_wasted_evictions_total") == 0


async def test_a_lone_preemptor_deleted_while_its_victims_leave_holds_no_room_any_more(arena: Arena) -> None:
    full_node(arena)
    arena.api.graceful = True
    async with arena.scheduler() as scheduler:
        arena.pod("top", 2, priority=HIGH)
        await arena.api.until(lambda: len(arena.deleted) == 2)
        arena.api.remove("pods", "ns", "top")
        await arena.api.until(lambda: not len(scheduler.state.nominator))
    assert arena.metric("tutti_wasted_evictions_total") == 2


async def test_a_more_important_group_that_comes_meanwhile_gets_the_room(arena: Arena) -> None:
    full_node(arena)
    arena.node("n1", 2)
    at_first_nomination(arena, lambda: arena.gang("top", 4, priority=500))
    async with arena.scheduler(eviction_pause_seconds=0.05):
        arena.gang("g", 4)
        await arena.api.until(lambda: arena.runs("top", 4))
        assert arena.runs("g", 0)
    assert sorted(set(arena.deleted)) == ["low-n0-0", "low-n0-1"]


async def test_a_nominated_node_that_vanishes_costs_nobody_else_and_another_is_found(arena: Arena) -> None:
    full_node(arena, "n0")
    at_first_nomination(arena, lambda: arena.api.remove("nodes", "", "n0"))
    async with arena.scheduler(eviction_pause_seconds=0.05) as scheduler:

        def until_it_is_seen(verb: str, what: str, _name: str) -> KubeError | None:
            is_early = (verb, what) == ("patch", "pods/status") and scheduler.state.node_uid("n0") is not None
            return ServerError(500, "InternalError", "try again") if is_early else None

        arena.api.before.append(until_it_is_seen)
        arena.gang("g", 2)
        await arena.api.until(lambda: not arena.api.exists("nodes", "", "n0"))
        full_node(arena, "n1")
        await arena.api.until(lambda: arena.runs("g", 2))
    assert sorted(arena.deleted) == ["low-n1-0", "low-n1-1"]


async def test_a_victim_that_does_not_go_is_given_up_on_and_no_more_than_needed_leave(arena: Arena) -> None:
    full_node(arena, "n0", 1)
    arena.api.graceful = True
    async with arena.scheduler(victim_deadline_seconds=0.2, eviction_pause_seconds=0.05):
        arena.gang("g", 1)
        await arena.api.until(lambda: len(arena.deleted) == 1)
        tried = arena.metrics.attempts
        await arena.api.until(lambda: arena.metrics.attempts >= tried + 6)
        # There is nobody else who could leave, so the group goes on waiting for the one.
        assert len(arena.deleted) == 1
        arena.api.graceful = False
        full_node(arena, "n1", 1)
        await arena.api.until(lambda: arena.runs("g", 1))
        assert arena.api.bound()["g-0"] == "n1"
    assert arena.deleted == ["low-n0-0", "low-n1-0"]


async def test_a_pod_that_is_nominated_anew_is_never_without_a_nomination(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2):
        full_node(arena, f"n{number}", 1)
    arena.api.graceful = True
    written: list[str | None] = []
    patch = arena.api.patch

    async def noted(resource: Any, body: Any, name: str, *where: Any, **more: Any) -> Any:
        if name == "g-0" and "nominatedNodeName" in body["status"]:
            written.append(body["status"]["nominatedNodeName"])
        return await patch(resource, body, name, *where, **more)

    monkeypatch.setattr(arena.api, "patch", noted)
    async with arena.scheduler(victim_deadline_seconds=1.5, eviction_pause_seconds=0.05):
        arena.gang("g", 1)
        await arena.api.until(lambda: len(arena.deleted) == 2)
    # Two writes under way at once could arrive in either order.
    assert sorted(map(str, written)) == ["n0", "n1"]


async def test_a_victim_that_is_put_back_at_once_by_another_scheduler_is_evicted_ever_more_rarely(arena: Arena) -> None:
    arena.node("n0", 1)
    arena.pod("low-0", on="n0", scheduler="default-scheduler")
    again = iter(range(1, 1000))

    def put_back(verb: str, what: str, _name: str) -> KubeError | None:
        if (verb, what) == ("delete", "pods"):
            arena.pod(f"low-{next(again)}", on="n0", scheduler="default-scheduler")
        return None

    arena.api.after.append(put_back)
    async with arena.scheduler(eviction_pause_seconds=0.1):
        arena.gang("g", 1)
        tried = 0
        await arena.api.until(lambda: len(arena.deleted) >= 2)
        tried = arena.metrics.attempts
        await arena.api.until(lambda: arena.metrics.attempts >= tried + 8)
        assert arena.runs("g", 0)
    # Some forty attempts a second are made; candidates come after 0.1, 0.2, 0.4, ... seconds.
    assert len(arena.deleted) <= 5
    assert arena.metric("tutti_wasted_evictions_total") >= 1


async def test_55_marks_that_are_refused_do_not_stop_deletes(arena: Arena) -> None:
    full_node(arena)
    arena.api.before.append(only_victims(always("patch", "pods/status", Invalid(422, "Invalid", "no such condition"))))
    async with arena.scheduler():
        arena.gang("g", 2)
        await arena.api.until(lambda: arena.runs("g", 2))
    assert len(arena.deleted) == 2


async def test_55_a_victim_that_is_gone_already_is_no_error(arena: Arena) -> None:
    full_node(arena)
    gone: list[bool] = []

    def goes_by_itself(verb: str, what: str, name: str) -> KubeError | None:
        if (verb, what) == ("delete", "pods") and not gone:
            gone.append(True)
            arena.api.remove("pods", "ns", name)
            return NotFound(404, "NotFound", "pods not found")
        return None

    arena.api.before.append(goes_by_itself)
    async with arena.scheduler():
        arena.gang("g", 2)
        await arena.api.until(lambda: arena.runs("g", 2))
    assert arena.metric("tutti_evictions_total") == 1


async def test_55_a_lost_answer_to_a_delete_is_asked_again_and_done_once(arena: Arena) -> None:
    full_node(arena)
    arena.api.after.append(once("delete", "pods", OutcomeUnknown("lost")))
    async with arena.scheduler():
        arena.gang("g", 2)
        await arena.api.until(lambda: arena.runs("g", 2))
    assert sorted(set(arena.deleted)) == ["low-n0-0", "low-n0-1"]


async def test_who_may_not_nominate_evicts_nobody(arena: Arena) -> None:
    full_node(arena)
    arena.api.before.append(always("patch", "pods/status", Forbidden(403, "Forbidden", "no")))
    async with arena.scheduler() as scheduler:
        arena.gang("g", 2)
        await arena.api.until(lambda: arena.group_says("g")[0] == "False")
        await scheduler.dispatcher.idle()
    assert arena.deleted == []


async def test_who_may_not_evict_stops_asking_when_the_preemptor_is_gone_and_has_broken_up_no_group(
    arena: Arena,
) -> None:
    full_node(arena)
    arena.api.before.append(always("delete", "pods", Forbidden(403, "Forbidden", "no")))
    async with arena.scheduler() as scheduler:
        arena.gang("g", 2)
        await arena.api.until(lambda: len(arena.deleted) >= 2)
        for number in range(2):
            arena.api.remove("pods", "ns", f"g-{number}")
        await arena.api.until(lambda: not len(scheduler.state.nominator))
        arena.api.before.clear()
        await asyncio.sleep(0.5)
    assert arena.is_there("low-n0-0")
    assert arena.is_there("low-n0-1")


async def test_the_last_victim_goes_after_all_others_and_after_every_nomination(arena: Arena) -> None:
    full_node(arena, "n0", 6)
    async with arena.scheduler():
        arena.gang("g", 6)
        await arena.api.until(lambda: arena.runs("g", 6))
    writes = [(verb, name) for verb, what, name in arena.api.log if what in {"pods", "pods/status"} and verb != "list"]
    deletes = [index for index, (verb, _) in enumerate(writes) if verb == "delete"]
    nominations = [index for index, (verb, name) in enumerate(writes) if verb == "patch" and name.startswith("g-")]
    assert len(deletes) == 6
    assert sum(index < deletes[0] for index in nominations) >= 6
    for _, name in (writes[index] for index in deletes):
        assert writes.index(("patch", name)) < writes.index(("delete", name))


async def test_the_last_victim_is_not_asked_while_one_before_it_may_still_stay(arena: Arena) -> None:
    full_node(arena, "n0", 3)
    arena.api.before.append(once("delete", "pods", ServerError(500, "InternalError", "try again")))
    async with arena.scheduler():
        arena.gang("g", 3)
        await arena.api.until(lambda: arena.runs("g", 3))
    first, *_, last = arena.deleted
    assert arena.deleted.count(first) == 2
    assert last != first


async def test_a_gang_that_loses_a_member_after_the_evictions_holds_no_room_for_ever(arena: Arena) -> None:
    full_node(arena)
    arena.api.graceful = True
    async with arena.scheduler() as scheduler:
        arena.gang("g", 2)
        await arena.api.until(lambda: len(arena.deleted) == 2)
        arena.api.remove("pods", "ns", "g-1")
        await arena.api.until(lambda: not len(scheduler.state.nominator))
        arena.pod("small-0", priority=LOW)
        arena.vanish()
        await arena.api.until(lambda: arena.runs("small", 1))
    assert arena.metric("tutti_wasted_evictions_total") == 2


async def test_a_lone_pod_that_has_its_place_leaves_no_claim_behind(arena: Arena) -> None:
    full_node(arena, "n0", 1)
    async with arena.scheduler() as scheduler:
        arena.pod("g-0", priority=MID)
        await arena.api.until(lambda: arena.runs("g", 1))
        assert not len(scheduler.state.nominator)
        arena.node("n1", 1)
        while scheduler.state.node_uid("n1") is None:  # noqa: ASYNC110 (no event says so)
            await asyncio.sleep(0)
        arena.pod("h-0", priority=HIGH)
        await arena.api.until(lambda: arena.runs("h", 1))
    assert arena.deleted == ["low-n0-0"]


def only_victims(fault: Fault) -> Fault:
    """A fault that spares the preemptor's pods."""
    return lambda verb, what, name: None if name.startswith("g-") else fault(verb, what, name)

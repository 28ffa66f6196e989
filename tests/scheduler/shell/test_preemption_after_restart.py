"""What a scheduler makes of a preemption that its predecessor began: what is nominated and asked for stands on the objects."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.scheduler.shell.preemption import HIGH, LOW, MID, Arena

WHOLE: dict[str, Any] = {"disruptionMode": {"all": {}}}


@pytest.fixture
async def arena() -> Arena:
    made = Arena()
    made.api.graceful = True
    return made


def nominate(arena: Arena, pod: str, node: str) -> None:
    """As a predecessor, or another scheduler, wrote it."""
    known = arena.api.peek("pods", "ns", pod)
    known["status"]["nominatedNodeName"] = node
    arena.api.put("pods", known)


def ends(arena: Arena, pod: str) -> None:
    """As a predecessor asked for it."""
    known = arena.api.peek("pods", "ns", pod)
    known["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z"
    arena.api.put("pods", known)


def full_node(arena: Arena, name: str, pods: int = 1, **more: Any) -> None:
    arena.node(name, pods)
    for number in range(pods):
        arena.pod(f"low-{name}-{number}", on=name, **more)


async def test_room_that_was_cleared_before_a_restart_goes_to_whom_it_was_cleared_for(arena: Arena) -> None:
    full_node(arena, "n0", 2)
    async with arena.scheduler():
        arena.gang("g", 2)
        await arena.api.until(lambda: len(arena.deleted) == 2)
    arena.api.remove("pods", "ns", "low-n0-0")
    arena.pod("latecomer-0", priority=LOW)
    async with arena.scheduler():
        await arena.api.until(lambda: arena.pod_says("latecomer-0") == "Unschedulable")
        arena.vanish()
        await arena.api.until(lambda: arena.runs("g", 2))
        assert arena.runs("latecomer", 0)
    assert len(arena.deleted) == 2


async def test_the_same_is_true_of_a_lone_pod(arena: Arena) -> None:
    full_node(arena, "n0", 2)
    async with arena.scheduler():
        arena.pod("g-0", 2, priority=HIGH)
        await arena.api.until(lambda: len(arena.deleted) == 2)
    arena.api.remove("pods", "ns", "low-n0-0")
    arena.pod("latecomer-0", priority=MID)
    async with arena.scheduler():
        await arena.api.until(lambda: arena.pod_says("latecomer-0") == "Unschedulable")
        arena.vanish()
        await arena.api.until(lambda: arena.runs("g", 1))
        assert arena.runs("latecomer", 0)


async def test_who_was_nominated_but_not_cleared_for_yet_evicts_no_more_than_it_needs(arena: Arena) -> None:
    for number in range(4):
        full_node(arena, f"n{number}")
    arena.gang("g", 2)
    nominate(arena, "g-0", "n0")
    nominate(arena, "g-1", "n1")
    ends(arena, "low-n0-0")
    async with arena.scheduler():
        await arena.api.until(lambda: bool(arena.deleted))
        tried = arena.metrics.attempts
        await arena.api.until(lambda: arena.metrics.attempts >= tried + 3)
        arena.vanish()
        await arena.api.until(lambda: arena.runs("g", 2))
    assert len(arena.deleted) == 1


async def test_a_gang_of_which_one_was_nominated_is_planned_anew_and_keeps_no_old_nomination(arena: Arena) -> None:
    arena.node("small", 1)
    arena.pod("low-small-0", on="small")
    full_node(arena, "large", 2)
    arena.gang("g", 2)
    nominate(arena, "g-1", "small")
    arena.pod("boss-0", on="small", priority=500)
    async with arena.scheduler():
        await arena.api.until(lambda: len(arena.deleted) == 2)
        assert [arena.nominated(f"g-{number}") for number in range(2)] == ["large", "large"]
    assert sorted(arena.deleted) == ["low-large-0", "low-large-1"]


@pytest.mark.parametrize("why", ["node gone", "group gone", "refused"])
async def test_a_nomination_that_is_not_meant_any_more_is_cleared(arena: Arena, why: str) -> None:
    arena.node("n0", 2)
    arena.pod("boss-0", 2, on="n0", priority=500)
    arena.gang("g", 2)
    for number in range(2):
        nominate(arena, f"g-{number}", "gone" if why == "node gone" else "n0")
    if why == "group gone":
        arena.api.remove("podgroups", "ns", "g")
    async with arena.scheduler() as scheduler:
        await arena.api.until(lambda: arena.nominated("g-0") == arena.nominated("g-1") == "")
        assert not len(scheduler.state.nominator)


async def test_a_scheduler_that_may_not_evict_any_more_clears_nominations(arena: Arena) -> None:
    full_node(arena, "n0", 2)
    arena.gang("g", 2)
    for number in range(2):
        nominate(arena, f"g-{number}", "n0")
    async with arena.scheduler(preemption=False) as scheduler:
        await arena.api.until(lambda: arena.nominated("g-0") == arena.nominated("g-1") == "")
        assert not len(scheduler.state.nominator)


# --- pods of other schedulers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("priority", "has_room"), [(LOW, False), (MID, False), (HIGH, True)])
async def test_a_pod_of_another_scheduler_counts_on_the_node_it_is_nominated_to(
    arena: Arena, priority: int, has_room: bool
) -> None:
    arena.node("n0", 1)
    arena.pod("other-0", priority=MID, scheduler="default-scheduler")
    nominate(arena, "other-0", "n0")
    async with arena.scheduler():
        arena.pod("mine-0", priority=priority)
        if has_room:
            await arena.api.until(lambda: arena.runs("mine", 1))
        else:
            await arena.api.until(lambda: arena.pod_says("mine-0") == "Unschedulable")


@pytest.mark.parametrize("how", ["cleared", "elsewhere", "bound", "deleted", "ended"])
async def test_its_room_is_free_when_its_nomination_ends(arena: Arena, how: str) -> None:
    arena.node("n0", 1)
    arena.node("n1", 1)
    arena.pod("boss-0", on="n1", priority=500)
    arena.pod("other-0", priority=MID, scheduler="default-scheduler")
    nominate(arena, "other-0", "n0")
    async with arena.scheduler(initial_backoff_seconds=600, max_backoff_seconds=600) as scheduler:
        arena.pod("mine-0")
        await arena.api.until(lambda: arena.pod_says("mine-0") == "Unschedulable")
        if how == "bound":
            arena.pod("other-0", priority=MID, scheduler="default-scheduler", on="n1")
        elif how == "ended":
            ends(arena, "other-0")
        elif how == "deleted":
            arena.api.remove("pods", "ns", "other-0")
        else:
            nominate(arena, "other-0", "n1" if how == "elsewhere" else "")
        await arena.api.until(lambda: arena.runs("mine", 1))
        assert len(scheduler.state.nominator) == (how == "elsewhere")


# --- groups that are suspended -------------------------------------------------------------------------------------------


def gang_of_a_job(arena: Arena, name: str, on: str, size: int = 2, **more: Any) -> None:
    arena.group(name, size, LOW, of_job=True, **WHOLE)
    arena.members(name, size, priority=LOW, on=on, of_job=True, **more)


def is_asked(arena: Arena, name: str) -> bool:
    return arena.group_says(name, "DisruptionTarget")[0] == "True"


@contextlib.asynccontextmanager
async def v_is_asked_to_leave_for_g(arena: Arena, **settings: Any) -> AsyncIterator[None]:
    """A scheduler at work that has asked gang `v` of a Job, which fills node `n0`, to leave for gang `g`."""
    arena.node("n0", 2)
    gang_of_a_job(arena, "v", "n0")
    async with arena.scheduler(**settings):
        arena.gang("g", 2)
        await arena.api.until(lambda: is_asked(arena, "v"))
        yield


def g_goes(arena: Arena) -> None:
    for number in range(2):
        arena.api.remove("pods", "ns", f"g-{number}")


async def test_who_is_asked_to_leave_says_for_whom(arena: Arena) -> None:
    async with v_is_asked_to_leave_for_g(arena):
        uid = arena.api.peek("podgroups", "ns", "g")["metadata"]["uid"]
        assert arena.group_says("v", "PreemptedBy") == ("True", "PodGroup")
        assert arena.group_message("v", "PreemptedBy") == f"ns/g/{uid}"


async def test_a_restarted_scheduler_waits_for_the_gang_that_was_asked_and_asks_no_other_one(arena: Arena) -> None:
    for node, gang in (("n0", "v"), ("n1", "w")):
        arena.node(node, 2)
        gang_of_a_job(arena, gang, node)
    async with arena.scheduler():
        arena.gang("g", 2)
        await arena.api.until(lambda: is_asked(arena, "v") or is_asked(arena, "w"))
    asked, spared = ("v", "w") if is_asked(arena, "v") else ("w", "v")
    # What the search would prefer now is the other one.
    newer = arena.api.peek("podgroups", "ns", spared)
    newer["metadata"]["creationTimestamp"] = "2026-01-01T09:00:00Z"
    arena.api.put("podgroups", newer)
    async with arena.scheduler():
        tried = arena.metrics.attempts
        await arena.api.until(lambda: arena.metrics.attempts >= tried + 3)
        assert is_asked(arena, asked)
        assert not is_asked(arena, spared)
        for number in range(2):
            arena.api.remove("pods", "ns", f"{asked}-{number}")
        await arena.api.until(lambda: arena.runs("g", 2))
        await arena.api.until(lambda: not is_asked(arena, asked))
    assert arena.group_says(spared, "DisruptionTarget") == ("", "")


@pytest.mark.parametrize("is_down", [False, True], ids=["at once", "after a restart"])
async def test_a_gang_is_asked_no_longer_when_its_preemptor_is_gone(arena: Arena, is_down: bool) -> None:
    arena.node("n0", 2)
    gang_of_a_job(arena, "v", "n0")
    arena.gang("g", 2)

    async with arena.scheduler():
        await arena.api.until(lambda: is_asked(arena, "v"))
        if not is_down:
            g_goes(arena)
            await arena.api.until(lambda: not is_asked(arena, "v"))
    if is_down:
        g_goes(arena)
        async with arena.scheduler():
            await arena.api.until(lambda: not is_asked(arena, "v"))
    assert arena.group_says("v", "PreemptedBy")[0] == "False"
    assert arena.runs("v", 2)
    assert arena.metric("tutti_wasted_evictions_total") == 0


async def test_a_gang_is_asked_no_longer_when_its_preemptor_found_room_elsewhere(arena: Arena) -> None:
    async with v_is_asked_to_leave_for_g(arena):
        arena.node("n1", 2)
        await arena.api.until(lambda: arena.runs("g", 2))
        await arena.api.until(lambda: not is_asked(arena, "v"))
    assert arena.runs("v", 2)


async def test_a_request_stands_no_longer_than_the_need_for_it_although_one_pod_of_the_preemptor_still_waits(
    arena: Arena,
) -> None:
    arena.pod("g-2", 1000, priority=HIGH, group="g")
    async with v_is_asked_to_leave_for_g(arena, eviction_pause_seconds=600, max_eviction_pause_seconds=600):
        arena.node("n1", 2)
        await arena.api.until(lambda: arena.runs("g", 2))
        await arena.api.until(lambda: not is_asked(arena, "v"))
    assert arena.runs("v", 2)


async def test_a_gang_of_which_some_have_left_goes_whole_and_is_asked_until_then(arena: Arena) -> None:
    async with v_is_asked_to_leave_for_g(arena):
        arena.api.remove("pods", "ns", "v-0")
        g_goes(arena)
        arena.pod("small-0")
        await arena.api.until(lambda: arena.runs("small", 1))
        assert is_asked(arena, "v")
        arena.api.remove("pods", "ns", "v-1")
        await arena.api.until(lambda: not is_asked(arena, "v"))


async def test_a_gang_whose_job_makes_new_pods_is_asked_no_longer(arena: Arena) -> None:
    async with v_is_asked_to_leave_for_g(arena):
        arena.api.remove("pods", "ns", "v-0")
        g_goes(arena)
        arena.pod("v-9", group="v", of_job=True)
        await arena.api.until(lambda: not is_asked(arena, "v"))
        await arena.api.until(lambda: arena.runs("v", 2))

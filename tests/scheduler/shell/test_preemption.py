"""Preemption by the whole scheduler, real core included; names give the number of the upstream scenario they stand for."""

from typing import Any

import pytest

from tests.scheduler.shell.preemption import HIGH, LOW, MID, Arena

WHOLE: dict[str, Any] = {"disruptionMode": {"all": {}}}


@pytest.fixture
async def arena() -> Arena:
    return Arena()


async def refused(arena: Arena, name: str) -> str:
    """Waits until the group says that it cannot be scheduled and gives its message."""
    await arena.api.until(lambda: arena.group_says(name) == ("False", "Unschedulable"))
    return arena.group_message(name)


@pytest.mark.parametrize("need", [3, None])
async def test_36_three_low_pods_leave_for_a_group_of_three(arena: Arena, need: int | None) -> None:
    arena.node("n0", 3)
    for number in range(3):
        arena.pod(f"low-{number}", on="n0")
    arena.api.graceful = True
    async with arena.scheduler():
        arena.group("g", need)
        arena.members("g", 3)
        await arena.api.until(lambda: len(arena.deleted) == 3)
        assert [arena.nominated(f"g-{number}") for number in range(3)] == ["n0", "n0", "n0"]
        mark = arena.marked("low-0")
        assert (mark["status"], mark["reason"]) == ("True", "PreemptionByScheduler")
        assert mark["message"] == "tutti: preempting to accommodate a higher priority podgroup"
        await arena.api.until(lambda: len(arena.events("Preempted", "Pod")) == 3)
        note = arena.events("Preempted")[0]
        assert note["note"].startswith("Preempted by podgroup uid-")
        assert (note["action"], note["related"]["kind"]) == ("Preempting", "PodGroup")
        arena.vanish()
        await arena.api.until(lambda: arena.runs("g", 3))
    assert arena.metric("tutti_wasted_evictions_total") == 0
    assert arena.metric("tutti_evictions_total") == 3


async def test_37_only_victims_on_the_nodes_that_are_used_leave(arena: Arena) -> None:
    for number in range(4):
        arena.node(f"n{number}", 2)
        arena.pod(f"low-{number}", 2, on=f"n{number}")
    async with arena.scheduler():
        arena.gang("g", 2, 2)
        await arena.api.until(lambda: arena.runs("g", 2))
        used = {node for name, node in arena.api.bound().items() if name.startswith("g-")}
    assert {f"n{name[4:]}" for name in arena.deleted} == used
    assert len(arena.deleted) == 2


async def test_38_pods_under_a_budget_stay_when_others_can_leave(arena: Arena) -> None:
    arena.node("n0", 3)
    arena.budget("careful", 0, app="safe")
    arena.pod("low-0", on="n0", labels={"app": "safe"})
    arena.pod("low-1", on="n0", labels={"app": "safe"})
    arena.pod("low-2", on="n0")
    async with arena.scheduler():
        arena.gang("g", 1)
        await arena.api.until(lambda: arena.runs("g", 1))
    assert arena.deleted == ["low-2"]
    assert arena.metric("tutti_preemption_pdb_violations_total") == 0


async def test_39_a_budget_is_broken_when_there_is_no_other_way(arena: Arena) -> None:
    arena.node("n0", 2)
    arena.budget("careful", 0, app="safe")
    for number in range(2):
        arena.pod(f"low-{number}", on="n0", labels={"app": "safe"})
    async with arena.scheduler():
        arena.gang("g", 2)
        await arena.api.until(lambda: arena.runs("g", 2))
    assert sorted(arena.deleted) == ["low-0", "low-1"]
    assert arena.metric("tutti_preemption_pdb_violations_total") == 2


async def test_40_victims_are_spread_as_the_placement_needs(arena: Arena) -> None:
    for number in range(3):
        arena.node(f"n{number}", 2)
        arena.pod(f"low-{number}", on=f"n{number}")
    async with arena.scheduler():
        arena.gang("g", 3, 2)
        await arena.api.until(lambda: arena.runs("g", 3))
    assert sorted(arena.deleted) == ["low-0", "low-1", "low-2"]


async def test_41_nobody_leaves_when_a_more_important_pod_is_in_the_way(arena: Arena) -> None:
    arena.node("n0", 3)
    arena.pod("boss-0", on="n0", priority=500)
    arena.pod("low-0", on="n0")
    arena.pod("low-1", on="n0")
    async with arena.scheduler():
        arena.gang("g", 3)
        message = await refused(arena, "g")
    assert "minCount (3) cannot be satisfied" in message
    assert "pod group preemption: minCount (3) cannot be satisfied: 2 scheduled, 1 remaining" in message
    assert arena.deleted == []


async def test_42_the_more_important_of_two_stays(arena: Arena) -> None:
    arena.node("n0", 2)
    arena.pod("mid-0", on="n0", priority=MID)
    arena.pod("low-0", on="n0", priority=LOW)
    async with arena.scheduler():
        arena.gang("g", 1)
        await arena.api.until(lambda: arena.runs("g", 1))
    assert arena.deleted == ["low-0"]


@pytest.mark.parametrize("need", [3, None])
async def test_43_a_group_that_leaves_whole_leaves_whole(arena: Arena, need: int | None) -> None:
    arena.node("n0", 3)
    arena.group("v", need, LOW, **WHOLE)
    arena.members("v", 3, priority=LOW, on="n0")
    async with arena.scheduler():
        arena.gang("g", 1)
        await arena.api.until(lambda: arena.runs("g", 1))
        await arena.api.until(lambda: len(arena.deleted) == 3)
    assert sorted(arena.deleted) == ["v-0", "v-1", "v-2"]


@pytest.mark.parametrize("preemptor", ["group", "pod"])
async def test_44_a_group_of_single_mode_gives_what_is_needed(arena: Arena, preemptor: str) -> None:
    arena.node("n0", 3)
    arena.group("v", 3, LOW, disruptionMode={"single": {}})
    arena.members("v", 3, priority=LOW, on="n0")
    async with arena.scheduler():
        if preemptor == "group":
            arena.gang("g", 1)
        else:
            arena.pod("g-0", priority=HIGH)
        await arena.api.until(lambda: arena.runs("g", 1))
    assert len(arena.deleted) == 1


async def test_45_a_pod_evicts_a_whole_group_on_all_its_nodes(arena: Arena) -> None:
    arena.node("n0", 1)
    arena.node("n1", 1)
    arena.group("v", 2, LOW, **WHOLE)
    arena.pod("v-0", group="v", on="n0")
    arena.pod("v-1", group="v", on="n1")
    async with arena.scheduler():
        arena.pod("g-0", priority=HIGH)
        await arena.api.until(lambda: arena.runs("g", 1))
        await arena.api.until(lambda: len(arena.events("Preempted")) == 2)
    assert sorted(arena.deleted) == ["v-0", "v-1"]
    assert "Preempted by pod uid-" in arena.events("Preempted")[0]["note"]


async def test_46_a_member_that_only_a_more_important_pod_could_make_room_for_waits(arena: Arena) -> None:
    arena.node("n0", 3)
    arena.pod("boss-0", on="n0", priority=500)
    arena.pod("low-0", on="n0")
    arena.pod("low-1", on="n0")
    async with arena.scheduler():
        arena.gang("g", 3, need=2)
        await arena.api.until(lambda: arena.runs("g", 2))
        await arena.api.until(lambda: "Unschedulable" in [arena.pod_says(f"g-{number}") for number in range(3)])
    assert arena.is_there("boss-0")
    assert sorted(arena.deleted) == ["low-0", "low-1"]


async def test_47_a_less_important_group_does_not_stay_in_the_place_of_a_more_important_one(arena: Arena) -> None:
    for number, (name, priority) in enumerate([("v", LOW), ("w", MID)]):
        arena.node(f"n{number}", 2)
        arena.group(name, 2, priority, **WHOLE)
        arena.members(name, 2, priority=priority, on=f"n{number}")
    async with arena.scheduler():
        arena.gang("g", 2)
        await arena.api.until(lambda: arena.runs("g", 2))
    assert sorted(arena.deleted) == ["v-0", "v-1"]


async def test_48_room_that_is_freed_beyond_the_need_serves_others(arena: Arena) -> None:
    arena.node("n0", 3)
    arena.group("v", 3, LOW, **WHOLE)
    arena.members("v", 3, priority=LOW, on="n0")
    async with arena.scheduler():
        arena.pod("other-0", 2, priority=LOW)
        await arena.api.until(lambda: arena.pod_says("other-0") == "Unschedulable")
        arena.gang("g", 1)
        await arena.api.until(lambda: arena.runs("g", 1) and arena.runs("other", 1))
        assert arena.nominated("other-0") == ""


@pytest.mark.parametrize("where", ["group", "pod"])
async def test_49_who_never_preempts_evicts_nobody(arena: Arena, where: str) -> None:
    arena.node("n0", 1)
    arena.pod("low-0", on="n0")
    async with arena.scheduler():
        spec: dict[str, Any] = {"preemptionPolicy": "Never"} if where == "group" else {}
        arena.group("g", 1, **spec)
        arena.members("g", 1, policy="Never")
        message = await refused(arena, "g")
    assert "pod group preemption: not eligible due to preemptionPolicy=Never." in message
    assert arena.deleted == []


async def test_50_other_resources_count_in_the_reprieve(arena: Arena) -> None:
    arena.node("n0", 8)
    big = {"cpu": "1", "memory": "200Gi"}
    arena.pod("low-0", on="n0", requests=big)
    arena.pod("low-1", 4, on="n0")
    async with arena.scheduler():
        arena.group("g", 1)
        arena.members("g", 1, requests={"cpu": "1", "memory": "100Gi"})
        await arena.api.until(lambda: arena.runs("g", 1))
    assert arena.deleted == ["low-0"]


async def test_53_the_waiting_group_says_what_it_does(arena: Arena) -> None:
    arena.node("n0", 2)
    for number in range(2):
        arena.pod(f"low-{number}", on="n0")
    arena.api.graceful = True
    async with arena.scheduler(initial_backoff_seconds=600, max_backoff_seconds=600):
        arena.gang("g", 2)
        message = await refused(arena, "g")
        assert "minCount (2) cannot be satisfied" in message
        assert "pod group preemption: found a placement for podgroup, preempting 2 victims" in message
        assert len(arena.deleted) <= 2


@pytest.mark.parametrize("kind", ["podgroup", "pod"])
async def test_how_many_leave_for_whom_can_be_read_while_they_leave(arena: Arena, kind: str) -> None:
    arena.node("n0", 2)
    for number in range(2):
        arena.pod(f"low-{number}", on="n0")
    arena.api.graceful = True
    said = f"found a placement for {kind}, preempting 2 victims"
    async with arena.scheduler():
        if kind == "pod":
            arena.pod("g-0", 2, priority=HIGH)
        else:
            arena.gang("g", 2)
        tried = arena.metrics.attempts
        await arena.api.until(lambda: arena.metrics.attempts >= tried + 4)

        def told() -> str:
            if kind == "podgroup":
                return arena.group_message("g")
            return str(arena.api.condition("pods", "ns", "g-0", "PodScheduled").get("message", ""))

        await arena.api.until(lambda: said in told())
        tried = arena.metrics.attempts
        await arena.api.until(lambda: arena.metrics.attempts >= tried + 4)
        assert said in told()
        await arena.api.until(lambda: bool(arena.events("Preempting")))
        [event] = arena.events("Preempting")
        assert (event["note"], event["type"]) == (said, "Normal")
        assert event["regarding"]["kind"] == ("PodGroup" if kind == "podgroup" else "Pod")


async def test_54_while_victims_leave_nobody_else_is_evicted_and_a_free_place_is_taken(arena: Arena) -> None:
    for number in range(2):
        arena.node(f"n{number}", 1)
        arena.pod(f"low-{number}", on=f"n{number}")
    arena.api.graceful = True
    async with arena.scheduler():
        arena.gang("g", 1)
        await arena.api.until(lambda: len(arena.deleted) == 1)
        await arena.api.until(lambda: "ongoing preemption on nominated nodes" in arena.group_message("g"))
        tried = arena.metrics.attempts
        await arena.api.until(lambda: arena.metrics.attempts >= tried + 3)
        assert len(arena.deleted) == 1
        arena.node("free", 1)
        await arena.api.until(lambda: arena.runs("g", 1))
        assert arena.api.bound()["g-0"] == "free"
    assert len(arena.deleted) == 1


async def test_56_equals_never_leave(arena: Arena) -> None:
    arena.node("n0", 1)
    arena.pod("low-0", on="n0", priority=HIGH)
    async with arena.scheduler():
        arena.gang("g", 1)
        message = await refused(arena, "g")
    assert "No preemption victims found for incoming preemptor" in message
    assert arena.deleted == []


async def test_58_of_two_groups_at_once_the_more_important_wins(arena: Arena) -> None:
    arena.node("n0", 2)
    for number in range(2):
        arena.pod(f"low-{number}", on="n0")
    arena.api.graceful = True
    async with arena.scheduler():
        arena.gang("m", 2, priority=MID)
        await arena.api.until(lambda: len(arena.deleted) == 2)
        arena.gang("g", 2, priority=HIGH)
        await arena.api.until(lambda: arena.group_says("g")[0] == "False")
        arena.vanish()
        await arena.api.until(lambda: arena.runs("g", 2))
        await arena.api.until(lambda: arena.nominated("m-0") == arena.nominated("m-1") == "")
        assert arena.runs("m", 0)
    assert len(arena.deleted) == 2
    assert arena.metric("tutti_wasted_evictions_total") == 0


async def test_room_that_was_cleared_is_held_against_those_who_are_not_more_important(arena: Arena) -> None:
    arena.node("n0", 2)
    for number in range(2):
        arena.pod(f"low-{number}", on="n0")
    arena.api.graceful = True
    async with arena.scheduler():
        arena.gang("g", 2)
        await arena.api.until(lambda: len(arena.deleted) == 2)
        arena.api.remove("pods", "ns", arena.deleted[0])
        arena.pod("thief-0", priority=LOW)
        arena.pod("thief-1", priority=HIGH)
        await arena.api.until(lambda: arena.pod_says("thief-0") == arena.pod_says("thief-1") == "Unschedulable")
        arena.vanish()
        await arena.api.until(lambda: arena.runs("g", 2))
        assert arena.runs("thief", 0)
    assert len(arena.deleted) == 2


async def test_a_gang_whose_job_would_count_failures_is_asked_to_be_suspended_and_loses_no_pod_by_our_hand(
    arena: Arena,
) -> None:
    arena.node("n0", 2)
    arena.group("v", 2, LOW, of_job=True, **WHOLE)
    arena.members("v", 2, priority=LOW, on="n0", of_job=True, spec={"restartPolicy": "OnFailure"})
    async with arena.scheduler():
        arena.gang("g", 2)
        await arena.api.until(lambda: arena.group_says("v", "DisruptionTarget") == ("True", "PreemptionByScheduler"))
        await arena.api.until(lambda: len(arena.events("Preempted")) == 2)
        assert arena.runs("g", 0)
        for number in range(2):
            arena.api.remove("pods", "ns", f"v-{number}")
        await arena.api.until(lambda: arena.runs("g", 2))
        await arena.api.until(lambda: arena.group_says("v", "DisruptionTarget")[0] == "False")
    assert arena.deleted == []


async def test_a_gang_that_its_job_left_behind_loses_its_pods_by_our_hand(arena: Arena) -> None:
    arena.node("n0", 2)
    arena.group("v", 2, LOW, of_job=True, **WHOLE)
    arena.members("v", 2, priority=LOW, on="n0", of_job=True)
    async with arena.scheduler():
        arena.leave_behind("v")
        arena.gang("g", 2)
        await arena.api.until(lambda: arena.runs("g", 2))
    assert sorted(arena.deleted) == ["v-0", "v-1"]
    assert arena.group_says("v", "DisruptionTarget") == ("", "")


async def test_a_restarted_scheduler_lets_a_group_in_again_whose_pods_have_left(arena: Arena) -> None:
    arena.node("n0", 2)
    arena.group("v", 2, LOW, of_job=True, **WHOLE)
    group = arena.api.peek("podgroups", "ns", "v")
    group["status"] = {
        "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]
    }
    arena.api.put("podgroups", group)
    async with arena.scheduler():
        await arena.api.until(lambda: arena.group_says("v", "DisruptionTarget")[0] == "False")

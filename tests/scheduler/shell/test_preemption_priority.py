"""The priority that counts when somebody wants a group's room: apart from that of scheduling, changed at any time."""

from typing import Any

import pytest

from api.constants import CONDITION_PREEMPTION_PRIORITY, PREEMPTION_PRIORITY_CLASS
from tests.scheduler.shell.preemption import HIGH, LOW, MID, Arena

GOLD = {PREEMPTION_PRIORITY_CLASS: "gold"}


@pytest.fixture
async def arena() -> Arena:
    made = Arena()
    made.node("n0", 2)
    return made


def victims(arena: Arena, annotations: dict[str, str], priority: int = LOW) -> None:
    arena.group("v", 2, priority, disruptionMode={"all": {}}, annotations=annotations)
    arena.members("v", 2, priority=priority, on="n0")


def says(arena: Arena) -> tuple[str, str]:
    return arena.group_says("v", CONDITION_PREEMPTION_PRIORITY)


async def refused(arena: Arena, group: str) -> None:
    await arena.api.until(lambda: "No preemption victims found" in arena.group_message(group))


async def test_a_group_with_a_higher_preemption_priority_stays(arena: Arena) -> None:
    arena.priority_class("gold", 500)
    victims(arena, GOLD)
    async with arena.scheduler():
        arena.gang("g", 2)
        await refused(arena, "g")
        await arena.api.until(lambda: says(arena) == ("True", "PodsNotMatchingPriority"))
    assert arena.deleted == []
    message = arena.api.condition("podgroups", "ns", "v", CONDITION_PREEMPTION_PRIORITY)["message"]
    assert "500" in message
    assert f"its pods show {LOW}" in message


async def test_when_it_is_taken_back_the_next_decision_knows(arena: Arena) -> None:
    arena.priority_class("gold", 500)
    victims(arena, GOLD)
    async with arena.scheduler(initial_backoff_seconds=0.05, max_backoff_seconds=0.05):
        arena.gang("g", 2)
        await refused(arena, "g")
        changed = arena.api.peek("podgroups", "ns", "v")
        changed["metadata"]["annotations"] = {}
        arena.api.put("podgroups", changed)
        await arena.api.until(lambda: arena.runs("g", 2))
        await arena.api.until(lambda: says(arena) == ("False", "NotStated"))


async def test_it_does_not_help_to_get_room(arena: Arena) -> None:
    arena.priority_class("gold", 500)
    for number in range(2):
        arena.pod(f"low-{number}", on="n0", priority=MID)
    async with arena.scheduler():
        arena.group("g", 2, LOW, annotations=GOLD)
        arena.members("g", 2, priority=LOW)
        await refused(arena, "g")
    assert arena.deleted == []


@pytest.mark.parametrize(("value", "allowed"), [(500, False), (2_000_000_000, True)])
async def test_one_that_groups_may_not_name_is_not_in_force(arena: Arena, value: int, allowed: bool) -> None:
    arena.priority_class("gold", value, allowed=allowed)
    victims(arena, GOLD)
    async with arena.scheduler():
        await arena.api.until(lambda: says(arena) == ("False", "PriorityClassNotAllowed"))
        arena.gang("g", 2)
        await arena.api.until(lambda: arena.runs("g", 2))


async def test_when_it_is_not_allowed_any_more_the_next_decision_knows(arena: Arena) -> None:
    arena.priority_class("gold", 500)
    victims(arena, GOLD)
    async with arena.scheduler(initial_backoff_seconds=0.05, max_backoff_seconds=0.05):
        arena.gang("g", 2)
        await refused(arena, "g")
        arena.priority_class("gold", 500, allowed=False)
        await arena.api.until(lambda: arena.runs("g", 2))


@pytest.mark.parametrize(("value", "reason"), [(LOW - 1, "BelowSchedulingPriority"), (None, "PriorityClassNotFound")])
async def test_one_that_is_too_low_or_missing_is_not_in_force(arena: Arena, value: int | None, reason: str) -> None:
    if value is not None:
        arena.priority_class("gold", value)
    victims(arena, GOLD)
    async with arena.scheduler():
        await arena.api.until(lambda: says(arena) == ("False", reason))
        arena.group("e", 2, LOW)
        arena.members("e", 2, priority=LOW)
        await refused(arena, "e")
        assert arena.deleted == []
        arena.gang("g", 2, priority=HIGH)
        await arena.api.until(lambda: arena.runs("g", 2))


async def test_a_class_that_comes_later_counts_from_then_on(arena: Arena) -> None:
    victims(arena, GOLD)
    async with arena.scheduler():
        await arena.api.until(lambda: says(arena) == ("False", "PriorityClassNotFound"))
        arena.priority_class("gold", 500)
        await arena.api.until(lambda: says(arena) == ("True", "PodsNotMatchingPriority"))
        arena.gang("g", 2)
        await refused(arena, "g")
    assert arena.deleted == []


async def test_a_group_whose_pods_show_the_same_number_says_that_it_is_in_force(arena: Arena) -> None:
    arena.priority_class("gold", LOW)
    victims(arena, GOLD)
    async with arena.scheduler():
        await arena.api.until(lambda: says(arena) == ("True", "InForce"))


async def test_a_group_that_states_none_says_nothing(arena: Arena) -> None:
    victims(arena, {})
    async with arena.scheduler() as scheduler:
        arena.gang("g", 2)
        await arena.api.until(lambda: arena.runs("g", 2))
        await scheduler.dispatcher.idle()
    conditions: list[dict[str, Any]] = arena.api.peek("podgroups", "ns", "v").get("status", {}).get("conditions", [])
    assert not any(one["type"] == CONDITION_PREEMPTION_PRIORITY for one in conditions)

"""Each profile says under its own scheduler name what it does, as the profiles of kube-scheduler do."""

from typing import Any

import pytest

from scheduler.profiles import ProfileSettings
from tests.scheduler.shell.preemption import LOW, Arena

SECOND = "tutti-packed"
PROFILES: dict[str, Any] = {"profiles": (ProfileSettings(scheduler_name=SECOND),)}


@pytest.fixture
async def arena() -> Arena:
    return Arena()


def reporters(arena: Arena, reason: str) -> dict[str, str]:
    """Who says so, by the name of the object it is about."""
    return {event["regarding"]["name"]: event["reportingController"] for event in arena.events(reason)}


async def test_a_lone_pod_hears_from_its_own_profile(arena: Arena) -> None:
    arena.node("n0", 3)
    async with arena.scheduler(**PROFILES):
        arena.pod("default", scheduler="tutti")
        arena.pod("packed", scheduler=SECOND)
        arena.pod("too-large", 8, scheduler=SECOND)
        await arena.api.until(lambda: len(arena.events("Scheduled")) == 2)
        await arena.api.until(lambda: bool(arena.events("FailedScheduling")))
    assert reporters(arena, "Scheduled") == {"default": "tutti", "packed": SECOND}
    assert reporters(arena, "FailedScheduling") == {"too-large": SECOND}


async def test_a_group_hears_from_the_profile_of_its_pods(arena: Arena) -> None:
    arena.node("n0", 3)
    async with arena.scheduler(**PROFILES):
        for name, scheduler, cpu in (("default", "tutti", 1), ("packed", SECOND, 1), ("too-large", SECOND, 8)):
            arena.group(name, 1)
            arena.members(name, 1, cpu, scheduler=scheduler)
        await arena.api.until(lambda: len(arena.events("Scheduled")) == 2)
        await arena.api.until(lambda: bool(arena.events("FailedScheduling")))
    assert reporters(arena, "Scheduled") == {"default": "tutti", "packed": SECOND}
    assert reporters(arena, "FailedScheduling") == {"too-large": SECOND}


async def test_pods_that_wait_for_their_group_hear_from_their_profile(arena: Arena) -> None:
    async with arena.scheduler(**PROFILES):
        arena.members("absent", 1, scheduler=SECOND)
        await arena.api.until(lambda: bool(arena.events("WaitingForPodGroup")))
    assert reporters(arena, "WaitingForPodGroup") == {"absent-0": SECOND}


@pytest.mark.parametrize("preemptor", ["pod", "group"])
async def test_a_victim_hears_from_the_profile_of_the_preemptor(arena: Arena, preemptor: str) -> None:
    arena.node("n0", 1)
    arena.pod("low", priority=LOW, on="n0", scheduler="tutti")
    arena.api.graceful = True
    async with arena.scheduler(**PROFILES):
        if preemptor == "group":
            arena.group("high", 1)
            arena.members("high", 1, scheduler=SECOND)
        else:
            arena.pod("high", priority=100, scheduler=SECOND)
        await arena.api.until(lambda: bool(arena.events("Preempted")))
    assert reporters(arena, "Preempted") == {"low": SECOND}
    assert arena.marked("low")["message"].startswith(f"{SECOND}: preempting to accommodate a higher priority pod")


async def test_a_group_without_pods_hears_from_the_scheduler_itself(arena: Arena) -> None:
    async with arena.scheduler(**PROFILES):
        arena.group("empty", 1)
        await arena.api.until(lambda: bool(arena.api.events))
    assert {event["reportingController"] for event in arena.api.events} == {"tutti"}

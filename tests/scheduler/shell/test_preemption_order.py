"""In which order a candidate is carried out: what the preemptor waits for goes first, what only tells goes when it has started."""

import asyncio
from typing import Any

from kube.client.errors import KubeError
from tests.placement.case import apart, selector, term
from tests.scheduler.shell.preemption import LOW, Arena
from tests.scheduler.shell.virtual_time import run_virtually

WHOLE: dict[str, Any] = {"disruptionMode": {"all": {}}}
BIND = ("create", "pods/binding")


def low_pods(arena: Arena, nodes: int, **more: Any) -> None:
    for number in range(nodes):
        arena.node(f"n{number}", 1)
        arena.pod(f"low-{number}", on=f"n{number}", **more)


def told(arena: Arena, pod: str) -> list[int]:
    """Where in the log something is said about a pod."""
    return [index for index, entry in enumerate(arena.api.log) if entry == ("patch", "pods/status", pod)]


async def test_pods_are_nominated_before_anybody_is_asked_to_leave() -> None:
    arena = Arena()
    low_pods(arena, 3)
    async with arena.scheduler():
        arena.gang("g", 3)
        await arena.api.until(lambda: arena.runs("g", 3))
    first_mark = min(told(arena, f"low-{number}")[0] for number in range(3))
    assert all(told(arena, f"g-{number}")[0] < first_mark for number in range(3))


async def test_who_is_in_the_way_leaves_first_and_the_rest_of_the_group_after_the_preemptor_has_started() -> None:
    arena = Arena()
    low_pods(arena, 4, group="v")
    arena.group("v", 4, LOW, **WHOLE)
    async with arena.scheduler():
        arena.gang("g", 1)
        await arena.api.until(lambda: len(arena.deleted) == 4)
    writes = [(verb, what) for verb, what, _ in arena.api.log if (verb, what) in {("delete", "pods"), BIND}]
    assert writes == [("delete", "pods"), BIND, *[("delete", "pods")] * 3]
    assert arena.metric("tutti_wasted_evictions_total") == 0


async def test_the_rest_of_a_group_leaves_although_the_preemptor_is_deleted_meanwhile() -> None:
    arena = Arena()
    low_pods(arena, 3, group="v")
    arena.group("v", 3, LOW, **WHOLE)

    def preemptor_goes(verb: str, what: str, _name: str) -> KubeError | None:
        if (verb, what) == ("delete", "pods") and arena.is_there("g-0"):
            arena.api.remove("pods", "ns", "g-0")
        return None

    arena.api.after.append(preemptor_goes)
    async with arena.scheduler():
        arena.gang("g", 1)
        await arena.api.until(lambda: len(arena.deleted) == 3)


def test_who_stands_against_the_preemptor_from_another_node_leaves_with_the_others() -> None:
    async def scene() -> list[float]:
        clock = asyncio.get_running_loop().time
        arena = Arena(clock=clock)
        arena.node("here", 1, zone="a", place="here")
        arena.node("beside", 1, zone="a", place="beside")
        arena.pod("in-the-way", on="here")
        arena.pod("guard", on="beside", spec=apart(term(selector(app="g"), "zone")))
        when: list[float] = []

        def note(verb: str, what: str, _name: str) -> KubeError | None:
            if (verb, what) == ("delete", "pods"):
                when.append(clock())
            return None

        arena.api.before.append(note)
        async with arena.scheduler():
            arena.group("g", 1)
            arena.members("g", 1, labels={"app": "g"}, spec={"nodeSelector": {"place": "here"}})
            await arena.api.until(lambda: arena.runs("g", 1))
        assert sorted(arena.deleted) == ["guard", "in-the-way"]
        return when

    first, last = run_virtually(scene())
    assert last - first < 0.25, "the preemptor waits for both"

"""The hint in a group's condition: found one decision at a time, without a change of the cluster, and true when it is told."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from explain.advice import MOST_STARTS, Advice
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import EntityKey
from tests.explain.reason_table import SCENES
from tests.explain.scenes import Scene
from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.virtual_time import run_virtually

OF_THE_ITEM = {
    name: (scene, kind)
    for name, (_, kind, scene) in SCENES.items()
    if kind is not None
    and kind
    in {
        "lower-devices",
        "lower-request",
        "remove-node-selector",
        "remove-topology",
        "tolerate",
        "prefer-spread",
        "remove-pod-affinity",
        "remove-ports",
    }
}


def found(search: Advice, *, between: Callable[[], Any] = lambda: None) -> tuple[str, int]:
    """The hint and how many steps it took."""
    for steps in range(1, 200):
        hint = search.step()
        if hint is not None:
            return hint, steps
        between()
    raise AssertionError("the search does not end")


@pytest.mark.parametrize("name", OF_THE_ITEM)
def test_it_is_found_in_small_steps_that_change_nothing(name: str) -> None:
    scene, _ = OF_THE_ITEM[name]
    state = scene.world().state
    before = state.nodes.free.tolist()
    hint, steps = found(Advice(state, scene.key))
    assert hint
    assert steps > 2
    assert state.nodes.free.tolist() == before


def test_a_cluster_that_changes_between_the_steps_ends_the_search_without_a_hint() -> None:
    scene = SCENES["a little room"][2]
    world = scene.world()
    numbers = iter(range(1000))
    hint, steps = found(Advice(world.state, scene.key), between=lambda: world.node(f"new-{next(numbers)}", cpu=1))
    assert (hint, steps) == ("", MOST_STARTS + 1)


@pytest.mark.parametrize("name", ["no PodGroup", "gated pods", "a member is missing", "no node", "more nodes"])
def test_where_asking_for_less_does_not_help_there_is_no_hint(name: str) -> None:
    scene: Scene = SCENES[name][2]
    assert found(Advice(scene.world().state, scene.key))[0] == ""


async def test_a_group_that_waits_has_the_hint_in_its_condition_and_loses_it_when_the_refusal_is_another() -> None:
    cluster = Cluster()
    cluster.find_hint = Advice
    cluster.add_nodes(3)
    cluster.add_gang("g", 4)
    async with cluster.scheduler(hint_after_seconds=0.05):
        await cluster.api.until(lambda: "Hint:" in cluster.group_message("g"))
        told = cluster.group_message("g")
        assert told.endswith("for incoming preemptor. Hint: lower min-count from 4 to 3."), told
        assert all("Hint" not in event.get("note", "") for event in cluster.api.events)
        cluster.add_nodes(1, first=3)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 4)
        await cluster.api.until(lambda: cluster.group_says("g")[0] == "True")


def test_it_says_what_helps_in_every_turn_while_room_is_kept_for_one_group_after_the_other() -> None:
    async def story() -> None:
        cluster = Cluster(clock=asyncio.get_running_loop().time)
        cluster.find_hint = Advice
        cluster.add_nodes(4)
        async with cluster.scheduler(reserve_after_seconds=5.0, initial_backoff_seconds=1.0, max_backoff_seconds=10.0):
            cluster.add_gang("runs", 2)
            await cluster.api.until(lambda: cluster.group_says("runs")[0] == "True")
            for name in "abc":
                cluster.add_gang(name, 3)
            await asyncio.sleep(200)
            told = [cluster.group_message(name) for name in "abc"]
            assert all(text.endswith("Hint: lower min-count from 3 to 2.") for text in told), told
            await asyncio.sleep(1800)
            assert [cluster.group_message(name) for name in "abc"] == told

    run_virtually(story())


async def test_it_can_be_switched_off_and_waits_its_time() -> None:
    started: list[EntityKey] = []

    def start(state: ClusterState, key: EntityKey) -> Advice:
        started.append(key)
        return Advice(state, key)

    for after_seconds in (0.0, 60.0):
        cluster = Cluster()
        cluster.find_hint = start
        cluster.add_nodes(3)
        cluster.add_gang("g", 4)
        async with cluster.scheduler(hint_after_seconds=after_seconds):
            await cluster.api.until(lambda c=cluster: c.group_says("g")[0] == "False")  # type: ignore[misc]
        assert not started

"""Long computations in the whole scheduler: others get their turn between them, and one that is too long is told."""

import asyncio

import pytest

from scheduler import schedule_one
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import EntityKey
from scheduler.preemption.manager import PreemptionManager
from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.preemption import Arena

TRUE = ("True", "Scheduled")
NO_TIME = 1e-6
"""Every decision takes longer than this."""


@pytest.fixture
async def cluster() -> Cluster:
    return Cluster()


async def test_others_have_a_turn_between_a_decision_and_the_search_for_victims(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    search = PreemptionManager.post_filter

    def deciding(state: ClusterState, key: EntityKey, aim: int) -> Decision:
        happened.append("decision")
        asyncio.get_running_loop().call_soon(happened.append, "turn of others")
        return decide(state, key, aim)

    def searching(preemptor: PreemptionManager, decision: Decision) -> Decision:
        happened.append("search")
        return search(preemptor, decision)

    monkeypatch.setattr(schedule_one, "decide", deciding)
    monkeypatch.setattr(PreemptionManager, "post_filter", searching)
    async with cluster.scheduler(slice_seconds=NO_TIME):
        cluster.add_gang("g", 2)
        await cluster.api.until(lambda: cluster.group_says("g")[0] == "False" and "search" in happened)
    first = happened.index("decision")
    assert happened[first : first + 3] == ["decision", "turn of others", "search"]


async def test_room_that_is_cleared_while_others_have_their_turn_is_not_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The gang was decided upon while its victim was leaving, and when the refusal is acted upon the victim is gone."""
    arena = Arena()
    arena.api.graceful = True
    arena.node("n0", 1)
    arena.pod("low-0", on="n0")
    victim = arena.api.peek("pods", "ns", "low-0")["metadata"]["uid"]
    refusals: list[str] = []
    async with arena.scheduler() as scheduler:

        async def turn_of_others(_watch: object, _since_seconds: float) -> None:
            if arena.deleted and not refusals:
                refusals.append(arena.nominated("g-0"))
                arena.vanish()
                await arena.api.until(lambda: scheduler.state.pod(victim) is None)

        monkeypatch.setattr("scheduler.schedule_one._Stopwatch.give_way", turn_of_others)
        arena.gang("g", 1)
        await arena.api.until(lambda: arena.runs("g", 1))
    assert refusals == ["n0"]
    assert arena.deleted == ["low-0"]
    assert arena.metric("tutti_wasted_evictions_total") == 0


async def test_a_gang_over_the_budget_says_so_and_the_next_one_starts(cluster: Cluster) -> None:
    cluster.add_nodes(4)
    async with cluster.scheduler() as scheduler:
        steps = scheduler.state.nodes.steps
        steps.most = 100
        cluster.add_gang("large", 3)
        await cluster.api.until(lambda: cluster.group_says("large") == ("False", "SchedulerError"))
        assert cluster.group_message("large").startswith("finding a place would take longer than one decision may")
        await cluster.api.until(lambda: bool(cluster.events("FailedScheduling", "PodGroup")))
        value = cluster.metrics.registry.get_sample_value("tutti_over_budget_total", {"computation": "decision"})
        assert value == 1.0
        steps.most = 10**9
        cluster.add_gang("small", 1)
        await cluster.api.until(lambda: cluster.group_says("small") == TRUE)
        assert cluster.group_says("large") == ("False", "SchedulerError")

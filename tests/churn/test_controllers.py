"""Jobs come and go by the thousand, some during a pass."""

from typing import Any, cast

import pytest

from api.constants import SCHEDULING_TIMEOUT
from kube.client.errors import KubeError
from kube.client.resources import JOBS
from kube.groups.group_api import OWN
from tests.churn.census import CHURNED, Curve, census, grown, lower_limits
from tests.churn.cycles import cycles
from tests.controllers.builders import job_manifest
from tests.controllers.fake_cluster import FakeCluster
from tests.controllers.world import World

BATCH = 50


async def test_what_came_and_went_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    lower_limits(monkeypatch)
    cluster = FakeCluster()
    world, curve = World(cluster), Curve("controllers")
    await _come_and_go(cluster, world, "warm")
    counts = [census()]
    for first in range(0, CHURNED, BATCH):
        await _come_and_go(cluster, world, f"x{first}")
        curve.note(first + BATCH)
        if first + BATCH in {CHURNED // 2, CHURNED}:
            counts.append(census())
    assert grown(counts, CHURNED // 2) == {}
    assert curve.blocks_per_object() < 0.05


async def test_passes_leave_no_cycles() -> None:
    cluster = FakeCluster()
    world = World(cluster)
    await _come_and_go(cluster, world, "warm")
    with cycles() as left:
        await _come_and_go(cluster, world, "x")
    assert not left


async def _come_and_go(cluster: FakeCluster, world: World, prefix: str) -> None:
    names = [f"{prefix}-{number}" for number in range(BATCH)]
    for name in names:
        wrong = {SCHEDULING_TIMEOUT: "never"} if name.endswith("7") else {}
        cluster.put(JOBS, job_manifest(name, uid=name, annotations=wrong))
    world.look()
    for name in names:
        if name.endswith("9"):
            _goes_at_its_first_write(cluster, world, name)
        try:
            await world.once(name)
            await world.once(name)
        except KubeError:
            assert name.endswith("9")
    for name in names:
        await _touch(cluster, world, name)
    for kind in (JOBS, OWN.workloads, OWN.pod_groups):
        for found in cluster.all(kind):
            cluster.remove(kind, found["metadata"]["name"])
    world.look()
    world.now += 60
    assert world.jobs.keys() == []
    for log in (cluster.calls, cluster.bodies, world.events.told, world.events.at):
        cast("list[Any]", log).clear()


async def _touch(cluster: FakeCluster, world: World, name: str) -> None:
    """A label is set to what it never was, on the Job and on its group."""
    for kind in (JOBS, OWN.pod_groups):
        for found in cluster.all(kind):
            if found["metadata"]["name"] == name:
                found["metadata"].setdefault("labels", {})["round"] = name
                cluster.put(kind, found)
    world.look()
    await world.once(name)


def _goes_at_its_first_write(cluster: FakeCluster, world: World, name: str) -> None:
    def gone(_number: int) -> None:
        cluster.before_write = lambda _: None
        cluster.remove(JOBS, name)
        world.look_at_jobs()

    cluster.before_write = gone

"""Whatever goes wrong at whichever write, the end is the same as if nothing had.

Every scenario is run undisturbed once; then again for each of its writes and each kind of fault at that write. After a crash
a new process takes over, with nothing but the cluster.
"""

import copy
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from api.constants import EVENT_POD_GROUP_CREATED, EVENT_WORKLOAD_CREATED
from kube.client.resources import JOBS, PODS
from kube.groups.group_api import OWN
from tests.controllers.builders import job_manifest, pod_manifest, workload_manifest
from tests.controllers.fake_cluster import Crash, FakeCluster, Fault
from tests.controllers.world import World

FAULTS: tuple[Fault, ...] = ("crash before", "crash after", "lost before", "lost after", "conflict")


def gated(cluster: FakeCluster) -> None:
    cluster.put(JOBS, job_manifest())


def suspended_by_its_user(cluster: FakeCluster) -> None:
    cluster.put(JOBS, job_manifest(gated=False, suspended=True))


def with_a_workload_of_its_user(cluster: FakeCluster) -> None:
    cluster.put(JOBS, job_manifest())
    cluster.put(OWN.workloads, workload_manifest("byo", job_uid=None, ours=False, templates=("t",)))


def with_two_workloads(cluster: FakeCluster) -> None:
    with_a_workload_of_its_user(cluster)
    cluster.put(OWN.workloads, workload_manifest("second", uid="2", job_uid=None, ours=False))


def running_unassociated(cluster: FakeCluster) -> None:
    cluster.put(JOBS, job_manifest(gated=False, started=True))
    for number in range(3):
        cluster.put(PODS, pod_manifest(f"train-{number}"))


def running_with_one_pod_placed(cluster: FakeCluster) -> None:
    running_unassociated(cluster)
    cluster.put(PODS, pod_manifest("train-3", node="n"))


SCENARIOS = [
    gated,
    suspended_by_its_user,
    with_a_workload_of_its_user,
    with_two_workloads,
    running_unassociated,
    running_with_one_pod_placed,
]


async def run(scenario: Callable[[FakeCluster], None], fault: Fault | None, at: int) -> tuple[FakeCluster, World]:
    cluster = FakeCluster()
    scenario(cluster)
    cluster.fault = lambda number: fault if number == at else None
    world = World(cluster)
    try:
        await world.settle()
    except Crash:
        world = World(cluster)
        await world.settle()
    return cluster, world


def end_state(cluster: FakeCluster) -> dict[str, Any]:
    """All objects without what may differ between two good runs: versions, and UIDs where they name an object of ours."""
    uids = {found["metadata"]["uid"]: "/".join(key) for key, found in cluster.objects.items()}

    def neutral(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: neutral(entry) for key, entry in value.items() if key != "resourceVersion"}
        if isinstance(value, list):
            return [neutral(entry) for entry in value]
        return uids.get(value, value) if isinstance(value, str) else value

    return {"/".join(key): neutral(copy.deepcopy(found)) for key, found in sorted(cluster.objects.items())}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
async def test_every_fault_at_every_write_ends_like_an_undisturbed_run(
    scenario: Callable[[FakeCluster], None], fault: Fault
) -> None:
    undisturbed, _ = await run(scenario, None, 0)
    assert undisturbed.writes
    for at in range(undisturbed.writes):
        disturbed, _ = await run(scenario, fault, at)
        assert end_state(disturbed) == end_state(undisturbed), f"{fault} at write {at}"


@pytest.mark.parametrize(("first", "second"), list(itertools.product(FAULTS, repeat=2)))
async def test_two_faults_in_a_row_end_like_an_undisturbed_run(first: Fault, second: Fault) -> None:
    undisturbed, _ = await run(gated, None, 0)
    for at in range(undisturbed.writes):
        cluster = FakeCluster()
        gated(cluster)
        planned = {at: first, at + 1: second}
        cluster.fault = planned.get
        for _ in range(3):
            try:
                await World(cluster).settle()
            except Crash:
                continue
            break
        assert end_state(cluster) == end_state(undisturbed), f"{first} at write {at}, then {second}"


async def test_a_creation_whose_answer_was_lost_is_read_before_anything_else() -> None:
    cluster, world = await run(gated, "lost after", 0)
    workload = cluster.all(OWN.workloads)[0]["metadata"]["name"]
    assert cluster.calls[:2] == [("create", "workloads", workload), ("get", "workloads", workload)]
    assert world.events.reasons == [EVENT_WORKLOAD_CREATED, EVENT_POD_GROUP_CREATED]


async def test_a_creation_that_was_lost_on_its_way_is_repeated_under_the_same_name() -> None:
    cluster, world = await run(gated, "lost before", 0)
    assert len(cluster.all(OWN.workloads)) == 1
    assert world.events.reasons == [EVENT_WORKLOAD_CREATED, EVENT_POD_GROUP_CREATED]


async def test_no_event_is_told_for_a_write_that_failed() -> None:
    cluster = FakeCluster()
    gated(cluster)
    cluster.fault = lambda number: "crash before" if number == 1 else None
    world = World(cluster)
    with pytest.raises(Crash):
        await world.settle()
    assert world.events.reasons == [EVENT_WORKLOAD_CREATED]

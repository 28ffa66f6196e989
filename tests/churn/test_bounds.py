"""What a process may keep of what it does not need any more: garbage that waits for the collector, and caches that are full."""

import gc
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, product

import pytest

from api.meta import Metadata
from api.pod import Pod
from controllers import operator
from kube.client.event_series import DEDUPE_SECONDS, EventSeriesCache, ObjectReference, Occurrence
from scheduler import process
from scheduler.algorithm.node_fits import fits_of
from scheduler.cache.record_factory import RecordFactory
from tests.scheduler.core import build
from tests.scheduler.core.world import World

MIB = 2**20
CYCLES = 50_000
PODS = 9_000
EVENTS = 4_096
AMOUNTS = 32
NANOSECONDS = 1_780_000_000_000_000_000


@pytest.fixture(autouse=True)
def _collector() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize("thresholds", [operator._GC_THRESHOLDS, process._GC_THRESHOLDS])
def test_garbage_in_cycles_that_waits_for_the_collector_takes_little(thresholds: tuple[int, int, int]) -> None:
    gc.set_threshold(*thresholds)
    with _traced():
        for _ in range(CYCLES):
            _a_cycle()
        assert tracemalloc.get_traced_memory()[1] < MIB / 2


def test_pods_that_came_and_went_leave_little_in_the_tables_of_what_pods_share() -> None:
    factory = RecordFactory(frozenset({"tutti"}), {})
    factory.pod(_pod(0))
    with _traced():
        for number in range(1, PODS):
            factory.pod(_pod(number))
        assert tracemalloc.get_traced_memory()[1] < 5 * MIB


def test_events_of_the_last_minutes_take_little_however_long_their_notes_are() -> None:
    cache = EventSeriesCache()
    with _traced():
        for number in range(EVENTS):
            cache.started(_occurrence(number, note=f"{number} {'x' * 500}"), NANOSECONDS + number, number / 100)
        assert tracemalloc.get_traced_memory()[0] < 1.25 * MIB
    assert len(cache) == EVENTS


def test_events_of_long_ago_are_forgotten_before_there_are_too_many() -> None:
    cache, number = EventSeriesCache(), count()
    for moment in (0.0, 1.0, 1.0, DEDUPE_SECONDS):
        cache.started(_occurrence(next(number)), NANOSECONDS, moment)
    assert len(cache) == 3, "the first one is five minutes old"
    assert cache.repeated(_occurrence(1), DEDUPE_SECONDS) is not None
    cache.started(_occurrence(next(number)), NANOSECONDS, DEDUPE_SECONDS + 1)
    assert len(cache) == 3, "so is the third one now, while the second one has gone on"
    assert cache.repeated(_occurrence(1), DEDUPE_SECONDS + 2) is not None


def test_of_the_states_that_nodes_have_had_little_is_remembered_for_a_signature() -> None:
    world = World()
    world.node("n0", cpu=1)
    world.pod("waiting", cpu=1)
    members = world.state.item(build.pod_key("waiting"))
    assert members is not None
    (signature,) = members.pending
    fits = fits_of(world.state)
    fits.of(signature)
    with _traced():
        for cpu, memory in product(range(AMOUNTS), repeat=2):
            world.node("n0", cpu=cpu, memory=f"{memory}Gi")
            assert fits.of(signature).capacity[0] == cpu
        assert tracemalloc.get_traced_memory()[0] < MIB / 8


@contextmanager
def _traced() -> Iterator[None]:
    gc.collect()
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()


def _a_cycle() -> None:
    held: list[object] = ["x" * 100]
    held.append(held)


def _pod(number: int) -> Pod:
    """A member of an Indexed Job: nobody else has its labels."""
    labels = {
        "batch.kubernetes.io/controller-uid": f"{number:08x}-1111-4222-8333-444444444444",
        "batch.kubernetes.io/job-completion-index": str(number),
        "batch.kubernetes.io/job-name": f"train-{number}",
        "controller-uid": f"{number:08x}-1111-4222-8333-444444444444",
        "job-name": f"train-{number}",
        "round": f"{number}",
        "tutti.scheduler/managed": "true",
    }
    return Pod(metadata=Metadata(name=f"train-{number}-0", namespace="team", uid=f"{number}", labels=labels))


def _occurrence(number: int, note: str = "its group is there") -> Occurrence:
    job = ObjectReference("batch/v1", "Job", "team", f"train-{number}", f"uid-{number}")
    return Occurrence(job, "GangCreated", note, "Normal", "CreateGroup", None)

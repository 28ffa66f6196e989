"""Which Jobs a controller looks at, and what it forgets with them."""

import random
from typing import cast

from prometheus_client import CollectorRegistry

from controllers.context import ControllerContext
from controllers.jobs.controller import JobController
from controllers.metrics import Metrics
from controllers.mutation_cache import MutationCache
from controllers.operator import Operator
from controllers.provider_groups import ProviderGroups
from controllers.settings import ControllersSettings
from kube.cache.informer import Change
from kube.cache.store import Key, Store
from kube.client.client import Client
from kube.groups.group_api import OWN
from providers.selection import standard_providers
from tests.controllers.builders import NAMESPACE, group, job, job_manifest, workload
from tests.controllers.fake_cluster import FakeCluster
from tests.controllers.world import RecordedEvents

KEY = (NAMESPACE, "train")


def controller(events: RecordedEvents) -> JobController:
    client = cast("Client", FakeCluster())
    return JobController(
        ControllerContext(
            client=client,
            group_api=OWN,
            settings=ControllersSettings(),
            providers=standard_providers(),
            workloads=MutationCache(Store({"controller": lambda _: ()}), {"controller": lambda _: ()}),
            pod_groups=MutationCache(Store({"workload": lambda _: ()}), {"workload": lambda _: ()}),
            provider_groups=ProviderGroups(client),
            recorder=events,
            metrics=Metrics(CollectorRegistry()),
            random=random.Random(1),
        )
    )


def taken(jobs: JobController) -> list[Key]:
    """What is to be looked at, in the order in which it would be; afterwards nothing is."""
    keys = [jobs.queue._ready.popleft() for _ in range(len(jobs.queue))]
    jobs.queue._waiting.clear()
    return keys


async def test_every_change_of_a_job_and_its_end_are_looked_at() -> None:
    jobs = controller(RecordedEvents(FakeCluster()))
    tell = jobs.informer._tell
    for change in (
        Change("added", None, job()),
        Change("updated", job(), job(version="2")),
        Change("deleted", job(), None),
    ):
        tell(change)
        assert taken(jobs) == [KEY]


async def test_a_change_of_its_objects_concerns_a_job_that_is_there_only() -> None:
    jobs = controller(RecordedEvents(FakeCluster()))
    jobs.workload_changed(workload())
    jobs.pod_group_changed(group())
    assert len(jobs.queue) == 0
    jobs.informer._put(job())
    taken(jobs)
    jobs.workload_changed(workload())
    assert taken(jobs) == [KEY]


async def test_a_job_whose_objects_went_is_read_before_they_are_made_anew() -> None:
    """The garbage collector takes them when it has seen that the Job is gone, which our own watch may not have told yet."""
    settings, metrics = ControllersSettings(), Metrics(CollectorRegistry())
    operator = Operator(cast("Client", FakeCluster()), OWN, settings, metrics=metrics, random=random.Random(1))
    jobs, mine = operator.jobs.owners, job()
    operator.jobs.informer._put(mine)
    operator.workloads._tell(Change("added", None, workload()))
    operator.workloads._tell(Change("deleted", workload(job_uid="uid-of-another"), None))
    assert jobs.was_just_shown(mine)
    operator.workloads._tell(Change("deleted", workload(), None))
    assert not jobs.was_just_shown(mine)
    jobs.note(mine)
    assert jobs.was_just_shown(mine)
    operator.pod_groups._tell(Change("deleted", group(), None))
    assert not jobs.was_just_shown(mine)


async def test_thousands_of_jobs_in_one_namespace_leave_every_second_turn_to_another() -> None:
    jobs = controller(RecordedEvents(FakeCluster()))
    for number in range(3000):
        jobs.informer._put(job(f"many-{number}", uid=f"many-{number}"))
    others = [("other", "a"), ("other", "b")]
    for key in others:
        jobs.queue.add(key)
    assert [key for key in taken(jobs)[:4] if key[0] == "other"] == others


async def test_what_was_recorded_about_a_job_is_forgotten_with_it() -> None:
    events = RecordedEvents(FakeCluster())
    jobs = controller(events)
    jobs.informer._put(job())
    recorder = jobs._event_recorder
    for _ in range(2):
        recorder.warn_once(job(), reason="R", note="n", action="A")
    assert events.reasons == ["R"]
    jobs.informer._put(job(uid="successor", version="2"))
    recorder.warn_once(job(), reason="R", note="n", action="A")
    assert events.reasons == ["R", "R"]
    assert job_manifest()["metadata"]["uid"] not in recorder._recorded

"""All parts of the controllers, wired: stores, informers, work queue, reconciler, events.

A kind is watched by exactly one of the two watchers: Jobs by kopf, Workloads and PodGroups by informers, whose handlers run
after their store has changed and enqueue the Job concerned. Nothing is reconciled before the informers have listed.
"""

import asyncio
import gc
import random as randomness
from functools import partial
from typing import Any, Final

from api.constants import CONTROLLERS_NAME
from api.job import Job
from api.meta import Metadata
from api.podgroup import PodGroup, Workload
from api.preemption import preemptor_of
from controllers.announcer import Announcer
from controllers.fresh import Fresh
from controllers.handover import handing_over_to
from controllers.job_watch import kopf_settings, watch_until_it_ends, watching_registry
from controllers.jobs.execute import Tools
from controllers.jobs.give_way import has_given_up, has_to_leave
from controllers.jobs.observe import POD_GROUP_INDEXERS, WORKLOAD_INDEXERS, Observer, group_objects_of, owner_job
from controllers.jobs.plan import Rules
from controllers.jobs.reconcile import JobReconciler
from controllers.jobs.store import JobStore
from controllers.leaderworkersets.part import SetPart, Shared
from controllers.metrics import Metrics
from controllers.missed_deletions import forget_deleted
from controllers.provider_groups import ProviderGroups
from controllers.settings import ControllersSettings
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Change, Informer
from kube.cache.store import Key
from kube.cache.workqueue import WorkQueue
from kube.client.client import Client
from kube.client.events import EventRecorder
from kube.client.resources import JOBS
from kube.groups.group_api import GroupAPI
from providers.selection import standard_providers

SILENT_SECONDS: Final = 600.0
"""An informer that has heard nothing for so long is stuck: bookmarks come about every minute."""

RESYNC_SPREAD: Final = 0.1
"""A resync spreads its Jobs over this part of the period, so that it never blocks the loop."""

FLUSH_SECONDS: Final = 2.0

_GC_THRESHOLDS: Final = (200_000, 50, 1_000)
"""The stores are many small objects that make no cycles: looking for cycles among them often is lost time."""


class Operator:
    """The controllers of one process. The client is expected to refuse writes while the lease is not held."""

    def __init__(
        self,
        client: Client,
        group_api: GroupAPI,
        settings: ControllersSettings,
        *,
        metrics: Metrics,
        random: randomness.Random,
    ) -> None:
        self._client = client
        self._settings = settings
        self._random = random
        self._running = False
        self.jobs = JobStore()
        self.workloads = Informer(client, group_api.workloads, ListDecoder(Workload), indexers=WORKLOAD_INDEXERS)
        self.pod_groups = Informer(client, group_api.pod_groups, ListDecoder(PodGroup), indexers=POD_GROUP_INDEXERS)
        self.provider_groups = ProviderGroups(client, on_change=self._group_object_changed)
        self._recorder = EventRecorder(client, component=CONTROLLERS_NAME, instance=settings.identity)
        providers = standard_providers(
            scheduler_name=settings.scheduler_name,
            profile_names=settings.profile_names,
            default_provider=settings.default_provider,
            options=settings.providers,
            built_in_groups=group_api.keeps_pod_field,
        )
        shared = Shared(
            client=client,
            group_api=group_api,
            settings=settings,
            providers=providers,
            workloads=Fresh(self.workloads.store, WORKLOAD_INDEXERS),
            pod_groups=Fresh(self.pod_groups.store, POD_GROUP_INDEXERS),
            provider_groups=self.provider_groups,
            recorder=self._recorder,
            metrics=metrics,
            random=random,
        )
        self.sets = SetPart(shared)
        self._observer, self.queue = self._job_part(shared)
        self.jobs.on_change(self.queue.add)
        self.workloads.add_handler(shared.workloads.caught_up)
        self.workloads.add_handler(self._workload_changed)
        self.pod_groups.add_handler(shared.pod_groups.caught_up)
        self.pod_groups.add_handler(self._pod_group_changed)

    def _job_part(self, shared: Shared) -> tuple[Observer, WorkQueue[Key]]:
        """What looks Jobs up, and the queue of those to be looked at."""
        announcer = Announcer(shared.recorder, is_there=self.jobs.has)
        self.jobs.on_leave(announcer.forget)
        resource, providers = shared.group_api.workloads, shared.providers
        objects = partial(group_objects_of, providers=providers, groups=shared.provider_groups)
        observer = Observer(shared.client, resource, shared.workloads, shared.pod_groups, objects)
        tools = Tools(
            client=shared.client,
            group_api=shared.group_api,
            providers=providers,
            jobs=self.jobs,
            workloads=shared.workloads,
            pod_groups=shared.pod_groups,
            announcer=announcer,
            metrics=shared.metrics,
            provider_groups=shared.provider_groups,
        )
        rules = Rules(providers, resource.api_version, gang_jobs=shared.settings.feature_gates.gang_jobs)
        queue: WorkQueue[Key] = WorkQueue(
            JobReconciler(tools, observer, rules), workers=shared.settings.workers, random=shared.random
        )
        shared.metrics.follow_queue(JOBS.kind, lambda: float(len(queue)))
        return observer, queue

    async def run(self) -> None:
        """Work until cancelled.

        Raises:
            WatchEnded: Jobs cannot be watched any more.
        """
        usual_thresholds = gc.get_threshold()
        gc.set_threshold(*_GC_THRESHOLDS)
        self._running = True
        events = asyncio.ensure_future(self._recorder.run())
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.workloads.run())
                group.create_task(self.pod_groups.run())
                group.create_task(self.provider_groups.run())
                await self.workloads.synced.wait()
                await self.pod_groups.synced.wait()
                gc.freeze()
                group.create_task(self.queue.run())
                group.create_task(self._resync())
                registry = watching_registry(self._client.credentials, JOBS, Job, handing_over_to(self.jobs))
                group.create_task(watch_until_it_ends(registry, kopf_settings()))
                group.create_task(self.sets.run())
        finally:
            self._running = False
            gc.unfreeze()
            gc.set_threshold(*usual_thresholds)
            await self._recorder.flush(FLUSH_SECONDS)
            events.cancel()

    def stuck(self) -> str | None:
        """Why the process should be restarted, None while all is well. A process that waits for its lease is well."""
        if not self._running:
            return None
        followed: list[tuple[str, Informer[Any]]] = [("Workloads", self.workloads), ("PodGroups", self.pod_groups)]
        for kind, informer in (*followed, *self.sets.informers):
            silence_seconds = informer.last_heard_seconds()
            if silence_seconds > SILENT_SECONDS:
                return f"nothing was heard of {kind} for {silence_seconds:.0f} s"
        return None

    def unready(self) -> str | None:
        """Why the process does not work yet, None when it does. A process that waits for its lease is ready to take over."""
        if self._running and not (self.workloads.synced.is_set() and self.pod_groups.synced.is_set()):
            return "Workloads and PodGroups are not listed yet"
        return None

    async def _resync(self) -> None:
        period_seconds = self._settings.resync_seconds
        while True:
            await asyncio.sleep(period_seconds)
            await forget_deleted(self.jobs, self._client, JOBS)
            for key in self.jobs.keys():  # noqa: SIM118 (the store is no mapping)
                self.queue.add_after(key, self._random.uniform(0, period_seconds * RESYNC_SPREAD))

    def _workload_changed(self, change: Change[Workload]) -> None:
        workload = change.new if change.new is not None else change.old
        if workload is not None:
            self._add(self._observer.jobs_of_workload(workload))
            self.sets.workload_changed(workload)

    def _pod_group_changed(self, change: Change[PodGroup]) -> None:
        group = change.new if change.new is not None else change.old
        if change.new is not None:
            self.sets.pod_group_says(change.new)
        if change.old is not None and change.new is not None and _same_but_status(change.old, change.new):
            return
        if group is not None:
            self._add(self._observer.jobs_of_group(group))
            self.sets.pod_group_changed(group)

    def _group_object_changed(self, metadata: Metadata) -> None:
        key = owner_job(metadata)
        if key is not None:
            self._add({key})
        self.sets.group_object_changed(metadata)

    def _add(self, keys: set[Key]) -> None:
        for key in keys:
            if self.jobs.get(key) is not None:
                self.queue.add(key)


def _same_but_status(old: PodGroup, new: PodGroup) -> bool:
    """Whether only the status moved, which the scheduler does all the time and which means nothing to us.

    But for these conditions: a group that has to leave, for this one or that one, or has left, or has been given up, is one
    whose Job is to be suspended, or resumed.
    """
    if has_to_leave(old) is not has_to_leave(new) or has_given_up(old) is not has_given_up(new):
        return False
    if preemptor_of(old.status.conditions) != preemptor_of(new.status.conditions):
        return False
    return old.spec == new.spec and old.metadata.is_terminating == new.metadata.is_terminating

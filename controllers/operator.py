"""All parts of the controllers, wired: informers, the controllers of Jobs, LeaderWorkerSets and JobSets, events.

Every kind is followed by an informer, whose handlers run after its store has changed and add the owners concerned to a work queue.
Nothing is reconciled before the informers have listed.
"""

import asyncio
import gc
import random as randomness
from typing import Any, Final

from api.constants import CONTROLLERS_NAME
from api.meta import Metadata
from api.podgroup import PodGroup, Workload
from api.preemption import preemptor_of
from controllers.context import ControllerContext
from controllers.gangs.indexes import POD_GROUP_INDEXERS, WORKLOAD_INDEXERS
from controllers.gangs.kind_manager import KindManager
from controllers.jobs.controller import JobController
from controllers.jobs.suspension import is_disruption_target, is_timed_out
from controllers.jobsets.controller import JobSetController
from controllers.leaderworkersets.controller import SetController
from controllers.metrics import Metrics
from controllers.mutation_cache import MutationCache
from controllers.provider_groups import ProviderGroups
from controllers.settings import ControllersSettings
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Change, Informer
from kube.client.client import Client
from kube.client.events import EventRecorder
from kube.client.resources import JOB_SETS, JOBS, LEADER_WORKER_SETS, Resource
from kube.groups.group_api import GroupAPI
from kube.groups.version_gone import end_when_gone
from providers.selection import standard_providers

SILENT_SECONDS: Final = 600.0
"""An informer that has heard nothing for so long is stuck: bookmarks come about every minute."""

FLUSH_SECONDS: Final = 2.0

_GC_THRESHOLDS: Final = (1_000, 2_000, 1_000)
"""The stores are many small objects that make no cycles: looking for cycles among them often is lost time. Among what was made
just now it is not: a request that fails leaves a cycle with all its frames, and as many as the first number allows are kept."""


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
        composites: Resource | None = None,
    ) -> None:
        """Nothing runs yet.

        Args:
            client: the API server.
            group_api: where Workloads and PodGroups are: built-in kinds or our own.
            settings: of this process.
            metrics: counts.
            random: spreads load.
            composites: where CompositePodGroups are kept; None where the server has none.
        """
        self._running = False
        self._client = client
        self._group_api = group_api
        self._composites = composites
        self.workloads = Informer(client, group_api.workloads, ListDecoder(Workload), indexers=WORKLOAD_INDEXERS)
        self.pod_groups = Informer(client, group_api.pod_groups, ListDecoder(PodGroup), indexers=POD_GROUP_INDEXERS)
        self.provider_groups = ProviderGroups(client, on_change=self._group_object_changed)
        self._recorder = EventRecorder(client, component=CONTROLLERS_NAME, instance=settings.identity)
        context = ControllerContext(
            client=client,
            group_api=group_api,
            settings=settings,
            providers=standard_providers(
                scheduler_name=settings.scheduler_name,
                profile_names=settings.profile_names,
                default_provider=settings.default_provider,
                options=settings.providers,
                built_in_groups=group_api.keeps_pod_field,
            ),
            workloads=MutationCache(self.workloads.store, WORKLOAD_INDEXERS),
            pod_groups=MutationCache(self.pod_groups.store, POD_GROUP_INDEXERS),
            provider_groups=self.provider_groups,
            recorder=self._recorder,
            metrics=metrics,
            random=random,
            composites=composites,
        )
        self.jobs = JobController(context)
        self.kinds = (
            KindManager(context, LEADER_WORKER_SETS, SetController),
            KindManager(context, JOB_SETS, JobSetController),
        )
        self._followed: Final[dict[Resource, Informer[Any]]] = {
            group_api.workloads: self.workloads,
            group_api.pod_groups: self.pod_groups,
            JOBS: self.jobs.informer,
        }
        for resource, informer in self._followed.items():
            metrics.follow_silence(resource.plural, informer.last_heard_seconds)
        self._add_handlers(context)

    def _add_handlers(self, context: ControllerContext) -> None:
        self.workloads.add_handler(context.workloads.caught_up)
        self.workloads.add_handler(self.jobs.owned_changed)
        self.workloads.add_handler(self._workload_changed)
        self.pod_groups.add_handler(context.pod_groups.caught_up)
        self.pod_groups.add_handler(self.jobs.owned_changed)
        self.pod_groups.add_handler(self._pod_group_changed)

    async def run(self) -> None:
        """Work until cancelled."""
        usual_thresholds = gc.get_threshold()
        gc.set_threshold(*_GC_THRESHOLDS)
        self._running = True
        events = asyncio.ensure_future(self._recorder.run())
        try:
            async with asyncio.TaskGroup() as group:
                for informer in self._followed.values():
                    group.create_task(informer.run())
                group.create_task(self.provider_groups.run())
                group.create_task(
                    end_when_gone(self._client, self._group_api, self._composites, in_trouble=self._is_in_trouble)
                )
                for informer in self._followed.values():
                    await informer.synced.wait()
                gc.freeze()
                group.create_task(self.jobs.work())
                for kind in self.kinds:
                    group.create_task(kind.run())
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
        followed = [(f"{resource.kind}s", informer) for resource, informer in self._followed.items()]
        for manager in self.kinds:
            followed += manager.informers
        for kind, informer in followed:
            silence_seconds = informer.last_heard_seconds()
            if silence_seconds > SILENT_SECONDS:
                return f"nothing was heard of {kind} for {silence_seconds:.0f} s"
        return None

    def unready(self) -> str | None:
        """Why the process does not work yet, None when it does. A process that waits for its lease is ready to take over."""
        if self._running and not (self.workloads.synced.is_set() and self.pod_groups.synced.is_set()):
            return "Workloads and PodGroups are not listed yet"
        return None

    def _is_in_trouble(self) -> bool:
        return self.workloads.is_in_trouble or self.pod_groups.is_in_trouble

    def _workload_changed(self, change: Change[Workload]) -> None:
        workload = change.new if change.new is not None else change.old
        if workload is not None:
            self.jobs.workload_changed(workload)
            for kind in self.kinds:
                kind.workload_changed(workload)

    def _pod_group_changed(self, change: Change[PodGroup]) -> None:
        group = change.new if change.new is not None else change.old
        if change.new is not None:
            for kind in self.kinds:
                kind.pod_group_status_changed(change.new)
        if change.old is not None and change.new is not None and _same_but_status(change.old, change.new):
            return
        if group is not None:
            self.jobs.pod_group_changed(group)
            for kind in self.kinds:
                kind.pod_group_changed(group)

    def _group_object_changed(self, owned: Metadata) -> None:
        self.jobs.group_object_changed(owned)
        for kind in self.kinds:
            kind.group_object_changed(owned)


def _same_but_status(old: PodGroup, new: PodGroup) -> bool:
    """Whether only the status moved, which the scheduler does all the time and which means nothing to us.

    But for these conditions: a group that has to leave, for this one or that one, or has left, or has been given up, is one
    whose Job is to be suspended, or resumed.
    """
    if is_disruption_target(old) is not is_disruption_target(new) or is_timed_out(old) is not is_timed_out(new):
        return False
    if preemptor_of(old.status.conditions) != preemptor_of(new.status.conditions):
        return False
    return old.spec == new.spec and old.metadata.is_terminating == new.metadata.is_terminating

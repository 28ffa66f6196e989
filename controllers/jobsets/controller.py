"""Looks after JobSets while the cluster knows them: which are looked at when something changes."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from api.constants import CONDITION_SCHEDULED, EVENT_FAILED_SCHEDULING
from api.jobset import JobSet
from api.meta import Metadata, condition_of
from api.podgroup import PodGroup, Workload
from controllers.context import ControllerContext
from controllers.events import DedupEventRecorder
from controllers.gangs.common_steps import Rules
from controllers.gangs.controller import Controller
from controllers.gangs.reconciler import Reconciler
from controllers.gangs.tools import Tools, tools_of
from controllers.jobsets.execute import execute
from controllers.jobsets.observe import JobSetObserver, job_set_of
from controllers.jobsets.observed import ObservedJobSet
from controllers.jobsets.plan import plan
from controllers.owner_cache import OwnerCache
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Informer
from kube.client.resources import JOB_SETS


class JobSetController(Controller[JobSet]):
    """Makes the Workload and the PodGroups of every JobSet that was taken in, and takes back those of former attempts."""

    def __init__(self, context: ControllerContext) -> None:
        observer = JobSetObserver(context.workloads, context.pod_groups)

        def reconciler(
            jobsets: OwnerCache[JobSet], event_recorder: DedupEventRecorder
        ) -> Reconciler[JobSet, ObservedJobSet]:
            gates = context.settings.feature_gates
            version = context.group_api.workloads.api_version
            rules = Rules(context.providers, version, makes_gangs=gates.gang_job_sets)
            return job_set_reconciler(tools_of(context, jobsets, event_recorder), observer, rules)

        super().__init__(context, JOB_SETS, ListDecoder(JobSet), reconciler)

    @property
    def informers(self) -> tuple[tuple[str, Informer[Any]], ...]:
        """What is followed, with a name for people."""
        return (("JobSets", self.informer),)

    async def run_until(self, gone: Callable[[], Awaitable[object]]) -> None:
        """Work until `gone` returns, or until cancelled."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self.informer.run()), group.create_task(self._work_once_listed())]
            await gone()
            for task in tasks:
                task.cancel()

    def workload_changed(self, workload: Workload) -> None:
        """A Workload came, changed or went."""
        self.add(job_set_of(workload.metadata))

    def pod_group_changed(self, group: PodGroup) -> None:
        """A PodGroup came, went, or changed by more than its status."""
        self.add(job_set_of(group.metadata))

    def group_object_changed(self, owned: Metadata) -> None:
        """A group object of another gang scheduler: JobSets have none."""

    def report_waiting(self, group: PodGroup) -> None:
        """A group that waits says why on its JobSet, too, where people look first; once per reason."""
        said = condition_of(group.status.conditions or (), CONDITION_SCHEDULED)
        if said is None or said.status != "False" or not said.message:
            return
        for key in job_set_of(group.metadata):
            if (jobset := self.owners.get(key)) is not None:
                note = f"group {group.metadata.name}: {said.message}"
                self._event_recorder.warn_once(jobset, reason=EVENT_FAILED_SCHEDULING, note=note, action="Scheduling")

    async def _work_once_listed(self) -> None:
        await self.informer.synced.wait()
        await self.work()


def job_set_reconciler(
    tools: Tools[JobSet], observer: JobSetObserver, rules: Rules
) -> Reconciler[JobSet, ObservedJobSet]:
    """What does one pass over one JobSet."""
    return Reconciler(
        JOB_SETS,
        JobSet,
        tools,
        observe=observer.observe,
        plan=partial(plan, rules=rules),
        execute=partial(execute, tools=tools),
    )

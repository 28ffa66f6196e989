"""Looks after Jobs: what is followed, and which Jobs are looked at when something else changes."""

from functools import partial

from api.job import Job
from api.meta import Metadata, controller_of
from api.podgroup import PodGroup, Workload
from controllers.context import ControllerContext
from controllers.events import DedupEventRecorder
from controllers.gangs.common_steps import Rules
from controllers.gangs.controller import Controller
from controllers.gangs.reconciler import Reconciler
from controllers.gangs.tools import Tools, tools_of
from controllers.jobs.execute import execute
from controllers.jobs.interning import interned
from controllers.jobs.observe import JobObserver, group_objects_of, owner_job
from controllers.jobs.observed import ObservedJob
from controllers.jobs.plan import plan
from controllers.owner_cache import OwnerCache
from kube.cache.decoding import Converted, ListDecoder
from kube.cache.informer import Change
from kube.client.resources import JOBS


class JobController(Controller[Job]):
    """Makes Workload and PodGroup of every Job that is a gang, and opens its gate."""

    def __init__(self, context: ControllerContext) -> None:
        groups = partial(group_objects_of, providers=context.providers, groups=context.provider_groups)
        resource = context.group_api.workloads
        self._observer = JobObserver(context.client, resource, context.workloads, context.pod_groups, groups)

        def reconciler(jobs: OwnerCache[Job], event_recorder: DedupEventRecorder) -> Reconciler[Job, ObservedJob]:
            tools = tools_of(context, jobs, event_recorder)
            gang_jobs = context.settings.feature_gates.gang_jobs
            return job_reconciler(
                tools, self._observer, Rules(context.providers, resource.api_version, makes_gangs=gang_jobs)
            )

        super().__init__(context, JOBS, Converted(ListDecoder(Job), interned), reconciler)

    def workload_changed(self, workload: Workload) -> None:
        """A Workload came, changed or went."""
        self.add(self._observer.jobs_of_workload(workload))

    def pod_group_changed(self, group: PodGroup) -> None:
        """A PodGroup came, went, or changed by more than its status."""
        self.add(self._observer.jobs_of_group(group))

    def owned_changed(self, change: Change[Workload] | Change[PodGroup]) -> None:
        """Of one that went the garbage collector may know before us that its Job is gone. A handler for both informers."""
        owner = controller_of(change.old.metadata) if change.new is None and change.old is not None else None
        if owner is not None:
            self.owners.doubt(owner.uid)

    def group_object_changed(self, owned: Metadata) -> None:
        """A group object of another gang scheduler came, went, or changed its minimum."""
        key = owner_job(owned)
        self.add([key] if key is not None else [])


def job_reconciler(tools: Tools[Job], observer: JobObserver, rules: Rules) -> Reconciler[Job, ObservedJob]:
    """What does one pass over one Job."""
    return Reconciler(
        JOBS,
        Job,
        tools,
        observe=observer.observe,
        plan=partial(plan, rules=rules),
        execute=partial(execute, tools=tools),
    )

"""Carries out a plan for a JobSet: one small function per kind of step, in order, stopping at the first that fails.

What the steps rely on is as for Jobs: every write names the UID of what it changes or makes, events follow the write they tell
about, and the client asks for the lease right before each write.
"""

import contextlib

from api.compile_jobset import pod_group_for_unit
from api.jobset import JobSet
from api.parents.jobset import Unit
from api.podgroup import PodGroup, Workload
from controllers.gangs.common_steps import CreateWorkload, Warn
from controllers.gangs.tools import Tools
from controllers.gangs.writes import Creation, Outdated, all_of, create, read_owner
from controllers.jobsets.leaving import suspend_children
from controllers.jobsets.steps import ConfirmJobSet, CreateUnitGroups, DeleteGroups, JobSetPlan, SuspendChildren
from kube.client.errors import Conflict, NotFound
from kube.client.resources import JOB_SETS


async def execute(plan: JobSetPlan, jobset: JobSet, tools: Tools[JobSet]) -> None:
    """Take the steps of the plan.

    Raises:
        OwnerGone: the JobSet is not there any more.
        Outdated: something has changed meanwhile.
        NameTaken: somebody else's object holds the name of ours.
        KubeError: anything else went wrong, or the lease is gone; the rest of the plan was not done.
    """
    made: Workload | None = None
    whose = f"JobSet {jobset.metadata.name}"
    for step in plan.steps:
        match step:
            case ConfirmJobSet():
                jobset = await _confirm(jobset, tools)
            case CreateWorkload():
                resource = tools.group_api.workloads
                creation = Creation(resource, step.manifest, Workload, owner=jobset, subject=jobset, whose=whose)
                made = await create(creation, tools, tools.workloads)
            case CreateUnitGroups():
                workload = step.workload or made
                if workload is None:
                    raise Outdated("the Workload of this pass was not made")
                await all_of(_create_group(unit, workload, jobset, tools) for unit in step.units)
            case DeleteGroups():
                await all_of(_delete_group(group, tools) for group in step.groups)
            case SuspendChildren():
                await suspend_children(step.groups, jobset, tools)
            case Warn():
                tools.event_recorder.warn_once(jobset, reason=step.reason, note=step.note, action=step.action)


async def _confirm(jobset: JobSet, tools: Tools[JobSet]) -> JobSet:
    live, _ = await read_owner(tools, JOB_SETS, JobSet, jobset)
    decisive = [
        (each.spec, each.metadata.annotations, each.status.restarts, each.is_finished) for each in (live, jobset)
    ]
    if live.metadata.is_terminating or decisive[0] != decisive[1]:
        raise Outdated(f"JobSet {jobset.metadata.name} has changed")
    return live


async def _create_group(unit: Unit, workload: Workload, jobset: JobSet, tools: Tools[JobSet]) -> PodGroup:
    resource = tools.group_api.pod_groups
    manifest = pod_group_for_unit(jobset, unit, workload, api_version=resource.api_version)
    whose = f"{unit.name} of JobSet {jobset.metadata.name}"
    return await create(
        Creation(resource, manifest, PodGroup, owner=jobset, subject=jobset, whose=whose), tools, tools.pod_groups
    )


async def _delete_group(group: PodGroup, tools: Tools[JobSet]) -> None:
    metadata = group.metadata
    with contextlib.suppress(NotFound, Conflict):
        await tools.client.delete(tools.group_api.pod_groups, metadata.name, metadata.namespace, uid=metadata.uid)
    tools.pod_groups.forget(metadata.uid)

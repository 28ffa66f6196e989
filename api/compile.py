"""The Workload and the PodGroup that a Job's group consists of, as manifests (KEP-5547).

Owners make garbage collection do the whole clean-up: the Workload belongs to the Job, the PodGroup to the Job and, beside it,
to the Workload. Our own kinds carry no finalizer.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from api.constants import EMBEDDED_PROVIDER, MANAGED, MANAGED_BY, MANAGED_BY_TUTTI, PROVIDER
from api.gang import GroupIntent
from api.job import Job
from api.kueue_topology import Levels
from api.meta import OwnerReference, controlled_by, controller_of
from api.names import pod_group_name, template_name, workload_name
from api.owner_topology import said_of_topology
from api.podgroup import (
    POD_GROUP_KIND,
    WORKLOAD,
    DisruptionMode,
    GangPolicy,
    PodGroupSpec,
    PodGroupTemplate,
    SchedulingConstraints,
    SchedulingPolicy,
    TopologyConstraint,
    TypedReference,
    Workload,
    WorkloadReference,
)
from api.waiting import carried

BATCH_V1 = "batch/v1"
JOB_KIND = "Job"
NOTHING_MORE: Final[Mapping[str, str]] = {}


def workload_for_job(job: Job, intent: GroupIntent, *, api_version: str) -> dict[str, Any]:
    """The Workload of a Job, ready to be created; `api_version` is that of the group API in force."""
    return workload_manifest(
        metadata=_metadata(job, workload_name(job.metadata.name, job.metadata.uid), job_owner(job)),
        controller=TypedReference(api_group="batch", kind=JOB_KIND, name=job.metadata.name),
        template=template_for(intent, template_name(job.metadata.name)),
        api_version=api_version,
    )


def template_for(intent: GroupIntent, name: str) -> PodGroupTemplate:
    """The template of a group that is asked for."""
    return PodGroupTemplate(
        name=name,
        scheduling_policy=_policy(intent),
        scheduling_constraints=_constraints(intent),
        disruption_mode=_disruption_mode(intent),
        priority_class_name=intent.priority_class_name,
    )


def workload_manifest(
    *, metadata: dict[str, Any], controller: TypedReference, template: PodGroupTemplate, api_version: str
) -> dict[str, Any]:
    """A Workload of one template (KEP-4671).

    Args:
        metadata: as a manifest has it.
        controller: the object whose pods form the groups, for `controllerRef`.
        template: the one template.
        api_version: of the group API in force.
    """
    return {
        "apiVersion": api_version,
        "kind": WORKLOAD,
        "metadata": metadata,
        "spec": {
            "controllerRef": msgspec.to_builtins(controller),
            "podGroupTemplates": [msgspec.to_builtins(template)],
        },
    }


def pod_group_for_job(
    job: Job, workload: Workload, *, api_version: str, topologies: tuple[Levels, ...] = ()
) -> dict[str, Any]:
    """The PodGroup of a Job, made from the one template of its Workload, ready to be created.

    The Workload may be a user's own: its settings are taken as they are, but it does not own the group. It outlives the Job,
    and as long as one owner lives the garbage collector keeps the group, and with it the pods.

    Args:
        job: the group's owner.
        workload: has one template.
        api_version: of the group API in force.
        topologies: the levels of each Topology of Kueue's in the cluster.
    """
    template = workload.spec.pod_group_templates[0]
    workload_owner = OwnerReference(
        api_version=api_version, kind=WORKLOAD, name=workload.metadata.name, uid=workload.metadata.uid
    )
    owners, said = [job_owner(job)], _said(job)
    controller = controller_of(workload.metadata)
    if controller is not None and controller.uid == job.metadata.uid:
        owners.append(workload_owner)
        said |= said_of_topology(job, topologies)
    name = pod_group_name(workload.metadata.name, template.name)
    metadata = _metadata(job, name, *owners, more=said)
    return pod_group_manifest(workload, template, metadata, api_version=api_version)


def delegated_pod_group(
    job: Job, workload: Workload, template: PodGroupTemplate, *, api_version: str
) -> dict[str, Any]:
    """The PodGroup of a Job whose parent described it, made from that template of the parent's Workload (KEP-5547).

    Only the Job owns it. The name is made from the Job and not, as upstream's, from the Workload: two Jobs of one template
    would otherwise ask for the same name, and the second would wait for ever.

    Args:
        job: the group's owner.
        workload: the parent's.
        template: the one of its templates that the Job names.
        api_version: of the group API in force.
    """
    name = delegated_pod_group_name(job, template.name)
    metadata = _metadata(job, name, job_owner(job), more=_said(job))
    return pod_group_manifest(workload, template, metadata, api_version=api_version)


def delegated_pod_group_name(job: Job, template: str) -> str:
    """Name of the PodGroup of a Job whose parent described it."""
    return pod_group_name(workload_name(job.metadata.name, job.metadata.uid), template)


def pod_group_manifest(
    workload: Workload, template: PodGroupTemplate, metadata: dict[str, Any], *, api_version: str
) -> dict[str, Any]:
    """A PodGroup with the settings of a template of its Workload.

    Args:
        workload: named in `workloadRef`.
        template: the settings.
        metadata: as a manifest has it.
        api_version: of the group API in force.
    """
    spec = PodGroupSpec(
        scheduling_policy=template.scheduling_policy,
        workload_ref=WorkloadReference(workload_name=workload.metadata.name, template_name=template.name),
        scheduling_constraints=template.scheduling_constraints,
        disruption_mode=template.disruption_mode,
        priority_class_name=template.priority_class_name,
        priority=template.priority,
    )
    return {
        "apiVersion": api_version,
        "kind": POD_GROUP_KIND,
        "metadata": metadata,
        "spec": msgspec.to_builtins(spec),
    }


def job_owner(job: Job) -> OwnerReference:
    """The owner reference that makes a Job the controller of an object."""
    return controlled_by(BATCH_V1, JOB_KIND, job.metadata)


def _metadata(job: Job, name: str, *owners: OwnerReference, more: Mapping[str, str] = NOTHING_MORE) -> dict[str, Any]:
    return metadata_of_ours(job.metadata.namespace, name, *owners, more=more)


def _said(job: Job) -> dict[str, str]:
    return {**carried(job.metadata), **made_for(job.spec.template.metadata.label(MANAGED))}


def made_for(provider: str | None) -> dict[str, str]:
    """The annotation of a PodGroup that is made for another scheduler than the embedded one, which leaves it alone then."""
    return {PROVIDER: provider} if provider and provider != EMBEDDED_PROVIDER else {}


def metadata_of_ours(
    namespace: str, name: str, *owners: OwnerReference, more: Mapping[str, str] = NOTHING_MORE
) -> dict[str, Any]:
    """The metadata of an object that we make; `more` are further annotations."""
    return {
        "name": name,
        "namespace": namespace,
        "annotations": {MANAGED_BY: MANAGED_BY_TUTTI, **more},
        "ownerReferences": [msgspec.to_builtins(owner) for owner in owners],
    }


def _policy(intent: GroupIntent) -> SchedulingPolicy:
    if intent.policy == "basic":
        return SchedulingPolicy(basic={})
    return SchedulingPolicy(gang=GangPolicy(min_count=intent.min_count))


def _constraints(intent: GroupIntent) -> SchedulingConstraints | None:
    if intent.topology_key is None:
        return None
    return SchedulingConstraints(topology=(TopologyConstraint(key=intent.topology_key),))


def _disruption_mode(intent: GroupIntent) -> DisruptionMode:
    return DisruptionMode(all={}) if intent.disruption_mode == "all" else DisruptionMode(single={})

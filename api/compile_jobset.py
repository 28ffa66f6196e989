"""The Workload of a JobSet and the PodGroups of its units, as manifests.

All belong to the JobSet: a Job that is deleted and made again by its JobSet finds the group of its predecessor, of which it is a
replacement. A restart makes new groups under other names; those of the former attempt are deleted by the controllers.
"""

from typing import Any

import msgspec

from api.compile import made_for, metadata_of_ours, pod_group_manifest, template_for, workload_manifest
from api.constants import JOBSET_ATTEMPT, JOBSET_JOB_INDEX, JOBSET_NAME, JOBSET_PART, MANAGED
from api.jobset import JOBSET_GROUP, JOBSET_KIND, JOBSET_VERSION, JobSet
from api.meta import OwnerReference, controlled_by
from api.names import workload_name
from api.parents.children import group_name
from api.parents.jobset import JobSetIntent, Unit, is_marked
from api.podgroup import TypedReference, Workload
from api.topology_annotations import topology_annotations
from api.waiting import carried


def job_set_owner(jobset: JobSet) -> OwnerReference:
    """The owner reference that makes a JobSet the controller of an object."""
    return controlled_by(JOBSET_VERSION, JOBSET_KIND, jobset.metadata)


def workload_for_job_set(jobset: JobSet, intent: JobSetIntent, *, api_version: str) -> dict[str, Any]:
    """The Workload of a JobSet, ready to be created; `api_version` is that of the group API in force."""
    metadata = jobset.metadata
    templates = [template_for(group, name) for name, group in intent.templates.items()]
    manifest = workload_manifest(
        metadata=metadata_of_ours(
            metadata.namespace, workload_name(metadata.name, metadata.uid), job_set_owner(jobset)
        ),
        controller=TypedReference(api_group=JOBSET_GROUP, kind=JOBSET_KIND, name=metadata.name),
        template=templates[0],
        api_version=api_version,
    )
    manifest["spec"]["podGroupTemplates"] = [msgspec.to_builtins(template) for template in templates]
    return manifest


def unit_group_name(jobset: JobSet, unit: Unit) -> str:
    """Name of the PodGroup of a unit in the attempt that the JobSet is in."""
    return group_name(jobset.metadata.name, jobset.metadata.uid, unit.name, jobset.status.restarts)


def pod_group_for_unit(jobset: JobSet, unit: Unit, workload: Workload, *, api_version: str) -> dict[str, Any]:
    """The PodGroup of a unit in the attempt that the JobSet is in, ready to be created.

    Args:
        jobset: the group's owner.
        unit: the children that start together.
        workload: has a template of the unit.
        api_version: of the group API in force.
    """
    template = next(each for each in workload.spec.pod_group_templates if each.name == unit.template)
    marked = next(part for part in jobset.parts if is_marked(part))
    provider = marked.template.spec.template.metadata.label(MANAGED)
    metadata = metadata_of_ours(
        jobset.metadata.namespace,
        unit_group_name(jobset, unit),
        job_set_owner(jobset),
        more={
            **carried(jobset.metadata),
            **topology_annotations(unit.intent.topology),
            **made_for(provider),
        },
    )
    metadata["labels"] = {JOBSET_NAME: jobset.metadata.name, JOBSET_ATTEMPT: str(jobset.status.restarts)}
    if unit.part:
        metadata["labels"][JOBSET_PART] = unit.part
    if unit.index is not None:
        metadata["labels"][JOBSET_JOB_INDEX] = str(unit.index)
    return pod_group_manifest(workload, template, metadata, api_version=api_version)

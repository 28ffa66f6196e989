"""The bodies of our patches. Pure.

Every merge patch names the UID of the object it means; those of Jobs and pods also name the version they were decided on, so
that the server refuses them when anything has changed since.
"""

from typing import Any

from api.constants import GATE, MANAGED
from api.job import Job
from api.meta import Metadata
from api.podgroup import Workload
from controllers.jobs.observed import is_gated, is_suspended
from controllers.jobs.steps import PatchJob
from providers.base import PodMetadata

Body = dict[str, Any]


def job_patch(job: Job, step: PatchJob, association: PodMetadata | None) -> Body:
    """The one merge patch of a Job; `association` is what the provider wants in the template."""
    labels: dict[str, str | None] = dict(association.labels) if association else {}
    annotations: dict[str, str | None] = dict(association.annotations) if association else {}
    if step.unmanage:
        labels[MANAGED] = None
    metadata = _same_version(job.metadata)
    spec: Body = {}
    template = {key: value for key, value in (("labels", labels), ("annotations", annotations)) if value}
    if template:
        spec["template"] = {"metadata": template}
    if step.open_gate and is_gated(job):
        metadata["annotations"] = {GATE: None}
        if is_suspended(job):
            spec["suspend"] = False
    return {"metadata": metadata, "spec": spec} if spec else {"metadata": metadata}


def pod_association_patch(pod: Metadata, association: PodMetadata) -> Body:
    """The merge patch that tells a pod its group."""
    metadata = _same_version(pod)
    metadata["annotations"] = dict(association.annotations)
    if association.labels:
        metadata["labels"] = dict(association.labels)
    return {"metadata": metadata}


def pod_release_patch(pod: Metadata) -> Body:
    """The merge patch that gives a pod back to plain scheduling."""
    return {"metadata": {**_same_version(pod), "labels": {MANAGED: None}}}


def group_minimum_patch(group: Metadata, min_count: int) -> Body:
    """The merge patch of a PodGroup's minimum. Its status changes often, so only the UID is asked for."""
    return {"metadata": {"uid": group.uid}, "spec": {"schedulingPolicy": {"gang": {"minCount": min_count}}}}


def workload_minimum_patch(workload: Workload, min_count: int) -> list[Body]:
    """The JSON patch of a Workload's minimum: a merge patch would have to repeat the whole list of templates."""
    template = "/spec/podGroupTemplates/0"
    return [
        {"op": "test", "path": "/metadata/uid", "value": workload.metadata.uid},
        {"op": "test", "path": f"{template}/name", "value": workload.spec.pod_group_templates[0].name},
        {"op": "replace", "path": f"{template}/schedulingPolicy/gang/minCount", "value": min_count},
    ]


def _same_version(metadata: Metadata) -> Body:
    return {"uid": metadata.uid, "resourceVersion": metadata.resource_version}

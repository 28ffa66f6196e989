"""The bodies of patches of pods, Workloads and PodGroups. Pure.

Every patch names the UID of the object it means. Those of pods also name the version they were decided on, so that the server
refuses them when something that matters has changed since.
"""

from typing import Any

from api.constants import MANAGED
from api.meta import Metadata
from api.podgroup import Workload
from providers.base import PodMetadata

Body = dict[str, Any]


def pod_association_patch(pod: Metadata, association: PodMetadata) -> Body:
    """The merge patch that associates a pod with its group; refused for any other version of the pod."""
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

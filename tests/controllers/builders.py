"""Small builders of the objects that the controllers read, as manifests and as records."""

from typing import Any

import msgspec

from api.constants import GATE, GATE_POD_GROUP, MANAGED, POD_GROUP, POD_GROUP_UID
from api.job import Job
from api.names import pod_group_name, template_name, workload_name
from api.podgroup import PodGroup, Workload
from controllers.gangs.pod import GangPod
from kube.groups.group_api import OWN

Manifest = dict[str, Any]

NAMESPACE = "default"
JOB_UID = "11111111-2222-3333-4444-555555555555"
GROUP_API_VERSION = OWN.workloads.api_version
WORKLOAD_NAME = workload_name("train", JOB_UID)
TEMPLATE_NAME = template_name("train")
GROUP_NAME = pod_group_name(WORKLOAD_NAME, TEMPLATE_NAME)


def job_manifest(
    name: str = "train",
    *,
    uid: str = JOB_UID,
    pods: int = 4,
    parallelism: int | None = None,
    managed: str | None = "embedded",
    gated: bool = True,
    suspended: bool | None = None,
    group: str | None = None,
    group_uid: str = "uid-of-group",
    annotations: dict[str, str] | None = None,
    started: bool = False,
    finished: str | None = None,
    deleting: bool = False,
    owner: Manifest | None = None,
    spec: Manifest | None = None,
    version: str = "10",
) -> Manifest:
    """An Indexed Job as admission leaves it: managed, gated and suspended unless told otherwise."""
    own = {**({GATE: GATE_POD_GROUP} if gated else {}), **(annotations or {})}
    template: Manifest = {"labels": {"job-name": name, **({MANAGED: managed} if managed else {})}}
    if group:
        template["annotations"] = {POD_GROUP: group, POD_GROUP_UID: group_uid}
    metadata: Manifest = {
        "name": name,
        "namespace": NAMESPACE,
        "uid": uid,
        "resourceVersion": version,
        "annotations": own,
    }
    if deleting:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    if owner:
        metadata["ownerReferences"] = [owner]
    status: Manifest = {"startTime": "2026-01-01T00:00:00Z"} if started else {}
    if finished:
        status["conditions"] = [{"type": finished, "status": "True"}]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {
            "parallelism": pods if parallelism is None else parallelism,
            "completions": pods,
            "completionMode": "Indexed",
            "suspend": gated if suspended is None else suspended,
            "template": {"metadata": template, "spec": {"schedulerName": "tutti", "restartPolicy": "Never"}},
            **(spec or {}),
        },
        "status": status,
    }


def job(name: str = "train", **settings: Any) -> Job:
    """The record of `job_manifest`."""
    return msgspec.convert(job_manifest(name, **settings), Job)


def owner_of(job_uid: str = JOB_UID, name: str = "train") -> Manifest:
    """The owner reference by which a Job controls an object."""
    return {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": job_uid, "controller": True}


def workload_manifest(
    name: str = WORKLOAD_NAME,
    *,
    uid: str = "uid-of-workload",
    job_name: str = "train",
    job_uid: str | None = JOB_UID,
    ours: bool = True,
    min_count: int = 4,
    templates: tuple[str, ...] = (TEMPLATE_NAME,),
    deleting: bool = False,
) -> Manifest:
    """A Workload of a Job; `job_uid` None makes one that nobody owns."""
    return {
        "apiVersion": GROUP_API_VERSION,
        "kind": "Workload",
        "metadata": _metadata(name, uid, job_name, job_uid, ours=ours, deleting=deleting),
        "spec": {
            "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": job_name},
            "podGroupTemplates": [
                {
                    "name": template,
                    "schedulingPolicy": {"gang": {"minCount": min_count}},
                    "disruptionMode": {"all": {}},
                }
                for template in templates
            ],
        },
    }


def workload(name: str = WORKLOAD_NAME, **settings: Any) -> Workload:
    """The record of `workload_manifest`."""
    return msgspec.convert(workload_manifest(name, **settings), Workload)


def group_manifest(
    name: str = GROUP_NAME,
    *,
    uid: str = "uid-of-group",
    workload_name: str = WORKLOAD_NAME,
    template: str = TEMPLATE_NAME,
    job_name: str = "train",
    job_uid: str | None = JOB_UID,
    ours: bool = True,
    min_count: int = 4,
    deleting: bool = False,
) -> Manifest:
    """A PodGroup of a Workload."""
    return {
        "apiVersion": GROUP_API_VERSION,
        "kind": "PodGroup",
        "metadata": _metadata(name, uid, job_name, job_uid, ours=ours, deleting=deleting),
        "spec": {
            "schedulingPolicy": {"gang": {"minCount": min_count}},
            "workloadRef": {"workloadName": workload_name, "templateName": template},
            "disruptionMode": {"all": {}},
        },
    }


def group(name: str = GROUP_NAME, **settings: Any) -> PodGroup:
    """The record of `group_manifest`."""
    return msgspec.convert(group_manifest(name, **settings), PodGroup)


def pod_manifest(
    name: str = "train-0",
    *,
    node: str = "",
    group: str | None = None,
    managed: bool = True,
    phase: str = "Pending",
    deleting: bool = False,
    job_uid: str = JOB_UID,
    job_name: str = "train",
) -> Manifest:
    """A pod of a Job."""
    metadata: Manifest = {
        "name": name,
        "namespace": NAMESPACE,
        "uid": f"uid-of-{name}",
        "resourceVersion": "1",
        "labels": {
            "batch.kubernetes.io/controller-uid": job_uid,
            **({MANAGED: "embedded"} if managed else {}),
        },
        "annotations": {POD_GROUP: group} if group else {},
        "ownerReferences": [owner_of(job_uid, job_name)],
    }
    if deleting:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"nodeName": node} if node else {},
        "status": {"phase": phase},
    }


def pod(name: str = "train-0", **settings: Any) -> GangPod:
    """The record of `pod_manifest`."""
    return msgspec.convert(pod_manifest(name, **settings), GangPod)


def _metadata(name: str, uid: str, job_name: str, job_uid: str | None, *, ours: bool, deleting: bool) -> Manifest:
    metadata: Manifest = {"name": name, "namespace": NAMESPACE, "uid": uid, "resourceVersion": "5"}
    if ours:
        metadata["annotations"] = {"tutti.scheduler/managed-by": "tutti"}
    if job_uid is not None:
        metadata["ownerReferences"] = [owner_of(job_uid, job_name)]
    if deleting:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return metadata

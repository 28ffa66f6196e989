"""Jobs and JobSets as they come to be when they are submitted: what admission makes of them, their groups and their pods."""

import copy
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from api.compile import pod_group_for_job, workload_for_job
from api.compile_jobset import job_set_owner, pod_group_for_unit, workload_for_job_set
from api.constants import (
    JOBSET_ATTEMPT,
    JOBSET_EXCLUSIVE_TOPOLOGY,
    JOBSET_JOB_INDEX,
    JOBSET_NAME,
    JOBSET_PART,
    JOBSET_UID,
    MANAGED,
)
from api.errors import ConfigurationError
from api.gang import GroupIntent, Plain, job_intent
from api.job import Job
from api.jobset import JobSet, ReplicatedJob
from api.parents.children import child_of
from api.parents.jobset import JobSetIntent, job_set_intent, taken_in
from api.podgroup import PodGroup, Workload
from explain.admitted import admitted, defaulted_job
from explain.manifests import Manifest
from explain.submitted_items import SubmittedItems
from explain.submitted_objects import ObjectMaker, typed
from kube.groups.group_api import OWN
from webhooks.admission.config import AdmissionConfig
from webhooks.job.defaulter import default_job
from webhooks.jobset import default_job_set

_API_VERSION: Final = OWN.pod_groups.api_version
_INDEX: Final = "batch.kubernetes.io/job-completion-index"
_JOB_NAME: Final = "batch.kubernetes.io/job-name"
_IN_ORDER: Final = "its Jobs are made one after the other: here each is decided upon beside those before it"


def submit_job(
    manifest: Manifest, items: SubmittedItems, maker: ObjectMaker, config: AdmissionConfig, shown: str = ""
) -> None:
    """Takes in a Job: its own group, if it is a gang, and its pods.

    Args:
        manifest: the Job.
        items: what it is added to.
        maker: makes its objects.
        config: the configuration of admission.
        shown: what people call its parent, if it has one.

    Raises:
        Refused: admission, or the API server, would refuse it.
    """
    document, warnings = admitted(defaulted_job(manifest), lambda request: default_job(request, config))
    document = maker.with_identity(document)
    job = typed(document, Job)
    name, namespace = job.metadata.name, job.metadata.namespace
    is_managed = job.spec.template.metadata.label(MANAGED) is not None
    intent = job_intent(job)
    is_gang = is_managed and isinstance(intent, GroupIntent) and child_of(job) is None
    note = "; ".join(warnings)
    group = None
    if isinstance(intent, GroupIntent) and is_gang:
        group = _group_of_job(job, intent, maker)
        items.group(group, f"job/{name}", note)
    elif not is_managed:
        note = note or f"it is no gang: {getattr(intent, 'reason', 'its group is described elsewhere')}"
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": job.metadata.uid, "controller": True}
    for index in range(job.pods_at_once):
        labels = {_JOB_NAME: name, "job-name": name}
        if job.spec.completion_mode == "Indexed":
            labels[_INDEX] = str(index)
        pod = maker.pod_of(document["spec"]["template"], f"{name}-{index}", namespace, owner, labels, group)
        items.pod(pod, f"{shown or f'job/{name}'} pod/{pod.metadata.name}", note)


def _group_of_job(job: Job, intent: GroupIntent, maker: ObjectMaker) -> PodGroup:
    workload = workload_for_job(job, intent, api_version=_API_VERSION)
    workload["metadata"]["uid"] = f"workload-of-{job.metadata.uid}"
    return maker.group(pod_group_for_job(job, msgspec.convert(workload, Workload), api_version=_API_VERSION))


def submit_job_set(manifest: Manifest, items: SubmittedItems, maker: ObjectMaker, config: AdmissionConfig) -> None:
    """Takes in a JobSet: the groups that its scope asks for, and the pods of all its Jobs.

    Raises:
        Refused: admission, or the API server, would refuse it.
        ConfigurationError: it is of a form that cannot be looked at here.
    """
    document, warnings = admitted(manifest, lambda request: default_job_set(request, config))
    document = maker.with_identity(document)
    jobset = typed(document, JobSet)
    if _is_exclusive(jobset):
        raise ConfigurationError(
            f"JobSet {jobset.metadata.name}: the annotation {JOBSET_EXCLUSIVE_TOPOLOGY} cannot be looked at here"
        )
    note = "; ".join((*warnings, *((_IN_ORDER,) if jobset.starts_in_order else ())))
    shown = f"jobset/{jobset.metadata.name}"
    intent = taken_in(jobset)
    if intent is not None and intent.units:
        _submit_groups(jobset, intent, items, maker, shown, note)
    elif isinstance(plain := job_set_intent(jobset), Plain):
        note = note or f"it has no gangs: {plain.reason}"
    for part in jobset.parts:
        for child in _children(document, jobset, part):
            submit_job(child, items, maker, config, shown)


def _submit_groups(
    jobset: JobSet, intent: JobSetIntent, items: SubmittedItems, maker: ObjectMaker, shown: str, note: str
) -> None:
    workload = msgspec.convert(workload_for_job_set(jobset, intent, api_version=_API_VERSION), Workload)
    for unit in intent.units:
        group = maker.group(pod_group_for_unit(jobset, unit, workload, api_version=_API_VERSION))
        items.group(group, f"{shown} {unit.name}" if unit.part else shown, note)


def _children(document: Manifest, jobset: JobSet, part: ReplicatedJob) -> Iterator[Manifest]:
    """The Jobs of a replicated Job, with what their pods are known by; each as the JobSet's controller makes it."""
    entry = next(each for each in document["spec"]["replicatedJobs"] if each["name"] == part.name)
    for index in range(part.jobs):
        marks = {
            JOBSET_NAME: jobset.metadata.name,
            JOBSET_UID: jobset.metadata.uid,
            JOBSET_PART: part.name,
            JOBSET_JOB_INDEX: str(index),
            JOBSET_ATTEMPT: "0",
        }
        template = copy.deepcopy(entry.get("template") or {})
        spec: dict[str, Any] = template.get("spec") or {}
        _mark(spec.setdefault("template", {}).setdefault("metadata", {}), marks)
        spec.setdefault("completionMode", "Indexed")
        metadata = {
            **_mark(template.get("metadata") or {}, marks),
            "name": f"{jobset.metadata.name}-{part.name}-{index}",
            "namespace": jobset.metadata.namespace,
            "ownerReferences": [msgspec.to_builtins(job_set_owner(jobset))],
        }
        yield {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def _mark(metadata: dict[str, Any], marks: dict[str, str]) -> dict[str, Any]:
    for kind in ("labels", "annotations"):
        metadata[kind] = {**(metadata.get(kind) or {}), **marks}
    return metadata


def _is_exclusive(jobset: JobSet) -> bool:
    said = [jobset.metadata.annotation(JOBSET_EXCLUSIVE_TOPOLOGY)]
    said += [part.template.metadata.annotation(JOBSET_EXCLUSIVE_TOPOLOGY) for part in jobset.parts]
    return any(one is not None for one in said)

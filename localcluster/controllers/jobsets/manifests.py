"""The Jobs and the service of a JobSet, as manifests. Pure."""

import copy
import hashlib
from typing import Any

from api.jobset import JOBSET_KIND, JOBSET_VERSION
from localcluster.controllers.jobsets.model import Document, JobSet, Part

PREFIX = "jobset.sigs.k8s.io"
GATED = ("labels", "annotations")


def owner_of(jobset: JobSet) -> Document:
    """The owner reference of what a JobSet controls."""
    return {
        "apiVersion": JOBSET_VERSION,
        "kind": JOBSET_KIND,
        "name": jobset.metadata.name,
        "uid": jobset.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def child_name(jobset: JobSet, part: Part, index: int) -> str:
    """Name of a child."""
    return f"{jobset.metadata.name}-{part.name}-{index}"


def child(jobset: JobSet, document: Document, part: Part, index: int) -> Document:
    """The Job of that index of a replicated Job; `document` is the JobSet as the server has it."""
    entry = next(each for each in document["spec"]["replicatedJobs"] if each["name"] == part.name)
    template = copy.deepcopy(entry.get("template") or {})
    own, spec = template.get("metadata") or {}, template.get("spec") or {}
    marks = _marks(jobset, part, index)
    added = {"labels": marks, "annotations": marks | _exclusive(document)}
    pods = spec.setdefault("template", {})
    metadata = pods.setdefault("metadata", {})
    for kind in GATED:
        metadata[kind] = {**(metadata.get(kind) or {}), **added[kind]}
    pods.setdefault("spec", {})
    if added["annotations"].get(f"alpha.{PREFIX}/node-selector"):
        _place_exclusively(pods["spec"], f"{jobset.metadata.namespace}_{child_name(jobset, part, index)}")
    if jobset.subdomain:
        pods["spec"]["subdomain"] = jobset.subdomain
    # The JobSet's own order of resuming says when it starts.
    spec["suspend"] = bool(jobset.spec.suspend)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": child_name(jobset, part, index),
            "namespace": jobset.metadata.namespace,
            **{kind: {**(own.get(kind) or {}), **added[kind]} for kind in GATED},
            "ownerReferences": [owner_of(jobset)],
        },
        "spec": spec,
    }


def _exclusive(document: Document) -> dict[str, str]:
    """What is said of exclusive topology goes on to Jobs and pods, as annotations."""
    said = document["metadata"].get("annotations") or {}
    return {key: str(value) for key, value in said.items() if key.startswith(f"alpha.{PREFIX}/")}


def _marks(jobset: JobSet, part: Part, index: int) -> dict[str, str]:
    parts = jobset.spec.replicated_jobs
    before = parts[: [each.name for each in parts].index(part.name)]
    group = [each for each in parts if each.group_name == part.group_name]
    of_group = [each for each in before if each.group_name == part.group_name]
    meta = jobset.metadata
    found: dict[str, Any] = {
        "jobset-name": meta.name,
        "jobset-uid": meta.uid,
        "replicatedjob-name": part.name,
        "replicatedjob-replicas": part.replicas,
        "global-replicas": sum(each.replicas for each in parts),
        "job-index": index,
        "job-global-index": sum(each.replicas for each in before) + index,
        "job-key": _key(f"{meta.namespace}/{child_name(jobset, part, index)}"),
        "group-name": part.group_name,
        "group-replicas": sum(each.replicas for each in group),
        "job-group-index": sum(each.replicas for each in of_group) + index,
        "restart-attempt": jobset.status.restarts,
    }
    first = jobset.spec.coordinator
    if first is not None:
        host = f"{meta.name}-{first.replicated_job}-{first.job_index}-{first.pod_index}"
        found["coordinator"] = f"{host}.{jobset.subdomain}"
    return {f"{PREFIX}/{key}": str(value) for key, value in found.items()}


def _place_exclusively(spec: Document, job: str) -> None:
    """Pods go where somebody has labelled and tainted nodes for their Job beforehand."""
    spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), f"alpha.{PREFIX}/namespaced-job": job}
    toleration = {"key": f"alpha.{PREFIX}/no-schedule", "operator": "Exists", "effect": "NoSchedule"}
    spec["tolerations"] = [*(spec.get("tolerations") or []), toleration]


def _key(name: str) -> str:
    return hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()


def service(jobset: JobSet) -> Document:
    """The headless service by which the pods find each other."""
    network = jobset.spec.network
    publishes = network is None or network.publish_not_ready_addresses is not False
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": jobset.subdomain,
            "namespace": jobset.metadata.namespace,
            "ownerReferences": [owner_of(jobset)],
        },
        "spec": {
            "clusterIP": "None",
            "selector": {f"{PREFIX}/jobset-name": jobset.metadata.name},
            "publishNotReadyAddresses": publishes,
        },
    }


def resumed(job: Document, jobset: Document, part_name: str) -> Document:
    """The child as its JobSet resumes it: what may be changed in a suspended JobSet is merged into its pod template."""
    job = copy.deepcopy(job)
    entry = next(each for each in jobset["spec"]["replicatedJobs"] if each["name"] == part_name)
    wanted: Document = ((entry.get("template") or {}).get("spec") or {}).get("template") or {}
    pods = job["spec"]["template"]
    for kind in GATED:
        if values := (wanted.get("metadata") or {}).get(kind):
            metadata = pods.setdefault("metadata", {})
            metadata[kind] = {**(metadata.get(kind) or {}), **values}
    spec = wanted.get("spec") or {}
    if spec.get("nodeSelector"):
        pods["spec"]["nodeSelector"] = {**(pods["spec"].get("nodeSelector") or {}), **spec["nodeSelector"]}
    for field in ("tolerations", "schedulingGates"):
        known = pods["spec"].get(field) or []
        if added := [each for each in spec.get(field) or [] if each not in known]:
            pods["spec"][field] = [*known, *added]
    job["spec"]["suspend"] = False
    return job

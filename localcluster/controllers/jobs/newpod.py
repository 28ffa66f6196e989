"""The pod that a Job's template makes. Pure."""

import copy
from typing import Any, Final

from localcluster.controllers.documents import Document
from localcluster.controllers.jobs.plan import NewPod
from localcluster.controllers.jobs.pods import COMPLETION_INDEX, TRACKING_FINALIZER

INDEX_VARIABLE: Final = "JOB_COMPLETION_INDEX"
LONGEST_PREFIX: Final = 58
"""Characters of `generateName` that leave room for the five that the server adds."""


def pod_of(job: Document, new: NewPod) -> Document:
    """The manifest of one pod of the Job."""
    meta = job["metadata"]
    template = copy.deepcopy(job["spec"]["template"])
    head = template.get("metadata") or {}
    labels, annotations = dict(head.get("labels") or {}), dict(head.get("annotations") or {})
    annotations.update(new.annotations)
    spec = template["spec"]
    prefix = f"{meta['name']}-"
    if new.index is not None:
        labels[COMPLETION_INDEX] = annotations[COMPLETION_INDEX] = str(new.index)
        spec["hostname"] = f"{meta['name']}-{new.index}"
        prefix = _indexed_prefix(meta["name"], new.index)
        for container in [*spec.get("initContainers", ()), *spec["containers"]]:
            _add_index_variable(container)
    finalizers = [*(head.get("finalizers") or ())]
    if TRACKING_FINALIZER not in finalizers:
        finalizers.append(TRACKING_FINALIZER)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": prefix,
            "namespace": meta["namespace"],
            "labels": labels,
            "annotations": annotations,
            "finalizers": finalizers,
            "ownerReferences": [_owner(job)],
        },
        "spec": spec,
    }


def _owner(job: Document) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": job["metadata"]["name"],
        "uid": job["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _indexed_prefix(name: str, index: int) -> str:
    end = f"-{index}-"
    return name[: LONGEST_PREFIX - len(end)] + end


def _add_index_variable(container: dict[str, Any]) -> None:
    variables = container.setdefault("env", [])
    if all(each.get("name") != INDEX_VARIABLE for each in variables):
        path = f"metadata.labels['{COMPLETION_INDEX}']"
        variables.append({"name": INDEX_VARIABLE, "valueFrom": {"fieldRef": {"fieldPath": path}}})

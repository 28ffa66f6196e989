"""Small objects and reviews, as the API server would send them."""

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from webhooks.admission.review import GroupResource, Request, Response

Object = dict[str, Any]

RESOURCES = {
    "CronJob": {"group": "batch", "version": "v1", "resource": "cronjobs"},
    "Job": {"group": "batch", "version": "v1", "resource": "jobs"},
    "Pod": {"group": "", "version": "v1", "resource": "pods"},
    "PodGroup": {"group": "tutti.scheduler", "version": "v1beta1", "resource": "podgroups"},
}


def job(
    *,
    parallelism: int | None = 3,
    completions: int | None = 3,
    indexed: bool = True,
    annotations: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    template_labels: Mapping[str, str] | None = None,
    template_annotations: Mapping[str, str] | None = None,
    owners: Sequence[Object] = (),
    restart_policy: str = "Never",
    scheduler_name: str = "default-scheduler",
    template_spec: Mapping[str, Any] | None = None,
    **spec: Any,
) -> Object:
    """A Job as it arrives at admission: defaulted by the API server."""
    metadata: Object = {"name": "train", "namespace": "team"}
    template_metadata: Object = {}
    for target, key, value in (
        (metadata, "annotations", annotations),
        (metadata, "labels", labels),
        (metadata, "ownerReferences", list(owners)),
        (template_metadata, "labels", template_labels),
        (template_metadata, "annotations", template_annotations),
    ):
        if value:
            target[key] = copy.deepcopy(value)
    template: Object = {
        "spec": {
            "schedulerName": scheduler_name,
            "restartPolicy": restart_policy,
            "containers": [{"name": "main", "image": "busybox"}],
            **(template_spec or {}),
        }
    }
    if template_metadata:
        template["metadata"] = template_metadata
    sized = {"parallelism": parallelism, "completions": completions}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {
            **{key: value for key, value in sized.items() if value is not None},
            "completionMode": "Indexed" if indexed else "NonIndexed",
            "suspend": False,
            "podReplacementPolicy": "TerminatingOrFailed",
            **spec,
            "template": template,
        },
    }


def owner(kind: str, *, controller: bool = True, name: str = "parent", uid: str = "parent-uid") -> Object:
    """An owner reference."""
    return {"apiVersion": "x/v1", "kind": kind, "name": name, "uid": uid, "controller": controller}


def pod(
    *, labels: Mapping[str, str] | None = None, annotations: Mapping[str, str] | None = None, **metadata: Any
) -> Object:
    """A pod as it arrives at admission."""
    found: Object = {"generateName": "train-0-", "namespace": "team", **metadata}
    if labels is not None:
        found["labels"] = dict(labels)
    if annotations is not None:
        found["annotations"] = dict(annotations)
    spec = {"schedulerName": "tutti", "containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": found, "spec": spec}


def request(new: Object, old: Object | None = None, *, operation: str | None = None) -> Request:
    """The question whether `new` may be created, or may take the place of `old`."""
    resource = RESOURCES.get(new["kind"], RESOURCES["Job"])
    return Request(
        uid="review-uid",
        operation=operation or ("CREATE" if old is None else "UPDATE"),
        resource=GroupResource(**resource),
        object=msgspec.Raw(json.dumps(new).encode()),
        old_object=msgspec.Raw(b"null" if old is None else json.dumps(old).encode()),
    )


def review(new: Object, old: Object | None = None) -> Object:
    """The AdmissionReview of the same question."""
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "review-uid",
            "operation": "CREATE" if old is None else "UPDATE",
            "resource": RESOURCES[new["kind"]],
            "userInfo": {"username": "somebody"},
            "object": new,
            "oldObject": old,
        },
    }


def patched(document: Object, response: Response) -> Object:
    """The object after the verdict's patch, applied by the rules of RFC 6902."""
    assert response.allowed, response.message
    return apply(document, response.patch)


def apply(document: Object, operations: Sequence[Mapping[str, Any]]) -> Object:
    """A patch of `add` and `remove` operations, applied strictly: the parent must be there."""
    result = copy.deepcopy(document)
    for operation in operations:
        parts = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
        parent: Any = result
        for part in parts[:-1]:
            parent = parent[part]
        if operation["op"] == "remove":
            del parent[parts[-1]]
        elif isinstance(parent, list):
            assert parts[-1] == "-"
            parent.append(copy.deepcopy(operation["value"]))
        else:
            parent[parts[-1]] = copy.deepcopy(operation["value"])
    return result

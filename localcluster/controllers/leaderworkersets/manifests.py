"""What a LeaderWorkerSet makes: the StatefulSet of its leaders, those of the workers, the headless services. Pure."""

import copy
from typing import Any, Final

from api.constants import (
    LEADER_INDEX,
    LWS_EXCLUSIVE_TOPOLOGY,
    LWS_GROUP_INDEX,
    LWS_GROUP_KEY,
    LWS_NAME,
    LWS_REVISION,
    LWS_SIZE,
    LWS_WORKER_INDEX,
)
from localcluster.controllers.documents import Document
from localcluster.controllers.leaderworkersets.accelerators import requests_tpus
from localcluster.controllers.leaderworkersets.model import SHARED, UNIQUE
from localcluster.controllers.leaderworkersets.names import (
    LEADER_NAME_ANNOTATION,
    LEADER_TPU_ANNOTATION,
    REPLICAS_ANNOTATION,
    SUBDOMAIN_ANNOTATION,
    SUBGROUP_EXCLUSIVE_ANNOTATION,
    SUBGROUP_SIZE_ANNOTATION,
    SUBGROUP_TYPE_ANNOTATION,
)
from localcluster.controllers.leaderworkersets.revisions import owned_by

Text = dict[str, str]

_KEPT: Final = ("volumeClaimTemplates", "persistentVolumeClaimRetentionPolicy")


def leader_set(lws: Document, *, partition: int, replicas: int, unavailable: int, key: str) -> Document:
    """The StatefulSet of the leaders; `unavailable` of them may be missing during an update."""
    name, template = lws["metadata"]["name"], lws["spec"]["leaderWorkerTemplate"]
    selector = {LWS_NAME: name, LWS_WORKER_INDEX: LEADER_INDEX}
    annotations = _copied(lws, template)
    if _subdomains(lws) == UNIQUE:
        annotations[SUBDOMAIN_ANNOTATION] = UNIQUE
    pods = _pods(
        template.get("leaderTemplate") or template["workerTemplate"], selector | {LWS_REVISION: key}, annotations
    )
    made = _set(lws, name, {LWS_NAME: name, LWS_REVISION: key}, pods)
    made["metadata"]["annotations"] = made["metadata"].get("annotations", {}) | {
        REPLICAS_ANNOTATION: str(lws["spec"].get("replicas", 1))
    }
    made["metadata"]["ownerReferences"] = [owned_by(lws)]
    made["spec"] |= {
        "replicas": replicas,
        "serviceName": name,
        "selector": {"matchLabels": selector},
        "updateStrategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"partition": partition, "maxUnavailable": unavailable},
        },
    }
    return made


def worker_set(lws: Document, leader: Document, topology: tuple[str, str] | None = None) -> Document:
    """The StatefulSet of a leader's workers; `lws` is as it was in the leader's revision.

    Args:
        lws: the LeaderWorkerSet.
        leader: the leader pod, which owns the workers.
        topology: label and value that the workers' nodes must have.
    """
    head, template = leader["metadata"], lws["spec"]["leaderWorkerTemplate"]
    labels: Text = {
        key: head["labels"].get(key, "") for key in (LWS_GROUP_INDEX, LWS_GROUP_KEY, LWS_NAME, LWS_REVISION)
    }
    annotations = _copied(lws, template) | {LEADER_NAME_ANNOTATION: head["name"]}
    if requests_tpus(leader["spec"]):
        annotations[LEADER_TPU_ANNOTATION] = "true"
    pods = _pods(template["workerTemplate"], labels, annotations)
    if topology is not None:
        pods["spec"]["nodeSelector"] = (pods["spec"].get("nodeSelector") or {}) | {topology[0]: topology[1]}
    made = _set(lws, head["name"], labels, pods)
    made["metadata"]["ownerReferences"] = [owned_by({"apiVersion": "v1", "kind": "Pod", "metadata": head})]
    made["spec"] |= {
        "replicas": template.get("size", 1) - 1,
        "serviceName": lws["metadata"]["name"] if _subdomains(lws) == SHARED else head["name"],
        "ordinals": {"start": 1},
        "selector": {"matchLabels": {key: labels[key] for key in (LWS_GROUP_INDEX, LWS_GROUP_KEY, LWS_NAME)}},
    }
    return made


def shared_service(lws: Document) -> Document:
    """The headless service of all groups."""
    name = lws["metadata"]["name"]
    return _service(lws, name, {LWS_NAME: name}, owned_by(lws))


def group_service(lws: Document, leader: Document) -> Document:
    """The headless service of one group."""
    head = leader["metadata"]
    selector = {LWS_NAME: lws["metadata"]["name"], LWS_GROUP_INDEX: head["labels"].get(LWS_GROUP_INDEX, "")}
    owner = owned_by({"apiVersion": "v1", "kind": "Pod", "metadata": head})
    return _service(lws, head["name"], selector, owner)


def _subdomains(lws: Document) -> str:
    return str((lws["spec"].get("networkConfig") or {}).get("subdomainPolicy") or SHARED)


def _copied(lws: Document, template: Document) -> Text:
    """Annotations that every pod of the set takes along."""
    of_set = lws["metadata"].get("annotations") or {}
    copied = {LWS_SIZE: str(template.get("size", 1))}
    subgroups = template.get("subGroupPolicy")
    if of_set.get(LWS_EXCLUSIVE_TOPOLOGY):
        copied[LWS_EXCLUSIVE_TOPOLOGY] = of_set[LWS_EXCLUSIVE_TOPOLOGY]
    if subgroups:
        copied[SUBGROUP_TYPE_ANNOTATION] = subgroups.get("subGroupPolicyType", "LeaderWorker")
        copied[SUBGROUP_SIZE_ANNOTATION] = str(subgroups["subGroupSize"])
        if of_set.get(SUBGROUP_EXCLUSIVE_ANNOTATION):
            copied[SUBGROUP_EXCLUSIVE_ANNOTATION] = of_set[SUBGROUP_EXCLUSIVE_ANNOTATION]
    return copied


def _pods(template: Document, labels: Text, annotations: Text) -> Document:
    made: Document = copy.deepcopy(template)
    head = made.setdefault("metadata", {})
    head["labels"] = (head.get("labels") or {}) | labels
    head["annotations"] = (head.get("annotations") or {}) | annotations
    return made


def _set(lws: Document, name: str, labels: Text, pods: Document) -> Document:
    meta, template = lws["metadata"], lws["spec"]["leaderWorkerTemplate"]
    head: dict[str, Any] = {
        "name": name,
        "namespace": meta["namespace"],
        "labels": (meta.get("labels") or {}) | labels,
    }
    if meta.get("annotations"):
        head["annotations"] = dict(meta["annotations"])
    spec: Document = {"podManagementPolicy": "Parallel", "template": pods}
    spec |= {key: copy.deepcopy(template[key]) for key in _KEPT if template.get(key)}
    for claim in spec.get("volumeClaimTemplates", ()):
        claim["metadata"]["namespace"] = meta["namespace"]
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": head, "spec": spec}


def _service(lws: Document, name: str, selector: Text, owner: Document) -> Document:
    meta = lws["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": name,
            "namespace": meta["namespace"],
            "labels": {LWS_NAME: meta["name"]},
            "ownerReferences": [owner],
        },
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector},
    }

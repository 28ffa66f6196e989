"""The pod that a StatefulSet makes for an ordinal, and the claims that pod keeps. Pure."""

import copy
from typing import Any

from localcluster.controllers.documents import Document
from localcluster.controllers.statefulsets.model import KEEP, POD_INDEX_LABEL, POD_NAME_LABEL, REVISION_LABEL
from localcluster.controllers.statefulsets.revisions import owned_by


def pod_of(document: Document, template: dict[str, Any], ordinal: int, revision: str) -> Document:
    """The manifest of one pod; `template` is that of the revision so named."""
    meta = document["metadata"]
    name = f"{meta['name']}-{ordinal}"
    head, spec = template.get("metadata") or {}, copy.deepcopy(template["spec"])
    labels = dict(head.get("labels") or {})
    labels |= {POD_NAME_LABEL: name, POD_INDEX_LABEL: str(ordinal), REVISION_LABEL: revision}
    metadata: Document = {
        "name": name,
        "generateName": f"{meta['name']}-",
        "namespace": meta["namespace"],
        "labels": labels,
        "ownerReferences": [owned_by(document)],
    }
    for key in ("annotations", "finalizers"):
        if head.get(key):
            metadata[key] = copy.deepcopy(head[key])
    spec["hostname"] = name
    if document["spec"].get("serviceName"):
        spec["subdomain"] = document["spec"]["serviceName"]
    volumes = _volumes(document, spec.get("volumes") or [], ordinal)
    if volumes:
        spec["volumes"] = volumes
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def claims_of(document: Document, ordinal: int) -> list[Document]:
    """The claims of the pod with that ordinal; they outlive the pod, and the set unless it says otherwise."""
    claims = []
    retention = document["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    for template in document["spec"].get("volumeClaimTemplates") or []:
        claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": copy.deepcopy(template["spec"])}
        head = copy.deepcopy(template["metadata"])
        head["name"] = claim_name(document, head["name"], ordinal)
        head["namespace"] = document["metadata"]["namespace"]
        matched = (document["spec"].get("selector") or {}).get("matchLabels") or {}
        head["labels"] = {**(head.get("labels") or {}), **matched}
        if retention.get("whenDeleted", KEEP) != KEEP:
            head["ownerReferences"] = [owned_by(document) | {"controller": False, "blockOwnerDeletion": False}]
        claims.append(claim | {"metadata": head})
    return claims


def claim_name(document: Document, template: str, ordinal: int) -> str:
    """Name of the claim that a template makes for an ordinal."""
    return f"{template}-{document['metadata']['name']}-{ordinal}"


def _volumes(document: Document, volumes: list[Any], ordinal: int) -> list[Any]:
    """The volumes of a pod: those of its claims first, in place of any of the same name."""
    templates = document["spec"].get("volumeClaimTemplates") or []
    names = [each["metadata"]["name"] for each in templates]
    claims = [
        {"name": name, "persistentVolumeClaim": {"claimName": claim_name(document, name, ordinal)}} for name in names
    ]
    return claims + [each for each in volumes if each["name"] not in names]

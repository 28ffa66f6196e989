"""What one pod needs: claims that are still to be made from templates, and reservations where it was bound without. Pure."""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from api.devices import ResourceClaim
from api.meta import NO_METADATA, Metadata
from api.pod import EMPTY
from api.pod_claims import PodClaim
from localcluster.controllers.resourceclaims.claims import owning_pod
from localcluster.podclaims import ClaimedPod, is_reserved_for, made_claims, needed_claims

ENTRY_ANNOTATION: Final = "resource.kubernetes.io/pod-claim-name"
MAX_CONSUMERS: Final = 256
_LONGEST_PREFIX: Final = 57
"""So that a hyphen and five random characters still fit into a name."""

Manifest = dict[str, Any]
Find = Callable[[str], ResourceClaim | None]
"""The claim of that name in the pod's namespace."""


class TemplateMetadata(msgspec.Struct, frozen=True):
    """What is written on the claims that are made from a template."""

    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class TemplateSpec(msgspec.Struct, frozen=True):
    """`spec` of a template."""

    metadata: TemplateMetadata = TemplateMetadata()
    spec: msgspec.Raw = EMPTY


class ClaimTemplate(msgspec.Struct, frozen=True):
    """A ResourceClaimTemplate."""

    metadata: Metadata = NO_METADATA
    spec: TemplateSpec = TemplateSpec()


def missing_entries(pod: ClaimedPod, find: Find) -> list[PodClaim]:
    """The entries from whose template a claim is to be made: there is none, it is gone, or it is somebody else's."""
    if pod.metadata.is_terminating:
        return []
    made = made_claims(pod.status)
    missing = []
    for entry in pod.spec.resource_claims:
        if entry.resource_claim_template_name is None or (entry.name in made and made[entry.name] is None):
            continue
        claim = find(made.get(entry.name) or "")
        if claim is None or not is_for(claim, pod):
            missing.append(entry)
    return missing


def is_for(claim: ResourceClaim, pod: ClaimedPod) -> bool:
    """Whether a claim was made for this very pod."""
    owner = owning_pod(claim)
    return owner is not None and owner.uid == pod.metadata.uid


def is_entry(claim: ResourceClaim, entry: PodClaim) -> bool:
    """Whether a claim was made for this entry of its pod."""
    return claim.metadata.annotation(ENTRY_ANNOTATION) == entry.name


def new_claim(pod: ClaimedPod, entry: PodClaim, template: ClaimTemplate) -> Manifest:
    """The claim that is made for an entry."""
    meta, described = pod.metadata, template.spec.metadata
    owner = {"apiVersion": "v1", "kind": "Pod", "name": meta.name, "uid": meta.uid, "controller": True}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {
            "generateName": name_prefix(meta.name, entry.name),
            "namespace": meta.namespace,
            "ownerReferences": [owner],
            "annotations": {**(described.annotations or {}), ENTRY_ANNOTATION: entry.name},
            "labels": described.labels or {},
        },
        "spec": msgspec.json.decode(template.spec.spec or b"{}"),
    }


def name_prefix(pod: str, entry: str) -> str:
    """What the names of claims begin with; of names that are too long, both parts are cut in proportion."""
    prefix = f"{pod}-{entry}-"
    length = len(prefix)
    if length <= _LONGEST_PREFIX:
        return prefix
    return f"{pod[: len(pod) * _LONGEST_PREFIX // length]}-{entry[: len(entry) * _LONGEST_PREFIX // length]}"


def status_patch(pod: ClaimedPod, made: dict[str, str]) -> Manifest:
    """A strategic patch that names the claims which have been made, beside those named before."""
    names = {key: name for key, name in made_claims(pod.status).items() if name} | made
    entries = [{"name": key, "resourceClaimName": names[key]} for key in sorted(names)]
    return {"metadata": {"uid": pod.metadata.uid}, "status": {"resourceClaimStatuses": entries}}


def unreserved(pod: ClaimedPod, find: Find) -> list[ResourceClaim]:
    """The claims that a bound pod may use although nobody has reserved them for it."""
    if not pod.spec.node_name or pod.is_done or pod.metadata.is_terminating:
        return []
    claims = [claim for name in needed_claims(pod.spec, pod.status) or () if (claim := find(name)) is not None]
    uid = pod.metadata.uid
    return [
        claim
        for claim in claims
        if claim.status.allocation is not None
        and not is_reserved_for(claim.status.reserved_for, uid)
        and len(claim.status.reserved_for or ()) < MAX_CONSUMERS
        and (owning_pod(claim) is None or is_for(claim, pod))
    ]


def reservation_patch(pod: ClaimedPod, claim: ResourceClaim) -> Manifest:
    """A strategic patch that adds the pod to a claim's consumers."""
    consumer = {"resource": "pods", "name": pod.metadata.name, "uid": pod.metadata.uid}
    meta = claim.metadata
    return {
        "metadata": {"uid": meta.uid, "resourceVersion": meta.resource_version},
        "status": {"reservedFor": [consumer]},
    }

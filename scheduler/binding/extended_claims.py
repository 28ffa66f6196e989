"""The claims that are made here, for the extended resources of pods: what is created, told to the pod, and deleted. Pure.

Nobody else makes these claims, so whoever made one for a pod that did not get its place has to delete it. Their names are made up
here and not by the API server: a claim of which no answer came back can be asked for by its name.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
import orjson

from api.constants import CLAIM_FINALIZER, EXTENDED_CLAIM
from api.devices import ConsumerReference
from api.extended_resources import requests_for
from api.meta import Metadata, OwnerReference
from scheduler.algorithm.devices.binder import DeviceAllocation
from scheduler.algorithm.devices.extended import extended_key
from scheduler.binding.claim_allocation import ClaimWrite, MadeFor, Object, claim_write
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.records import POD_KIND, POD_RESOURCE, ClaimKey, ClaimRecord
from scheduler.cache.devices.state import DeviceState
from scheduler.cache.records import EntityKey, PodRecord

MOST_BEFORE_SUFFIX: Final = 58
"""Characters of a generated name before those at random, as the API server has it."""
SUFFIX_CHARACTERS: Final = 5
_MIDDLE: Final = "-extended-resources-"


def new_claim(
    devices: DeviceState,
    pod: PodRecord,
    found: Mapping[ClaimKey, DeviceAllocation],
    timestamp: str,
    new_suffix: Callable[[], str],
    new_share_id: Callable[[], str],
) -> ClaimWrite | None:
    """The claim to be made for a pod's extended resources; None where it gets none.

    Args:
        devices: which classes stand for what.
        pod: for which.
        found: what was decided, by the key of the claim.
        timestamp: when, RFC 3339.
        new_suffix: makes the end of the claim's name.
        new_share_id: makes a UUID for each share of a device.
    """
    given = found.get(extended_key(pod.namespace, pod.uid))
    if given is None or pod.demand.extended is None:
        return None
    prefix = f"{pod.name}{_MIDDLE}"
    metadata = Metadata(
        name=prefix[:MOST_BEFORE_SUFFIX] + new_suffix(),
        generate_name=prefix,
        namespace=pod.namespace,
        annotations={EXTENDED_CLAIM: "true"},
        owner_references=(OwnerReference("v1", POD_KIND, pod.name, pod.uid, controller=True),),
        finalizers=(CLAIM_FINALIZER,),
    )
    claim = msgspec.structs.replace(
        given.requests.claim, metadata=metadata, owner_uid=pod.uid, owner_kind=POD_KIND, reserved_for={}
    )
    names = {request.name for request in claim.spec.requests}
    _, mappings = requests_for(pod.demand.extended, devices.backed(pod.demand.extended))
    # What the node offers by itself is in no request.
    used = tuple(one for one in mappings if one.request_name in names)
    consumer = ConsumerReference("", POD_RESOURCE, pod.name, pod.uid)
    write = claim_write(claim, given, [consumer], timestamp, new_share_id)
    return ClaimWrite(claim, write.allocation, write.consumers, MadeFor(pod.name, pod.uid, used))


def left_over(claim: ClaimRecord) -> ClaimWrite:
    """What takes back a claim that was made for a pod which has no place."""
    owner = next((one for one in claim.metadata.owner_references or () if one.controller), None)
    made_for = MadeFor(owner.name if owner is not None else "", claim.owner_uid)
    return ClaimWrite(claim, claim.allocation, tuple(claim.reserved_for.values()), made_for)


def left_over_of(state: ClusterState, key: EntityKey) -> Iterator[ClaimRecord]:
    """The claims that were made for extended resources of an item's waiting pods, and that nobody is taking back yet."""
    members = state.item(key)
    for signature, waiting in members.pending.items() if members is not None else ():
        if state.devices.backed(signature.demand.extended):
            for uid in waiting.uids:
                for claim in state.devices.extended_claims((key.namespace, uid)):
                    if not state.devices.is_being_released(claim.key):
                        yield claim


def creation(write: ClaimWrite) -> Object:
    """The claim as it is created."""
    claim: Object = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": _plain(write.claim.metadata),
        "spec": {"devices": {"requests": _plain(write.claim.spec.requests)}},
    }
    return claim


def told_pod(write: ClaimWrite) -> Object:
    """A merge patch of the pod's status that names its claim."""
    made_for = write.made_for
    if made_for is None:
        raise ValueError("a claim that others make is told to no pod")
    told = {"resourceClaimName": write.claim.metadata.name, "requestMappings": _plain(made_for.mappings)}
    return {"metadata": {"uid": made_for.uid}, "status": {"extendedResourceClaimStatus": told}}


def without_finalizer(found: Mapping[str, Any]) -> Object | None:
    """A merge patch that lets a claim go; None when nothing of ours holds it."""
    meta = found["metadata"]
    finalizers: Sequence[str] = meta.get("finalizers") or ()
    if CLAIM_FINALIZER not in finalizers:
        return None
    rest = [one for one in finalizers if one != CLAIM_FINALIZER]
    return {"metadata": {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"], "finalizers": rest or None}}


def _plain(value: Any) -> Any:
    return orjson.loads(msgspec.json.encode(value))

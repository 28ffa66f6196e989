"""What becomes of one claim: consumers that are gone leave it, one without any is released or deleted. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from api.devices import ConsumerReference, ResourceClaim
from api.meta import OwnerReference, controller_of
from localcluster.podclaims import ClaimedPod, is_pod

FINALIZER: Final = "resource.kubernetes.io/delete-protection"

Patch = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cleaning:
    """What to write of a claim; a claim is never written if it has changed meanwhile.

    Attributes:
        status: a merge patch of its status; None: it stays.
        takes_finalizer_off: afterwards its deletion is not held up any longer.
        deletes: afterwards it is deleted.
    """

    status: Patch | None = None
    takes_finalizer_off: bool = False
    deletes: bool = False


def cleaning(claim: ResourceClaim, is_gone: Callable[[ConsumerReference], bool], owner: ClaimedPod | None) -> Cleaning:
    """What is to be done with a claim.

    Args:
        claim: the claim.
        is_gone: whether a consumer that is a pod is gone, replaced or has ended.
        owner: the pod that has the name of the pod it was made for, if there is one.
    """
    consumers = claim.status.reserved_for or ()
    remaining = [each for each in consumers if not (is_pod(each) and is_gone(each))]
    is_ours = FINALIZER in (claim.metadata.finalizers or ())
    is_allocated = claim.status.allocation is not None
    if remaining:
        return Cleaning(_status(claim, remaining)) if len(remaining) < len(consumers) else Cleaning()
    was_used = bool(consumers)
    releases = is_ours and (was_used or claim.metadata.is_terminating)
    status: Patch | None = None
    if was_used or (releases and is_allocated):
        status = _status(claim, remaining, deallocates=releases)
    # Without our finalizer the devices are somebody else's to give back, so the claim keeps them.
    return Cleaning(status, takes_finalizer_off=releases, deletes=_is_left_over(claim, owner))


def finalizer_patch(uid: str, version: str, finalizers: tuple[str, ...]) -> Patch:
    """Takes our finalizer off, if nothing else has changed."""
    rest = [each for each in finalizers if each != FINALIZER]
    return {"metadata": {"uid": uid, "resourceVersion": version, "finalizers": rest or None}}


def owning_pod(claim: ResourceClaim) -> OwnerReference | None:
    """The pod that a claim was made for; None when it was not made for one."""
    owner = controller_of(claim.metadata)
    return owner if owner is not None and owner.api_version == "v1" and owner.kind == "Pod" else None


def _is_left_over(claim: ResourceClaim, pod: ClaimedPod | None) -> bool:
    owner = owning_pod(claim)
    if owner is None or pod is None or claim.metadata.is_terminating:
        # Of a pod that nobody knows the garbage collector finds out whether it is gone.
        return False
    return pod.metadata.uid != owner.uid or pod.is_done


def _status(claim: ResourceClaim, remaining: list[ConsumerReference], *, deallocates: bool = False) -> Patch:
    meta = claim.metadata
    status: Patch = {"reservedFor": msgspec.to_builtins(remaining) or None}
    if deallocates:
        status["allocation"] = None
    return {"metadata": {"uid": meta.uid, "resourceVersion": meta.resource_version}, "status": status}

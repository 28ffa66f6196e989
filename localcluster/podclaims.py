"""What a pod and its status say of device claims, as a controller and a kubelet read it. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from api.devices import ConsumerReference
from api.meta import NO_METADATA, Metadata
from api.pod_claims import PodClaim, PodClaimStatus

PODS: Final = "pods"
TERMINAL_PHASES: Final = frozenset({"Succeeded", "Failed"})


class ExtendedClaimStatus(msgspec.Struct, frozen=True, rename="camel"):
    """The claim that was made for a pod's extended resources."""

    resource_claim_name: str = ""


class ClaimedPodSpec(msgspec.Struct, frozen=True, rename="camel"):
    """`spec` of a pod."""

    node_name: str = ""
    resource_claims: tuple[PodClaim, ...] = ()


class ClaimedPodStatus(msgspec.Struct, frozen=True, rename="camel"):
    """`status` of a pod."""

    phase: str = "Pending"
    resource_claim_statuses: tuple[PodClaimStatus, ...] = ()
    extended_resource_claim_status: ExtendedClaimStatus | None = None


class ClaimedPod(msgspec.Struct, frozen=True):
    """A pod, as far as its claims go."""

    metadata: Metadata = NO_METADATA
    spec: ClaimedPodSpec = ClaimedPodSpec()
    status: ClaimedPodStatus = ClaimedPodStatus()

    @property
    def is_done(self) -> bool:
        """Whether it will not run any more, or never."""
        never_ran = self.metadata.is_terminating and not self.spec.node_name
        return never_ran or self.status.phase in TERMINAL_PHASES


def made_claims(status: ClaimedPodStatus) -> Mapping[str, str | None]:
    """The names of claims that were made, by entry; None where none is needed."""
    return {each.name: each.resource_claim_name for each in status.resource_claim_statuses}


def needed_claims(spec: ClaimedPodSpec, status: ClaimedPodStatus) -> list[str] | None:
    """The names of all claims that the pod's containers need; None while one of them is still to be made."""
    made = made_claims(status)
    names = [entry.resource_claim_name or made.get(entry.name, "") for entry in spec.resource_claims]
    if "" in names:
        return None
    extended = status.extended_resource_claim_status
    return [name for name in names if name] + ([extended.resource_claim_name] if extended is not None else [])


class HeldStatus(msgspec.Struct, frozen=True, rename="camel"):
    """`status` of a claim, as a kubelet reads it: what was allocated is the driver's matter."""

    allocation: dict[str, Any] | None = None
    reserved_for: tuple[ConsumerReference, ...] | None = None


class HeldClaim(msgspec.Struct, frozen=True):
    """A claim, as a kubelet reads it."""

    status: HeldStatus = HeldStatus()


def is_reserved_for(consumers: Iterable[ConsumerReference] | None, uid: str) -> bool:
    """Whether the pod with that UID is among the consumers of a claim."""
    return any(is_pod(each) and each.uid == uid for each in consumers or ())


def can_start(uid: str, claims: Iterable[HeldClaim | None]) -> bool:
    """Whether the pod has its devices: each of its claims is there, allocated and reserved for it."""
    return all(
        claim is not None and claim.status.allocation is not None and is_reserved_for(claim.status.reserved_for, uid)
        for claim in claims
    )


def is_pod(consumer: ConsumerReference) -> bool:
    """Whether a consumer is a pod, and not a group of pods."""
    return not consumer.api_group and consumer.resource == PODS

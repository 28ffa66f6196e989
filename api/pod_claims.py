"""What a pod and its status say of its resource claims."""

import msgspec


class PodClaim(msgspec.Struct, frozen=True, rename="camel"):
    """One entry of `spec.resourceClaims`."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodClaimStatus(msgspec.Struct, frozen=True, rename="camel"):
    """One entry of `status.resourceClaimStatuses`: the claim that was made for an entry; without a name none is needed."""

    name: str = ""
    resource_claim_name: str | None = None

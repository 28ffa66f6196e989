"""Which ResourceClaims a pod uses, as its spec and the claim controller say it."""

from typing import Final

import msgspec

from api.pod import Pod
from api.pod_claims import PodClaim, PodClaimStatus


class ClaimUse(msgspec.Struct, frozen=True, gc=False):
    """One entry of `spec.resourceClaims`.

    Attributes:
        entry: its name in the pod.
        claim: the name of the claim; empty while it has not been made.
        template: from which it is made; empty where the pod names a claim.
    """

    entry: str
    claim: str
    template: str = ""


class PodClaims(msgspec.Struct, frozen=True, gc=False):
    """The claims of a pod in the order of its spec; `problem` says why they cannot be read, empty when they can."""

    uses: tuple[ClaimUse, ...]
    problem: str = ""


_decode_entries: Final = msgspec.json.Decoder(tuple[PodClaim, ...] | None).decode
_decode_statuses: Final = msgspec.json.Decoder(tuple[PodClaimStatus, ...] | None).decode


def parse_pod_claims(pod: Pod) -> PodClaims | None:
    """The claims of a pod, None when it has none; never raises for what a user wrote."""
    try:
        entries = _decode_entries(pod.spec.resource_claims) if pod.spec.resource_claims else ()
        raw = pod.status.resource_claim_statuses
        statuses = {one.name: one for one in (_decode_statuses(raw) if raw else ()) or ()}
    except (msgspec.MsgspecError, RecursionError) as error:
        return PodClaims((), f"its resource claims cannot be read: {error}")
    if not entries:
        return None
    uses = []
    for entry in entries:
        if entry.resource_claim_name:
            uses.append(ClaimUse(entry.name, entry.resource_claim_name))
            continue
        told = statuses.get(entry.name)
        # An entry of the status without a name means that no claim is needed.
        if told is None or told.resource_claim_name:
            made = told.resource_claim_name if told is not None else None
            uses.append(ClaimUse(entry.name, made or "", entry.resource_claim_template_name or ""))
    return PodClaims(tuple(uses))

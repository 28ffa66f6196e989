"""From the claims of a pod, as the scheduler keeps them, back to what its spec and status say of them."""

from typing import Any, Final

import msgspec

from api.pod import EMPTY, PodSpec
from scheduler.cache.devices.pod_claims import PodClaims

_UNREADABLE: Final = msgspec.Raw(b'"unreadable"')


class _Named(msgspec.Struct, frozen=True):
    name: str = ""


_decode_names: Final = msgspec.json.Decoder(tuple[_Named, ...] | None).decode


def claim_entries(claims: PodClaims) -> msgspec.Raw:
    """`spec.resourceClaims` that is read as these claims; entries for which no claim is needed are not among them."""
    if claims.problem:
        return _UNREADABLE
    entries = [
        {"name": use.entry, "resourceClaimTemplateName": use.template}
        if use.template
        else {"name": use.entry, "resourceClaimName": use.claim}
        for use in claims.uses
    ]
    # Without an entry that needs a claim there still was one.
    return _json(entries or [{"name": "", "resourceClaimTemplateName": "none"}])


def claim_statuses(claims: PodClaims, spec: PodSpec) -> msgspec.Raw:
    """`status.resourceClaimStatuses` with which the entries of the spec are read as these claims."""
    try:
        entries = _decode_names(spec.resource_claims) if spec.resource_claims else ()
    except (msgspec.MsgspecError, RecursionError):
        return EMPTY
    if claims.problem:
        # The entries can be read, so it is the status that cannot.
        return _UNREADABLE
    made = {use.entry: use.claim for use in claims.uses if use.template}
    needed = {use.entry for use in claims.uses}
    statuses: list[dict[str, Any]] = []
    for entry in entries or ():
        if entry.name not in needed:
            statuses.append({"name": entry.name})
        elif made.get(entry.name):
            statuses.append({"name": entry.name, "resourceClaimName": made[entry.name]})
    return _json(statuses) if statuses else EMPTY


def _json(value: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))

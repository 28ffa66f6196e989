"""What a written ResourceClaim holds, and for whom."""

from dataclasses import replace

from verify.auditor.audit_log import Object, Record
from verify.auditor.model import Claim, Device, Key, controller_of, status_of

ENTRY: str = "resource.kubernetes.io/pod-claim-name"


def version_of(record: Record) -> int:
    """The version of the object that was answered; 0 where it says none."""
    told = str((record.response.get("metadata") or {}).get("resourceVersion", ""))
    return int(told) if told.isdecimal() else 0


def claim_of(known: Claim | None, key: Key, record: Record) -> Claim:
    """The claim after this record; `known` is what was known of this very claim.

    Devices that may be in several claims at a time are left out: those taken for administration, and shares of one device.
    """
    metadata = record.response.get("metadata") or {}
    status = status_of(record.response)
    allocation: Object = status.get("allocation") or {}
    before = known
    if before is None:
        annotations = metadata.get("annotations") or {}
        before = Claim(key, record.object_uid, owner=controller_of(metadata), entry=annotations.get(ENTRY, ""))
    uids = [each.get("uid", "") for each in status.get("reservedFor") or []]
    has_just_got = bool(allocation) and not before.allocation
    return replace(
        before,
        devices=frozenset(_devices(allocation)),
        allocation=allocation,
        consumers={uid: before.consumers.get(uid, record.completed) for uid in uids},
        allocated_by=record.user if has_just_got else before.allocated_by if allocation else "",
        held_since=record.completed if has_just_got else before.held_since if allocation else 0.0,
        version=version_of(record),
    )


def reaches(allocation: Object, node: str) -> bool:
    """Whether an allocation can be used on a node, as far as it names nodes; what it says of labels is not known here."""
    terms = (allocation.get("nodeSelector") or {}).get("nodeSelectorTerms", ())
    fields = [each for term in terms for each in term.get("matchFields") or ()]
    return not fields or any(node in each["values"] for each in fields)


def _devices(allocation: Object) -> list[Device]:
    results = (allocation.get("devices") or {}).get("results") or []
    return [
        (each.get("driver", ""), each.get("pool", ""), each.get("device", ""))
        for each in results
        if not each.get("adminAccess") and not each.get("shareID")
    ]

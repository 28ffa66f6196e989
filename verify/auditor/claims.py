"""What a written ResourceClaim holds."""

from verify.auditor.audit_log import Record
from verify.auditor.model import Claim, Key, status_of


def claim_of(known: Claim | None, key: Key, record: Record) -> Claim:
    """The claim after this record.

    Devices that may be in several claims at a time are left out: those taken for administration, and shares of one device.
    """
    status = status_of(record.response)
    allocation = status.get("allocation") or {}
    results = (allocation.get("devices") or {}).get("results") or []
    devices = frozenset(
        (each.get("driver", ""), each.get("pool", ""), each.get("device", ""))
        for each in results
        if not each.get("adminAccess") and not each.get("shareID")
    )
    consumers = frozenset(each.get("uid", "") for each in status.get("reservedFor") or [])
    is_same = known is not None and known.uid == record.object_uid and known.held_since > 0.0 and bool(allocation)
    since = known.held_since if known is not None and is_same else record.completed if allocation else 0.0
    author = known.allocated_by if known is not None and is_same else record.user if allocation else ""
    return Claim(key, record.object_uid, devices, consumers, author, since)

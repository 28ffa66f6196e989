"""The Lease object of an election as a value: who holds it, whether it may be taken, what to write. Pure.

Expiry is never judged by the time stamps in the object, which another machine's clock wrote: a record counts as expired
when it has not changed for its own duration *as seen here*. Time stamps are written in UTC for people to read.
"""

import math
from dataclasses import dataclass
from typing import Any

from kube.client.resources import LEASES


@dataclass(frozen=True, slots=True)
class LeaseRecord:
    """What an election writes into a Lease.

    Attributes:
        holder: identity of the holder, "" when released.
        duration_seconds: how long the record counts after it was last changed.
        acquired: MicroTime of the take-over; together with the holder it names one tenure.
        renewed: MicroTime of the last renewal.
        transitions: how often the holder changed.
    """

    holder: str
    duration_seconds: int
    acquired: str
    renewed: str
    transitions: int


def record_of(lease: dict[str, Any]) -> LeaseRecord:
    """The record in a Lease, whatever is missing from it."""
    spec = lease.get("spec") or {}
    return LeaseRecord(
        holder=spec.get("holderIdentity") or "",
        duration_seconds=spec.get("leaseDurationSeconds") or 0,
        acquired=spec.get("acquireTime") or "",
        renewed=spec.get("renewTime") or "",
        transitions=spec.get("leaseTransitions") or 0,
    )


def may_be_taken(record: LeaseRecord, unchanged_seconds: float, lease_seconds: float) -> bool:
    """Whether nobody can still believe to hold the lease.

    Args:
        record: what the Lease holds.
        unchanged_seconds: how long that has not changed as seen here.
        lease_seconds: how long it counts where it does not say so itself.
    """
    return not record.holder or unchanged_seconds >= (record.duration_seconds or lease_seconds)


def taken(record: LeaseRecord | None, identity: str, now: str, lease_seconds: float) -> LeaseRecord:
    """The record of a new tenure.

    Args:
        record: what the Lease holds now; None when there is no Lease yet.
        identity: the new holder.
        now: MicroTime.
        lease_seconds: how long the record counts after it was last changed; whole seconds are written, rounded up.
    """
    transitions = 0 if record is None else record.transitions + (record.holder != identity)
    return LeaseRecord(identity, max(1, math.ceil(lease_seconds)), now, now, transitions)


def with_record(lease: dict[str, Any], record: LeaseRecord) -> dict[str, Any]:
    """The Lease with this record in it; its metadata, the resource version too, stays."""
    spec = dict(lease.get("spec") or {})
    spec.update(
        holderIdentity=record.holder,
        leaseDurationSeconds=record.duration_seconds,
        acquireTime=record.acquired or None,
        renewTime=record.renewed or None,
        leaseTransitions=record.transitions,
    )
    return {**lease, "spec": spec}


def new_lease(namespace: str, name: str) -> dict[str, Any]:
    """An empty Lease object."""
    return {
        "apiVersion": LEASES.api_version,
        "kind": LEASES.kind,
        "metadata": {"namespace": namespace, "name": name},
    }

"""What is written to a ResourceClaim when its pods get their nodes, and what comes of it. Pure: values in, patches out.

The finalizer comes first and in a request of its own, because the status endpoint takes no metadata; then allocation, its time and
all consumers in one. Nothing of an allocation ever changes once it is written: it is there as it was decided, or it is not.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import orjson

from api.constants import CLAIM_FINALIZER, EXTENDED_CLAIM
from api.devices import AllocationResult, ConsumerReference
from api.extended_resources import RequestMapping
from api.pod import EMPTY
from scheduler.algorithm.devices.binder import DeviceAllocation
from scheduler.algorithm.devices.result import allocation_results
from scheduler.algorithm.devices.solution import Solution
from scheduler.cache.devices.record_factory import held_devices
from scheduler.cache.devices.records import ClaimRecord
from scheduler.cache.node_rules import parse_node_terms

Object = dict[str, Any]

GONE: Final = "claim {} got deleted in the meantime"
TAKEN: Final = "claim {} got allocated elsewhere in the meantime"


@dataclass(frozen=True, slots=True)
class MadeFor:
    """The pod for whose extended resources a claim is made, and which of its containers use which request."""

    name: str
    uid: str
    mappings: tuple[RequestMapping, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimWrite:
    """Devices and consumers for a claim.

    Attributes:
        claim: as it was when that was decided.
        allocation: its devices; None when it has them already and only gets consumers.
        consumers: the pods that are to use it, or their group.
        made_for: it is made by us, for this pod, and deleted when it is given back; None for all claims that others make.
    """

    claim: ClaimRecord
    allocation: AllocationResult | None
    consumers: tuple[ConsumerReference, ...]
    made_for: MadeFor | None = None

    @property
    def shown(self) -> str:
        """The claim for people."""
        return "/".join(self.claim.key)


@dataclass(frozen=True, slots=True)
class ClaimSeen:
    """A claim as the API server has it."""

    uid: str
    version: str
    finalizers: tuple[str, ...]
    allocation: Object | None
    reserved_for: tuple[Object, ...]

    @classmethod
    def of_record(cls, claim: ClaimRecord) -> "ClaimSeen":
        """As the watch last showed it."""
        return cls(
            claim.metadata.uid,
            claim.metadata.resource_version,
            claim.metadata.finalizers or (),
            _json(claim.allocation) if claim.allocation is not None else None,
            tuple(_json(one) for one in claim.reserved_for.values()),
        )

    @classmethod
    def of_object(cls, found: Mapping[str, Any]) -> "ClaimSeen":
        """As it was read, or as a write left it."""
        meta, status = found["metadata"], found.get("status") or {}
        return cls(
            str(meta.get("uid", "")),
            str(meta["resourceVersion"]),
            tuple(meta.get("finalizers") or ()),
            status.get("allocation"),
            tuple(status.get("reservedFor") or ()),
        )


def claim_write(
    claim: ClaimRecord,
    found: DeviceAllocation,
    consumers: Sequence[ConsumerReference],
    timestamp: str,
    new_share_id: Callable[[], str],
) -> ClaimWrite:
    """The write for devices that were decided upon.

    Args:
        claim: as it is known.
        found: its devices.
        consumers: everybody who is to use it.
        timestamp: when that was decided, RFC 3339; can never be added later.
        new_share_id: makes a UUID for each share of a device.
    """
    solution = Solution((found.chosen,), (found.alternatives,))
    requests = msgspec.structs.replace(found.requests, claim=claim)
    (result,) = allocation_results([requests], solution, found.node_name, new_share_id)
    return ClaimWrite(claim, msgspec.structs.replace(result, allocation_timestamp=timestamp), tuple(consumers))


def allocated(write: ClaimWrite) -> ClaimRecord:
    """The claim as it will be when the write is done, for others to count with meanwhile."""
    if write.allocation is None:
        return write.claim
    selector = write.allocation.node_selector
    return msgspec.structs.replace(
        write.claim,
        allocation=write.allocation,
        held=held_devices(write.allocation),
        terms=parse_node_terms(selector) if selector != EMPTY else None,
        reserved_for={one.uid: one for one in write.consumers},
    )


def next_patch(write: ClaimWrite, seen: ClaimSeen) -> tuple[str | None, Object] | None:
    """(subresource, merge patch) of what is still to be written; None when all of it is there."""
    meta: Object = {"uid": seen.uid, "resourceVersion": seen.version}
    if write.allocation is not None and CLAIM_FINALIZER not in seen.finalizers:
        return None, {"metadata": {**meta, "finalizers": [*seen.finalizers, CLAIM_FINALIZER]}}
    missing = [_json(one) for one in write.consumers if one.uid not in {each["uid"] for each in seen.reserved_for}]
    status: Object = {"reservedFor": [*seen.reserved_for, *missing]} if missing else {}
    if write.allocation is not None and seen.allocation is None:
        status["allocation"] = _json(write.allocation)
    return ("status", {"metadata": meta, "status": status}) if status else None


def obstacle(write: ClaimWrite, found: Mapping[str, Any]) -> str:
    """Why the write cannot be done any more; empty when it can, or is done."""
    if not is_meant(write, found) or found["metadata"].get("deletionTimestamp"):
        return GONE.format(write.shown)
    allocation = (found.get("status") or {}).get("allocation")
    if write.allocation is None:
        return TAKEN.format(write.shown) if not is_same(write.claim.allocation, allocation) else ""
    return TAKEN.format(write.shown) if allocation and not is_same(write.allocation, allocation) else ""


def release_patch(write: ClaimWrite, found: Mapping[str, Any]) -> Object | None:
    """A merge patch of the status that takes back what the write has done; None when nothing of it is there.

    Devices are given back when the write gave them and nobody else uses them; those of others stay.
    """
    seen = ClaimSeen.of_object(found)
    if not is_meant(write, found) or not is_same(write.allocation or write.claim.allocation, seen.allocation):
        return None
    ours = {one.uid for one in write.consumers}
    others = [one for one in seen.reserved_for if one.get("uid") not in ours]
    meta = {"uid": write.claim.metadata.uid, "resourceVersion": seen.version}
    if write.allocation is not None and not others:
        return {"metadata": meta, "status": {"allocation": None, "reservedFor": None, "devices": None}}
    if len(others) == len(seen.reserved_for):
        return None
    return {"metadata": meta, "status": {"reservedFor": others or None}}


def is_meant(write: ClaimWrite, found: Mapping[str, Any]) -> bool:
    """Whether this is the claim that a write is about; one that we make is known by the pod it is for."""
    meta = found["metadata"]
    if write.made_for is None:
        return bool(meta.get("uid") == write.claim.metadata.uid)
    owners = [each.get("uid") for each in meta.get("ownerReferences") or () if each.get("controller")]
    return owners == [write.made_for.uid] and (meta.get("annotations") or {}).get(EXTENDED_CLAIM) == "true"


def is_same(decided: AllocationResult | None, found: Mapping[str, Any] | None) -> bool:
    """Whether an allocation is the one that was decided: the same devices, and shares, for the same requests."""
    if decided is None or not found:
        return decided is None and not found
    results = (found.get("devices") or {}).get("results") or ()
    there = Counter(
        (one.get("request"), one.get("driver"), one.get("pool"), one.get("device"), one.get("shareID"))
        for one in results
    )
    return there == Counter(
        (one.request, one.driver, one.pool, one.device, one.share_id) for one in decided.devices.results or ()
    )


def _json(value: AllocationResult | ConsumerReference) -> Object:
    found: Object = orjson.loads(msgspec.json.encode(value))
    return found

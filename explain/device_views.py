"""Devices that are different for a moment, as views: nobody else has any, or the pods of an item ask for others."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, cast

import msgspec

from scheduler.cache.devices.device_log import DeviceLog
from scheduler.cache.devices.held import HeldDevices
from scheduler.cache.devices.records import ClaimKey, ClaimRecord, ClaimSpecRecord
from scheduler.cache.devices.state import DeviceState

SpecChange = Callable[[ClaimSpecRecord], ClaimSpecRecord]
Claims = Mapping[ClaimKey, ClaimRecord]


class _ChangedDevices:
    """The devices of a cluster with other claims; what `replaced` does not name either is as it is there."""

    def __init__(self, devices: DeviceState, claims: Claims, replaced: Mapping[str, object]) -> None:
        self._devices: Final = devices
        self._claims: Final = claims
        self._replaced: Final = replaced

    def __getattr__(self, name: str) -> Any:
        found = self._replaced.get(name)
        return found if found is not None else getattr(self._devices, name)

    def claim(self, key: ClaimKey) -> ClaimRecord | None:
        return self._claims.get(key)


def all_claims(devices: DeviceState) -> dict[ClaimKey, ClaimRecord]:
    """Every claim as it is, or as it will be when what was decided is written."""
    return {**devices.claims, **devices.assumed}


def unallocated(claim: ClaimRecord) -> ClaimRecord:
    """The claim without devices and users."""
    return msgspec.structs.replace(claim, reserved_for={}, allocation=None, held=(), terms=None)


def after(claim: ClaimRecord, gone: Collection[str]) -> ClaimRecord | None:
    """The claim when pods with these UIDs have gone: None when it goes with them; its last user gives its devices back."""
    if claim.owner_uid in gone:
        return None
    left = {uid: one for uid, one in claim.reserved_for.items() if uid not in gone}
    if len(left) == len(claim.reserved_for):
        return claim
    return msgspec.structs.replace(claim, reserved_for=left) if left else unallocated(claim)


def devices_of_nobody_but(devices: DeviceState, staying: Collection[str]) -> DeviceState:
    """The devices when only pods and groups with these UIDs use any."""
    claims = {
        key: unallocated(one) if one.reserved_for and not one.reserved_for.keys() & staying else one
        for key, one in all_claims(devices).items()
    }
    held = HeldDevices(device for one in claims.values() for device in one.held)
    return _view(devices, claims, {"claims": claims, "held": held, "log": DeviceLog()})


def asking_for(devices: DeviceState, owners: Iterable[str], change: SpecChange) -> DeviceState:
    """The devices when the claims that were made for pods with these UIDs, and have no devices yet, ask for something else."""
    uids, known = set(owners), dict[ClaimSpecRecord, ClaimSpecRecord]()
    claims = all_claims(devices)
    for key, one in claims.items():
        if one.owner_uid in uids and not one.is_allocated:
            if one.spec not in known:
                known[one.spec] = change(one.spec)
            claims[key] = msgspec.structs.replace(one, spec=known[one.spec])
    return _view(devices, claims, {})


def _view(devices: DeviceState, claims: Claims, replaced: Mapping[str, object]) -> DeviceState:
    return cast("DeviceState", _ChangedDevices(devices, claims, replaced))

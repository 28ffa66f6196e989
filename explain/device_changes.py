"""Devices of a cluster that is different for a moment: claims of pods that are gone, slices of nodes that are new."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from explain.device_views import after, all_claims
from scheduler.cache.devices.records import ClaimKey, ClaimRecord, DeviceId, PoolId, SliceRecord
from scheduler.cache.devices.state import DeviceState
from scheduler.cache.records import PodRecord

_OF: Final = "-of-"


@contextlib.contextmanager
def without_claims_of(devices: DeviceState, pods: Sequence[PodRecord]) -> Iterator[None]:
    """The claims of these pods are gone or give their devices back."""
    changed = _changed(devices, pods)
    before = {key: (devices.claims.get(key), devices.assumed.get(key)) for key in changed}
    _set(devices, changed)
    try:
        yield
    finally:
        for key, (known, _) in before.items():
            devices.set_claim(key, known)
        devices.assume({key: assumed for key, (_, assumed) in before.items() if assumed is not None})


def release_claims_of(devices: DeviceState, pods: Sequence[PodRecord]) -> None:
    """The same for good."""
    _set(devices, _changed(devices, pods))


def _changed(devices: DeviceState, pods: Sequence[PodRecord]) -> dict[ClaimKey, ClaimRecord | None]:
    if not devices.claims:
        return {}
    gone = {pod.uid for pod in pods}
    found = ((key, claim, after(claim, gone)) for key, claim in all_claims(devices).items())
    return {key: new for key, claim, new in found if new is not claim}


def _set(devices: DeviceState, claims: Mapping[ClaimKey, ClaimRecord | None]) -> None:
    devices.take_back([key for key in claims if devices.is_assumed(key)])
    for key, claim in claims.items():
        devices.set_claim(key, claim)


# --- nodes that are new -----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def with_slices_like(devices: DeviceState, model: str, names: Iterable[str]) -> Iterator[None]:
    """Nodes of these names have devices as the model has them."""
    made = add_slices_like(devices, model, names)
    try:
        yield
    finally:
        for name in made:
            devices.set_slice(name, None)


def add_slices_like(devices: DeviceState, model: str, names: Iterable[str]) -> list[str]:
    """The same for good; the names of the new slices. Only pools that are all the model's own are copied."""
    own = [
        one
        for one in devices.slices_on_node.get(model, ())
        if all(other.node_name == model for other in devices.slices_of_pool[one.pool])
    ]
    made = [_like(one, name) for name in names for one in own]
    for one in made:
        devices.set_slice(one.name, one)
    return [one.name for one in made]


def _like(one: SliceRecord, node: str) -> SliceRecord:
    pool = PoolId(one.pool.driver, f"{one.pool.pool}{_OF}{node}")
    return msgspec.structs.replace(
        one,
        metadata=msgspec.structs.replace(
            one.metadata, name=f"{one.name}{_OF}{node}", uid=f"{one.metadata.uid}{_OF}{node}"
        ),
        pool=pool,
        node_name=node,
        devices=tuple(
            msgspec.structs.replace(device, id=DeviceId(pool.driver, pool.pool, device.id.device))
            for device in one.devices
        ),
    )

"""Hints about devices: who has to end so that enough of them are free, and with how many fewer for each pod it starts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from math import ceil
from typing import Final

import msgspec

from api.devices import DeviceRequest
from explain.cluster_changes import without_pods
from explain.device_views import all_claims
from explain.hint import Hint, HintKind
from explain.item_change import Change
from explain.names import item_name, pod_name
from explain.trials import Trials, greatest_that_starts
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.records import ClaimSpecRecord
from scheduler.cache.pod_group_state import MemberState
from scheduler.cache.records import EntityKey, PodRecord

LEAST_SHARE: Final = 0.5
"""A hint never asks for fewer than this part of the devices."""
MOST_ENDS: Final = 16
"""Things that have devices whose end is tried."""


def holder_of_devices_hints(trials: Trials) -> Iterator[Hint]:
    """Of what has devices, the one with the fewest whose end is enough."""
    units = sorted(_units(trials.state, trials.key), key=lambda unit: (unit[0], unit[1][0].name))
    for _, pods in units[-MOST_ENDS:]:
        with without_pods(trials.state, pods):
            is_enough = trials.starts()
        if is_enough:
            name = _unit_name(trials.state, pods[0])
            yield Hint(HintKind.WAIT_FOR, f"starts when {name} ends", what=name, pods=tuple(pod.uid for pod in pods))
            return


def _units(state: ClusterState, key: EntityKey) -> Iterator[tuple[int, list[PodRecord]]]:
    """(devices, pods) of groups, and of pods without one, that run with devices."""
    devices, users = Counter[tuple[str, str]](), dict[tuple[str, str], PodRecord]()
    for claim in all_claims(state.devices).values():
        pods = [pod for uid in claim.reserved_for if (pod := state.pod(uid)) is not None] if claim.held else []
        for unit, pod in {_unit(pod): pod for pod in pods}.items():
            devices[unit] += len(claim.held)
            users[unit] = pod
    for unit, count in devices.items():
        ending = _pods_of(state, key, users[unit])
        if ending and all(pod.is_bound and not pod.terminating for pod in ending):
            yield count, sorted(ending, key=lambda pod: (pod.name, pod.uid))


def _unit(pod: PodRecord) -> tuple[str, str]:
    return (pod.namespace, pod.group or f"pod/{pod.name}")


def _pods_of(state: ClusterState, key: EntityKey, pod: PodRecord) -> list[PodRecord]:
    """All pods that end with this one; none when it is the item's own, or some of them are still on their way."""
    if not pod.group:
        return [pod]
    members = state.entities.of_group(pod.namespace, pod.group)
    if members is None or members.key == key or members.count(MemberState.ASSUMED):
        return []
    return list(members.pods(MemberState.BOUND))


def _unit_name(state: ClusterState, pod: PodRecord) -> str:
    members = state.entities.of_group(pod.namespace, pod.group) if pod.group else None
    return item_name(members.key, members.group) if members is not None else pod_name(pod)


# --- fewer devices ----------------------------------------------------------------------------------------------------


def fewer_devices_hints(trials: Trials) -> Iterator[Hint]:
    """Fewer devices of a class for each pod, where its claims are made from templates."""
    for class_name, asked in _asked_counts(trials).items():
        numbers = range(max(ceil(asked * LEAST_SHARE), 1), asked)
        count = greatest_that_starts(numbers, partial(_starts_with, trials, class_name))
        if count is not None:
            message = f"`count: {count}` instead of {asked} devices of class {class_name} in each claim fits"
            yield Hint(HintKind.LOWER_DEVICES, message, count=count, key=class_name)


def _starts_with(trials: Trials, class_name: str, most: int) -> bool:
    return trials.starts(Change(claims=partial(_at_most, class_name, most)))


def _asked_counts(trials: Trials) -> dict[str, int]:
    """By class the most devices that a request of its pods' own claims asks for."""
    members, devices = trials.members, trials.state.devices
    found: dict[str, int] = {}
    uids = [uid for waiting in members.pending.values() for uid in waiting.uids] if members is not None else []
    specs: dict[ClaimSpecRecord, None] = {}
    for pod in map(trials.state.pod, uids):
        for use in pod.claims.uses if pod is not None and pod.claims is not None else ():
            claim = devices.claim((pod.namespace, use.claim)) if pod is not None else None
            if claim is not None and use.template and not claim.is_allocated:
                specs[claim.spec] = None
    for request in (request for spec in specs for request in spec.requests):
        exact = request.exactly
        if exact is not None and exact.allocation_mode == "ExactCount" and exact.device_class_name:
            found[exact.device_class_name] = max(found.get(exact.device_class_name, 0), exact.count)
    return found


def _at_most(class_name: str, most: int, spec: ClaimSpecRecord) -> ClaimSpecRecord:
    return msgspec.structs.replace(spec, requests=tuple(_fewer(spec.requests, class_name, most)))


def _fewer(requests: Sequence[DeviceRequest], class_name: str, most: int) -> Iterator[DeviceRequest]:
    for request in requests:
        exact = request.exactly
        if exact is not None and exact.device_class_name == class_name and exact.count > most:
            yield msgspec.structs.replace(request, exactly=msgspec.structs.replace(exact, count=most))
        else:
            yield request

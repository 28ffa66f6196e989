"""What nodes have of devices for the pods of an item, and why its claims cannot be looked at yet."""

from collections import Counter
from typing import Final

import numpy as np

from explain.changed_tree import changed_members
from explain.item_change import Change, ChangedCluster
from scheduler.algorithm.devices import extended
from scheduler.algorithm.devices.binder import DeviceBinder
from scheduler.algorithm.devices.device_claims import DeviceClaimsOfPods, MemberDeviceClaims
from scheduler.algorithm.devices.view import view_of
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_signature import PodSignature
from scheduler.plugins.interface import IntArray
from scheduler.plugins.messages import message

NOBODY_ELSE: Final = Change(is_alone=True)


def asks_devices(state: ClusterState, members: PodGroupState) -> bool:
    """Whether pods that wait have resource claims, or extended resources that a class stands for."""
    return any(extended.asks_devices(state, signature) for signature in members.pending)


def claim_problems(state: ClusterState, members: PodGroupState) -> Counter[str]:
    """Why claims of pods that wait cannot be looked at, with how many pods that is told of."""
    found = Counter[str]()
    if not state.devices.is_followed:
        return found
    looked_up = _claims(state, members)
    for signature, waiting in members.pending.items():
        for uid in waiting.uids if extended.asks_devices(state, signature) else ():
            pod = state.pod(uid)
            claims = looked_up.of(pod, signature) if pod is not None else None
            if claims is not None and claims.refusal is not None:
                found[message(claims.refusal)] += 1
    return found


def device_room(state: ClusterState, members: PodGroupState, signature: PodSignature) -> IntArray | None:
    """For how many pods of a signature each node has devices now; None when they need none, or nobody knows what they need."""
    waiting = members.pending.get(signature)
    pod = state.pod(next(iter(waiting.uids), "")) if waiting is not None else None
    if pod is None or not state.devices.is_followed:
        return None
    looked_up = _claims(state, members)
    claims = looked_up.of(pod, signature)
    if claims is None or claims.refusal is not None or waiting is None:
        return None
    view = view_of(state, members.key, members.priority)
    binder = DeviceBinder(MemberDeviceClaims(state, {signature: (claims, len(waiting))}, looked_up.own_claims, view))
    return binder.pods_that_fit(signature)


def most_device_room(state: ClusterState, members: PodGroupState) -> IntArray | None:
    """The same when nobody has devices, of the kind of its pods of which the most fit; None when no kind needs any."""
    if not asks_devices(state, members):
        return None
    alone = ChangedCluster(state, members.key, [NOBODY_ELSE], changed_members).view
    rooms = (device_room(alone, members, signature) for signature in members.pending)
    found = [room for room in rooms if room is not None]
    return np.maximum.reduce(found) if found else None


def _claims(state: ClusterState, members: PodGroupState) -> DeviceClaimsOfPods:
    return DeviceClaimsOfPods(state, members.group.uid if members.group is not None else "")

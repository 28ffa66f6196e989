"""Claims as they will be when a decision about their devices is carried out: for copies of a cluster, where nothing is written."""

from collections.abc import Sequence
from typing import Final

import msgspec

from api.devices import AllocationResult, ConsumerReference
from api.pod import EMPTY
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.devices.binder import DeviceAllocation
from scheduler.algorithm.devices.result import allocation_results
from scheduler.algorithm.devices.solution import Solution
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.records import ClaimKey, ClaimRecord, held_devices
from scheduler.cache.node_rules import parse_node_terms
from scheduler.cache.records import PodRecord

_PODS: Final = "pods"


def decided_claims(state: ClusterState, decision: Decision) -> dict[ClaimKey, ClaimRecord]:
    """The claims of the pods that a decision places, each with its devices and all its consumers."""
    found = {one.claim: one for one in decision.devices}
    users: dict[ClaimKey, list[PodRecord]] = {}
    for uid, _ in decision.bindings:
        pod = state.pod(uid)
        for use in pod.claims.uses if pod is not None and pod.claims is not None else ():
            if pod is not None and use.claim:
                users.setdefault((pod.namespace, use.claim), []).append(pod)
    made: dict[ClaimKey, ClaimRecord] = {}
    for key, pods in users.items():
        claim = state.devices.claim(key)
        if claim is not None:
            made[key] = _reserved(_allocated(claim, found[key]) if key in found else claim, pods)
    return made


def _reserved(claim: ClaimRecord, pods: Sequence[PodRecord]) -> ClaimRecord:
    consumers = {pod.uid: ConsumerReference("", _PODS, pod.name, pod.uid) for pod in pods}
    return msgspec.structs.replace(claim, reserved_for={**claim.reserved_for, **consumers})


def _allocated(claim: ClaimRecord, found: DeviceAllocation) -> ClaimRecord:
    requests = msgspec.structs.replace(found.requests, claim=claim)
    shares = (f"share-{number}-of-{claim.metadata.uid}" for number in range(len(found.chosen)))
    allocation: AllocationResult
    (allocation,) = allocation_results(
        [requests], Solution((found.chosen,), (found.alternatives,)), found.node_name, lambda: next(shares)
    )
    selector = allocation.node_selector
    return msgspec.structs.replace(
        claim,
        allocation=allocation,
        held=held_devices(allocation),
        terms=parse_node_terms(selector) if selector != EMPTY else None,
    )

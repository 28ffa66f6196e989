"""Claims as they will be when a decision about their devices is carried out: for copies of a cluster, where nothing is written."""

from collections.abc import Sequence
from typing import Final

import msgspec

from api.constants import EXTENDED_CLAIM
from api.devices import AllocationResult, ConsumerReference
from api.meta import Metadata, OwnerReference
from api.pod import EMPTY
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.devices.binder import DeviceAllocation
from scheduler.algorithm.devices.extended import extended_key
from scheduler.algorithm.devices.result import allocation_results
from scheduler.algorithm.devices.solution import Solution
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.record_factory import held_devices
from scheduler.cache.devices.records import POD_KIND, ClaimKey, ClaimRecord, ClaimSpecRecord
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
    for uid, _ in decision.bindings:
        pod = state.pod(uid)
        made_key = extended_key(pod.namespace, uid) if pod is not None else ("", "")
        if pod is not None and made_key in found:
            made[made_key] = _reserved(_allocated(_new(pod, made_key), found[made_key]), [pod])
    return made


def _new(pod: PodRecord, key: ClaimKey) -> ClaimRecord:
    """The claim that would be made for a pod's extended resources."""
    namespace, name = key
    owner = OwnerReference("v1", POD_KIND, pod.name, pod.uid, controller=True)
    return ClaimRecord(
        metadata=Metadata(
            name=name,
            namespace=namespace,
            uid=f"claim-of-{pod.uid}",
            annotations={EXTENDED_CLAIM: "true"},
            owner_references=(owner,),
        ),
        spec=ClaimSpecRecord(()),
        allocation=None,
        held=(),
        terms=None,
        reserved_for={},
        device_status=(),
        owner_uid=pod.uid,
        owner_kind=POD_KIND,
    )


def _reserved(claim: ClaimRecord, pods: Sequence[PodRecord]) -> ClaimRecord:
    consumers = {pod.uid: ConsumerReference("", _PODS, pod.name, pod.uid) for pod in pods}
    return msgspec.structs.replace(claim, reserved_for={**claim.reserved_for, **consumers})


def _allocated(claim: ClaimRecord, found: DeviceAllocation) -> ClaimRecord:
    spec = found.requests.claim.spec
    claim = msgspec.structs.replace(claim, spec=spec)
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

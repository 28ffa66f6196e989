"""Slim records of what views read: fifty thousand pods of a cluster have to fit into the memory of somebody's laptop."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import msgspec

from api.constants import (
    CONDITION_DISRUPTION_TARGET,
    CONDITION_POD_SCHEDULED,
    JOBSET_NAME,
    LWS_GROUP_INDEX,
    LWS_NAME,
    REASON_PREEMPTION_BY_SCHEDULER,
)
from api.errors import InvalidQuantity
from api.job import Job
from api.jobset import FINISHED, JobSet
from api.lws import LeaderWorkerSet
from api.membership import group_name
from api.meta import NO_METADATA, Metadata, condition_of, controller_of
from api.node import Node
from api.pod import Container, Pod, PodSpec
from api.requests import effective_requests, parse_amounts

NO_AMOUNTS: Final[Mapping[str, int]] = {}
COMPLETE: Final = "Complete"
FAILED: Final = "Failed"
_SAME_REQUESTS: Final = 4096


class Member(msgspec.Struct, frozen=True):
    """A pod, as far as it is shown.

    Attributes:
        metadata: without labels and annotations.
        group: name of the PodGroup it names, empty for none.
        owner_kind: of its controller; empty without one.
        owner_name: of its controller.
        set_name: the LeaderWorkerSet it belongs to, empty for none.
        set_index: the replica of that set.
        jobset: the JobSet it belongs to, empty for none.
        node: where it is bound, empty while it is not.
        nominated: the node that is kept for it.
        phase: as the kubelet tells.
        priority: of the pod itself.
        is_gated: it has `schedulingGates`.
        is_preempted: it is asked to leave for somebody more important.
        reason: why it has no node, one word; empty with one, or before anybody tried.
        message: the same for people.
        requests: what it takes of its node, in the units of `api.requests`; shared by equal pods.
    """

    metadata: Metadata = NO_METADATA
    group: str = ""
    owner_kind: str = ""
    owner_name: str = ""
    set_name: str = ""
    set_index: str = ""
    jobset: str = ""
    node: str = ""
    nominated: str = ""
    phase: str = "Pending"
    priority: int = 0
    is_gated: bool = False
    is_preempted: bool = False
    reason: str = ""
    message: str = ""
    requests: Mapping[str, int] = NO_AMOUNTS

    @property
    def has_ended(self) -> bool:
        """All its containers have ended for good."""
        return self.phase in {"Succeeded", "Failed"}

    @property
    def is_leader(self) -> bool:
        """It leads a replica of a LeaderWorkerSet: its controller is the set's own StatefulSet."""
        return bool(self.set_name) and self.owner_kind == "StatefulSet" and self.owner_name == self.set_name


class Owner(msgspec.Struct, frozen=True):
    """A Job, LeaderWorkerSet or JobSet, as far as it is shown; `outcome` is `Complete`, `Failed` or empty while it lasts."""

    metadata: Metadata = NO_METADATA
    is_suspended: bool = False
    outcome: str = ""


class Machine(msgspec.Struct, frozen=True):
    """A node, as far as it is shown: what it has for pods, in the units of `api.requests`, and whether it takes new ones."""

    metadata: Metadata = NO_METADATA
    allocatable: Mapping[str, int] = NO_AMOUNTS
    is_unschedulable: bool = False


def member_of(pod: Pod) -> Member:
    """What is shown of a pod."""
    owner = controller_of(pod.metadata)
    asked = condition_of(pod.status.conditions, CONDITION_DISRUPTION_TARGET)
    placed = condition_of(pod.status.conditions, CONDITION_POD_SCHEDULED)
    is_refused = placed is not None and placed.status == "False"
    return Member(
        metadata=_slim(pod.metadata),
        group=group_name(pod) or "",
        owner_kind=owner.kind if owner else "",
        owner_name=owner.name if owner else "",
        set_name=pod.metadata.label(LWS_NAME) or "",
        set_index=pod.metadata.label(LWS_GROUP_INDEX) or "",
        jobset=pod.metadata.label(JOBSET_NAME) or "",
        node=pod.spec.node_name,
        nominated=pod.status.nominated_node_name,
        phase=pod.status.phase,
        priority=pod.spec.priority,
        is_gated=bool(pod.spec.scheduling_gates),
        is_preempted=asked is not None
        and asked.status == "True"
        and asked.reason == REASON_PREEMPTION_BY_SCHEDULER
        and not pod.is_terminal,
        reason=placed.reason if placed is not None and is_refused else "",
        message=placed.message if placed is not None and is_refused else "",
        requests=_requests(pod.spec),
    )


def owner_of_job(job: Job) -> Owner:
    """What is shown of a Job."""
    ended = {each.type for each in job.status.conditions or () if each.status == "True"} & {COMPLETE, FAILED}
    return Owner(_slim(job.metadata), bool(job.spec.suspend), min(ended, default=""))


def owner_of_job_set(jobset: JobSet) -> Owner:
    """What is shown of a JobSet."""
    ended = {each.type for each in jobset.status.conditions or () if each.status == "True"} & FINISHED
    outcome = COMPLETE if "Completed" in ended else min(ended, default="")
    return Owner(_slim(jobset.metadata), jobset.is_suspended, outcome)


def owner_of_set(lws: LeaderWorkerSet) -> Owner:
    """What is shown of a LeaderWorkerSet: it neither ends nor is suspended."""
    return Owner(_slim(lws.metadata))


def machine_of(node: Node) -> Machine:
    """What is shown of a node; amounts that are no quantities count as none."""
    try:
        amounts = parse_amounts(node.status.allocatable)
    except InvalidQuantity:
        amounts = {}
    return Machine(_slim(node.metadata), amounts, node.spec.unschedulable)


def _slim(metadata: Metadata) -> Metadata:
    return Metadata(
        name=metadata.name,
        namespace=metadata.namespace,
        uid=metadata.uid,
        resource_version=metadata.resource_version,
        creation_timestamp=metadata.creation_timestamp,
        deletion_timestamp=metadata.deletion_timestamp,
        owner_references=metadata.owner_references,
    )


def _requests(spec: PodSpec) -> Mapping[str, int]:
    """Equal pods are parsed once: the text of what they ask for is the key."""
    return _parsed(_texts(spec.containers), _texts(spec.init_containers), bytes(spec.resources), bytes(spec.overhead))


def _texts(containers: tuple[Container, ...]) -> tuple[tuple[bytes, str], ...]:
    return tuple((bytes(each.resources), each.restart_policy) for each in containers)


@lru_cache(maxsize=_SAME_REQUESTS)
def _parsed(
    containers: tuple[tuple[bytes, str], ...],
    init_containers: tuple[tuple[bytes, str], ...],
    resources: bytes,
    overhead: bytes,
) -> Mapping[str, int]:
    spec = PodSpec(
        containers=_containers(containers),
        init_containers=_containers(init_containers),
        resources=msgspec.Raw(resources),
        overhead=msgspec.Raw(overhead),
    )
    try:
        return effective_requests(spec)
    except InvalidQuantity:
        return NO_AMOUNTS


def _containers(texts: tuple[tuple[bytes, str], ...]) -> tuple[Container, ...]:
    return tuple(Container(resources=msgspec.Raw(text), restart_policy=policy) for text, policy in texts)

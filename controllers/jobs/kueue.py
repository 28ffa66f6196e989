"""How a Job that Kueue admits is stopped and admitted again: through Kueue, by `spec.active` of Kueue's own Workload. Pure.

`suspend` of such a Job is Kueue's. What anybody else suspends, Kueue resumes at once for as long as its Workload is admitted, and
suspending it again and again would end its pods again and again. An inactive Workload is evicted by Kueue: Kueue suspends the
Job, whose pods leave without counting as failures, and gives the quota back; an active one queues anew. `kueuectl stop` and
`resume` do the same. A Workload that somebody else made inactive is left to them.

A Job that only carries Kueue's label, without a Workload of Kueue's, is none of this (Kueue is not there, or leaves the
namespace alone); our gate holds it like any other.
"""

from dataclasses import dataclass
from typing import Literal

import msgspec

from api.constants import CONDITION_DISRUPTION_TARGET, HELD, HELD_AND_GATED, KUEUE_QUEUE, STOPPED_IN_QUEUE
from api.job import Job
from api.meta import NO_METADATA, Metadata, condition_of
from api.podgroup import PodGroup
from controllers.gangs.patches import Body
from kube.client.resources import Resource

StopReason = Literal["preempted", "timed-out"]
"""Why we stopped a Job. After a preemption we make its Workload active again, after a timeout its user does."""


class _Spec(msgspec.Struct, frozen=True):
    active: bool | None = None


class KueueWorkload(msgspec.Struct, frozen=True):
    """A Workload of Kueue's, as far as it says whether its Job may run."""

    metadata: Metadata = NO_METADATA
    spec: _Spec = _Spec()

    @property
    def is_active(self) -> bool:
        """Whether Kueue may admit it, or keep it admitted."""
        return self.spec.active is not False

    @property
    def is_stopped_for_preemptor(self) -> bool:
        """Whether we stopped it for a preemptor, and nobody made it active since."""
        return not self.is_active and self.metadata.annotation(STOPPED_IN_QUEUE) == "preempted"


@dataclass(frozen=True, slots=True)
class ServedKueueWorkload:
    """The Workload of Kueue's for a Job, and the version of the kind that the server serves."""

    resource: Resource
    workload: KueueWorkload


@dataclass(frozen=True, slots=True)
class SetKueueWorkloadActive:
    """Stops the Job through Kueue, or gives it back to Kueue's queue.

    Attributes:
        served: Kueue's Workload.
        stopped_for: why Kueue is to evict the Job, which stays on the Workload; None: it may be admitted again.
    """

    served: ServedKueueWorkload
    stopped_for: StopReason | None


def is_left_to_kueue(job: Job) -> bool:
    """Whether a gate that is opened leaves the Job suspended.

    The API server's own policy (`config/components/hold-gangs`) gates no Job that has a queue. One that it has gated and that has a
    queue got it from Kueue's webhook, which is asked after the policy and counts on a suspended Job.
    """
    return job.metadata.annotation(HELD) == HELD_AND_GATED and job.metadata.label(KUEUE_QUEUE) is not None


def needs_kueue_workload(job: Job, group: PodGroup | None, *, gives_up: bool) -> bool:
    """Whether Kueue's Workload has to be read: the group is or was a disruption target, or its Job is to be suspended.

    Args:
        job: may carry Kueue's queue label.
        group: of that Job.
        gives_up: whether the Job is to be suspended because its group has timed out.
    """
    if job.metadata.label(KUEUE_QUEUE) is None or group is None:
        return False
    return gives_up or condition_of(group.status.conditions or (), CONDITION_DISRUPTION_TARGET) is not None


def active_patch(workload: KueueWorkload, stopped_for: StopReason | None) -> Body:
    """The merge patch that makes the Workload inactive and says that it was us, or makes it active again."""
    metadata = workload.metadata
    same_version = {"uid": metadata.uid, "resourceVersion": metadata.resource_version}
    annotations = {STOPPED_IN_QUEUE: stopped_for}
    return {"metadata": {**same_version, "annotations": annotations}, "spec": {"active": stopped_for is None}}

"""LeaderWorkerSets (leaderworkerset.x-k8s.io/v1) as admission and the controllers read them.

The templates of an object say what its *next* revision is made of. What existing pods were made from stands in the
ControllerRevision they name; `api.revision` reads that.
"""

from typing import Final

import msgspec

from api.constants import LWS_EXCLUSIVE_TOPOLOGY
from api.job import PodTemplate
from api.meta import NO_METADATA, Condition, Metadata

LEADER_READY: Final = "LeaderReady"
"""Startup policy: workers are created once their leader is ready."""

LWS_KIND: Final = "LeaderWorkerSet"
LWS_GROUP: Final = "leaderworkerset.x-k8s.io"
LWS_V1: Final = f"{LWS_GROUP}/v1"


class LeaderWorkerTemplate(msgspec.Struct, frozen=True, rename="camel"):
    """`spec.leaderWorkerTemplate`: the pods of one replica."""

    size: int | None = None
    leader_template: PodTemplate | None = None
    worker_template: PodTemplate = PodTemplate()


class LeaderWorkerSetSpec(msgspec.Struct, frozen=True, rename="camel"):
    """`spec` of a LeaderWorkerSet."""

    replicas: int | None = None
    startup_policy: str = ""
    leader_worker_template: LeaderWorkerTemplate = LeaderWorkerTemplate()


class LeaderWorkerSetStatus(msgspec.Struct, frozen=True):
    """`status` of a LeaderWorkerSet."""

    conditions: tuple[Condition, ...] | None = None


class LeaderWorkerSet(msgspec.Struct, frozen=True):
    """A LeaderWorkerSet: replicas, each of which is a leader pod and its workers."""

    metadata: Metadata = NO_METADATA
    spec: LeaderWorkerSetSpec = LeaderWorkerSetSpec()
    status: LeaderWorkerSetStatus = LeaderWorkerSetStatus()

    @property
    def size(self) -> int:
        """Pods of one replica, its leader included; 1 when not stated."""
        size = self.spec.leader_worker_template.size
        return 1 if size is None else size

    @property
    def replicas(self) -> int:
        """How many replicas it wants; 1 when not stated."""
        return 1 if self.spec.replicas is None else self.spec.replicas

    @property
    def leader_template(self) -> PodTemplate:
        """What leaders are made from: the worker's template when there is none of their own."""
        template = self.spec.leader_worker_template
        return template.leader_template or template.worker_template

    @property
    def templates(self) -> tuple[PodTemplate, ...]:
        """The templates that say something: the leader's, and the workers' when it is another one."""
        template = self.spec.leader_worker_template
        return tuple(each for each in (template.leader_template, template.worker_template) if each is not None)

    @property
    def waits_for_leader(self) -> bool:
        """Whether workers are created only after their leader is ready."""
        return self.spec.startup_policy == LEADER_READY

    @property
    def exclusive_topology(self) -> str | None:
        """The node label a value of which each replica has for itself; workers are created once their leader has a node."""
        return self.metadata.annotation(LWS_EXCLUSIVE_TOPOLOGY) or None

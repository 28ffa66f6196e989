"""Pods of Jobs as the Job controller reads them, and the names it leaves on them."""

from typing import Final

import msgspec

from api.meta import Condition, Metadata

COMPLETION_INDEX: Final = "batch.kubernetes.io/job-completion-index"
"""Annotation and label of a pod of an Indexed Job."""

INDEX_FAILURES: Final = "batch.kubernetes.io/job-index-failure-count"
INDEX_IGNORED_FAILURES: Final = "batch.kubernetes.io/job-index-ignored-failure-count"
"""Annotations of a pod under `backoffLimitPerIndex`: failures of its predecessors, counted and ignored ones."""

TRACKING_FINALIZER: Final = "batch.kubernetes.io/job-tracking"
"""Holds a pod until the Job's status has counted it."""


class PodMetadata(Metadata, frozen=True, rename="camel", omit_defaults=True):
    """`ObjectMeta` of a pod, with the grace period of its deletion in seconds."""

    deletion_grace_period_seconds: int | None = None


class Terminated(msgspec.Struct, frozen=True, rename="camel"):
    """How a container ended; `finished_at` is RFC 3339."""

    exit_code: int = 0
    finished_at: str | None = None


class ContainerState(msgspec.Struct, frozen=True):
    """`state` of a container, as far as it has ended."""

    terminated: Terminated | None = None


class ContainerStatus(msgspec.Struct, frozen=True, rename="camel"):
    """One entry of `containerStatuses`."""

    name: str = ""
    restart_count: int = 0
    state: ContainerState = ContainerState()


class InitContainer(msgspec.Struct, frozen=True, rename="camel"):
    """An init container; `restart_policy` Always makes it a sidecar."""

    name: str = ""
    restart_policy: str = ""


class PodSpec(msgspec.Struct, frozen=True, rename="camel"):
    """`spec` of a pod."""

    node_name: str = ""
    init_containers: tuple[InitContainer, ...] = ()


class PodStatus(msgspec.Struct, frozen=True, rename="camel"):
    """`status` of a pod."""

    phase: str = "Pending"
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()


class Pod(msgspec.Struct, frozen=True):
    """A pod of a Job."""

    metadata: PodMetadata = PodMetadata()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def is_active(self) -> bool:
        """Not ended, and nobody asked for its end."""
        return self.status.phase not in {"Succeeded", "Failed"} and not self.metadata.is_terminating

    @property
    def is_terminating(self) -> bool:
        """Somebody asked for its end, which has not come yet."""
        return self.status.phase not in {"Succeeded", "Failed"} and self.metadata.is_terminating

    @property
    def is_ready(self) -> bool:
        """Whether its condition Ready is True."""
        return any(each.type == "Ready" and each.status == "True" for each in self.status.conditions)

    @property
    def is_tracked(self) -> bool:
        """Whether it still waits to be counted."""
        return TRACKING_FINALIZER in (self.metadata.finalizers or ())

    @property
    def index(self) -> int | None:
        """Its completion index; None when it has none that makes sense."""
        text = self.metadata.annotation(COMPLETION_INDEX) or ""
        return int(text) if text.isascii() and text.isdigit() else None

"""Jobs (batch/v1) as admission and the controllers read them."""

from typing import Any, Final

import msgspec

from api.meta import NO_METADATA, Condition, Metadata
from api.pod import SchedulingGroup

INDEXED: Final = "Indexed"
FINISHED_CONDITIONS: Final = frozenset({"Complete", "Failed"})


class TemplateMetadata(msgspec.Struct, frozen=True, rename="camel"):
    """`metadata` of a pod template."""

    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None

    def label(self, key: str) -> str | None:
        """The value of a label, None when absent."""
        return self.labels.get(key) if self.labels else None

    def annotation(self, key: str) -> str | None:
        """The value of an annotation, None when absent."""
        return self.annotations.get(key) if self.annotations else None


class TemplateSpec(msgspec.Struct, frozen=True, rename="camel"):
    """`spec` of a pod template, as far as it decides how its pods are scheduled."""

    scheduler_name: str = ""
    scheduling_group: SchedulingGroup | None = None
    priority_class_name: str = ""
    restart_policy: str = ""


class PodTemplate(msgspec.Struct, frozen=True):
    """A pod template."""

    metadata: TemplateMetadata = TemplateMetadata()
    spec: TemplateSpec = TemplateSpec()


class JobSpec(msgspec.Struct, frozen=True, rename="camel"):
    """`spec` of a Job."""

    parallelism: int | None = None
    completions: int | None = None
    completion_mode: str = "NonIndexed"
    suspend: bool | None = None
    managed_by: str | None = None
    pod_failure_policy: dict[str, Any] | None = None
    pod_replacement_policy: str | None = None
    scheduling: dict[str, Any] | None = None
    template: PodTemplate = PodTemplate()


class JobStatus(msgspec.Struct, frozen=True, rename="camel"):
    """`status` of a Job; the counts are pods."""

    active: int = 0
    ready: int | None = None
    succeeded: int = 0
    failed: int = 0
    start_time: str | None = None
    conditions: tuple[Condition, ...] | None = None


class Job(msgspec.Struct, frozen=True):
    """A Job."""

    metadata: Metadata = NO_METADATA
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()

    @property
    def is_finished(self) -> bool:
        """True when the Job has completed or failed for good."""
        return any(c.type in FINISHED_CONDITIONS and c.status == "True" for c in self.status.conditions or ())

    @property
    def parallelism(self) -> int:
        """Pods that may run at once; 1 when not stated."""
        return 1 if self.spec.parallelism is None else self.spec.parallelism

    @property
    def pods_at_once(self) -> int:
        """Pods the Job controller really starts at once: never more than there are completions to reach."""
        if self.spec.completions is None:
            return self.parallelism
        return min(self.parallelism, self.spec.completions)

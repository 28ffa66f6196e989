"""JobSets (jobset.x-k8s.io/v1alpha2) as admission and the controllers read them."""

from typing import Any, Final

import msgspec

from api.constants import JOBSET_EXCLUSIVE_TOPOLOGY, JOBSET_NODE_SELECTOR
from api.job import INDEXED, PodTemplate, TemplateMetadata
from api.meta import NO_METADATA, Condition, Metadata

JOBSET_KIND: Final = "JobSet"
JOBSET_GROUP: Final = "jobset.x-k8s.io"
JOBSET_VERSION: Final = f"{JOBSET_GROUP}/v1alpha2"

IN_ORDER: Final = "InOrder"
"""Startup order: the Jobs of a replicated Job are made once those of the former are ready."""

FINISHED: Final = frozenset({"Completed", "Failed"})


class ReplicatedJobSpec(msgspec.Struct, frozen=True, rename="camel"):
    """`spec` of a Job template, as far as it says how many pods there are, and what they are."""

    parallelism: int | None = None
    completions: int | None = None
    completion_mode: str | None = None
    pod_failure_policy: dict[str, Any] | None = None
    template: PodTemplate = PodTemplate()

    @property
    def pods_at_once(self) -> int:
        """Pods that one Job runs at once; never more than there are completions to reach."""
        parallelism = 1 if self.parallelism is None else self.parallelism
        return parallelism if self.completions is None else min(parallelism, self.completions)

    @property
    def is_indexed(self) -> bool:
        """Whether its pods have ranks; JobSets make their Jobs Indexed unless told otherwise."""
        return self.completion_mode in (None, "", INDEXED)

    @property
    def is_gang_shaped(self) -> bool:
        """Whether such a Job is a gang by its shape alone."""
        return self.is_indexed and (self.parallelism or 1) > 1 and self.completions == self.parallelism


class JobTemplate(msgspec.Struct, frozen=True):
    """A Job template."""

    metadata: TemplateMetadata = TemplateMetadata()
    spec: ReplicatedJobSpec = ReplicatedJobSpec()


class DependsOn(msgspec.Struct, frozen=True):
    """Another replicated Job that must be Ready or Complete first."""

    name: str = ""
    status: str = ""


class ReplicatedJob(msgspec.Struct, frozen=True, rename="camel"):
    """One entry of `spec.replicatedJobs`: so many equal Jobs."""

    name: str = ""
    replicas: int | None = None
    template: JobTemplate = JobTemplate()
    depends_on: tuple[DependsOn, ...] | None = None

    @property
    def jobs(self) -> int:
        """How many Jobs; 1 when not stated."""
        return 1 if self.replicas is None else max(self.replicas, 0)

    @property
    def pods(self) -> int:
        """Pods of all its Jobs at once."""
        return self.jobs * self.template.spec.pods_at_once


class StartupPolicy(msgspec.Struct, frozen=True, rename="camel"):
    """`spec.startupPolicy`."""

    startup_policy_order: str = ""


class JobSetSpec(msgspec.Struct, frozen=True, rename="camel"):
    """`spec` of a JobSet."""

    replicated_jobs: tuple[ReplicatedJob, ...] | None = None
    startup_policy: StartupPolicy | None = None
    suspend: bool | None = None
    managed_by: str | None = None


class JobSetStatus(msgspec.Struct, frozen=True):
    """`status` of a JobSet; `restarts` is the attempt that its Jobs belong to."""

    restarts: int = 0
    conditions: tuple[Condition, ...] | None = None


class JobSet(msgspec.Struct, frozen=True):
    """A JobSet: Jobs that make sense only together."""

    metadata: Metadata = NO_METADATA
    spec: JobSetSpec = JobSetSpec()
    status: JobSetStatus = JobSetStatus()

    @property
    def parts(self) -> tuple[ReplicatedJob, ...]:
        """Its replicated Jobs."""
        return self.spec.replicated_jobs or ()

    @property
    def is_suspended(self) -> bool:
        """Whether its Jobs make no pods."""
        return bool(self.spec.suspend)

    @property
    def is_finished(self) -> bool:
        """Whether it has completed or failed for good."""
        return any(each.type in FINISHED and each.status == "True" for each in self.status.conditions or ())

    @property
    def starts_in_order(self) -> bool:
        """Whether some of its Jobs exist only once others run, or are done."""
        order = self.spec.startup_policy
        in_order = order is not None and order.startup_policy_order == IN_ORDER and len(self.parts) > 1
        return in_order or any(part.depends_on for part in self.parts)

    @property
    def has_leaders_first(self) -> bool:
        """Whether pods are refused until the first of their Job has a node (exclusive topology by JobSet's pod webhook)."""
        return any(_leads(self.metadata) or _leads(part.template.metadata) for part in self.parts)


def _leads(metadata: Metadata | TemplateMetadata) -> bool:
    return bool(metadata.annotation(JOBSET_EXCLUSIVE_TOPOLOGY)) and not metadata.annotation(JOBSET_NODE_SELECTOR)

"""JobSets as the stand-in reads them, and their status as it writes it."""

from typing import Any, Final

import msgspec

from api.constants import JOBSET_ATTEMPT, JOBSET_JOB_INDEX, JOBSET_PART
from api.job import Job
from api.jobset import DependsOn, StartupPolicy
from api.meta import NO_METADATA, Metadata

COMPLETED: Final = "Completed"
FAILED: Final = "Failed"
SUSPENDED: Final = "Suspended"
RESTARTING: Final = "RestartingJobSet"
IN_PROGRESS: Final = "StartupPolicyInProgress"
STARTED: Final = "StartupPolicyCompleted"
MAX_RESTARTS: Final = "RestartJobSet"
IGNORE_MAX_RESTARTS: Final = "RestartJobSetAndIgnoreMaxRestarts"
FAIL: Final = "FailJobSet"
BLOCKING: Final = "BlockingRecreate"


class JobSpec(msgspec.Struct, frozen=True):
    """`spec` of a Job template, as far as it says when a Job is ready."""

    parallelism: int | None = None


class JobTemplate(msgspec.Struct, frozen=True):
    """A Job template."""

    spec: JobSpec = JobSpec()


class Part(msgspec.Struct, frozen=True, rename="camel"):
    """One entry of `spec.replicatedJobs`."""

    name: str
    replicas: int = 1
    group_name: str = "default"
    depends_on: tuple[DependsOn, ...] | None = None
    template: JobTemplate = JobTemplate()


class SuccessPolicy(msgspec.Struct, frozen=True, rename="camel"):
    """When a JobSet has succeeded: with all or any of these replicated Jobs, of all when none is named."""

    operator: str = "All"
    target_replicated_jobs: tuple[str, ...] | None = None


class Rule(msgspec.Struct, frozen=True, rename="camel"):
    """What a failure of these replicated Jobs, for these reasons, leads to."""

    name: str = ""
    action: str = MAX_RESTARTS
    on_job_failure_reasons: tuple[str, ...] | None = None
    target_replicated_jobs: tuple[str, ...] | None = None


class FailurePolicy(msgspec.Struct, frozen=True, rename="camel"):
    """What the failure of a Job leads to."""

    max_restarts: int = 0
    restart_strategy: str = "Recreate"
    rules: tuple[Rule, ...] | None = None


class Network(msgspec.Struct, frozen=True, rename="camel"):
    """How pods find each other."""

    enable_dns_hostnames: bool | None = msgspec.field(default=None, name="enableDNSHostnames")
    subdomain: str = ""
    publish_not_ready_addresses: bool | None = None


class Coordinator(msgspec.Struct, frozen=True, rename="camel"):
    """The pod that all others are told of."""

    replicated_job: str
    job_index: int = 0
    pod_index: int = 0


class JobSetSpec(msgspec.Struct, frozen=True, rename="camel"):
    """`spec` of a JobSet."""

    replicated_jobs: tuple[Part, ...] = ()
    startup_policy: StartupPolicy | None = None
    success_policy: SuccessPolicy | None = None
    failure_policy: FailurePolicy | None = None
    network: Network | None = None
    coordinator: Coordinator | None = None
    suspend: bool | None = None
    ttl_seconds_after_finished: int | None = None
    managed_by: str | None = None


class Condition(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One entry of `status.conditions`."""

    type: str
    status: str
    reason: str
    message: str
    last_transition_time: str


class PartStatus(msgspec.Struct, frozen=True):
    """How many Jobs of a replicated Job do what."""

    name: str
    ready: int
    succeeded: int
    failed: int
    active: int
    suspended: int


class JobSetStatus(msgspec.Struct, frozen=True, rename="camel"):
    """`status` of a JobSet."""

    restarts: int = 0
    restarts_count_towards_max: int | msgspec.UnsetType = msgspec.UNSET
    terminal_state: str | msgspec.UnsetType = msgspec.UNSET
    conditions: tuple[Condition, ...] | msgspec.UnsetType = msgspec.UNSET
    replicated_jobs_status: tuple[PartStatus, ...] | msgspec.UnsetType = msgspec.UNSET

    def condition(self, name: str) -> Condition | None:
        """The condition of that type."""
        return next((each for each in self.conditions or () if each.type == name), None)

    def holds(self, name: str) -> bool:
        """Whether the condition of that type is True."""
        found = self.condition(name)
        return found is not None and found.status == "True"


class JobSet(msgspec.Struct, frozen=True):
    """A JobSet."""

    metadata: Metadata = NO_METADATA
    spec: JobSetSpec = JobSetSpec()
    status: JobSetStatus = JobSetStatus()

    @property
    def is_finished(self) -> bool:
        """Whether it has completed or failed."""
        return self.status.holds(COMPLETED) or self.status.holds(FAILED)

    @property
    def in_order(self) -> bool:
        """Whether each replicated Job starts once the former has."""
        policy = self.spec.startup_policy
        return policy is not None and policy.startup_policy_order == "InOrder"

    @property
    def subdomain(self) -> str:
        """Name of the headless service, "" for none."""
        network = self.spec.network
        if network is not None and network.enable_dns_hostnames is False:
            return ""
        return (network.subdomain if network is not None else "") or self.metadata.name


def part_of(job: Job) -> str:
    """Which replicated Job a child belongs to."""
    return job.metadata.label(JOBSET_PART) or ""


def attempt_of(job: Job) -> int:
    """How often its JobSet had been restarted when a child was made."""
    return int(job.metadata.label(JOBSET_ATTEMPT) or 0)


def index_of(job: Job) -> int:
    """Which Job of its replicated Job a child is."""
    return int(job.metadata.label(JOBSET_JOB_INDEX) or 0)


def ended(job: Job, how: str) -> bool:
    """Whether the child has ended so: `Complete` or `Failed`."""
    return any(each.type == how and each.status == "True" for each in job.status.conditions or ())


Document = dict[str, Any]

"""Jobs as the Job controller reads them, with the server's defaults."""

from typing import Final

import msgspec

from api.meta import NO_METADATA, Metadata

JOB_NAME_LABEL: Final = "batch.kubernetes.io/job-name"
CONTROLLER_UID_LABEL: Final = "batch.kubernetes.io/controller-uid"
JOB_CONTROLLER: Final = "kubernetes.io/job-controller"


class OnExitCodes(msgspec.Struct, frozen=True, rename="camel"):
    """A rule's requirement on exit codes."""

    operator: str = "In"
    values: tuple[int, ...] = ()
    container_name: str | None = None


class OnPodCondition(msgspec.Struct, frozen=True):
    """A rule's pattern for one pod condition."""

    type: str = ""
    status: str = "True"


class FailureRule(msgspec.Struct, frozen=True, rename="camel"):
    """One rule of `podFailurePolicy`."""

    action: str
    on_exit_codes: OnExitCodes | None = None
    on_pod_conditions: tuple[OnPodCondition, ...] | None = None


class FailurePolicy(msgspec.Struct, frozen=True):
    """`podFailurePolicy`."""

    rules: tuple[FailureRule, ...] = ()


class SuccessRule(msgspec.Struct, frozen=True, rename="camel"):
    """One rule of `successPolicy`."""

    succeeded_indexes: str | None = None
    succeeded_count: int | None = None


class SuccessPolicy(msgspec.Struct, frozen=True):
    """`successPolicy`."""

    rules: tuple[SuccessRule, ...] = ()


class TemplateSpec(msgspec.Struct, frozen=True, rename="camel"):
    """`spec` of the pod template, as far as the controller decides by it."""

    restart_policy: str = ""


class Template(msgspec.Struct, frozen=True):
    """The pod template."""

    spec: TemplateSpec = TemplateSpec()


class JobSpec(msgspec.Struct, frozen=True, rename="camel"):
    """`spec` of a Job, with the server's defaults."""

    parallelism: int = 1
    completions: int | None = None
    completion_mode: str = "NonIndexed"
    suspend: bool | None = None
    backoff_limit: int = 6
    backoff_limit_per_index: int | None = None
    max_failed_indexes: int | None = None
    active_deadline_seconds: int | None = None
    ttl_seconds_after_finished: int | None = None
    managed_by: str | None = None
    pod_failure_policy: FailurePolicy | None = None
    pod_replacement_policy: str | None = None
    success_policy: SuccessPolicy | None = None
    template: Template = Template()


class JobCondition(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One entry of a Job's `status.conditions`; the times are RFC 3339."""

    type: str
    status: str
    last_probe_time: str | None = None
    last_transition_time: str | None = None
    reason: str = ""
    message: str = ""


class Uncounted(msgspec.Struct, frozen=True, omit_defaults=True):
    """`uncountedTerminatedPods`: UIDs of ended pods between being noticed and being counted."""

    succeeded: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class JobStatus(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """`status` of a Job: what was last written."""

    active: int = 0
    ready: int | None = None
    terminating: int | None = None
    succeeded: int = 0
    failed: int = 0
    completed_indexes: str = ""
    failed_indexes: str | None = None
    start_time: str | None = None
    completion_time: str | None = None
    conditions: tuple[JobCondition, ...] = ()
    uncounted_terminated_pods: Uncounted | None = None

    def condition(self, condition_type: str) -> JobCondition | None:
        """The condition of that type, None when there is none."""
        return next((each for each in self.conditions if each.type == condition_type), None)

    def holds(self, condition_type: str) -> bool:
        """Whether the condition of that type is True."""
        found = self.condition(condition_type)
        return found is not None and found.status == "True"


class Job(msgspec.Struct, frozen=True):
    """A Job."""

    metadata: Metadata = NO_METADATA
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()

    @property
    def is_indexed(self) -> bool:
        """Whether its pods have completion indexes."""
        return self.spec.completion_mode == "Indexed"

    @property
    def is_suspended(self) -> bool:
        """Whether it is to have no pods for now."""
        return self.spec.suspend is True

    @property
    def is_finished(self) -> bool:
        """Whether it has ended for good."""
        return self.status.holds("Complete") or self.status.holds("Failed")

    @property
    def is_ours(self) -> bool:
        """Whether the stock controller is the one to run it."""
        return self.spec.managed_by in {None, JOB_CONTROLLER}

    @property
    def replaces_only_failed(self) -> bool:
        """Whether a terminating pod keeps its place until it has ended."""
        return self.spec.pod_replacement_policy == "Failed"

    @property
    def limits_each_index(self) -> bool:
        """Whether failures are counted for each index."""
        return self.is_indexed and self.spec.backoff_limit_per_index is not None

    def has_place(self, index: int | None) -> bool:
        """Whether the index is one of this Job's."""
        return index is not None and index < (self.spec.completions or 0)

"""What the failure or the success of children leads to. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from api.job import Job
from localcluster.controllers.jobsets.model import (
    COMPLETED,
    FAIL,
    FAILED,
    MAX_RESTARTS,
    RESTARTING,
    JobSet,
    Part,
    Rule,
    SuccessPolicy,
    ended,
    index_of,
    part_of,
)


@dataclass(frozen=True, slots=True)
class End:
    """What becomes of a JobSet: a condition, the reason and the message of it and of its event.

    Attributes:
        condition: `Completed`, `Failed` or `RestartingJobSet`.
        reason: of the condition.
        message: of the condition.
        counts: whether a restart counts towards the most there may be.
    """

    condition: str
    reason: str
    message: str
    counts: bool = True

    @property
    def is_final(self) -> bool:
        """Whether it is over."""
        return self.condition in {COMPLETED, FAILED}


def failure(jobset: JobSet, failed: Sequence[Job]) -> End:
    """What failed children lead to."""
    first = f"(first failed job: {failed[0].metadata.name})"
    policy = jobset.spec.failure_policy
    if policy is None:
        return End(FAILED, "FailedJobs", f"jobset failed due to one or more job failures {first}")
    named = ((each.name or f"failurePolicyRule{number}", each) for number, each in enumerate(policy.rules or ()))
    name, rule = next(((name, each) for name, each in named for job in failed if _applies(each, job)), ("", None))
    action = rule.action if rule is not None else MAX_RESTARTS
    reason = f"FailurePolicy_{name}" if rule is not None else "DefaultFailurePolicy"
    if action == FAIL:
        return End(
            FAILED, "FailJobSetFailurePolicyAction", f"jobset failed due to FailJobSet failure policy action {first}"
        )
    counted = jobset.status.restarts_count_towards_max or 0
    if action == MAX_RESTARTS and counted >= policy.max_restarts:
        return End(FAILED, "ReachedMaxRestarts", f"jobset failed due to reaching max number of restarts {first}")
    message = f"applying {action} failure policy action {first}"
    return End(RESTARTING, reason, message, counts=action == MAX_RESTARTS)


def _applies(rule: Rule, job: Job) -> bool:
    reasons = {each.reason for each in job.status.conditions or () if each.type == "Failed"}
    in_reasons = not rule.on_job_failure_reasons or bool(reasons & set(rule.on_job_failure_reasons))
    return in_reasons and (not rule.target_replicated_jobs or part_of(job) in rule.target_replicated_jobs)


def is_success(jobset: JobSet, children: Sequence[Job]) -> bool:
    """Whether the children that count have completed."""
    policy = jobset.spec.success_policy or SuccessPolicy()
    counted = [part for part in jobset.spec.replicated_jobs if _counts(part, policy)]
    done = {(part_of(job), index_of(job)) for job in children if ended(job, "Complete")}
    if policy.operator == "Any":
        return any((part.name, index) in done for part in counted for index in range(part.replicas))
    return bool(counted) and all((part.name, index) in done for part in counted for index in range(part.replicas))


def _counts(part: Part, policy: SuccessPolicy) -> bool:
    return not policy.target_replicated_jobs or part.name in policy.target_replicated_jobs

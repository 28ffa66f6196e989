"""What a Job's policies say of its pods: which failures count, which end the Job, and when successes suffice.

Pure; the messages are the ones users know from the stock controller.
"""

from dataclasses import dataclass

from localcluster.controllers.jobs.indexes import parse_indexes
from localcluster.controllers.jobs.model import FailureRule, Job, OnExitCodes, OnPodCondition
from localcluster.controllers.jobs.pods import ContainerStatus, Pod


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a pod's failure means.

    Attributes:
        counts: whether it counts towards the backoff limit.
        fails_index: whether its index has failed by it.
        ends_job: why the Job has failed by it, or None.
    """

    counts: bool = True
    fails_index: bool = False
    ends_job: str | None = None


def has_failed(job: Job, pod: Pod) -> bool:
    """Whether the controller takes the pod for failed: a deleted one too, unless the Job waits for its end."""
    if pod.status.phase == "Failed":
        return True
    return pod.is_terminating and not job.replaces_only_failed


def judge(job: Job, pod: Pod) -> Verdict:
    """The first matching rule of `podFailurePolicy`; without one a failure counts."""
    policy = job.spec.pod_failure_policy
    for number, rule in enumerate(policy.rules if policy else ()):
        reason = _match(rule, pod)
        if reason is not None:
            message = f"{reason} matching {rule.action} rule at index {number}"
            return Verdict(
                counts=rule.action != "Ignore",
                fails_index=rule.action == "FailIndex",
                ends_job=message if rule.action == "FailJob" else None,
            )
    return Verdict()


def succeeded_by_policy(job: Job, succeeded: frozenset[int]) -> str | None:
    """Why the Job has succeeded by its `successPolicy`, or None."""
    policy = job.spec.success_policy
    for number, rule in enumerate(policy.rules if policy and succeeded else ()):
        if rule.succeeded_indexes is not None:
            needed = parse_indexes(rule.succeeded_indexes, job.spec.completions or 0)
            done = len(needed & succeeded)
            met = bool(needed) and (done == len(needed) or _reaches(done, rule.succeeded_count))
        else:
            met = _reaches(len(succeeded), rule.succeeded_count)
        if met:
            return f"Matched rules at index {number}"
    return None


def _reaches(count: int, needed: int | None) -> bool:
    return needed is not None and count >= needed


def _match(rule: FailureRule, pod: Pod) -> str | None:
    where = f"{pod.metadata.namespace}/{pod.metadata.name}"
    if rule.on_exit_codes is not None:
        container = _by_exit_code(rule.on_exit_codes, pod)
        if container is None or container.state.terminated is None:
            return None
        return (
            f"Container {container.name} for pod {where} failed with exit code {container.state.terminated.exit_code}"
        )
    condition = _by_condition(rule.on_pod_conditions or (), pod)
    return None if condition is None else f"Pod {where} has condition {condition}"


def _by_exit_code(requirement: OnExitCodes, pod: Pod) -> ContainerStatus | None:
    for container in (*pod.status.container_statuses, *pod.status.init_container_statuses):
        ended = container.state.terminated
        if ended is None or ended.exit_code == 0 or requirement.container_name not in {None, container.name}:
            continue
        if (ended.exit_code in requirement.values) == (requirement.operator == "In"):
            return container
    return None


def _by_condition(patterns: tuple[OnPodCondition, ...], pod: Pod) -> str | None:
    wanted = {(each.type, each.status) for each in patterns}
    return next((each.type for each in pod.status.conditions if (each.type, each.status) in wanted), None)

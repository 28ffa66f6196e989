"""When a Job is suspended by us: for a preemptor, or because its group has timed out. Pure.

A preempted Job is suspended, not deprived of its pods.

Deleting its pods would count as failures; and where a podFailurePolicy ignores them, the Job controller still backs off for
minutes before it replaces so many at once (measured on Kubernetes 1.37 with a gang of eight).

The scheduler says so on the PodGroup (`DisruptionTarget`), and for whom (`PreemptedBy`). Unless that one is gone, the Job is
suspended behind our gate, so its own controller ends the pods and counts no failure. When they have left, the scheduler takes
the condition back, the gate is opened, and the new pods queue like those of any other gang. A Job its user suspended meanwhile
stays suspended: it has no gate.

What Kueue admitted is not suspended by us but stopped in Kueue (`controllers.jobs.kueue`), which does the same.

A Job that asked for it is also suspended when the scheduler has given up on its group (`SchedulingTimedOut`). That one gets no
gate: its user resumes it, and the new pods wait as long as the first ones did. It carries a mark, by which `tutti uninstall`
knows whom to resume.
"""

from api.constants import (
    CONDITION_TIMED_OUT,
    REASON_SCHEDULING_TIMEOUT,
    SCHEDULING_TIMEOUT,
)
from api.job import Job
from api.meta import condition_of
from api.podgroup import PodGroup
from api.preemption import is_asked_to_leave
from api.waiting import waiting_of
from controllers.gangs.common_steps import Warn
from controllers.jobs.kueue import ServedKueueWorkload, SetKueueWorkloadActive
from controllers.jobs.observed import is_suspended
from controllers.jobs.steps import (
    PatchJob,
    Step,
)


def is_disruption_target(group: PodGroup | None) -> bool:
    """Whether the group has the condition `DisruptionTarget` (KEP-5710): its pods have to leave and are not all gone yet."""
    return group is not None and is_asked_to_leave(group.status.conditions)


def preemption_steps(job: Job, kueue_workload: ServedKueueWorkload | None) -> list[Step]:
    """Suspends the Job behind the gate, or stops it in Kueue; no step once that is so."""
    if kueue_workload is not None:
        return [SetKueueWorkloadActive(kueue_workload, "preempted")] if kueue_workload.workload.is_active else []
    return [] if is_suspended(job) else [PatchJob(close_gate=True)]


def requeue_steps(kueue_workload: ServedKueueWorkload | None) -> list[Step]:
    """Lets Kueue admit a Job again that we stopped for a preemptor; no step for any other."""
    return (
        [SetKueueWorkloadActive(kueue_workload, None)]
        if kueue_workload is not None and kueue_workload.workload.is_stopped_for_preemptor
        else []
    )


def is_timed_out(group: PodGroup | None) -> bool:
    """Whether the group has the condition `SchedulingTimedOut` and its Job asked to be suspended then."""
    if group is None or not waiting_of(group.metadata).is_suspended_on_timeout:
        return False
    told = condition_of(group.status.conditions or (), CONDITION_TIMED_OUT)
    return told is not None and told.status == "True"


def timeout_steps(job: Job, group: PodGroup | None, kueue_workload: ServedKueueWorkload | None) -> list[Step]:
    """Suspends the Job until its user resumes it, or stops it in Kueue, and warns; no step once that is so."""
    limit = group.metadata.annotation(SCHEDULING_TIMEOUT) if group is not None else None
    why = f"its pods found no place together within {limit}"
    if kueue_workload is not None:
        if not kueue_workload.workload.is_active:
            return []
        name = kueue_workload.workload.metadata.name
        note = f"stopped in Kueue: {why}; set spec.active of Kueue's Workload {name} to true to try again"
        return [
            SetKueueWorkloadActive(kueue_workload, "timed-out"),
            Warn(REASON_SCHEDULING_TIMEOUT, note, action="Suspend"),
        ]
    if is_suspended(job):
        return []
    note = f"suspended: {why}; resume it to try again"
    return [PatchJob(suspend=True), Warn(REASON_SCHEDULING_TIMEOUT, note, action="Suspend")]

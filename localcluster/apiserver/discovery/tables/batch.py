"""Rows of Jobs and CronJobs."""

from api.age import duration
from localcluster.apiserver.discovery.tables.age import age, moment
from localcluster.apiserver.discovery.tables.cells import (
    AGE,
    NAME,
    NONE,
    SELECTOR,
    UNSET,
    WORKLOAD_WIDE,
    Cell,
    Object,
    Printer,
    age_of,
    boolean,
    condition_is_true,
    containers,
    name_of,
    number,
    part,
    selector,
    text,
)

JOB_COLUMNS = (
    NAME,
    text("Status", "How far the Job is, in one word."),
    text("Completions", "How many pods have succeeded, of how many."),
    text("Duration", "How long the Job has run, or ran."),
    AGE,
    *WORKLOAD_WIDE,
    SELECTOR,
)
CRON_JOB_COLUMNS = (
    NAME,
    text("Schedule", "When Jobs are started, in cron's notation."),
    text("Timezone", "The time zone of the schedule; none is that of the controller manager."),
    boolean("Suspend", "Whether no further Jobs are started."),
    number("Active", "How many Jobs are running."),
    text("Last Schedule", "The time since a Job was last started."),
    AGE,
    *WORKLOAD_WIDE,
    SELECTOR,
)


def _job_status(job: Object) -> str:
    for kind in ("Complete", "Failed"):
        if condition_is_true(job, kind):
            return kind
    if job["metadata"].get("deletionTimestamp"):
        return "Terminating"
    for kind in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if condition_is_true(job, kind):
            return kind
    return "Running"


def _completions(job: Object) -> str:
    spec, succeeded = part(job, "spec"), part(job, "status").get("succeeded") or 0
    if (wanted := spec.get("completions")) is not None:
        return f"{succeeded}/{wanted}"
    parallelism = spec.get("parallelism") or 0
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _job_duration(job: Object, now: float) -> str:
    status = part(job, "status")
    start = moment(status.get("startTime"))
    if start is None:
        return ""
    end = moment(status.get("completionTime"))
    return duration((now if end is None else end) - start)


def job_cells(job: Object, now: float) -> list[Cell]:
    """One row of a Job."""
    spec = part(job, "spec")
    return [
        name_of(job),
        _job_status(job),
        _completions(job),
        _job_duration(job, now),
        age_of(job, now),
        *containers(part(spec, "template")),
        selector(spec.get("selector")),
    ]


def cron_job_cells(cron_job: Object, now: float) -> list[Cell]:
    """One row of a CronJob."""
    spec, status = part(cron_job, "spec"), part(cron_job, "status")
    suspend = spec.get("suspend")
    job_spec = part(spec, "jobTemplate", "spec")
    return [
        name_of(cron_job),
        spec.get("schedule", ""),
        spec.get("timeZone") or NONE,
        UNSET if suspend is None else str(bool(suspend)),
        len(status.get("active") or ()),
        age(status["lastScheduleTime"], now) if status.get("lastScheduleTime") else NONE,
        age_of(cron_job, now),
        *containers(part(job_spec, "template")),
        selector(job_spec.get("selector")),
    ]


JOB = Printer(JOB_COLUMNS, job_cells)
CRON_JOB = Printer(CRON_JOB_COLUMNS, cron_job_cells)

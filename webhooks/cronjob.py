"""Validator for CREATE and UPDATE of a CronJob: what its Jobs could not be created with is refused where it is written.

Each of its Jobs is a gang of its own and is admitted as one; without this, a mistake in the template would only show in an
event of the CronJob at its next run.
"""

import msgspec

from api.constants import POLICY
from api.errors import InvalidGangSettings
from api.gang import GroupIntent, job_intent
from api.job import Job, JobSpec
from api.meta import NO_METADATA, Metadata
from providers.selection import Providers, choose_provider
from webhooks.admission.preemption_priority import Classes, check_preemption_class
from webhooks.admission.review import ALLOWED, Request, Response, decode_object, denied
from webhooks.job.provider_limits import within_limits
from webhooks.job.scheduling_field import annotations_of

TEMPLATE = "spec.jobTemplate"


class JobTemplate(msgspec.Struct, frozen=True):
    """The template of a CronJob's Jobs."""

    metadata: Metadata = NO_METADATA
    spec: JobSpec = JobSpec()


class CronJobSpec(msgspec.Struct, frozen=True, rename="camel"):
    """`spec` of a CronJob, as far as it matters here."""

    job_template: JobTemplate = JobTemplate()


class CronJob(msgspec.Struct, frozen=True):
    """A CronJob."""

    spec: CronJobSpec = CronJobSpec()


def validate_cron_job(request: Request, *, providers: Providers, classes: Classes = None) -> Response:
    """Refuses gang settings in the template that a Job would be refused for.

    Args:
        request: the CronJob.
        providers: the gang schedulers.
        classes: the PriorityClasses as known now, None before they are known.

    Raises:
        Malformed: the request holds no CronJob.
    """
    template = decode_object(request, CronJob)[1].spec.job_template
    job = Job(metadata=template.metadata, spec=template.spec)
    try:
        if job.spec.scheduling is not None and job.metadata.annotation(POLICY) != "none":
            annotations_of(job.spec.scheduling)
        chosen = choose_provider(
            providers, annotations=job.metadata.annotations, scheduler_name=job.spec.template.spec.scheduler_name
        )
        within_limits(job, chosen, {})
        if chosen is not None and isinstance(job_intent(job), GroupIntent):
            check_preemption_class(job.metadata, job.spec.template.spec.priority_class_name, classes)
    except InvalidGangSettings as error:
        return denied(f"{TEMPLATE}.{error}")
    return ALLOWED

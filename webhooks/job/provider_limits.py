"""What the gang scheduler of a Job cannot do for it: refused where its user asked for it, left out where a default did."""

from collections.abc import Mapping

from api.errors import InvalidGangSettings
from api.gang import GroupIntent, is_managed_template, job_intent
from api.job import Job
from providers.base import Provider
from providers.limits import limits_for
from providers.replicas import own_group_key

Annotations = Mapping[str, str | None]


def within_limits(job: Job, provider: Provider | None, given: Annotations) -> tuple[dict[str, None], tuple[str, ...]]:
    """The annotations that have to go, and what to tell the user.

    Args:
        job: the Job with everything that is said about it as annotations.
        provider: the gang scheduler of the Job.
        given: those of the annotations that its user did not write.

    Raises:
        InvalidGangSettings: the user asks for what this scheduler cannot do.
    """
    intent = job_intent(job)
    if provider is None or not isinstance(intent, GroupIntent):
        return {}, ()
    dropped: dict[str, None] = {}
    told = []
    for limit in limits_for(provider, job, intent):
        field = f"metadata.annotations[{limit.key}]" if limit.key else ""
        if limit.breaks and given.get(limit.key) is None:
            raise InvalidGangSettings(limit.message, field=field)
        if limit.breaks:
            dropped[limit.key] = None
        told.append(f"{field}: {limit.message}")
    return dropped, tuple(told)


def own_group(job: Job, provider: Provider) -> str | None:
    """The key by which the pod template names a group of this scheduler that we did not make, None when there is none."""
    return None if is_managed_template(job) else own_group_key(provider, (job.spec.template,))

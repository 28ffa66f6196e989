"""Validator for UPDATE of a Job: the size of a gang is fixed unless its user says it is elastic (KEP-5547).

A gang's minimum is its parallelism. Were that to change beside the group, the group would wait for pods that nobody creates,
or start without some. Only Jobs with a managed template whose parallelism changes come here.
"""

from typing import Final

from api.constants import ELASTIC, POLICY
from api.errors import InvalidGangSettings
from api.gang import GroupIntent, is_managed_template, job_intent
from api.job import Job
from webhooks.admission.review import ALLOWED, Request, Response, decode_object, decode_old_object, denied

HOW: Final = (
    f"delete the Job and create it again with the parallelism you want, or annotate the Job with {ELASTIC}=true, "
    "which lets its size change"
)


def validate_job_update(request: Request) -> Response:
    """Refuses a change of parallelism of a Job that is a gang before or after it, unless it is elastic and stays a gang.

    Raises:
        Malformed: the request holds no two Jobs.
    """
    new = decode_object(request, Job)[1]
    old = decode_old_object(request, Job)
    if not is_managed_template(old) or old.parallelism == new.parallelism:
        return ALLOWED
    try:
        after = _gang(new)
    except InvalidGangSettings as error:
        return denied(str(error))
    if after is not None and after.elastic:
        return ALLOWED
    if new.metadata.annotation(ELASTIC) == "true" and _was_gang(old):
        return denied(
            f"spec.parallelism: with {new.parallelism} the Job would be no gang any more: change spec.completions to the "
            f"same number above 1 in the same request, or annotate the Job with {POLICY}=gang"
        )
    if after is None and not _was_gang(old):
        return ALLOWED
    return denied(
        f"spec.parallelism: the pods of a gang start together, so it cannot change from {old.parallelism} to "
        f"{new.parallelism}: {HOW}"
    )


def _gang(job: Job) -> GroupIntent | None:
    intent = job_intent(job)
    return intent if isinstance(intent, GroupIntent) and intent.policy == "gang" else None


def _was_gang(job: Job) -> bool:
    try:
        return _gang(job) is not None
    except InvalidGangSettings:
        # Settings that were spoilt after admission: it was taken in as a group, and its group still has a size.
        return True

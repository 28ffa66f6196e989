"""Jobs and CronJobs: their rules put together."""

from localcluster.apiserver.fielderrors import FieldError, invalid_value, required, unsupported
from localcluster.apiserver.kinds.jobs.changes import validate_job_update
from localcluster.apiserver.kinds.jobs.defaults import default_cron_job, default_job, generate_selector
from localcluster.apiserver.kinds.jobs.spec import validate_job, validate_job_spec
from localcluster.apiserver.kinds.jobs.status import validate_job_status
from localcluster.apiserver.kinds.kind import Object, RequestContext
from localcluster.apiserver.kinds.names import LONGEST_LABEL
from localcluster.apiserver.kinds.typed import TypedStrategy

_LONGEST_CRON_NAME = 52
_POLICIES = ("Allow", "Forbid", "Replace")
PRESERVED = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set "
    "propagationPolicy=Orphan to suppress this warning"
)


class JobStrategy(TypedStrategy):
    """The rules of Jobs."""

    deletion_warning = PRESERVED

    def default(self, obj: Object) -> None:
        """Defaults; conditions have both of their times, known or not."""
        default_job(obj)
        for condition in (obj.get("status") or {}).get("conditions") or []:
            for key in ("lastProbeTime", "lastTransitionTime"):
                condition.setdefault(key, None)

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """A new Job gets the selector that is its own."""
        super().prepare_create(obj, context)
        metadata, template = obj["metadata"], obj["spec"]["template"]["metadata"]
        inherits = metadata.get("labels") is template.get("labels")
        if inherits and template.get("labels"):
            metadata["labels"] = dict(template["labels"])
        generate_selector(obj)
        # A name that is too long for a label is complained about once, where the label comes from.
        if inherits and template.get("labels") and len(metadata.get("name") or "") <= LONGEST_LABEL:
            metadata["labels"] = dict(template["labels"])
        obj["status"] = {}

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:
        """What is wrong with the Job, or with the change."""
        if old is None:
            return validate_job(new, is_new=True)
        if subresource == "status":
            return validate_job_status(new, old)
        return validate_job(new, is_new=False) + validate_job_update(new, old)


class CronJobStrategy(TypedStrategy):
    """The rules of CronJobs."""

    def default(self, obj: Object) -> None:
        """Defaults."""
        default_cron_job(obj)

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """A new CronJob has done nothing yet."""
        super().prepare_create(obj, context)
        obj["status"] = {}

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:
        """What is wrong with the CronJob."""
        if subresource == "status":
            return []
        spec, errors = new["spec"], list[FieldError]()
        name = new["metadata"].get("name") or ""
        if old is None and len(name) > _LONGEST_CRON_NAME:
            text = f"must be no more than {_LONGEST_CRON_NAME} characters"
            errors.append(invalid_value("metadata.name", name, text))
        errors += _validate_schedule(spec.get("schedule") or "")
        if spec["concurrencyPolicy"] not in _POLICIES:
            errors.append(unsupported("spec.concurrencyPolicy", spec["concurrencyPolicy"], _POLICIES))
        for key in ("startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
            if (spec.get(key) or 0) < 0:
                errors.append(invalid_value(f"spec.{key}", spec[key], "must be greater than or equal to 0"))
        template = spec["jobTemplate"]["spec"]
        return errors + validate_job_spec(template, "spec.jobTemplate.spec")


def _validate_schedule(schedule: str) -> list[FieldError]:
    if not schedule:
        return [required("spec.schedule")]
    parts = schedule.split()
    if schedule.startswith("@") or len(parts) == 5:
        return []
    text = f"expected exactly 5 fields, found {len(parts)}: [{' '.join(parts)}]"
    return [invalid_value("spec.schedule", schedule, text)]

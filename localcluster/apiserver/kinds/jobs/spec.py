"""Rules for the spec of a Job.

Pure.
"""

from localcluster.apiserver.fielderrors import FieldError, invalid_value, required, unsupported
from localcluster.apiserver.kinds.jobs.defaults import CONTROLLER_UID
from localcluster.apiserver.kinds.jobs.policies import validate_failure_policy, validate_success_policy
from localcluster.apiserver.kinds.kind import Object
from localcluster.apiserver.kinds.labelselectors import validate_selector
from localcluster.apiserver.kinds.names import label_problems, subdomain_problems
from localcluster.apiserver.kinds.pods.spec import validate_template
from localcluster.apiserver.selectors import matches_labels

MOST_INDEXED = 100_000
_MODES = ("NonIndexed", "Indexed")
_REPLACEMENTS = ("Failed", "TerminatingOrFailed")
_COUNTS = ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished")
_UNMATCHED = "`selector` does not match template `labels`"


def validate_job(job: Object, *, is_new: bool) -> list[FieldError]:
    """What is wrong with a Job by itself; only a new one must have the selector that the server made."""
    spec = job["spec"]
    errors = _validate_selector(job, is_new=is_new)
    errors += validate_job_spec(spec, "spec")
    return errors + _validate_pod_names(job)


def validate_job_spec(spec: Object, field: str) -> list[FieldError]:
    """Everything but the selector, which a Job in a CronJob does not have yet."""
    errors = [
        invalid_value(f"{field}.{key}", spec[key], "must be greater than or equal to 0")
        for key in _COUNTS
        if spec.get(key) is not None and spec[key] < 0
    ]
    errors += _validate_mode(spec, field)
    errors += _validate_per_index(spec, field)
    if spec.get("podFailurePolicy") is not None:
        errors += validate_failure_policy(spec, f"{field}.podFailurePolicy")
    if spec.get("successPolicy") is not None:
        errors += validate_success_policy(spec, f"{field}.successPolicy")
    errors += _validate_replacement(spec, field)
    errors += _validate_manager(spec.get("managedBy"), f"{field}.managedBy")
    template = spec.get("template") or {}
    errors += validate_template(template, f"{field}.template")
    restart = (template.get("spec") or {}).get("restartPolicy")
    where = f"{field}.template.spec.restartPolicy"
    if restart in {None, "", "Always"}:
        errors.append(required(where, 'valid values: "OnFailure", "Never"'))
    elif spec.get("podFailurePolicy") is not None and restart != "Never":
        errors.append(invalid_value(where, restart, 'only "Never" is supported when podFailurePolicy is specified'))
    return errors


def _validate_mode(spec: Object, field: str) -> list[FieldError]:
    mode = spec.get("completionMode")
    if mode is None:
        return []
    if mode not in _MODES:
        return [unsupported(f"{field}.completionMode", mode, _MODES)]
    if mode != "Indexed":
        return []
    if spec.get("completions") is None:
        return [required(f"{field}.completions", f"when completion mode is {mode}")]
    if (spec.get("parallelism") or 0) > MOST_INDEXED:
        text = f"must be less than or equal to {MOST_INDEXED} when completion mode is {mode}"
        return [invalid_value(f"{field}.parallelism", spec["parallelism"], text)]
    return []


def _validate_per_index(spec: Object, field: str) -> list[FieldError]:
    per_index, most = spec.get("backoffLimitPerIndex"), spec.get("maxFailedIndexes")
    errors: list[FieldError] = []
    for key, value in (("backoffLimitPerIndex", per_index), ("maxFailedIndexes", most)):
        if value is not None and value < 0:
            errors.append(invalid_value(f"{field}.{key}", value, "must be greater than or equal to 0"))
    if per_index is not None and spec.get("completionMode") != "Indexed":
        errors.append(invalid_value(f"{field}.backoffLimitPerIndex", per_index, "requires indexed completion mode"))
    if most is not None:
        if per_index is None:
            errors.append(required(f"{field}.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
        if spec.get("completions") is not None and most > spec["completions"]:
            text = "must be less than or equal to completions"
            errors.append(invalid_value(f"{field}.maxFailedIndexes", most, text))
    return errors


def _validate_replacement(spec: Object, field: str) -> list[FieldError]:
    policy = spec.get("podReplacementPolicy")
    if policy is None:
        return []
    allowed = _REPLACEMENTS if spec.get("podFailurePolicy") is None else ("Failed",)
    return [] if policy in allowed else [unsupported(f"{field}.podReplacementPolicy", policy, allowed)]


def _validate_manager(manager: str | None, field: str) -> list[FieldError]:
    if manager is None:
        return []
    domain, slash, path = manager.partition("/")
    if not (domain and slash and path):
        return [invalid_value(field, manager, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    return [invalid_value(field, domain, each) for each in subdomain_problems(domain)]


def _validate_selector(job: Object, *, is_new: bool) -> list[FieldError]:
    spec, metadata = job["spec"], job["metadata"]
    selector = spec.get("selector")
    labels = (spec["template"].get("metadata") or {}).get("labels")
    errors: list[FieldError] = []
    if selector is None:
        errors.append(required("spec.selector"))
    elif is_new and not spec.get("manualSelector"):
        wanted = {"matchLabels": {CONTROLLER_UID: metadata.get("uid", "")}}
        legacy = {"matchLabels": {"controller-uid": metadata.get("uid", "")}}
        if selector not in (wanted, legacy):
            errors.append(invalid_value("spec.selector", selector, "`selector` not auto-generated"))
    errors += validate_selector(selector, "spec.selector")
    if selector is None or not matches_labels(selector, labels or {}):
        errors.append(invalid_value("spec.template.metadata.labels", labels, _UNMATCHED))
    return errors


def _validate_pod_names(job: Object) -> list[FieldError]:
    spec, name = job["spec"], job["metadata"].get("name") or ""
    completions = spec.get("completions") or 0
    if spec.get("completionMode") != "Indexed" or completions <= 0 or not name:
        return []
    longest = f"{name}-{completions - 1}"
    if label_problems(longest):
        text = f"will not able to create pod with invalid DNS label: {longest}"
        return [invalid_value("metadata.name", name, text)]
    return []

"""What a Job or a CronJob says when it does not say, and the selector that the server makes.

Pure; changes its argument, which belongs to the request.
"""

from localcluster.apiserver.kinds.kind import Object
from localcluster.apiserver.kinds.pods.defaults import default_template

PREFIX = "batch.kubernetes.io/"
CONTROLLER_UID = PREFIX + "controller-uid"
JOB_NAME = PREFIX + "job-name"
LEGACY_CONTROLLER_UID = "controller-uid"
LEGACY_JOB_NAME = "job-name"


def default_job(job: Object) -> None:
    """Defaults of a Job."""
    spec = _spec_of(job)
    _default_template_of(spec)
    template = spec["template"]
    if not job["metadata"].get("labels") and template["metadata"].get("labels"):
        # The same object, as in the real server: what the selector adds to one it adds to both, unless a webhook had its say.
        job["metadata"]["labels"] = template["metadata"]["labels"]
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = spec["parallelism"] = 1
    if spec.get("parallelism") is None:
        spec["parallelism"] = 1
    if spec.get("backoffLimit") is None:
        spec["backoffLimit"] = 2**31 - 1 if spec.get("backoffLimitPerIndex") is not None else 6
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("manualSelector", False)
    if spec.get("podReplacementPolicy") is None:
        policy = spec.get("podFailurePolicy")
        spec["podReplacementPolicy"] = "TerminatingOrFailed" if policy is None else "Failed"
    for rule in (spec.get("podFailurePolicy") or {}).get("rules") or []:
        for pattern in rule.get("onPodConditions") or []:
            pattern.setdefault("status", "True")


def default_cron_job(cron_job: Object) -> None:
    """Defaults of a CronJob; those of its Jobs come when they are created."""
    spec = _spec_of(cron_job)
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    template = spec.setdefault("jobTemplate", {})
    template.setdefault("metadata", {})
    _default_template_of(_spec_of(template))


def generate_selector(job: Object) -> None:
    """Labels by which exactly this Job's pods are found, unless the Job brings its own selector."""
    spec, metadata = job["spec"], job["metadata"]
    if spec.get("manualSelector"):
        return
    name = metadata.get("name") or ""
    labels = spec["template"]["metadata"].setdefault("labels", {})
    labels |= {
        LEGACY_CONTROLLER_UID: metadata["uid"],
        LEGACY_JOB_NAME: name,
        CONTROLLER_UID: metadata["uid"],
        JOB_NAME: name,
    }
    selector = spec.setdefault("selector", {})
    selector.setdefault("matchLabels", {})[CONTROLLER_UID] = metadata["uid"]


def _spec_of(obj: Object) -> Object:
    if not isinstance(obj.get("spec"), dict):
        obj["spec"] = {}
    spec: Object = obj["spec"]
    return spec


def _default_template_of(spec: Object) -> None:
    if not isinstance(spec.get("template"), dict):
        spec["template"] = {}
    default_template(spec["template"])

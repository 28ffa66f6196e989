"""CREATE of a Job: a gang is marked, given its scheduler, and held until its group exists.

The Job's UID does not exist yet, so no group can be named here. Instead the Job is suspended with a `gate` annotation; the
controllers create Workload and PodGroup and then open the gate. That is how the order "Workload, PodGroup, pods" holds with
the stock Job controller. A Job that arrives suspended (by its user, or by Kueue, whose webhook runs before ours) gets no gate:
whoever suspended it resumes it.

A manifest may be a copy of an admitted Job. What ties it to the other Job's group is taken off, and a gate on a Job that is
no gang is opened, since it was we who had closed it.
"""

from typing import Any, Final

from api.constants import GATE, GATE_POD_GROUP, MANAGED, POD_GROUP, POD_GROUP_UID, POLICY
from api.errors import InvalidGangSettings
from api.gang import Plain, is_managed_template, job_intent
from api.job import Job
from providers.base import Provider
from providers.selection import UNSTATED, Providers, choose_provider
from webhooks.patch import Patch
from webhooks.review import Request, Verdict, denied, new_object

ANNOTATIONS: Final = ("metadata", "annotations")
TEMPLATE_LABELS: Final = ("spec", "template", "metadata", "labels")
TEMPLATE_ANNOTATIONS: Final = ("spec", "template", "metadata", "annotations")
TEMPLATE_SCHEDULER: Final = ("spec", "template", "spec", "schedulerName")
SUSPEND: Final = ("spec", "suspend")
FAILURE_POLICY: Final = ("spec", "podFailurePolicy")
REPLACEMENT_POLICY: Final = ("spec", "podReplacementPolicy")

IGNORE_DISRUPTIONS: Final[dict[str, Any]] = {
    "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
}
"""A preempted pod does not count towards backoffLimit: otherwise one preemption of a gang of 8 fails its Job."""


def admit_new_job(request: Request, *, providers: Providers, add_pod_failure_policy: bool) -> Verdict:
    """Takes the Job in as a gang if it is one; refuses settings that cannot be used.

    Raises:
        Malformed: the request holds no Job.
    """
    document, job = new_object(request, Job)
    patch = Patch(document)
    try:
        provider_or_reason = _provider_of(job, providers)
    except InvalidGangSettings as error:
        return denied(str(error))
    if is_managed_template(job):
        patch.remove((*TEMPLATE_ANNOTATIONS, POD_GROUP))
        patch.remove((*TEMPLATE_ANNOTATIONS, POD_GROUP_UID))
    if isinstance(provider_or_reason, Plain):
        _leave_plain(patch)
        return Verdict(patch=patch.operations, warnings=_unmet_wish(job, provider_or_reason))
    _take_in(patch, job, provider_or_reason, add_pod_failure_policy=add_pod_failure_policy)
    return Verdict(patch=patch.operations)


def close_gate(patch: Patch) -> None:
    """Holds the Job until the controllers have made its group."""
    patch.set(SUSPEND, value=True)
    patch.set((*ANNOTATIONS, GATE), GATE_POD_GROUP)


def _provider_of(job: Job, providers: Providers) -> Provider | Plain:
    intent = job_intent(job)
    scheduler_name = job.spec.template.spec.scheduler_name
    provider = choose_provider(providers, annotations=job.metadata.annotations, scheduler_name=scheduler_name)
    if isinstance(intent, Plain):
        return intent
    return provider or Plain(f"its pod template names the scheduler {scheduler_name}, which Tutti does not use")


def _take_in(patch: Patch, job: Job, provider: Provider, *, add_pod_failure_policy: bool) -> None:
    template = job.spec.template.spec
    patch.set((*TEMPLATE_LABELS, MANAGED), provider.name)
    if template.scheduler_name in UNSTATED:
        patch.set(TEMPLATE_SCHEDULER, provider.scheduler_name)
    if not job.spec.suspend:
        close_gate(patch)
    elif job.metadata.annotation(GATE) != GATE_POD_GROUP:
        patch.remove((*ANNOTATIONS, GATE))
    if add_pod_failure_policy and template.restart_policy == "Never" and job.spec.pod_failure_policy is None:
        patch.set(FAILURE_POLICY, IGNORE_DISRUPTIONS)
        # The server has defaulted this field for a Job without a failure policy and refuses that value with one.
        patch.set(REPLACEMENT_POLICY, "Failed")


def _leave_plain(patch: Patch) -> None:
    patch.remove((*TEMPLATE_LABELS, MANAGED))
    if patch.get(*ANNOTATIONS, GATE) is not None:
        patch.remove((*ANNOTATIONS, GATE))
        patch.set(SUSPEND, value=False)


def _unmet_wish(job: Job, plain: Plain) -> tuple[str, ...]:
    if job.metadata.annotation(POLICY) in (None, "none"):
        return ()
    return (f"the annotation {POLICY} has no effect on this Job: {plain.reason}",)

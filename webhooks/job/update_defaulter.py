"""Defaulter for UPDATE of a Job whose pod template is managed: it stays admitted.

Only such Jobs come here, and only when their spec changes, or something else of a Job at our gate. Six things are kept up:

- A Job that starts (suspend goes from true to false) before its template names a group is held again: its pods would exist
  before their group, and the template could not be completed any more.
- A user's own manifest knows nothing of what admission added. Applied or replaced again, it takes that away: `schedulerName`,
  our label, the group's annotations, the failure policy. Most of these are immutable, so the user would be refused for
  repeating what was accepted before; they are put back.
- Where the pods need no group (Kueue counts them by itself), a start is nobody's business but that of who resumes the Job.
- A Job of a JobSet that was taken in is never held; one that was made while admission was down learns its group when it is resumed.
- A Job whose user suspends it while it waits at our gate loses the gate: whoever suspended it resumes it.
- A Job that runs carries no gate: it would be taken for ours to resume after its user suspends it.

A label that alone is gone from a suspended Job was taken off on purpose (the controllers do so to fall back to plain
scheduling) and stays off.
"""

from api.constants import GATE, MANAGED, POD_GROUP, POD_GROUP_UID
from api.gang import is_managed_template
from api.job import Job
from api.parents.children import child_of
from providers.selection import UNSTATED, Providers
from webhooks.admission.patch import Patch
from webhooks.admission.review import ALLOWED, Request, Response, decode_object, decode_old_object
from webhooks.job.child import tie_to_group
from webhooks.job.defaulter import (
    ANNOTATIONS,
    FAILURE_POLICY,
    IGNORE_DISRUPTIONS,
    REPLACEMENT_POLICY,
    TEMPLATE_ANNOTATIONS,
    TEMPLATE_LABELS,
    TEMPLATE_SCHEDULER,
    close_gate,
)
from webhooks.job.own_suspension import says_suspend


def default_updated_job(request: Request, *, providers: Providers) -> Response:
    """Puts back what a re-apply dropped and holds a Job that starts too early; never refuses.

    Raises:
        Malformed: the request holds no two Jobs.
    """
    document, new = decode_object(request, Job)
    old = decode_old_object(request, Job)
    if not is_managed_template(old) or _leaves_on_purpose(old, new):
        return ALLOWED
    patch = Patch(document)
    provider = providers.named(old.spec.template.metadata.label(MANAGED) or "")
    _put_template_back(patch, old, new, provider.pod_keys if provider is not None else ())
    _put_failure_policy_back(patch, old, new)
    child = child_of(old)
    if says_suspend(document, decode_old_object(request, dict)):
        patch.remove((*ANNOTATIONS, GATE))
    if child is None:
        _keep_gate(patch, old, new, needs_group=provider is None or provider.capabilities.needs_group)
    elif provider is not None and old.spec.suspend and not patch.get(*TEMPLATE_ANNOTATIONS, POD_GROUP):
        tie_to_group(patch, child, provider, request.namespace or old.metadata.namespace)
    return Response(patch=patch.operations)


def _leaves_on_purpose(old: Job, new: Job) -> bool:
    return (
        old.spec.suspend is True
        and not is_managed_template(new)
        and new.spec.template.spec.scheduler_name == old.spec.template.spec.scheduler_name
        and new.spec.pod_failure_policy == old.spec.pod_failure_policy
    )


def _put_template_back(patch: Patch, old: Job, new: Job, provider_keys: tuple[str, ...]) -> None:
    former, template = old.spec.template, new.spec.template
    patch.set((*TEMPLATE_LABELS, MANAGED), former.metadata.label(MANAGED))
    if template.spec.scheduler_name in UNSTATED and former.spec.scheduler_name not in UNSTATED:
        patch.set(TEMPLATE_SCHEDULER, former.spec.scheduler_name)
    for key in (POD_GROUP, POD_GROUP_UID, *provider_keys):
        value = former.metadata.annotation(key)
        if value is not None and template.metadata.annotation(key) is None:
            patch.set((*TEMPLATE_ANNOTATIONS, key), value)
    for key in provider_keys:
        value = former.metadata.label(key)
        if value is not None and template.metadata.label(key) is None:
            patch.set((*TEMPLATE_LABELS, key), value)


def _put_failure_policy_back(patch: Patch, old: Job, new: Job) -> None:
    if old.spec.pod_failure_policy != IGNORE_DISRUPTIONS:
        return
    if new.spec.pod_failure_policy is None:
        patch.set(FAILURE_POLICY, IGNORE_DISRUPTIONS)
    if patch.get(*FAILURE_POLICY) == IGNORE_DISRUPTIONS:
        patch.set(REPLACEMENT_POLICY, "Failed")


def _keep_gate(patch: Patch, old: Job, new: Job, *, needs_group: bool) -> None:
    if new.spec.suspend:
        return
    if patch.get(*TEMPLATE_ANNOTATIONS, POD_GROUP):
        patch.remove((*ANNOTATIONS, GATE))
    elif old.spec.suspend and needs_group:
        close_gate(patch)

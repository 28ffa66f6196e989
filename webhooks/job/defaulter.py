"""Defaulter for CREATE of a Job: a gang is marked, given its scheduler, and held until its group exists.

The Job's UID does not exist yet, so no group can be named here. Instead the Job is suspended with a `gate` annotation; the
controllers create Workload and PodGroup and then open the gate. That is how the order "Workload, PodGroup, pods" holds with
the stock Job controller. A Job that arrives suspended (by its user, or by Kueue, whose webhook runs before ours) gets no gate:
whoever suspended it resumes it.

Where `config/components/hold-gangs` is installed, the API server has marked the Job already, and suspended it unless somebody else
says when it starts, so that it is not lost while nobody answers here. That is undone first: what is decided here rests on the Job
as its user wrote it.

A manifest may be a copy of an admitted Job. What ties it to the other Job's group is taken off, and a gate on a Job that is
no gang is opened, since it was we who had closed it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from api.constants import (
    DEFAULT_SCHEDULER_NAME,
    GATE,
    GATE_POD_GROUP,
    HELD,
    KUEUE_QUEUE,
    MANAGED,
    POD_GROUP,
    POD_GROUP_UID,
    POLICY,
    PROVIDER,
    STOCK_SCHEDULER_NAME,
    TOPOLOGY,
)
from api.errors import InvalidGangSettings
from api.gang import Delegated, GroupIntent, Plain, is_gang_shaped, is_managed_template, job_intent
from api.job import Job
from api.parents.children import child_of
from api.topology_annotations import annotation_path, topology_annotations
from providers.base import Provider
from providers.selection import UNSTATED, choose_provider
from webhooks.admission.config import AdmissionConfig, JobIntegration
from webhooks.admission.gang_defaults import Defaulted, DefaultedKind, apply_defaults, with_annotations
from webhooks.admission.patch import Patch
from webhooks.admission.preemption_priority import check_preemption_class
from webhooks.admission.review import Request, Response, decode_object, denied
from webhooks.job.child import tie_to_group
from webhooks.job.provider_limits import own_group, within_limits
from webhooks.job.scheduling_field import annotations_of, field_of

ANNOTATIONS: Final = ("metadata", "annotations")
TEMPLATE_LABELS: Final = ("spec", "template", "metadata", "labels")
TEMPLATE_ANNOTATIONS: Final = ("spec", "template", "metadata", "annotations")
TEMPLATE_SCHEDULER: Final = ("spec", "template", "spec", "schedulerName")
SUSPEND: Final = ("spec", "suspend")
SCHEDULING: Final = ("spec", "scheduling")
FAILURE_POLICY: Final = ("spec", "podFailurePolicy")
REPLACEMENT_POLICY: Final = ("spec", "podReplacementPolicy")

_KIND: Final = DefaultedKind(job_intent, is_gang_shaped)

IGNORE_DISRUPTIONS: Final[dict[str, Any]] = {
    "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
}
"""A preempted pod does not count towards backoffLimit: otherwise one preemption of a gang of 8 fails its Job."""


@dataclass(frozen=True, slots=True)
class _Decision:
    """What becomes of a Job: its provider or why none, what it asks for, and the annotations that say so."""

    provider: Provider | Plain
    asks_for: GroupIntent | Delegated | None = None
    annotations: Mapping[str, str | None] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def default_job(request: Request, config: AdmissionConfig) -> Response:
    """Takes the Job in as a gang if it is one; refuses settings that cannot be used.

    Raises:
        Malformed: the request holds no Job.
    """
    document, job = decode_object(request, Job)
    patch = Patch(document)
    if job.metadata.annotation(HELD) is not None:
        job = _let_go(patch, job)
    child = child_of(job)
    provider = config.providers.named(job.spec.template.metadata.label(MANAGED) or "")
    if child is not None and provider is not None:
        tie_to_group(patch, child, provider, request.namespace or job.metadata.namespace)
        return Response(patch=patch.operations)
    try:
        decision = _decide(job, request.namespace or job.metadata.namespace, config)
    except InvalidGangSettings as error:
        return denied(str(error))
    if is_managed_template(job):
        _forget_group(patch, config.providers.named(job.spec.template.metadata.label(MANAGED) or ""))
    if isinstance(decision.provider, Plain):
        _leave_plain(patch)
        warnings = (*decision.warnings, *_ignored_annotation(job, decision.provider))
    else:
        warnings = decision.warnings
        _admit(patch, job, decision, config)
    for key, value in decision.annotations.items():
        if value is None:
            patch.remove((*ANNOTATIONS, key))
        else:
            patch.set((*ANNOTATIONS, key), value)
    return Response(patch=patch.operations, warnings=warnings)


def _let_go(patch: Patch, job: Job) -> Job:
    """The Job as it was before the admission policy wrote to it."""
    patch.remove((*ANNOTATIONS, HELD))
    patch.remove((*TEMPLATE_LABELS, MANAGED))
    if job.spec.template.spec.scheduler_name == DEFAULT_SCHEDULER_NAME:
        patch.set(TEMPLATE_SCHEDULER, STOCK_SCHEDULER_NAME)
    if job.metadata.annotation(GATE) is not None:
        patch.remove((*ANNOTATIONS, GATE))
        # The policy gates no Job that has a queue. Where one has been given since, Kueue's webhook, which is asked before us, did
        # it and counts on a suspended Job.
        if job.metadata.label(KUEUE_QUEUE) is None:
            patch.set(SUSPEND, value=False)
    return patch.result(Job)


def _forget_group(patch: Patch, provider: Provider | None) -> None:
    for key in (POD_GROUP, POD_GROUP_UID, *(provider.group_keys if provider is not None else ())):
        patch.remove((*TEMPLATE_ANNOTATIONS, key))
        patch.remove((*TEMPLATE_LABELS, key))


def close_gate(patch: Patch) -> None:
    """Holds the Job until the controllers have made its group."""
    patch.set(SUSPEND, value=True)
    patch.set((*ANNOTATIONS, GATE), GATE_POD_GROUP)


def _decide(job: Job, namespace: str, config: AdmissionConfig) -> _Decision:
    if not config.gang_jobs:
        return _Decision(Plain("gang Jobs are switched off in the configuration of Tutti"))
    stated, meant = _read_field(job)
    defaulted = Defaulted({})
    if job.spec.scheduling is None:
        defaulted = apply_defaults(meant, config.namespace(namespace), config.defaults, _KIND)
    meant = with_annotations(meant, defaulted.annotations)
    provider, warnings = _provider_of(meant, config, namespace)
    dropped, objections = within_limits(meant, provider, {**stated, **defaulted.annotations})
    intent = job_intent(_without(meant, dropped))
    warnings = (*defaulted.warnings, *warnings, *objections)
    if isinstance(intent, Plain):
        # A Job that stays out by a default says so, or the controllers would wonder why nobody took it in.
        return _Decision(intent, annotations=defaulted.annotations, warnings=warnings)
    if provider is None:
        name = job.spec.template.spec.scheduler_name
        return _Decision(Plain(f"its pod template names the scheduler {name}, which Tutti does not use"))
    if key := own_group(job, provider):
        return _Decision(Plain(f"its pod template names a group of its own ({key})"))
    check_preemption_class(meant.metadata, job.spec.template.spec.priority_class_name, config.classes())
    # Where the field alone counts, its translation would only be in the way.
    integration = _integration(provider, config, intent)
    translated = {} if integration == "kubernetes" else stated
    said = {**translated, **defaulted.annotations, **dropped}
    warnings = (*warnings, *_unheld(job, provider), *_lost_to_field(integration, intent))
    return _Decision(provider, intent, said, warnings)


def _without(job: Job, keys: Mapping[str, None]) -> Job:
    kept = {key: value for key, value in (job.metadata.annotations or {}).items() if key not in keys}
    return msgspec.structs.replace(job, metadata=msgspec.structs.replace(job.metadata, annotations=kept))


def _integration(
    provider: Provider, config: AdmissionConfig, asks_for: GroupIntent | Delegated | None
) -> JobIntegration:
    """Who makes the group: ours is needed by a scheduler that does not read the cluster's own, and by what the field cannot say."""
    if not provider.capabilities.reads_pod_groups:
        return "tutti"
    return "tutti" if config.integration == "auto" and _exceeds_field(asks_for) else config.integration


def _exceeds_field(asks_for: GroupIntent | Delegated | None) -> bool:
    return isinstance(asks_for, GroupIntent) and bool(topology_annotations(asks_for.topology))


def _lost_to_field(integration: JobIntegration, asks_for: GroupIntent | Delegated) -> tuple[str, ...]:
    if integration != "kubernetes" or not _exceeds_field(asks_for):
        return ()
    note = "where the cluster's own Job controller makes the group, only one required level is observed"
    return (f"{annotation_path(TOPOLOGY)}: {note}",)


def _unheld(job: Job, provider: Provider) -> tuple[str, ...]:
    if provider.capabilities.needs_group or job.spec.suspend:
        return ()
    return (f"provider {provider.name} does not hold this Job (it was not suspended): its pods may start one by one",)


def _read_field(job: Job) -> tuple[dict[str, str | None], Job]:
    """What `spec.scheduling` says as annotations, and the Job as if its user had written those."""
    if job.spec.scheduling is None or job.metadata.annotation(POLICY) == "none":
        return {}, job
    # Of a Job that was here before (re-invocation), the field is known to say what its annotations say.
    stated = {} if is_managed_template(job) else annotations_of(job.spec.scheduling)
    merged = {**(job.metadata.annotations or {}), **stated}
    kept = {key: value for key, value in merged.items() if value is not None}
    spec = msgspec.structs.replace(job.spec, scheduling=None)
    return stated, msgspec.structs.replace(
        job, spec=spec, metadata=msgspec.structs.replace(job.metadata, annotations=kept)
    )


def _provider_of(job: Job, config: AdmissionConfig, namespace: str) -> tuple[Provider | None, tuple[str, ...]]:
    scheduler_name, annotations = job.spec.template.spec.scheduler_name, job.metadata.annotations or {}
    default = config.namespace(namespace).get(PROVIDER)
    if default is None or PROVIDER in annotations or scheduler_name not in UNSTATED:
        return choose_provider(config.providers, annotations=annotations, scheduler_name=scheduler_name), ()
    try:
        return choose_provider(config.providers, annotations={PROVIDER: default}, scheduler_name=scheduler_name), ()
    except InvalidGangSettings as error:
        chosen = choose_provider(config.providers, annotations=annotations, scheduler_name=scheduler_name)
        return chosen, (f"a default of the namespace was left out: {error}",)


def _admit(patch: Patch, job: Job, decision: _Decision, config: AdmissionConfig) -> None:
    template, provider = job.spec.template.spec, decision.provider
    if isinstance(provider, Plain):
        return
    integration = _integration(provider, config, decision.asks_for)
    if template.scheduler_name in UNSTATED and provider.scheduler_name:
        patch.set(TEMPLATE_SCHEDULER, provider.scheduler_name)
    if integration == "tutti":
        patch.remove(SCHEDULING)
    elif job.spec.scheduling is None and isinstance(decision.asks_for, GroupIntent):
        patch.set(SCHEDULING, field_of(job, decision.asks_for))
    if integration == "kubernetes":
        _leave_plain(patch)
    else:
        patch.set((*TEMPLATE_LABELS, MANAGED), provider.name)
        if not job.spec.suspend:
            close_gate(patch)
        elif job.metadata.annotation(GATE) != GATE_POD_GROUP:
            patch.remove((*ANNOTATIONS, GATE))
    if config.add_pod_failure_policy and template.restart_policy == "Never" and job.spec.pod_failure_policy is None:
        patch.set(FAILURE_POLICY, IGNORE_DISRUPTIONS)
        # The server has defaulted this field for a Job without a failure policy and refuses that value with one.
        patch.set(REPLACEMENT_POLICY, "Failed")


def _leave_plain(patch: Patch) -> None:
    patch.remove((*TEMPLATE_LABELS, MANAGED))
    if patch.get(*ANNOTATIONS, GATE) is not None:
        patch.remove((*ANNOTATIONS, GATE))
        patch.set(SUSPEND, value=False)


def _ignored_annotation(job: Job, plain: Plain) -> tuple[str, ...]:
    if job.metadata.annotation(POLICY) in (None, "none"):
        return ()
    return (f"the annotation {POLICY} has no effect on this Job: {plain.reason}",)

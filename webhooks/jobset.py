"""Defaulter for CREATE and UPDATE of a JobSet: the pods of its gangs are marked and given their scheduler.

Nothing is held back here: a JobSet resumes whatever Job of its somebody else suspends. Its pods are made, and the scheduler holds
those that are marked until their group exists and is whole. Each Job learns the name of its group when it is created
(`webhooks.job.child`).

The templates of a JobSet cannot change, so one that was created while admission was down stays as it is, and what was added is put
back when its user's manifest is applied again.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from api.constants import (
    DISRUPTION_MODE,
    MANAGED,
    POD_GROUP,
    POD_GROUP_UID,
    POLICY,
    SCOPE,
    TOPOLOGY,
)
from api.errors import InvalidGangSettings
from api.gang import GroupIntent, Plain
from api.jobset import JobSet, ReplicatedJob
from api.parents.jobset import JobSetIntent, is_marked, job_set_intent, leaders_wait_for, scheduler_of
from providers.base import Provider
from providers.selection import UNSTATED, choose_provider
from webhooks.admission.config import AdmissionConfig
from webhooks.admission.gang_defaults import Annotations, Defaulted, DefaultedKind, apply_defaults, with_annotations
from webhooks.admission.patch import Patch
from webhooks.admission.preemption_priority import check_preemption_class
from webhooks.admission.review import Request, Response, decode_object, decode_old_object, denied
from webhooks.admission.without_effect import warnings_without_effect
from webhooks.job.defaulter import IGNORE_DISRUPTIONS

ANNOTATIONS: Final = ("metadata", "annotations")
PARTS: Final = ("spec", "replicatedJobs")

Object = dict[str, Any]


def _group_of(jobset: JobSet) -> GroupIntent | Plain:
    intent = job_set_intent(jobset)
    return intent.units[0].intent if isinstance(intent, JobSetIntent) else intent


_KIND: Final = DefaultedKind(
    _group_of, lambda jobset: isinstance(job_set_intent(jobset), JobSetIntent), (POLICY, DISRUPTION_MODE, TOPOLOGY)
)


@dataclass(frozen=True, slots=True)
class _Decision:
    """What becomes of a JobSet: the groups it gets and by whom, or why none; what to add or say."""

    intent: JobSetIntent | Plain
    provider: Provider | None = None
    annotations: Annotations = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def default_job_set(request: Request, config: AdmissionConfig) -> Response:
    """Takes a new JobSet in if it has gangs; refuses settings that cannot be used.

    Raises:
        Malformed: the request holds no JobSet.
    """
    document, jobset = decode_object(request, JobSet)
    patch = Patch(document)
    try:
        decision = _decide(jobset, request.namespace or jobset.metadata.namespace, config)
    except InvalidGangSettings as error:
        return denied(str(error))
    for key, value in decision.annotations.items():
        patch.set((*ANNOTATIONS, key), value)
    parts = [_without_marks(part) for part in document.get("spec", {}).get("replicatedJobs") or ()]
    if isinstance(decision.intent, JobSetIntent) and decision.provider is not None:
        _mark(parts, jobset, decision.intent, decision.provider, config)
        return _response(patch, parts, (*decision.warnings, *_warnings_for(jobset)))
    return _response(patch, parts, (*decision.warnings, *_ignored(jobset, decision.intent), *_waits(jobset)))


def default_updated_job_set(request: Request) -> Response:
    """Puts back what a manifest that is applied again dropped; never refuses.

    Raises:
        Malformed: the request holds no two JobSets.
    """
    document, jobset = decode_object(request, JobSet)
    former = decode_old_object(request, JobSet)
    marked = {part.name: part for part in former.parts if is_marked(part)}
    patch = Patch(document)
    parts: list[Object] = copy.deepcopy(document.get("spec", {}).get("replicatedJobs") or [])
    for part in parts:
        if (old := marked.get(str(part.get("name")))) is not None:
            _put_back(part, old)
    changed = former.metadata.annotation(SCOPE) != jobset.metadata.annotation(SCOPE)
    told = f"the annotation {SCOPE} has an effect on new JobSets only: delete this one and create it again"
    return _response(patch, parts, (told,) if changed else ())


def _response(patch: Patch, parts: list[Object], warnings: tuple[str, ...]) -> Response:
    if parts:
        patch.set(PARTS, parts)
    return Response(patch=patch.operations, warnings=warnings)


# --- what becomes of it ------------------------------------------------------------------------------------------------------


def _decide(jobset: JobSet, namespace: str, config: AdmissionConfig) -> _Decision:
    if not config.gang_job_sets:
        return _Decision(Plain("gang JobSets are switched off in the configuration of Tutti"))
    scoped = _with_scope(jobset, config.namespace(namespace), config.defaults)
    meant = with_annotations(jobset, scoped.annotations)
    defaulted = apply_defaults(meant, config.namespace(namespace), config.defaults, _KIND)
    meant = with_annotations(meant, defaulted.annotations)
    added, warnings = {**scoped.annotations, **defaulted.annotations}, (*scoped.warnings, *defaulted.warnings)
    intent = job_set_intent(meant)
    if isinstance(intent, Plain):
        return _Decision(intent, annotations=added, warnings=warnings)
    chosen = [part for part in meant.parts if part.name in intent.parts]
    provider = _provider_of(meant, chosen, config)
    if isinstance(provider, Plain):
        return _Decision(provider, annotations=added, warnings=warnings)
    for part in chosen:
        check_preemption_class(meant.metadata, part.template.spec.template.spec.priority_class_name, config.classes())
    return _Decision(intent, provider, added, warnings)


def _with_scope(jobset: JobSet, namespace: Annotations, cluster: Annotations) -> Defaulted:
    """The scope that the namespace or the cluster says, where it can be had; its own is checked with everything else."""
    warnings: list[str] = []
    if jobset.metadata.annotation(SCOPE) is not None or jobset.metadata.annotation(POLICY) == "none":
        return Defaulted({})
    for source, values in (("the namespace", namespace), ("the configuration", cluster)):
        if (value := values.get(SCOPE)) is None:
            continue
        try:
            job_set_intent(with_annotations(jobset, {SCOPE: value}))
        except InvalidGangSettings as error:
            warnings.append(f"a default of {source} was left out: {error}")
        else:
            return Defaulted({SCOPE: value}, tuple(warnings))
    return Defaulted({}, tuple(warnings))


def _provider_of(jobset: JobSet, parts: list[ReplicatedJob], config: AdmissionConfig) -> Provider | Plain:
    found: Provider | None = None
    for part in parts:
        name = scheduler_of(part)
        provider = choose_provider(config.providers, annotations=jobset.metadata.annotations, scheduler_name=name)
        if provider is None:
            return Plain(f"its pods name the scheduler {name}, which Tutti does not use")
        if not provider.capabilities.holds_unsuspended:
            return Plain(f"provider {provider.name} cannot hold the pods of a JobSet back; embedded can")
        found = provider
    return found if found is not None else Plain("it has no pods")


def _ignored(jobset: JobSet, intent: JobSetIntent | Plain) -> tuple[str, ...]:
    asks = jobset.metadata.annotation(SCOPE) is not None or jobset.metadata.annotation(POLICY) == "gang"
    if not asks or not isinstance(intent, Plain) or jobset.metadata.annotation(POLICY) == "none":
        return ()
    return (f"the pods of this JobSet are placed one by one: {intent.reason}",)


def _waits(jobset: JobSet) -> tuple[str, ...]:
    warning = leaders_wait_for(jobset)
    return () if warning is None else (warning,)


def _warnings_for(jobset: JobSet) -> tuple[str, ...]:
    return warnings_without_effect(jobset.metadata, "JobSet", "its size")


# --- its templates -----------------------------------------------------------------------------------------------------------


def _mark(
    parts: list[Object], jobset: JobSet, intent: JobSetIntent, provider: Provider, config: AdmissionConfig
) -> None:
    named = {part.name: scheduler_of(part) for part in jobset.parts}
    for part in parts:
        name = str(part.get("name"))
        if name not in intent.parts:
            continue
        job = _at(part, "template")
        _at(job, "metadata", "annotations")[SCOPE] = intent.scope
        pods = _at(job, "spec", "template")
        _at(pods, "metadata", "labels")[MANAGED] = provider.name
        spec = _at(pods, "spec")
        if not named[name]:
            spec["schedulerName"] = next(filter(None, named.values()), "") or provider.scheduler_name
        if config.add_pod_failure_policy and spec.get("restartPolicy") == "Never":
            _at(job, "spec").setdefault("podFailurePolicy", copy.deepcopy(IGNORE_DISRUPTIONS))


def _without_marks(part: Object) -> Object:
    """A replicated Job without what a copied manifest says of the groups of another JobSet."""
    part = copy.deepcopy(part)
    job = part.get("template") or {}
    pods = (job.get("spec") or {}).get("template") or {}
    metadata: Mapping[str, Any] = pods.get("metadata") or {}
    if MANAGED in (metadata.get("labels") or {}):
        del metadata["labels"][MANAGED]
        for key in (POD_GROUP, POD_GROUP_UID):
            (metadata.get("annotations") or {}).pop(key, None)
    ((job.get("metadata") or {}).get("annotations") or {}).pop(SCOPE, None)
    return part


def _put_back(part: Object, former: ReplicatedJob) -> None:
    job = _at(part, "template")
    _at(job, "metadata", "annotations")[SCOPE] = former.template.metadata.annotation(SCOPE)
    pods = _at(job, "spec", "template")
    template = former.template.spec.template
    _at(pods, "metadata", "labels")[MANAGED] = template.metadata.label(MANAGED)
    spec = _at(pods, "spec")
    if (spec.get("schedulerName") or "") in UNSTATED and template.spec.scheduler_name not in UNSTATED:
        spec["schedulerName"] = template.spec.scheduler_name
    if former.template.spec.pod_failure_policy == IGNORE_DISRUPTIONS:
        _at(job, "spec").setdefault("podFailurePolicy", copy.deepcopy(IGNORE_DISRUPTIONS))


def _at(value: Object, *path: str) -> Object:
    """The object at a path, made where it is missing."""
    for part in path:
        if not isinstance(value.get(part), dict):
            value[part] = {}
        value = value[part]
    return value

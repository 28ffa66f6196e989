"""Defaulter for CREATE and UPDATE of a LeaderWorkerSet: the pods of its replicas are marked and given their scheduler.

Nothing is held back here: the leader names the group of its replica when it is created (`webhooks.pod`), and the
scheduler holds it until that group exists.

The pod templates decide the revision. A change of ours to a set that runs would roll out all its replicas, so a set that was
not taken in at its creation is taken in only by an update that starts a new revision anyway; and what admission added before is
put back when its user's manifest is applied again, for the same reason.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final

import msgspec

from api.constants import (
    DISRUPTION_MODE,
    EMBEDDED_PROVIDER,
    INCARNATION,
    LEADER_FIRST,
    MANAGED,
    POLICY,
    PREEMPTION_PRIORITY_CLASS,
    PROVIDER,
    SCOPE,
    TOPOLOGY,
)
from api.errors import InvalidGangSettings, InvalidQuantity
from api.gang import GroupIntent, Plain, settings_of
from api.lws import LeaderWorkerSet
from api.names import MAX_LABEL
from api.replica import SCOPE_REPLICA, has_gangs, is_managed_set, replica_intent, starts_as_a_set
from api.revision import RevisionTemplates
from providers.base import PodMetadata, Provider
from providers.gang import Gang
from providers.limits import unobserved
from providers.replicas import TRUE, own_group_key, roles_of, template_metadata, why_not
from providers.selection import UNSTATED, Providers, choose_provider
from webhooks.admission.config import AdmissionConfig
from webhooks.admission.gang_defaults import Defaulted, DefaultedKind, apply_defaults, with_annotations
from webhooks.admission.patch import Patch, set_pod_metadata
from webhooks.admission.preemption_priority import check_preemption_class
from webhooks.admission.review import ALLOWED, Request, Response, decode_object, decode_old_object, denied
from webhooks.admission.without_effect import warnings_without_effect

ANNOTATIONS: Final = ("metadata", "annotations")
LEADER_WORKER: Final = ("spec", "leaderWorkerTemplate")
TEMPLATES: Final = ("leaderTemplate", "workerTemplate")
NETWORK: Final = ("spec", "networkConfig")
_KIND: Final = DefaultedKind(replica_intent, has_gangs, (POLICY, DISRUPTION_MODE, TOPOLOGY))
_SCOPE: Final = f"metadata.annotations[{SCOPE}]"
_REVISION_HASH: Final = 10
"""Length of the hash that a StatefulSet adds to its name in a label of its pods."""


@dataclass(frozen=True, slots=True)
class _Decision:
    """What becomes of a set: its provider, or why none, and what to add or say."""

    provider: Provider | Plain
    annotations: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def default_leader_worker_set(request: Request, config: AdmissionConfig) -> Response:
    """Takes the set in if its replicas are gangs; refuses settings that cannot be used.

    Raises:
        Malformed: the request holds no LeaderWorkerSet.
    """
    document, lws = decode_object(request, LeaderWorkerSet)
    former = decode_old_object(request, LeaderWorkerSet) if request.operation == "UPDATE" else None
    if former is not None and not is_managed_set(former) and not _is_new_revision(request, document):
        return ALLOWED
    patch = Patch(document)
    try:
        decision = _decide(lws, former, request.namespace or lws.metadata.namespace, config)
        warnings = _carry_out(decision, patch, lws, config.providers)
    except InvalidGangSettings as error:
        return denied(str(error))
    return Response(patch=patch.operations, warnings=warnings)


def _carry_out(decision: _Decision, patch: Patch, lws: LeaderWorkerSet, providers: Providers) -> tuple[str, ...]:
    for key, value in decision.annotations.items():
        patch.set((*ANNOTATIONS, key), value)
    if isinstance(decision.provider, Plain):
        _leave_plain(patch, lws, providers)
        return (*decision.warnings, *_ignored_annotation(lws, decision.provider))
    _admit(patch, lws, decision.provider)
    return (*decision.warnings, *_warnings_for(lws))


def _is_new_revision(request: Request, document: dict[str, Any]) -> bool:
    """Whether the update changes what the LeaderWorkerSet controller makes revisions of."""
    new, old = Patch(document), Patch(decode_old_object(request, dict))
    return any(new.get(*path) != old.get(*path) for path in (LEADER_WORKER, NETWORK))


def _decide(lws: LeaderWorkerSet, former: LeaderWorkerSet | None, namespace: str, config: AdmissionConfig) -> _Decision:
    was_managed = former is not None and is_managed_set(former)
    if not config.gang_sets and not was_managed:
        return _Decision(Plain("gang LeaderWorkerSets are switched off in the configuration of Tutti"))
    defaulted = Defaulted({})
    if former is None:
        defaulted = apply_defaults(lws, config.namespace(namespace), config.defaults, _KIND)
    meant = with_annotations(lws, defaulted.annotations)
    intent = replica_intent(meant)
    if isinstance(intent, Plain):
        return _Decision(intent, defaulted.annotations, defaulted.warnings)
    provider = _provider_of(meant, former if was_managed else None, config, namespace)
    if provider is None:
        name = _scheduler_name(lws)
        return _Decision(Plain(f"its pod templates name the scheduler {name}, which Tutti does not use"))
    if reason := _why_plain(meant, provider, intent):
        return _Decision(Plain(reason), defaulted.annotations, defaulted.warnings)
    if starts_as_a_set(meant) and provider.name != EMBEDDED_PROVIDER:
        raise InvalidGangSettings(
            f"replicas start together with the provider {EMBEDDED_PROVIDER} only, and this set is for {provider.name}",
            field=_SCOPE,
        )
    if was_managed and former is not None and _scope(former) != _scope(lws):
        raise InvalidGangSettings(
            "it cannot be changed, for groups that exist keep what they were made for", field=_SCOPE
        )
    if former is None or _preemption_class(former) != _preemption_class(lws):
        # One that was allowed when it was said must not keep its set from being changed later.
        check_preemption_class(lws.metadata, lws.leader_template.spec.priority_class_name, config.classes())
    unmet = tuple(f"{each.key}: {each.message}" for each in unobserved(provider, meant.metadata))
    return _Decision(provider, defaulted.annotations, (*defaulted.warnings, *unmet))


def _preemption_class(lws: LeaderWorkerSet) -> str | None:
    return lws.metadata.annotation(PREEMPTION_PRIORITY_CLASS)


def _scope(lws: LeaderWorkerSet) -> str:
    return lws.metadata.annotation(SCOPE) or SCOPE_REPLICA


def _why_plain(lws: LeaderWorkerSet, provider: Provider, intent: GroupIntent) -> str | None:
    if not is_managed_set(lws) and (key := own_group_key(provider, lws.templates)):
        return f"a pod template of it names a group of its own ({key}), and each replica needs another one"
    return why_not(provider, intent, leads_alone=lws.waits_for_leader or lws.exclusive_topology is not None)


def _provider_of(
    lws: LeaderWorkerSet, former: LeaderWorkerSet | None, config: AdmissionConfig, namespace: str
) -> Provider | None:
    annotations, scheduler_name = lws.metadata.annotations or {}, _scheduler_name(lws)
    if PROVIDER not in annotations and scheduler_name in UNSTATED:
        # A manifest that is applied again says nothing of what was decided at the first time.
        kept = former.leader_template.metadata.label(MANAGED) if former is not None else None
        known = config.providers.named(kept) if kept else None
        if known is not None:
            return known
        default = config.namespace(namespace).get(PROVIDER)
        if default is not None and config.providers.named(default) is not None:
            return config.providers.named(default)
    return choose_provider(config.providers, annotations=annotations, scheduler_name=scheduler_name)


def _scheduler_name(lws: LeaderWorkerSet) -> str:
    """The one that is stated in some template; empty when none is."""
    names = (template.spec.scheduler_name for template in lws.templates)
    return next((name for name in names if name not in UNSTATED), "")


def _admit(patch: Patch, lws: LeaderWorkerSet, provider: Provider) -> None:
    told = PodMetadata() if provider.capabilities.reads_pod_groups else _told(patch, lws, provider)
    for name in TEMPLATES:
        path = (*LEADER_WORKER, name)
        if patch.get(*path) is None:
            continue
        patch.set((*path, "metadata", "labels", MANAGED), provider.name)
        patch.remove((*path, "metadata", "annotations", INCARNATION))
        if LEADER_FIRST not in told.annotations:
            patch.remove((*path, "metadata", "annotations", LEADER_FIRST))
        set_pod_metadata(patch, (*path, "metadata"), told)
        scheduler_name = _scheduler_name(lws) or provider.scheduler_name
        if scheduler_name and (patch.get(*path, "spec", "schedulerName") or "") in UNSTATED:
            patch.set((*path, "spec", "schedulerName"), scheduler_name)


def _told(patch: Patch, lws: LeaderWorkerSet, provider: Provider) -> PodMetadata:
    """What the pods of all replicas have to know of a gang scheduler that is not ours, and of when their leader starts.

    Raises:
        InvalidGangSettings: a template asks for something that is no sane quantity.
    """
    template = lws.leader_template.metadata
    try:
        found = msgspec.json.decode(msgspec.json.encode(patch.get(*LEADER_WORKER)), type=RevisionTemplates)
        roles = roles_of(found, max(lws.size, 1))
    except (InvalidQuantity, msgspec.ValidationError) as error:
        raise InvalidGangSettings(str(error), field=".".join(LEADER_WORKER)) from error
    gang = Gang(
        name=lws.metadata.name,
        namespace=lws.metadata.namespace,
        min_count=max(lws.size, 1),
        roles=roles,
        labels={**(template.labels or {}), **(lws.metadata.labels or {})},
        annotations={**(template.annotations or {}), **(lws.metadata.annotations or {})},
        timeout_seconds=settings_of(lws.metadata).timeout_seconds,
    )
    first = PodMetadata(annotations={LEADER_FIRST: TRUE} if lws.waits_for_leader else {})
    return first.over(template_metadata(provider, gang))


def _leave_plain(patch: Patch, lws: LeaderWorkerSet, providers: Providers) -> None:
    former = providers.named(lws.leader_template.metadata.label(MANAGED) or "")
    ours = (LEADER_FIRST, *(former.template_keys if former is not None else ()))
    for name in TEMPLATES:
        patch.remove((*LEADER_WORKER, name, "metadata", "labels", MANAGED))
        for kind, key in product(("labels", "annotations"), ours):
            patch.remove((*LEADER_WORKER, name, "metadata", kind, key))


def _ignored_annotation(lws: LeaderWorkerSet, plain: Plain) -> tuple[str, ...]:
    policy = lws.metadata.annotation(POLICY)
    if policy == "none" or (policy is None and not has_gangs(lws)):
        return ()
    return (f"the pods of this LeaderWorkerSet are placed one by one: {plain.reason}",)


def _warnings_for(lws: LeaderWorkerSet) -> tuple[str, ...]:
    found = [*warnings_without_effect(lws.metadata, "LeaderWorkerSet", "the size of a replica")]
    last = max((lws.spec.replicas or 1) - 1, 0)
    longest = MAX_LABEL - _REVISION_HASH - 1 - len(f"-{last}")
    if len(lws.metadata.name) > longest:
        found.append(
            f"a name of {len(lws.metadata.name)} characters is too long for the StatefulSets of its workers, whose pods carry "
            f"it in a label: {longest} characters work"
        )
    if TOPOLOGY in (lws.metadata.annotations or {}) and lws.exclusive_topology is not None:
        found.append(f"the annotation {TOPOLOGY} adds nothing: a replica has one value of that label for itself anyway")
    return tuple(found)

"""What is to be done about one LeaderWorkerSet, from the facts alone. Pure.

The rules, in the order of the code:

- A set that is being deleted needs nothing; its groups belong to its leaders and go with them.
- A set that admission did not take in stays plain; if its replicas would have been gangs, its user gets one event.
- A managed set has one Workload, at zero replicas too; its minimum follows the size.
- Each leader that names a group gets it, whatever its index and revision; a group that is gone is made again under the name
  that the leader says. A leader that was created while admission was down gets a name first.
- Workers whose StatefulSet was created while admission was down get the name one by one.

Nothing here changes, adopts or deletes what others made, and a set at rest plans no steps.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import msgspec

from api.compile import made_for
from api.compile_replica import Replica, workload_for_set
from api.constants import (
    DESIRED_COUNT,
    EVENT_INVALID_GANG_SETTINGS,
    EVENT_NAME_TAKEN,
    EVENT_NOT_ADMITTED_AS_GANG,
    EVENT_UNSUPPORTED_WORKLOAD_STRUCTURE,
    LWS_GROUP_INDEX,
    LWS_GROUP_KEY,
    LWS_NAME,
    LWS_REVISION,
    MANAGED,
    POLICY,
)
from api.errors import InvalidGangSettings, InvalidQuantity
from api.gang import GroupIntent, Plain
from api.meta import controller_of
from api.names import composite_name
from api.podgroup import Workload
from api.replica import group_index, group_name_of, is_managed_set, replica_intent
from api.revision import roles_of, write_roles
from api.waiting import carried
from controllers.gangs.common_steps import (
    NAME_TAKEN_SECONDS,
    CreateWorkload,
    Refusal,
    Rules,
    SetWorkloadMinimum,
    Warn,
    condition_steps,
)
from controllers.leaderworkersets.composite import composite_steps, whole_set_obstacle
from controllers.leaderworkersets.group_objects import group_object_step, lacks_revision, missing_kind_note, provider_of
from controllers.leaderworkersets.observed import (
    ObservedReplica,
    ObservedSet,
    ReplicaPod,
    group_named_by,
    is_managed_pod,
    leads_alone,
    needs_revision,
)
from controllers.leaderworkersets.steps import (
    NOTHING,
    AnnotateReplicaPods,
    ConfirmSet,
    CreateGroups,
    LowerMinimumToLeader,
    SetPlan,
    Step,
)
from controllers.provider_groups import MISSING_SECONDS
from providers.base import MinMemberRule, StartupPolicy
from providers.replicas import why_not
from providers.selection import choose_provider

NO_REVISION_SECONDS: Final = 1.0
UNASSOCIATED_SECONDS: Final = 5.0
"""How soon to look again for workers whose StatefulSet does not name their group."""

_LABELS: Final = (LWS_NAME, LWS_GROUP_INDEX, LWS_GROUP_KEY, LWS_REVISION)


def plan(seen: ObservedSet, rules: Rules) -> SetPlan:
    """The steps that bring one set nearer to what it should be; none when it is there.

    Args:
        seen: the facts about the set.
        rules: what else the plan depends on.
    """
    lws = seen.lws
    if lws.metadata.is_terminating:
        return NOTHING
    replicas = tuple(each for each in seen.replicas if is_managed_pod(each.leader))
    is_managed = bool(replicas) or is_managed_set(lws)
    planned = _plan_managed(seen, replicas, rules) if is_managed else _plan_unmanaged(seen, rules)
    conditions = condition_steps(lws.status.conditions or (), missing_kind_note(seen.replicas, rules.providers))
    return replace(planned, steps=(*planned.steps, *conditions)) if conditions else planned


def _plan_managed(seen: ObservedSet, replicas: tuple[ObservedReplica, ...], rules: Rules) -> SetPlan:
    desired = _desired_group(seen)
    workload = seen.workload
    if isinstance(desired, Refusal) and workload is None:
        return SetPlan((Warn(desired.reason or EVENT_NOT_ADMITTED_AS_GANG, desired.note, action="Admit"),))
    if workload is None and seen.workloads:
        return _unclear(seen)
    if workload is None and seen.name_taken:
        note = f"waits for a name: {seen.name_taken}"
        return SetPlan((Warn(EVENT_NAME_TAKEN, note, action="CreateGroup"),), requeue_after_seconds=NAME_TAKEN_SECONDS)
    steps: list[Step] = []
    if workload is None and isinstance(desired, GroupIntent):
        steps += [ConfirmSet(), CreateWorkload(_workload(seen, desired, rules))]
    elif workload is not None and isinstance(desired, GroupIntent):
        steps += _minimum(seen, workload, desired, rules)
    parent = ""
    if isinstance(desired, GroupIntent) and (why_not_yet := whole_set_obstacle(seen, rules)) is not None:
        if why_not_yet:
            return SetPlan((Warn(EVENT_INVALID_GANG_SETTINGS, why_not_yet, action="CreateGroup"),))
        parent = composite_name(seen.lws.metadata.name, seen.lws.metadata.uid)
        steps += composite_steps(seen, workload, desired)
    return _with_replicas(seen, replicas, steps, rules, parent)


# --- the set -----------------------------------------------------------------------------------------------------------------


def _plan_unmanaged(seen: ObservedSet, rules: Rules) -> SetPlan:
    if not rules.makes_gangs:
        return NOTHING
    desired = _desired_group(seen)
    if isinstance(desired, Refusal):
        return SetPlan((Warn(desired.reason, desired.note, action="Admit"),)) if desired.reason else NOTHING
    lws = seen.lws
    try:
        scheduler_name = lws.leader_template.spec.scheduler_name
        provider = choose_provider(rules.providers, annotations=lws.metadata.annotations, scheduler_name=scheduler_name)
    except InvalidGangSettings as error:
        return SetPlan((Warn(EVENT_INVALID_GANG_SETTINGS, str(error), action="Admit"),))
    if provider is None:
        return NOTHING
    if reason := why_not(provider, desired, leads_alone=leads_alone(lws, lws.metadata)):
        note = f"its pods are placed one by one: {reason}"
        return SetPlan((Warn(EVENT_NOT_ADMITTED_AS_GANG, note, action="Admit"),))
    note = (
        "its pods are placed one by one: Tutti did not see its creation; change its pod templates or create it again to have "
        "the pods of a replica start together"
    )
    return SetPlan((Warn(EVENT_NOT_ADMITTED_AS_GANG, note, action="Admit"),))


def _desired_group(seen: ObservedSet) -> GroupIntent | Refusal:
    try:
        desired = replica_intent(seen.lws)
    except InvalidGangSettings as error:
        return Refusal(str(error), EVENT_INVALID_GANG_SETTINGS)
    if not isinstance(desired, Plain):
        return desired
    is_wanted = seen.lws.size > 1 and seen.lws.metadata.annotation(POLICY) != "none"
    return Refusal(f"its pods are placed one by one: {desired.reason}", EVENT_NOT_ADMITTED_AS_GANG if is_wanted else "")


def _unclear(seen: ObservedSet) -> SetPlan:
    names = ", ".join(sorted(each.metadata.name for each in seen.workloads))
    note = (
        f"its replicas wait: of the Workloads that refer to it ({names}) there must be one, with one pod group template"
    )
    return SetPlan((Warn(EVENT_UNSUPPORTED_WORKLOAD_STRUCTURE, note, action="CreateGroup"),))


def _workload(seen: ObservedSet, desired: GroupIntent, rules: Rules) -> dict[str, object]:
    return workload_for_set(seen.lws, _with_minimum(seen, desired, rules), api_version=rules.group_api_version)


def _minimum(seen: ObservedSet, workload: Workload, desired: GroupIntent, rules: Rules) -> list[Step]:
    """The minimum in our Workload is that of the replicas to come."""
    owner = controller_of(workload.metadata)
    gang = workload.spec.pod_group_templates[0].scheduling_policy.gang
    if owner is None or owner.uid != seen.lws.metadata.uid or gang is None or desired.policy != "gang":
        return []
    wanted = _with_minimum(seen, desired, rules).min_count
    return [SetWorkloadMinimum(workload, wanted)] if gang.min_count != wanted else []


def _with_minimum(seen: ObservedSet, desired: GroupIntent, rules: Rules) -> GroupIntent:
    label = seen.lws.leader_template.metadata.label(MANAGED) or ""
    alone = leads_alone(seen.lws, seen.lws.metadata)
    return msgspec.structs.replace(
        desired, min_count=_members_at_once(label, desired.min_count, rules, leads_alone=alone)
    )


def _members_at_once(provider_name: str, size: int, rules: Rules, *, leads_alone: bool) -> int:
    provider = rules.providers.named(provider_name)
    policy = StartupPolicy.LEADER_READY if leads_alone else StartupPolicy.LEADER_CREATED
    rule = MinMemberRule.WHOLE_GROUP if provider is None else provider.min_member_rule(policy)
    if rule is MinMemberRule.LEADER_APART and provider is not None and not provider.capabilities.reads_pod_groups:
        return max(size - 1, 1)
    return size if rule is MinMemberRule.WHOLE_GROUP else 1


# --- its replicas ------------------------------------------------------------------------------------------------------------


def _with_replicas(
    seen: ObservedSet, replicas: tuple[ObservedReplica, ...], steps: list[Step], rules: Rules, parent: str
) -> SetPlan:
    lives = [each for each in replicas if not each.leader.is_over]
    requeue_after: list[float] = []
    unnamed = [each for each in lives if _needs_association(each)]
    late = tuple((each.leader, _name_for(each)) for each in unnamed if _accepts_late_association(each, rules))
    if late:
        steps.append(AnnotateReplicaPods(late))
    steps += [_not_admitted(each) for each in unnamed if not _accepts_late_association(each, rules)]
    made: list[Replica] = []
    for each in lives:
        if group_named_by(each.leader) is None:
            continue
        if each.name_taken:
            note = f"replica {_index(each)} waits for a name: {each.name_taken}"
            steps.append(Warn(EVENT_NAME_TAKEN, note, action="CreatePodGroup"))
            requeue_after.append(NAME_TAKEN_SECONDS)
        elif needs_revision(seen.lws, each) and each.revision is None:
            requeue_after.append(NO_REVISION_SECONDS)
        elif each.group is None:
            made += _replica(seen, each, steps, rules, parent)
        elif needs_revision(seen.lws, each) and each.revision is not None and _accepts_late_association(each, rules):
            steps.append(LowerMinimumToLeader(each.group, _roles(seen, each)))
    if made:
        steps.append(CreateGroups(tuple(made), seen.workload))
    steps += _group_object_steps(seen, lives, requeue_after, rules)
    reached = [each for each in lives if _accepts_late_association(each, rules)]
    unassociated = tuple(
        (pod, name) for each in reached for pod in each.unassociated if (name := group_named_by(each.leader))
    )
    if unassociated:
        steps.append(AnnotateReplicaPods(unassociated))
    if any(_may_have_unassociated(each) for each in reached):
        requeue_after.append(UNASSOCIATED_SECONDS)
    return SetPlan(tuple(steps), requeue_after_seconds=min(requeue_after, default=None))


def _group_object_steps(
    seen: ObservedSet, lives: list[ObservedReplica], requeue_after: list[float], rules: Rules
) -> Iterator[Step]:
    """The group objects of gang schedulers that bring their own kind."""
    for each in lives:
        if group_named_by(each.leader) is None or each.name_taken:
            continue
        if each.kind_missing:
            requeue_after.append(MISSING_SECONDS)
        elif lacks_revision(each, rules.providers):
            requeue_after.append(NO_REVISION_SECONDS)
            continue
        step = group_object_step(seen.lws, each, rules.providers)
        if step is not None:
            yield step


def _accepts_late_association(replica: ObservedReplica, rules: Rules) -> bool:
    """Whether pods that exist can still join a group: other schedulers read what a pod says once, at its creation."""
    provider = provider_of(replica, rules.providers)
    return provider is None or provider.capabilities.reads_pod_groups


def _not_admitted(replica: ObservedReplica) -> Warn:
    note = f"the pods of replica {_index(replica)} are placed one by one: Tutti did not see its leader's creation; delete that pod"
    return Warn(EVENT_NOT_ADMITTED_AS_GANG, note, action="Admit")


def _needs_association(replica: ObservedReplica) -> bool:
    return group_named_by(replica.leader) is None and not replica.leader.is_bound


def _may_have_unassociated(replica: ObservedReplica) -> bool:
    workers = replica.workers
    return workers is not None and not workers.names_group and group_named_by(replica.leader) is not None


def _name_for(replica: ObservedReplica) -> str:
    """The name of the group of a leader that admission did not see: its UID is the token that nobody else has."""
    return group_name_of(replica.leader.metadata, replica.leader.metadata.uid)


def _replica(seen: ObservedSet, each: ObservedReplica, steps: list[Step], rules: Rules, parent: str) -> list[Replica]:
    leader = each.leader
    alone = leads_alone(seen.lws, leader.metadata)
    try:
        resources = _roles(seen, each)
    except InvalidQuantity as error:
        note = f"replica {_index(each)} waits: {error}"
        steps.append(Warn(EVENT_INVALID_GANG_SETTINGS, note, action="CreatePodGroup"))
        return []
    return [
        Replica(
            leader=leader.metadata,
            group_name=group_named_by(leader) or "",
            min_count=_members_at_once(leader.metadata.label(MANAGED) or "", each.size, rules, leads_alone=alone),
            priority_class_name=leader.spec.priority_class_name,
            min_resources=resources,
            said=_carried_annotations(seen, leader),
            parent=parent,
        )
    ]


def _carried_annotations(seen: ObservedSet, leader: ReplicaPod) -> dict[str, str]:
    said = {key: value for key, value in carried(seen.lws.metadata).items() if key != DESIRED_COUNT}
    return {**said, **made_for(leader.metadata.label(MANAGED))}


def _roles(seen: ObservedSet, each: ObservedReplica) -> str:
    """What the pods that come later will ask for; empty when all come at once."""
    if each.revision is None or not leads_alone(seen.lws, each.leader.metadata):
        return ""
    known = {key: each.leader.metadata.label(key) for key in _LABELS}
    labels = {key: value for key, value in known.items() if value}
    return write_roles(roles_of(each.revision.templates, size=each.size, labels=labels))


def _index(replica: ObservedReplica) -> int:
    return group_index(replica.leader.metadata) or 0

"""What a LeaderWorkerSet means as gangs: one per replica (LWS KEP-407). Admission and the controllers share this answer.

A replica is a gang without saying so when it has more than one pod. The annotation `policy` overrides that, as on Jobs. What
depends on the revision a replica was made from (its size, its priority class) is read from its leader pod, never from here.
"""

import re
from typing import Final

from api.constants import (
    LEADER_INDEX,
    LWS_EXCLUSIVE_TOPOLOGY,
    LWS_NAME,
    LWS_REVISION,
    LWS_SIZE,
    LWS_WORKER_INDEX,
    MANAGED,
    POD_GROUP,
    POLICY,
    SCOPE,
    STOCK_SCHEDULER_NAME,
)
from api.errors import InvalidGangSettings
from api.gang import MAX_SHOWN, GroupIntent, Plain, settings_of
from api.job import PodTemplate
from api.lws import LeaderWorkerSet
from api.meta import Metadata, controller_of
from api.names import replica_group_name
from api.owner_topology import replica_topology
from api.podgroup import PodGroup

TEMPLATE_NAME: Final = "replica"
"""Name of the one PodGroup template of a LeaderWorkerSet's Workload."""

SCOPE_REPLICA: Final = "replica"
SCOPE_SET: Final = "set"
_SCOPE: Final = f"metadata.annotations[{SCOPE}]"

SET_TEMPLATE_NAME: Final = "set"
"""What the CompositePodGroup over all replicas calls the template it was made from."""

MAX_DIGITS: Final = 10

_ORDINAL: Final = re.compile(r"-(0|[1-9][0-9]{0,9})")


def replica_intent(lws: LeaderWorkerSet) -> GroupIntent | Plain:
    """What kind of group each replica should have, or why none; `min_count` is its size now.

    Raises:
        InvalidGangSettings: an annotation has a value that cannot be used; the message says which and what would do.
    """
    settings = settings_of(lws.metadata)
    if settings.policy == "none":
        return Plain(f"its annotation {POLICY} is none")
    refusal = impossible(lws)
    if refusal is not None:
        return Plain(refusal)
    # A set that was taken in stays a gang when it shrinks to single pods: those name a group already.
    if settings.policy is None and not has_gangs(lws) and not is_managed_set(lws):
        return Plain("its replicas are single pods")
    is_gang = settings.policy != "basic"
    return GroupIntent(
        policy="gang" if is_gang else "basic",
        min_count=max(lws.size, 1) if is_gang else 1,
        disruption_mode=settings.disruption_mode or ("all" if is_gang else "single"),
        topology=replica_topology(lws, is_gang=is_gang),
        priority_class_name=lws.leader_template.spec.priority_class_name,
    )


def starts_as_a_set(lws: LeaderWorkerSet) -> bool:
    """Whether all replicas are to start together (annotation `scope`); of a set that is a gang.

    Raises:
        InvalidGangSettings: the value cannot be used, or the set cannot start as a whole; the message says why.
    """
    scope = lws.metadata.annotation(SCOPE)
    if scope in (None, SCOPE_REPLICA):
        return False
    if scope != SCOPE_SET:
        raise InvalidGangSettings(f"{scope[:MAX_SHOWN]!r} is not one of {SCOPE_REPLICA}, {SCOPE_SET}", field=_SCOPE)
    if settings_of(lws.metadata).policy == "basic":
        raise InvalidGangSettings("replicas start together only as gangs, and the policy is basic", field=_SCOPE)
    if lws.waits_for_leader or lws.exclusive_topology is not None:
        why = "startupPolicy LeaderReady" if lws.waits_for_leader else f"the annotation {LWS_EXCLUSIVE_TOPOLOGY}"
        raise InvalidGangSettings(
            f"with {why} the workers of a replica are created only once their leader runs, so the whole set cannot start at "
            f"once; leave it out, or use {SCOPE_REPLICA}",
            field=_SCOPE,
        )
    return True


def has_gangs(lws: LeaderWorkerSet) -> bool:
    """True when a replica has several pods."""
    return lws.size > 1


def is_managed_set(lws: LeaderWorkerSet) -> bool:
    """True when admission took it in: the pods of its next revision carry our label."""
    return all(template.metadata.label(MANAGED) is not None for template in lws.templates)


def impossible(lws: LeaderWorkerSet) -> str | None:
    """Why the pods of a replica can never be one gang, None when they can."""
    for template in lws.templates:
        problem = _own_group(template)
        if problem is not None:
            return problem
    leader, worker = lws.leader_template.spec, lws.spec.leader_worker_template.worker_template.spec
    if leader.priority_class_name != worker.priority_class_name:
        names = f"{leader.priority_class_name or 'none'} and {worker.priority_class_name or 'none'}"
        return f"its leaders and workers differ in priorityClassName ({names}), and a gang has one priority"
    if not _may_share_scheduler(leader.scheduler_name, worker.scheduler_name):
        return (
            f"its leaders and workers name different schedulers ({leader.scheduler_name} and {worker.scheduler_name}), "
            "and a gang has one"
        )
    return None


def _own_group(template: PodTemplate) -> str | None:
    if template.spec.scheduling_group is not None:
        return (
            "a pod template of it names a group of its own (spec.schedulingGroup), and each replica needs another one"
        )
    if template.metadata.annotation(POD_GROUP):
        return f"a pod template of it names a group of its own (annotation {POD_GROUP}), and each replica needs another one"
    return None


def _may_share_scheduler(one: str, other: str) -> bool:
    # A name that says nothing is filled in by admission; the API server fills nothing in inside custom resources.
    return one == other or not {one, other}.isdisjoint({"", STOCK_SCHEDULER_NAME})


def group_index(leader: Metadata) -> int | None:
    """Which replica of its set a pod leads, by its name; None when it leads none."""
    owner, name = controller_of(leader), leader.label(LWS_NAME)
    if leader.label(LWS_WORKER_INDEX) != LEADER_INDEX or not name:
        return None
    if owner is None or (owner.kind, owner.name) != ("StatefulSet", name):
        return None
    ordinal = _ORDINAL.fullmatch(leader.name.removeprefix(name))
    return int(ordinal[1]) if ordinal else None


def size_of(leader: Metadata) -> int | None:
    """Pods of the replica that this pod leads, in its revision; None when it does not say."""
    text = leader.annotation(LWS_SIZE) or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else None


def group_name_of(leader: Metadata, incarnation: str) -> str:
    """Name of the PodGroup of the replica that this pod leads; `incarnation` is a token no other leader has."""
    revision = leader.label(LWS_REVISION) or ""
    return replica_group_name(leader.label(LWS_NAME) or "", group_index(leader) or 0, revision, incarnation)


def group_to_come(name: str, namespace: str) -> PodGroup:
    """A PodGroup that does not exist yet, as far as pods can name it."""
    return PodGroup(metadata=Metadata(name=name, namespace=namespace))

"""What hangs together: a Job, LeaderWorkerSet or JobSet, its Workload, its groups, perhaps in groups, their pods. Pure."""

from collections.abc import Iterable, Iterator
from typing import Final

from api.meta import Metadata, controller_of
from api.parents import kinds as parents
from api.parents.kinds import ParentKind, kind_of
from api.podgroup import PodGroup, Workload
from kube.cache.store import Store
from views.model.branch import Branch, group_branch, in_order, level_branch, pod_branch
from views.model.gang import Gang
from views.model.levels import Level, level_of
from views.model.objects import Objects
from views.model.records import Member, Owner

JOB: Final = "job"
LWS: Final = "lws"
JOB_SET: Final = "jobset"
COMPOSITE: Final = "compositepodgroup"
POD_GROUP: Final = "podgroup"
POD: Final = "pod"

KINDS: Final = {
    **dict.fromkeys(("job", "jobs", "job.batch", "jobs.batch"), JOB),
    **dict.fromkeys(("lws", "leaderworkerset", "leaderworkersets"), LWS),
    **dict.fromkeys(("jobset", "jobsets"), JOB_SET),
    **dict.fromkeys(("compositepodgroup", "compositepodgroups", "gangtree", "gangtrees"), COMPOSITE),
    **dict.fromkeys(("podgroup", "podgroups", "gang", "gangs"), POD_GROUP),
    **dict.fromkeys(("pod", "pods", "po"), POD),
}
"""What people write before the slash, and which kind they mean."""

_OWNERS: Final[dict[ParentKind, str]] = {parents.JOB: JOB, parents.LEADER_WORKER_SET: LWS, parents.JOB_SET: JOB_SET}


def kind_and_name(text: str) -> tuple[str, str] | None:
    """What `KIND/NAME` means; None when the kind is none that has gangs."""
    written, slash, name = text.partition("/")
    kind = KINDS.get(written.lower())
    return (kind, name) if slash and name and kind is not None else None


def tree_of(kind: str, namespace: str, name: str, objects: Objects) -> Branch | None:
    """The tree that this object is part of, from its top; None when there is no such object."""
    match kind:
        case "pod":
            return _tree_of_pod(namespace, name, objects)
        case "podgroup":
            group = objects.groups.get(namespace, name)
            return _with_owner(group, objects) if group is not None else None
        case "compositepodgroup":
            return _tree_of_composite(namespace, name, objects)
    owner = _store(kind, objects).get(namespace, name)
    if owner is None:
        return None
    above = controller_of(owner.metadata)
    if above is not None and kind_of(above) is parents.JOB_SET:
        return _owner_branch(JOB_SET, _metadata(JOB_SET, namespace, above.name, objects), objects)
    return _owner_branch(kind, owner.metadata, objects)


def _store(kind: str, objects: Objects) -> Store[Owner]:
    return {JOB: objects.jobs, LWS: objects.sets}.get(kind, objects.jobsets)


def _metadata(kind: str, namespace: str, name: str, objects: Objects) -> Metadata:
    """Of an owner; no more than its name where it cannot be seen."""
    owner = _store(kind, objects).get(namespace, name)
    return owner.metadata if owner is not None else Metadata(name=name, namespace=namespace)


# --- upwards ---------------------------------------------------------------------------------------------------------


def _tree_of_pod(namespace: str, name: str, objects: Objects) -> Branch | None:
    pod = objects.members.get(namespace, name)
    if pod is None:
        return None
    group = objects.groups.get(namespace, pod.group) if pod.group else None
    if group is not None:
        return _with_owner(group, objects)
    return pod_branch(pod)


def _tree_of_composite(namespace: str, name: str, objects: Objects) -> Branch | None:
    is_named = objects.groups_below(namespace, name) or objects.composites_below(namespace, name)
    if objects.composites.get(namespace, name) is None and not is_named:
        return None
    return _from_root(namespace, objects.root_of(namespace, name), objects)


def _with_owner(group: PodGroup, objects: Objects) -> Branch:
    namespace = group.metadata.namespace
    if group.parent:
        return _from_root(namespace, objects.root_of(namespace, group.parent), objects)
    gang = objects.gang(group)
    kind, _, name = gang.owner.partition("/")
    if kind in _OWNERS.values():
        return _owner_branch(kind, _metadata(kind, namespace, name, objects), objects)
    return group_branch(group, gang, objects)


def _from_root(namespace: str, root: str, objects: Objects) -> Branch:
    """A tree of groups, below its owner if it has one."""
    level = level_of(namespace, root, objects)
    kind, name = _owner_of(level)
    if kind:
        return _owner_branch(kind, _metadata(kind, namespace, name, objects), objects)
    return level_branch(level, objects)


def _owner_of(level: Level) -> tuple[str, str]:
    """Kind and name of what a tree belongs to, by its root or, where that is only named, by all of its groups."""
    if level.composite is None:
        owners = {gang.owner for gang, _ in level.leaves()}
        kind, _, name = owners.pop().partition("/") if len(owners) == 1 else ("", "", "")
        return (kind, name) if kind in _OWNERS.values() else ("", "")
    controller = controller_of(level.composite.metadata)
    kind_above = kind_of(controller) if controller is not None else None
    if controller is None or kind_above is None:
        return ("", "")
    return (_OWNERS[kind_above], controller.name)


# --- downwards -------------------------------------------------------------------------------------------------------


def _owner_branch(kind: str, owner: Metadata, objects: Objects) -> Branch:
    title = f"{kind}/{owner.name}"
    gangs = [
        (gang, group)
        for group in objects.groups
        if group.metadata.namespace == owner.namespace and (gang := objects.gang(group)).owner == title
    ]
    levels = [level_of(owner.namespace, root, objects) for root in _roots(title, owner, gangs, objects)]
    elsewhere = [level for level in levels if "/".join(_owner_of(level)) != title]
    if len(elsewhere) == 1 and all(gang.tree == elsewhere[0].name for gang, _ in gangs):
        return _from_root(owner.namespace, elsewhere[0].name, objects)
    alone = [(gang, group) for gang, group in gangs if not group.parent]
    children = list(_by_workload(sorted(alone, key=_by_replica), levels, owner, title, objects))
    grouped = {pod.metadata.uid for _, group in gangs for pod in objects.members_of(group)}
    rest = [pod for pod in _pods_of(kind, owner, objects) if pod.metadata.uid not in grouped]
    if gangs or levels:
        return Branch(title, "", (*children, *map(pod_branch, in_order(rest))))
    return _of_groups_by_others(title, owner.namespace, in_order(rest), objects)


def _roots(title: str, owner: Metadata, gangs: Iterable[tuple[Gang, PodGroup]], objects: Objects) -> Iterable[str]:
    """The roots of the trees that belong to an owner, or that its groups are in."""
    found = {gang.tree: None for gang, _ in gangs if gang.tree}
    for composite in objects.composites:
        if composite.metadata.namespace != owner.namespace or composite.parent:
            continue
        controller = controller_of(composite.metadata)
        kind = kind_of(controller) if controller is not None else None
        if controller is None or kind is None or f"{_OWNERS[kind]}/{controller.name}" != title:
            continue
        found[composite.metadata.name] = None
    return found


def _of_groups_by_others(title: str, namespace: str, pods: list[Member], objects: Objects) -> Branch:
    """An owner that has no group itself: its pods are in somebody else's, in ones that do not exist, or in none."""
    named = {pod.group: objects.groups.get(namespace, pod.group) for pod in pods if pod.group}
    tops = {top.title: top for group in named.values() if group is not None and (top := _with_owner(group, objects))}
    if len(tops) == 1 and all(named.get(pod.group) is not None for pod in pods):
        return next(iter(tops.values()))
    missing = sorted(name for name, group in named.items() if group is None)
    rest = [pod for pod in pods if named.get(pod.group) is None]
    if missing:
        said = f"its pods name podgroup/{', podgroup/'.join(missing)}, which does not exist"
    else:
        said = "its pods are in groups that others made" if tops else "no gang: nothing groups its pods"
    return Branch(title, said, (*tops.values(), *map(pod_branch, rest)))


def _by_workload(
    gangs: list[tuple[Gang, PodGroup]], levels: Iterable[Level], owner: Metadata, title: str, objects: Objects
) -> Iterator[Branch]:
    """One for each Workload, with the groups that were made from it; groups that name none stand for themselves."""
    by_workload: dict[str, list[Branch]] = {}
    for level in levels:
        reference = level.composite.spec.workload_ref if level.composite is not None else None
        if reference is None:
            reference = next((group.spec.workload_ref for _, group in level.leaves()), None)
        branch = level_branch(level, objects, title, owner.uid)
        by_workload.setdefault(reference.workload_name if reference else "", []).append(branch)
    for gang, group in gangs:
        reference = group.spec.workload_ref
        branch = group_branch(group, gang, objects)
        by_workload.setdefault(reference.workload_name if reference else "", []).append(branch)
    for name, branches in by_workload.items():
        if not name:
            yield from branches
            continue
        workload: Workload | None = objects.workloads.get(owner.namespace, name)
        yield Branch(f"workload/{name}", "" if workload is not None else "does not exist", tuple(branches))


def _pods_of(kind: str, owner: Metadata, objects: Objects) -> Iterator[Member]:
    for pod in objects.members:
        if pod.metadata.namespace != owner.namespace:
            continue
        is_of_set = (kind == LWS and pod.set_name == owner.name) or (kind == JOB_SET and pod.jobset == owner.name)
        if is_of_set or (kind == JOB and (pod.owner_kind, pod.owner_name) == ("Job", owner.name)):
            yield pod


def _by_replica(entry: tuple[Gang, PodGroup]) -> tuple[int, str]:
    replica = entry[0].replica
    return (int(replica) if replica.isdigit() else -1, entry[0].created)

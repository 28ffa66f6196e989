"""What hangs together: a Job or LeaderWorkerSet, its Workload, its PodGroups, their pods with their nodes. Pure."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from api.meta import Metadata
from api.podgroup import PodGroup, Workload
from views.model.gang import Gang
from views.model.objects import Objects
from views.model.records import Member

JOB: Final = "job"
LWS: Final = "lws"
POD_GROUP: Final = "podgroup"
POD: Final = "pod"

KINDS: Final = {
    **dict.fromkeys(("job", "jobs", "job.batch", "jobs.batch"), JOB),
    **dict.fromkeys(("lws", "leaderworkerset", "leaderworkersets"), LWS),
    **dict.fromkeys(("podgroup", "podgroups", "gang", "gangs"), POD_GROUP),
    **dict.fromkeys(("pod", "pods", "po"), POD),
}
"""What people write before the slash, and which kind they mean."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One object of a tree: `title` is KIND/NAME, `remark` what there is to say of it."""

    title: str
    remark: str = ""
    children: tuple["Branch", ...] = field(default=())

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""
        return {"name": self.title, "remark": self.remark, "children": [each.as_json() for each in self.children]}


def kind_and_name(text: str) -> tuple[str, str] | None:
    """What `KIND/NAME` means; None when the kind is none that has gangs."""
    written, slash, name = text.partition("/")
    kind = KINDS.get(written.lower())
    return (kind, name) if slash and name and kind is not None else None


def tree_of(kind: str, namespace: str, name: str, objects: Objects) -> Branch | None:
    """The tree that this object is part of, from its top; None when there is no such object."""
    if kind == POD:
        return _tree_of_pod(namespace, name, objects)
    if kind == POD_GROUP:
        group = objects.groups.get(namespace, name)
        return _with_owner(group, objects) if group is not None else None
    store = objects.jobs if kind == JOB else objects.sets
    owner = store.get(namespace, name)
    return _owner_branch(kind, owner.metadata, objects) if owner is not None else None


def _tree_of_pod(namespace: str, name: str, objects: Objects) -> Branch | None:
    pod = objects.members.get(namespace, name)
    if pod is None:
        return None
    group = objects.groups.get(namespace, pod.group) if pod.group else None
    if group is not None:
        return _with_owner(group, objects)
    return _pod_branch(pod)


def _with_owner(group: PodGroup, objects: Objects) -> Branch:
    kind, _, name = objects.gang(group).owner.partition("/")
    if kind in (JOB, LWS):
        store = objects.jobs if kind == JOB else objects.sets
        owner = store.get(group.metadata.namespace, name)
        metadata = owner.metadata if owner is not None else Metadata(name=name, namespace=group.metadata.namespace)
        return _owner_branch(kind, metadata, objects)
    return _group_branch(group, objects)


def _owner_branch(kind: str, owner: Metadata, objects: Objects) -> Branch:
    title = f"{kind}/{owner.name}"
    gangs = [
        (gang, group)
        for group in objects.groups
        if group.metadata.namespace == owner.namespace and (gang := objects.gang(group)).owner == title
    ]
    children = list(_workload_branches(sorted(gangs, key=_by_replica), objects))
    grouped = {pod.metadata.uid for _, group in gangs for pod in objects.members_of(group)}
    alone = [pod for pod in _pods_of(kind, owner, objects) if pod.metadata.uid not in grouped]
    children += [_pod_branch(pod) for pod in _in_order(alone)]
    return Branch(title, "" if gangs else "no gang: nothing groups its pods", tuple(children))


def _workload_branches(gangs: list[tuple[Gang, PodGroup]], objects: Objects) -> Iterator[Branch]:
    """One for each Workload, with the groups that were made from it; groups that name none stand for themselves."""
    by_workload: dict[str, list[PodGroup]] = {}
    for _, group in gangs:
        reference = group.spec.workload_ref
        by_workload.setdefault(reference.workload_name if reference else "", []).append(group)
    for name, groups in by_workload.items():
        branches = tuple(_group_branch(group, objects) for group in groups)
        if not name:
            yield from branches
            continue
        workload: Workload | None = objects.workloads.get(groups[0].metadata.namespace, name)
        yield Branch(f"workload/{name}", "" if workload is not None else "does not exist", branches)


def _group_branch(group: PodGroup, objects: Objects) -> Branch:
    gang = objects.gang(group)
    counts = gang.counts
    said = f"{gang.state}, {counts.started} of {gang.need} started"
    if counts.all > gang.need:
        said += f", {counts.all} in all"
    if gang.reason:
        said += f"; {gang.reason}: {gang.message}" if gang.message else f"; {gang.reason}"
    if gang.preempted_by:
        said += f"; leaves for {gang.preempted_by}"
    pods = tuple(_pod_branch(pod) for pod in _in_order(objects.members_of(group)))
    return Branch(f"podgroup/{group.metadata.name}", said, pods)


def _pod_branch(pod: Member) -> Branch:
    if pod.node:
        where = f"on {pod.node}"
    elif pod.nominated:
        where = f"no node yet, {pod.nominated} is kept for it"
    else:
        where = "no node"
    leaving = ", leaves for somebody more important" if pod.is_preempted else ""
    return Branch(f"pod/{pod.metadata.name}", f"{pod.phase}, {where}{leaving}")


def _pods_of(kind: str, owner: Metadata, objects: Objects) -> Iterator[Member]:
    for pod in objects.members:
        if pod.metadata.namespace != owner.namespace:
            continue
        if (kind == JOB and (pod.owner_kind, pod.owner_name) == ("Job", owner.name)) or (
            kind == LWS and pod.set_name == owner.name
        ):
            yield pod


def _by_replica(entry: tuple[Gang, PodGroup]) -> tuple[int, str]:
    replica = entry[0].replica
    return (int(replica) if replica.isdigit() else -1, entry[0].created)


def _in_order(pods: Iterable[Member]) -> list[Member]:
    """By name, numbers in it by their value."""
    return sorted(pods, key=lambda pod: [f"{int(part):09d}" if part.isdigit() else part for part in _parts(pod)])


def _parts(pod: Member) -> list[str]:
    return re.split(r"(\d{1,9})", pod.metadata.name)

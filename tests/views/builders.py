"""Small objects for tests of views, as the API server writes them."""

from typing import Any

import msgspec

from api.compositepodgroup import CompositePodGroup
from api.constants import CONDITION_COMPOSITE_SCHEDULED, CONDITION_SCHEDULED, LWS_GROUP_INDEX, LWS_NAME, POD_GROUP
from api.job import Job
from api.node import Node
from api.pod import Pod
from api.podgroup import PodGroup, Workload
from views.model.gang import Gang
from views.model.objects import Objects
from views.model.records import Machine, Member, Owner, machine_of, member_of, owner_of_job

CREATED = "2020-01-01T00:00:00Z"
LATER = "2020-01-01T00:05:00Z"


def build(kind: Any, body: dict[str, Any]) -> Any:
    return msgspec.json.decode(msgspec.json.encode(body), type=kind)


def condition(kind: str, status: str, reason: str = "", message: str = "") -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": CREATED}


def refused(reason: str = "Unschedulable", message: str = "no room") -> dict[str, str]:
    return condition(CONDITION_SCHEDULED, "False", reason, message)


def scheduled() -> dict[str, str]:
    return condition(CONDITION_SCHEDULED, "True", "Scheduled")


def group(
    name: str = "g",
    *conditions: dict[str, str],
    need: int = 2,
    priority: int | None = 0,
    job: str = "",
    lws: str = "",
    replica: str = "",
    workload: str = "",
    parent: str = "",
    namespace: str = "ns",
    created: str = CREATED,
) -> PodGroup:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": f"uid-{job}", "controller": True}
    metadata = {
        "name": name,
        "namespace": namespace,
        "uid": f"uid-{name}",
        "creationTimestamp": created,
        "labels": {LWS_NAME: lws, LWS_GROUP_INDEX: replica} if lws else {},
        "ownerReferences": [owner] if job else [],
    }
    spec = {
        "schedulingPolicy": {"gang": {"minCount": need}},
        "priority": priority,
        "workloadRef": {"workloadName": workload, "templateName": "t"} if workload else None,
        "parentCompositePodGroupName": parent or None,
    }
    made: PodGroup = build(PodGroup, {"metadata": metadata, "spec": spec, "status": {"conditions": list(conditions)}})
    return made


def composite(
    name: str = "c",
    *conditions: dict[str, str],
    need: int | None = 2,
    priority: int = 0,
    parent: str = "",
    owner: tuple[str, str, str] | None = None,
    workload: str = "w",
    created: str = CREATED,
) -> CompositePodGroup:
    """`need` is None for a basic one; `owner` is API version, kind and name of its controller, whose UID is `uid-NAME`."""
    reference = dict(zip(("apiVersion", "kind", "name"), owner or (), strict=False))
    metadata = {
        "name": name,
        "namespace": "ns",
        "uid": f"uid-{name}",
        "creationTimestamp": created,
        "ownerReferences": [{**reference, "uid": f"uid-{owner[2]}", "controller": True}] if owner else [],
    }
    spec = {
        "schedulingPolicy": {"gang": {"minGroupCount": need}} if need is not None else {"basic": {}},
        "priority": priority,
        "parentCompositePodGroupName": parent or None,
        "workloadRef": {"workloadName": workload, "templateName": "t"},
    }
    made: CompositePodGroup = build(
        CompositePodGroup, {"metadata": metadata, "spec": spec, "status": {"conditions": list(conditions)}}
    )
    return made


def tree_refused(reason: str = "Unschedulable", message: str = "no room") -> dict[str, str]:
    return condition(CONDITION_COMPOSITE_SCHEDULED, "False", reason, message)


def tree_scheduled() -> dict[str, str]:
    return condition(CONDITION_COMPOSITE_SCHEDULED, "True", "Scheduled")


def pod(
    name: str,
    phase: str = "Pending",
    *conditions: dict[str, str],
    node: str = "",
    nominated: str = "",
    group: str = "g",
    job: str = "",
    lws: str = "",
    gated: bool = False,
    priority: int = 0,
    cpu: str = "500m",
    created: str = CREATED,
) -> Member:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": f"uid-{job}", "controller": True}
    body = {
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": f"uid-{name}",
            "creationTimestamp": created,
            "annotations": {POD_GROUP: group} if group else {},
            "labels": {LWS_NAME: lws} if lws else {},
            "ownerReferences": [owner] if job else [],
        },
        "spec": {
            "nodeName": node,
            "priority": priority,
            "schedulingGates": [{"name": "x"}] if gated else [],
            "containers": [{"resources": {"requests": {"cpu": cpu}}}],
        },
        "status": {"phase": phase, "nominatedNodeName": nominated, "conditions": list(conditions)},
    }
    return member_of(build(Pod, body))


def job(name: str = "j", *, suspend: bool = False, ended: str = "") -> Owner:
    conditions = [{"type": ended, "status": "True"}] if ended else []
    metadata = {"name": name, "namespace": "ns", "uid": f"uid-{name}"}
    return owner_of_job(
        build(Job, {"metadata": metadata, "spec": {"suspend": suspend}, "status": {"conditions": conditions}})
    )


def workload(name: str) -> Workload:
    made: Workload = build(Workload, {"metadata": {"name": name, "namespace": "ns"}, "spec": {}})
    return made


def machine(name: str, cpu: str = "4", *, cordoned: bool = False) -> Machine:
    body = {
        "metadata": {"name": name},
        "spec": {"unschedulable": cordoned},
        "status": {"allocatable": {"cpu": cpu, "pods": "10"}},
    }
    return machine_of(build(Node, body))


def cluster(
    groups: list[PodGroup],
    pods: list[Member] | None = None,
    jobs: list[Owner] | None = None,
    nodes: list[Machine] | None = None,
    workloads: list[Workload] | None = None,
    sets: list[Owner] | None = None,
    composites: list[CompositePodGroup] | None = None,
) -> Objects:
    objects = Objects()
    for one in composites or []:
        objects.composites.put(one)
    for each in groups:
        objects.groups.put(each)
    for member in pods or []:
        objects.members.put(member)
    for owner in jobs or []:
        objects.jobs.put(owner)
    for node in nodes or []:
        objects.nodes.put(node)
    for made in workloads or []:
        objects.workloads.put(made)
    for owner in sets or []:
        objects.sets.put(owner)
    return objects


def gang(group: PodGroup, *pods: Member, job: Owner | None = None) -> Gang:
    return cluster([group], list(pods), [job] if job else []).gang(group)

"""The schema of CompositePodGroup: `scheduling.k8s.io/v1alpha3` of Kubernetes 1.37 under our own group.

Limits, defaults and what may change are the same, but for one thing: `minGroupCount` may be changed, as 1.38 will have it.
"""

from typing import Any, Final

from api.constants import CONDITION_COMPOSITE_SCHEDULED
from api.crds import settings
from api.crds.podgroup import condition_schema, workload_ref
from api.crds.schema import (
    Schema,
    fields,
    immutable,
    immutable_text,
    keyed_list,
    number,
    subdomain,
)

DESCRIPTION: Final = (
    "A CompositePodGroup is a group of groups: of its children, PodGroups or CompositePodGroups that name it as their parent, "
    "minGroupCount start together, each of them whole, or none does."
)

_CONDITION: Final = f'.status.conditions[?(@.type=="{CONDITION_COMPOSITE_SCHEDULED}")]'

COLUMNS: Final[list[dict[str, Any]]] = [
    {
        "name": "Min",
        "type": "integer",
        "description": "Children that must be able to start together; empty for a basic one.",
        "jsonPath": ".spec.schedulingPolicy.gang.minGroupCount",
    },
    {
        "name": "Parent",
        "type": "string",
        "description": "The CompositePodGroup it is a child of; empty for the root of a tree.",
        "jsonPath": ".spec.parentCompositePodGroupName",
    },
    {
        "name": "Workload",
        "type": "string",
        "description": "The Workload it was made from.",
        "jsonPath": ".spec.workloadRef.workloadName",
    },
    {
        "name": "Scheduled",
        "type": "string",
        "description": "True once minGroupCount children have had their start; it stays True.",
        "jsonPath": f"{_CONDITION}.status",
    },
    {
        "name": "Status",
        "type": "string",
        "description": "Scheduled, or why the tree does not run yet.",
        "jsonPath": f"{_CONDITION}.reason",
    },
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    {
        "name": "Message",
        "type": "string",
        "priority": 1,
        "description": "What it waits for, in words.",
        "jsonPath": f"{_CONDITION}.message",
    },
]

PARENT: Final = (
    "Name of a CompositePodGroup in the same namespace of which it is a child; it need not exist yet. Immutable."
)


def spec() -> Schema:
    """`spec`: everything but the minimum of a gang is for good."""
    disruption = settings.disruption_mode(
        "Whether preemption may take children one by one (single, the default) or must take all pods below it or none "
        "(all). Immutable."
    )
    return fields(
        "What is asked of the scheduler. Only schedulingPolicy.gang.minGroupCount may be changed later.",
        {
            "parentCompositePodGroupName": subdomain(PARENT),
            "workloadRef": workload_ref(),
            "schedulingPolicy": _scheduling_policy(),
            "schedulingConstraints": settings.scheduling_constraints(),
            "disruptionMode": disruption | {"default": {"single": {}}},
            "priorityClassName": settings.priority_class_name(
                "The PriorityClass of the whole tree, the same on each level. Left out, it is the cluster's default class. "
                "Immutable."
            ),
            "priority": settings.priority(
                "The value of priorityClassName, filled in when it is created; all levels must have the same. Immutable."
            ),
            "preemptionPolicy": settings.preemption_policy(),
        },
        required=("schedulingPolicy", "workloadRef"),
        rules=(
            immutable("parentCompositePodGroupName"),
            immutable("workloadRef"),
            immutable("schedulingConstraints"),
            immutable("disruptionMode"),
            immutable_text("priorityClassName"),
            immutable("priority"),
            immutable("preemptionPolicy"),
        ),
    )


def _scheduling_policy() -> Schema:
    min_group_count = number(
        "How many children must be able to start together, each whole. May be changed.",
        minimum=1,
    )
    return settings.gang_or_basic(
        "How the children are scheduled; exactly one of basic and gang. It cannot be switched later.",
        basic="Children start one by one, as room allows, each whole.",
        gang="All or nothing. No child starts before minGroupCount children can.",
        minimum=("minGroupCount", min_group_count),
    )


def status() -> Schema:
    """`status`, written by the scheduler alone."""
    conditions = keyed_list(
        f"{CONDITION_COMPOSITE_SCHEDULED} becomes True once minGroupCount children have had their start, and stays True. "
        "While it is False, its reason and message say why the tree waits.",
        "type",
        condition_schema(),
    )
    return fields("What the scheduler made of the tree.", {"conditions": conditions})

"""The schema of PodGroup: `scheduling.k8s.io/v1beta1` of Kubernetes 1.37 under our own group.

Limits, defaults and what may change are the same.
"""

from typing import Any, Final

from api.constants import CONDITION_SCHEDULED, POD_GROUP
from api.crds import settings
from api.crds.schema import (
    LABEL_LENGTH,
    SUBDOMAIN_LENGTH,
    Schema,
    fields,
    immutable,
    keyed_list,
    number,
    rule,
    subdomain,
    template_name,
    text,
)

DESCRIPTION: Final = (
    "A PodGroup is a set of pods that is scheduled as one: all of a gang start together, or none does. Pods join it by the "
    f"annotation {POD_GROUP} with its name; they must be in the same namespace."
)

_CONDITION: Final = f'.status.conditions[?(@.type=="{CONDITION_SCHEDULED}")]'

COLUMNS: Final[list[dict[str, Any]]] = [
    {
        "name": "Min",
        "type": "integer",
        "description": "Members that must be able to start together; empty for a basic group.",
        "jsonPath": ".spec.schedulingPolicy.gang.minCount",
    },
    {
        "name": "Workload",
        "type": "string",
        "description": "The Workload the group was made from; empty for a group of its own.",
        "jsonPath": ".spec.workloadRef.workloadName",
    },
    {
        "name": "Scheduled",
        "type": "string",
        "description": "True once minCount members have been placed; it stays True.",
        "jsonPath": f"{_CONDITION}.status",
    },
    {
        "name": "Status",
        "type": "string",
        "description": "Scheduled, or why the group does not run yet.",
        "jsonPath": f"{_CONDITION}.reason",
    },
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    {
        "name": "Policy",
        "type": "string",
        "priority": 1,
        "description": "How the members are scheduled, gang or basic, as it is written in the spec.",
        "jsonPath": ".spec.schedulingPolicy",
    },
    {
        "name": "Disruption",
        "type": "string",
        "priority": 1,
        "description": "How preemption may take the members, as it is written in the spec.",
        "jsonPath": ".spec.disruptionMode",
    },
    {
        "name": "Message",
        "type": "string",
        "priority": 1,
        "description": "What the group waits for, in words.",
        "jsonPath": f"{_CONDITION}.message",
    },
]

CLAIM_RULE: Final = rule(
    "!has(self.status) || !has(self.status.resourceClaimStatuses) || self.status.resourceClaimStatuses.all(s, "
    "has(self.spec.resourceClaims) && self.spec.resourceClaims.exists(c, c.name == s.name))",
    "must match the name of an entry in `spec.resourceClaims`",
    field="status.resourceClaimStatuses",
)
"""Stands at the object, the only place that sees both spec and status."""


def spec() -> Schema:
    """`spec`: everything but the minimum of a gang is for good."""
    disruption = settings.disruption_mode(
        "Whether preemption may take members one by one (single, the default) or must take all of them or none (all). "
        "Immutable."
    )
    return fields(
        "What is asked of the scheduler. Only schedulingPolicy.gang.minCount may be changed later.",
        {
            "schedulingPolicy": settings.scheduling_policy(),
            "workloadRef": workload_ref(),
            "parentCompositePodGroupName": subdomain(
                "Name of a CompositePodGroup in the same namespace of which it is a child; it need not exist yet. Immutable."
            ),
            "schedulingConstraints": settings.scheduling_constraints(),
            "resourceClaims": settings.resource_claims(),
            "disruptionMode": disruption | {"default": {"single": {}}},
            "priorityClassName": settings.priority_class_name(
                "The PriorityClass of the group and of all its members. Left out, it is the cluster's default class. "
                "Immutable."
            ),
            "priority": settings.priority(
                "The value of priorityClassName, filled in when the group is created; members must have the same. "
                "Immutable."
            ),
            "preemptionPolicy": settings.preemption_policy(),
        },
        required=("schedulingPolicy",),
        rules=(
            immutable("workloadRef"),
            immutable("parentCompositePodGroupName"),
            rule(
                "!has(self.parentCompositePodGroupName) || has(self.workloadRef)",
                "must be set when parentCompositePodGroupName is set",
                reason="FieldValueRequired",
                field="workloadRef",
            ),
            *settings.kept_for_good(),
        ),
    )


def workload_ref() -> Schema:
    """`workloadRef`: where the group comes from."""
    return fields(
        "The Workload and the template in it that the group was made from. Immutable.",
        {
            "workloadName": subdomain("Name of a Workload in the same namespace; it need not exist."),
            "templateName": template_name("Name of one of its podGroupTemplates."),
        },
        required=("workloadName", "templateName"),
    )


def status() -> Schema:
    """`status`, written by the scheduler alone."""
    conditions = keyed_list(
        f"{CONDITION_SCHEDULED} becomes True once minCount members are bound, and stays True. While it is False, its "
        "reason and message say why the group waits.",
        "type",
        condition_schema(),
    )
    claim = {
        "name": text("Name of an entry of spec.resourceClaims.", minLength=1, maxLength=LABEL_LENGTH),
        "resourceClaimName": text("The ResourceClaim that serves it.", minLength=1, maxLength=SUBDOMAIN_LENGTH),
    }
    claims = keyed_list(
        "The claims that were made for the group.",
        "name",
        fields("", claim, required=("name",)),
        maxItems=settings.MOST_RESOURCE_CLAIMS,
    )
    return fields("What the scheduler made of the group.", {"conditions": conditions, "resourceClaimStatuses": claims})


def condition_schema() -> Schema:
    """One entry of `status.conditions`."""
    name = (
        r"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])"
    )
    return fields(
        "",
        {
            "type": text("What the condition is about.", minLength=1, maxLength=316, pattern=f"^{name}$"),
            "status": text("True, False or Unknown.", enum=["True", "False", "Unknown"]),
            "reason": text(
                "One word for programs.",
                minLength=1,
                maxLength=1024,
                pattern="^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
            ),
            "message": text("A sentence for people.", maxLength=32768),
            "lastTransitionTime": text("When the status last changed from one value to another.", format="date-time"),
            "observedGeneration": number(
                "The generation of the spec that the condition speaks of.", bits=64, minimum=0
            ),
        },
        required=("type", "status", "reason", "lastTransitionTime"),
    )

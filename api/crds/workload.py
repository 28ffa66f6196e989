"""The schema of Workload: `scheduling.k8s.io/v1beta1` of Kubernetes 1.37 under our own group.

Limits and what may change are the same; composite templates are left out, as on a server with their gate off.
"""

from typing import Any, Final

from api.crds import settings
from api.crds.schema import (
    FORBIDDEN,
    Schema,
    fields,
    immutable,
    keyed_list,
    or_empty,
    path_segment,
    rule,
    subdomain,
    template_name,
)

DESCRIPTION: Final = (
    "A Workload says how the pods of one object, such as a Job, are to be scheduled together. PodGroups are made from its "
    "templates; it has no status of its own."
)

COLUMNS: Final[list[dict[str, Any]]] = [
    {
        "name": "Kind",
        "type": "string",
        "description": "Kind of the object that the pods belong to.",
        "jsonPath": ".spec.controllerRef.kind",
    },
    {
        "name": "Controller",
        "type": "string",
        "description": "Name of the object that the pods belong to.",
        "jsonPath": ".spec.controllerRef.name",
    },
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
]

MOST_TEMPLATES: Final = 8


def spec() -> Schema:
    """`spec`: everything but the minima of gangs is for good."""
    controller = fields(
        "The object in the same namespace that the pods belong to, for tools and for finding this Workload again. It owns "
        "nothing. Immutable.",
        {
            "apiGroup": subdomain("API group of the object, empty for the core group.", may_be_empty=True),
            "kind": path_segment("Kind of the object, such as Job."),
            "name": path_segment("Name of the object."),
        },
        required=("kind", "name"),
    )
    return fields(
        "What is asked of the scheduler. Only gang.minCount of a template may be changed later.",
        {"controllerRef": controller, "podGroupTemplates": _templates()},
        required=("podGroupTemplates",),
        rules=(immutable("controllerRef"), _one_priority()),
    )


def _templates() -> Schema:
    listed = keyed_list(
        "The groups that the pods form; none can be added or removed later.",
        "name",
        _template(),
        minItems=1,
        maxItems=MOST_TEMPLATES,
    )
    kept = [
        rule("self.all(t, oldSelf.exists(o, o.name == t.name))", "item may not be added", reason=FORBIDDEN),
        rule("oldSelf.all(o, self.exists(t, t.name == o.name))", "item may not be removed", reason=FORBIDDEN),
    ]
    return listed | {"x-kubernetes-validations": kept}


def _template() -> Schema:
    return fields(
        "",
        {
            "name": template_name("Name of the template, unique in its Workload."),
            "schedulingPolicy": settings.scheduling_policy(),
            "schedulingConstraints": settings.scheduling_constraints(),
            "resourceClaims": settings.resource_claims(),
            "disruptionMode": settings.disruption_mode(
                "Whether preemption may take members one by one (single) or must take all of them or none (all). "
                "Immutable; left out, the PodGroup decides."
            ),
            "priorityClassName": settings.priority_class_name(
                "The PriorityClass of the group and of all its members; the same in all templates. Immutable."
            ),
            "priority": settings.priority("Priority of the group as a number, if it is known already. Immutable."),
            "preemptionPolicy": settings.preemption_policy(),
        },
        required=("name", "schedulingPolicy"),
        rules=settings.kept_for_good(),
    )


def _one_priority() -> Schema:
    first = "self.podGroupTemplates[0]"
    return rule(
        f"self.podGroupTemplates.all(t, has(t.priority) == has({first}.priority) && "
        f"(!has(t.priority) || t.priority == {first}.priority) && "
        f"{or_empty('t', 'priorityClassName')} == {or_empty(first, 'priorityClassName')})",
        "detected multiple priority configurations",
    )

"""Defaulters and validator of PodGroups: the priority of our own CRDs, the parent of built-in ones, the preemption priority of any.

On CREATE of a PodGroup of ours its priority comes from a PriorityClass, as the built-in group API has it. Rules and texts are
those of the API server's Priority admission (Kubernetes 1.37): no class means the global default's name and value, or priority
0 when there is none; a stated number must be the class's. The classes come from a cache, so that no request waits for another.

Only groups that say something new about their preemption priority, about lost members or about the topology are validated.
"""

from api.constants import HIGHEST_USER_PRIORITY, PARENT_COMPOSITE, PREEMPTION_PRIORITY_CLASS
from api.degraded import check_degraded
from api.errors import InvalidGangSettings
from api.podgroup import PodGroup
from api.priorityclass import PriorityClass, class_in_force
from api.topology_annotations import check_group_topology
from webhooks.admission.patch import Patch
from webhooks.admission.preemption_priority import Classes, check_class_value
from webhooks.admission.review import ALLOWED, Request, Response, decode_object, decode_old_object, denied

DEFAULT_PREEMPTION = "PreemptLowerPriority"
NOT_READ_YET = "the PriorityClasses of the cluster have not been read yet; try again"


def default_pod_group(request: Request, *, classes: Classes, called: str = "pod group") -> Response:
    """Fills class, priority and preemption policy of the group; refuses what contradicts its class.

    Args:
        request: the PodGroup, or CompositePodGroup, to be created.
        classes: all PriorityClasses of the cluster, None while they have not been read.
        called: what messages call it, in upstream's words.

    Raises:
        Malformed: the request holds no PodGroup.
    """
    document, group = decode_object(request, PodGroup)
    if classes is None:
        return denied(NOT_READ_YET, code=503)
    found = class_in_force(group.spec.priority_class_name, tuple(classes))
    if found is None and group.spec.priority_class_name:
        return denied(f"no PriorityClass with name {group.spec.priority_class_name} was found", code=403)
    refusal = _contradiction(group, found, called)
    if refusal is not None:
        return refusal
    patch = Patch(document)
    patch.set(("spec", "priority"), found.value if found else 0)
    if found is not None:
        patch.set(("spec", "priorityClassName"), found.metadata.name)
        if found.preemption_policy is not None and found.preemption_policy != DEFAULT_PREEMPTION:
            patch.set(("spec", "preemptionPolicy"), found.preemption_policy)
    return Response(patch=patch.operations)


def keep_parent(request: Request) -> Response:
    """Says the parent that a built-in PodGroup names in an annotation, too.

    A server without the feature gate CompositePodGroup drops the field after admission and tells nobody.

    Args:
        request: the PodGroup to be created.

    Raises:
        Malformed: the request holds no PodGroup.
    """
    document, group = decode_object(request, PodGroup)
    patch = Patch(document)
    if parent := group.spec.parent_composite_pod_group_name:
        patch.set(("metadata", "annotations", PARENT_COMPOSITE), parent)
    return Response(patch=patch.operations)


def validate_pod_group(request: Request, *, classes: Classes) -> Response:
    """Refuses a class that does not exist or that this group may not name, and words that mean nothing.

    Args:
        request: the PodGroup as it would be stored; its own priority has been resolved by then.
        classes: all PriorityClasses of the cluster, None while they have not been read.

    Raises:
        Malformed: the request holds no PodGroup.
    """
    group = decode_object(request, PodGroup)[1]
    try:
        check_degraded(group.metadata, is_basic=not group.is_gang)
        check_group_topology(
            group.metadata, spec_key=group.spec.topology_key, minimum=group.need if group.is_gang else None
        )
        if not _names_class_anew(request, group):
            return ALLOWED
        if classes is None:
            return denied(NOT_READ_YET, code=503)
        check_class_value(group.metadata, group.spec.priority or 0, tuple(classes))
    except InvalidGangSettings as error:
        return denied(str(error))
    return ALLOWED


def _names_class_anew(request: Request, group: PodGroup) -> bool:
    named = group.metadata.annotation(PREEMPTION_PRIORITY_CLASS)
    if named is None or request.operation != "UPDATE":
        return named is not None
    return decode_old_object(request, PodGroup).metadata.annotation(PREEMPTION_PRIORITY_CLASS) != named


def _contradiction(group: PodGroup, found: PriorityClass | None, called: str) -> Response | None:
    computed = found.value if found else 0
    if group.spec.priority is not None and group.spec.priority != computed:
        return denied(
            f"priority set in the {called} ({group.spec.priority}) must match the priority computed ({computed}) "
            "based on the priority class set in the spec",
            code=403,
        )
    if computed > HIGHEST_USER_PRIORITY:
        return denied(
            f"spec.priority: Invalid value: {computed}: must be less than or equal to {HIGHEST_USER_PRIORITY}", code=422
        )
    policy = (found.preemption_policy if found else None) or DEFAULT_PREEMPTION
    if group.spec.preemption_policy is not None and group.spec.preemption_policy != policy:
        return denied(
            f"the string value of PreemptionPolicy ({group.spec.preemption_policy}) must not be provided in {called} "
            f"spec; the priority class of the group gives {policy}",
            code=403,
        )
    return None

"""The preemption priority of a PodGroup: the number that counts when somebody wants its room (KEP-5710). It may change at any time.

It may not be below the priority the group is scheduled with: two groups could evict each other for ever. Only groups that say
something new about it come here.
"""

from collections.abc import Iterable

from api.constants import PREEMPTION_PRIORITY_CLASS
from api.podgroup import PodGroup
from api.priorityclass import PriorityClass
from webhooks.podgroup_create import NOT_READ_YET
from webhooks.review import AS_IT_IS, Request, Verdict, denied, new_object

FIELD = f"metadata.annotations[{PREEMPTION_PRIORITY_CLASS}]"


def validate_preemption_priority(request: Request, *, classes: Iterable[PriorityClass] | None) -> Verdict:
    """Refuses a class that does not exist or is too low.

    Args:
        request: the PodGroup as it would be stored; its own priority has been resolved by then.
        classes: all PriorityClasses of the cluster, None while they have not been read.

    Raises:
        Malformed: the request holds no PodGroup.
    """
    group = new_object(request, PodGroup)[1]
    name = group.metadata.annotation(PREEMPTION_PRIORITY_CLASS)
    if name is None:
        return AS_IT_IS
    if classes is None:
        return denied(NOT_READ_YET, code=503)
    found = next((known for known in classes if known.metadata.name == name), None)
    if found is None:
        return denied(f"{FIELD}: no PriorityClass with name {name[:253]} was found")
    priority = group.spec.priority or 0
    if found.value < priority:
        return denied(
            f"{FIELD}: PriorityClass {name} has the value {found.value}, which is below {priority}, the priority the group is "
            "scheduled with: groups could evict each other for ever"
        )
    return AS_IT_IS

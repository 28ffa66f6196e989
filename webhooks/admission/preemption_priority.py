"""The preemption priority of a group: the number that counts when somebody wants its room (KEP-5710). It may change at any time.

It may not be below the priority the group is scheduled with: two groups could evict each other for ever. It may not be above it
either, unless an administrator has allowed that for the class: quotas by PriorityClass look at pods only, and with a class of the
system a group could never be evicted.
"""

from collections.abc import Iterable

from api.constants import ALLOW_AS_PREEMPTION_PRIORITY, PREEMPTION_PRIORITY_CLASS
from api.errors import InvalidGangSettings
from api.meta import Metadata
from api.priorityclass import PreemptionClassProblem, PriorityClass, class_in_force, preemption_class_problem

FIELD = f"metadata.annotations[{PREEMPTION_PRIORITY_CLASS}]"

Classes = Iterable[PriorityClass] | None
"""All PriorityClasses of the cluster; None while they have not been read."""


def check_preemption_class(metadata: Metadata, priority_class_name: str, classes: Classes) -> None:
    """Checks what an object says for the groups that will be made for it.

    Args:
        metadata: of a Job or LeaderWorkerSet.
        priority_class_name: that of its pods, empty when they name none.
        classes: all PriorityClasses of the cluster; None while they have not been read, then its groups are checked only.

    Raises:
        InvalidGangSettings: its pods may not name that class.
    """
    if metadata.annotation(PREEMPTION_PRIORITY_CLASS) is None or classes is None:
        return
    known = tuple(classes)
    own = class_in_force(priority_class_name, known)
    # Pods of a class that does not exist are refused themselves.
    if own is not None or not priority_class_name:
        check_class_value(metadata, own.value if own is not None else 0, known)


def check_class_value(metadata: Metadata, own_priority: int, classes: tuple[PriorityClass, ...]) -> None:
    """Checks the class that the metadata names against the priority that counts for scheduling.

    Args:
        metadata: names the class in its annotation.
        own_priority: the priority the group is scheduled with.
        classes: all PriorityClasses of the cluster.

    Raises:
        InvalidGangSettings: there is no such class, or the group may not name it.
    """
    name = metadata.annotation(PREEMPTION_PRIORITY_CLASS) or ""
    found = next((known for known in classes if known.metadata.name == name), None)
    if found is None:
        raise InvalidGangSettings(f"no PriorityClass with name {name[:253]} was found", field=FIELD)
    if problem := preemption_class_problem(found, own_priority):
        raise InvalidGangSettings(_words(problem, found, own_priority), field=FIELD)


def _words(problem: PreemptionClassProblem, found: PriorityClass, own_priority: int) -> str:
    value = f"PriorityClass {found.metadata.name} has the value {found.value}"
    match problem:
        case PreemptionClassProblem.BELOW_OWN:
            return (
                f"{value}, which is below {own_priority}, the priority the group is scheduled with: groups could evict each "
                "other for ever"
            )
        case PreemptionClassProblem.OF_SYSTEM:
            return f"{value}, which is for the system: nobody could ever get the room of the group"
        case PreemptionClassProblem.NOT_ALLOWED:
            return (
                f"{value}, which is above {own_priority}, the priority the group is scheduled with, and is not allowed for "
                f"this: an administrator allows it by the label {ALLOW_AS_PREEMPTION_PRIORITY}=true on the class"
            )

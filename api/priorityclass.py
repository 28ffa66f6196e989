"""PriorityClass (scheduling.k8s.io/v1): names for priorities, the same in the whole cluster."""

from enum import Enum, auto

import msgspec

from api.constants import ALLOW_AS_PREEMPTION_PRIORITY, HIGHEST_USER_PRIORITY
from api.meta import NO_METADATA, Metadata


class PriorityClass(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A PriorityClass; its value cannot be changed."""

    metadata: Metadata = NO_METADATA
    value: int = 0
    global_default: bool = False
    preemption_policy: str | None = None

    @property
    def is_allowed_as_preemption_priority(self) -> bool:
        """Whether an administrator lets groups of a lower priority name it; those of the system never are."""
        return self.value <= HIGHEST_USER_PRIORITY and self.metadata.label(ALLOW_AS_PREEMPTION_PRIORITY) == "true"


class PreemptionClassProblem(Enum):
    """Why a class cannot be the preemption priority of a group (KEP-5710)."""

    BELOW_OWN = auto()
    """It is below the priority the group is scheduled with: two groups could evict each other for ever."""

    OF_SYSTEM = auto()
    """It is above what users may have: nobody could ever take the group's room."""

    NOT_ALLOWED = auto()
    """It is above the group's own, and nobody has allowed that: quotas by PriorityClass would be got round."""


def preemption_class_problem(found: PriorityClass, own_priority: int) -> PreemptionClassProblem | None:
    """What stands against the class as the preemption priority of a group; admission and scheduler both ask here.

    Args:
        found: the class that the group names.
        own_priority: the priority the group is scheduled with.
    """
    if found.value < own_priority:
        return PreemptionClassProblem.BELOW_OWN
    if found.value == own_priority or found.is_allowed_as_preemption_priority:
        return None
    return (
        PreemptionClassProblem.OF_SYSTEM if found.value > HIGHEST_USER_PRIORITY else PreemptionClassProblem.NOT_ALLOWED
    )


def class_in_force(name: str, classes: "tuple[PriorityClass, ...]") -> PriorityClass | None:
    """The class of pods or groups that name this one: without a name the global default; None when there is none."""
    if name:
        return next((known for known in classes if known.metadata.name == name), None)
    defaults = [known for known in classes if known.global_default]
    # The API server takes the lowest when there are several, which only a race can bring about.
    return min(defaults, key=lambda known: (known.value, known.metadata.name), default=None)

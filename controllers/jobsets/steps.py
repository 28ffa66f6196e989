"""The effects a pass over a JobSet may have, as values. What each does is in `controllers.jobsets.execute`."""

from dataclasses import dataclass
from typing import Final

from api.parents.jobset import Unit
from api.podgroup import PodGroup, Workload
from controllers.gangs.common_steps import CreateWorkload, Plan, Warn


@dataclass(frozen=True, slots=True)
class ConfirmJobSet:
    """Reads the JobSet from the server and ends the pass unless it is still the one the plan was made for.

    Comes before all that is made or deleted: the store may be behind a restart, or a deletion that nobody reported.
    """


@dataclass(frozen=True, slots=True)
class CreateUnitGroups:
    """Creates the PodGroups of units; `workload` None stands for the one this pass has just created."""

    units: tuple[Unit, ...]
    workload: Workload | None


@dataclass(frozen=True, slots=True)
class DeleteGroups:
    """Deletes PodGroups that no pod of this attempt will ever name."""

    groups: tuple[PodGroup, ...]


@dataclass(frozen=True, slots=True)
class SuspendChildren:
    """Suspends the Jobs whose pods have to leave with these groups; the JobSet resumes them, and new pods queue.

    A Job is left alone once those of its pods that were there when its group was asked are leaving.
    """

    groups: tuple[PodGroup, ...]


Step = ConfirmJobSet | CreateWorkload | CreateUnitGroups | DeleteGroups | SuspendChildren | Warn

JobSetPlan = Plan[Step]
"""What one pass over a JobSet does."""

NOTHING: Final[JobSetPlan] = Plan()

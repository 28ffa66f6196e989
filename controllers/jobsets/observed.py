"""The facts about one JobSet on which its plan rests."""

from dataclasses import dataclass

from api.jobset import JobSet
from api.podgroup import PodGroup, Workload


@dataclass(frozen=True, slots=True)
class ObservedJobSet:
    """One JobSet and what we made for it.

    Attributes:
        jobset: the JobSet.
        workload: our Workload for it.
        groups: our PodGroups for it, those of former attempts too; none that is being deleted.
        name_taken: who holds the name of our Workload, for people; empty when it is free or ours.
    """

    jobset: JobSet
    workload: Workload | None = None
    groups: tuple[PodGroup, ...] = ()
    name_taken: str = ""

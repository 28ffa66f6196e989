"""What a search for victims ends with."""

from typing import Literal

import msgspec

from scheduler.state.records import ItemKey, PodRecord
from scheduler.state.residents import Unit


class Cost(msgspec.Struct, frozen=True, order=True):
    """What a plan costs; the smaller the better, compared from the first field on (upstream's order for nodes, and placements)."""

    violations: int
    """Pods that leave beyond what a disruption budget allows."""
    top_priority: int
    priority_sum: int
    """Of all pods that leave, each moved above zero, so that fewer pods are fewer."""
    units: int
    vacancy: float
    """How empty it leaves the topology domain it is planned in: the fuller, the better, so that whole domains stay free."""
    earliest: float
    """Minus the start of the oldest of the most important victims: who started last leaves first."""


class VictimUnit(msgspec.Struct, frozen=True):
    """A unit that leaves: its pods, and the group when it is a whole one."""

    unit: Unit
    pods: tuple[PodRecord, ...]
    violates_budget: bool

    @property
    def leaves_by_suspension(self) -> bool:
        """Whether it is the gang of a Job: that is suspended, for deleting its pods would count as failures.

        Where a podFailurePolicy ignores them, the Job controller still waits for minutes before it replaces so many.
        """
        group = self.unit.group
        return group is not None and bool(group.takes_only_owner) and group.owner.kind == JOB_KIND


class Plan(msgspec.Struct, frozen=True):
    """A complete plan: with these victims gone, these pods fit on these nodes, and no victim could stay."""

    key: ItemKey
    priority: int
    places: tuple[tuple[str, str], ...]
    """(pod UID, node name)."""
    victims: tuple[VictimUnit, ...]
    cost: Cost

    @property
    def pods(self) -> tuple[PodRecord, ...]:
        """All pods that leave."""
        return tuple(pod for victim in self.victims for pod in victim.pods)


class Refusal(msgspec.Struct, frozen=True):
    """Nobody leaves, and why."""

    message: str
    waits: bool = False
    """True when pods that are leaving already make the room."""
    places: tuple[tuple[str, str], ...] = ()
    """(pod UID, node name) where that room is, for an item that is nominated already."""


JOB_KIND = "Job"
NEVER = "not eligible due to preemptionPolicy=Never."
NO_VICTIMS = "No preemption victims found for incoming preemptor"
ONGOING = "ongoing preemption on nominated nodes"
OVER_BUDGET = "finding out who would have to leave takes longer than one decision may"


def found(count: int, kind: Literal["group", "pod"]) -> str:
    """Said of a plan that is being carried out for an item of this kind."""
    return f"found a placement for {'podgroup' if kind == 'group' else 'pod'}, preempting {count} victims"

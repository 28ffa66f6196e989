"""What an evaluation ends with: a candidate (who leaves, and who goes where), or a refusal with a code."""

from enum import Enum, auto
from typing import Final, Literal

import msgspec

from scheduler.cache.assigned_pods import PreemptionUnit
from scheduler.cache.records import EntityKey, PodRecord

JOB_KIND: Final = "Job"
Kind = Literal["group", "pod"]


class Cost(msgspec.Struct, frozen=True, order=True):
    """What it costs that the victims of a candidate leave; the smaller the better, compared from the first field on.

    The order is that of upstream's `pickOneNodeForPreemption`, with the score of a placement before the start times.
    """

    violations: int
    """Pods that leave beyond what a disruption budget allows."""
    top_priority: int
    priority_sum: int
    """Of all pods that leave, each moved above zero, so that fewer pods are fewer."""
    units: int
    vacancy: float
    """How empty it leaves the topology domain of the placement: the fuller, the better, so that whole domains stay free."""
    earliest: float
    """Minus the start of the oldest of the most important victims (seconds since 1970): who started last leaves first."""


class Victim(msgspec.Struct, frozen=True):
    """A unit that leaves, with its pods (upstream: Victim)."""

    unit: PreemptionUnit
    pods: tuple[PodRecord, ...]
    violates_budget: bool

    @property
    def leaves_by_suspension(self) -> bool:
        """Whether it is the gang of a Job: that is suspended, for deleting its pods would count as failures.

        Where a podFailurePolicy ignores them, the Job controller still waits for minutes before it replaces so many.
        """
        group = self.unit.group
        return group is not None and bool(group.takes_only_owner) and group.owner.kind == JOB_KIND


class Candidate(msgspec.Struct, frozen=True):
    """A placement with its victims: with these gone, these pods fit on these nodes, and no victim could stay."""

    key: EntityKey
    priority: int
    places: tuple[tuple[str, str], ...]
    """(pod UID, node name)."""
    victims: tuple[Victim, ...]
    cost: Cost

    @property
    def pods(self) -> tuple[PodRecord, ...]:
        """All pods that leave."""
        return tuple(pod for victim in self.victims for pod in victim.pods)


class RefusalCode(Enum):
    """Why nobody leaves."""

    ITEM_GONE = auto()
    NEVER = auto()
    """Its preemptionPolicy forbids it."""
    NO_VICTIMS = auto()
    """Nobody has a lower priority."""
    NO_NODE = auto()
    """A pod without a group fits on no node even when everybody of lower priority has left."""
    TOO_FEW = auto()
    """So it is with the pods of a group: fewer than minCount fit."""
    ONGOING = auto()
    """Pods that are leaving already make the room."""
    OVER_BUDGET = auto()
    """The steps of one evaluation did not suffice (`scheduler.cache.steps`)."""
    PAUSED = auto()
    """Its last preemption was too short a time ago."""


class Refusal(msgspec.Struct, frozen=True):
    """Nobody leaves, and why. What decides is the code; the other numbers are for the message.

    Attributes:
        code: why.
        waits: true when pods that are leaving already make the room.
        places: (pod UID, node name) where that room is, for an item that is nominated already.
        need: minCount of the group.
        scheduled: members that have a place or would have one with everybody of lower priority gone.
        remaining: members that would still have none.
        victims: pods that leave already, for an item of this `kind`.
        pause_seconds: until the next preemption may begin.
    """

    code: RefusalCode
    waits: bool = False
    places: tuple[tuple[str, str], ...] = ()
    need: int = 0
    scheduled: int = 0
    remaining: int = 0
    victims: int = 0
    kind: Kind = "pod"
    pause_seconds: float = 0.0

    @property
    def message(self) -> str:
        """The refusal for people; what upstream says too is said in upstream's words."""
        match self.code:
            case RefusalCode.TOO_FEW:
                return f"minCount ({self.need}) cannot be satisfied: {self.scheduled} scheduled, {self.remaining} remaining"
            case RefusalCode.PAUSED:
                return f"waiting {self.pause_seconds:.0f} s before the next attempt to preempt"
            case RefusalCode.ONGOING if self.victims:
                # What is said first may be overtaken before anybody can read it.
                return f"{found_message(self.victims, self.kind)}; {_MESSAGES[self.code]}"
            case _:
                return _MESSAGES[self.code]


_MESSAGES: Final = {
    RefusalCode.ITEM_GONE: "",
    RefusalCode.NEVER: "not eligible due to preemptionPolicy=Never.",
    RefusalCode.NO_VICTIMS: "No preemption victims found for incoming preemptor",
    RefusalCode.NO_NODE: "no node can take the pod even without all pods of lower priority",
    RefusalCode.ONGOING: "ongoing preemption on nominated nodes",
    RefusalCode.OVER_BUDGET: "finding out who would have to leave takes longer than one decision may",
}


def found_message(victims: int, kind: Kind) -> str:
    """Said of a candidate with so many victims that is carried out for an item of this kind (upstream's words)."""
    return f"found a placement for {'podgroup' if kind == 'group' else 'pod'}, preempting {victims} victims"

"""Victims: which of them leave before which, and what a dry run ends with: a candidate (who leaves, who goes where) or a refusal.

How victims are compared is said here and nowhere else, from one of them to a whole candidate:

- units by `importance` (KEP-5710): the least important is the first to leave. `least_important_first` is the same order for the
  columns of the potential victims; a reprieve goes through it from the other end, those that exceed a disruption budget first.
- nodes to be cleared by what each place on them costs: `cheapest_first`.
- candidates by their `Cost`, in the order of upstream's `pickOneNodeForPreemption`.

Nodes and candidates are compared by the same figures: pods that exceed a disruption budget, then the highest priority, then the
sum of the priorities, each moved above zero by `LIFT`, so that it also says how many leave.
"""

from enum import Enum, auto
from typing import Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from api.parents.kinds import leaves_by_suspension
from scheduler.cache.assigned_pods import PreemptionUnit
from scheduler.cache.devices.records import HeldDevice
from scheduler.cache.node_columns import Slots
from scheduler.cache.records import EntityKey, PodRecord

LIFT: Final = 2.0**31
"""Added to every victim's priority in sums, so that fewer victims cost less whatever their priority is (as upstream does)."""

KeptDevices = tuple[tuple[str, tuple[HeldDevice, ...]], ...]
"""(pod UID, the devices it counts on)."""
Kind = Literal["group", "pod", "composite"]


# --- which victims leave before which --------------------------------------------------------------------------------


def importance(unit: PreemptionUnit) -> tuple[int, bool, int, float]:
    """The greater, the more important: priority, group before pod, larger, older (KEP-5710)."""
    return (unit.priority, unit.group is not None, len(unit.rows), -unit.created_seconds)


def least_important_first(
    priority: NDArray[np.int64],
    in_whole: NDArray[np.bool_],
    size: NDArray[np.int64],
    since: NDArray[np.float64],
    unit: NDArray[np.int64],
) -> Slots:
    """The order of pods by the importance of the units they leave with; pods of one unit stay together.

    Args:
        priority: [pod] of its unit.
        in_whole: [pod] whether the unit is a whole group.
        size: [pod] pods of the unit that can leave.
        since: [pod] when the unit was created, in seconds since 1970.
        unit: [pod] the unit's number; decides between equals.

    Returns:
        Indexes of the pods, the least important first.
    """
    # The last key is the first to sort by; the youngest comes first, for it is the least important.
    return np.lexsort((unit, -since, size, in_whole, priority))


def cheapest_first(
    violations: NDArray[np.float64], top_priority: NDArray[np.int64], priority_sum: NDArray[np.float64], slot: Slots
) -> Slots:
    """The order in which nodes are cleared; all arguments are [node candidate].

    Args:
        violations: pods that leave beyond what a disruption budget allows, for each place.
        top_priority: the highest priority of a pod that leaves.
        priority_sum: of all pods that leave, each moved above zero by `LIFT`, for each place.
        slot: the node; decides between equals.

    Returns:
        Indexes of the node candidates, the cheapest first.
    """
    return np.lexsort((slot, priority_sum, top_priority, violations))


class Cost(msgspec.Struct, frozen=True, order=True):
    """What it costs that the victims of a candidate leave; the smaller the better, compared from the first field on.

    The order is that of upstream's `pickOneNodeForPreemption`, with the score of a placement before the start times.
    """

    violations: int
    """Pods that leave beyond what a disruption budget allows."""
    top_priority: int
    priority_sum: int
    """Of all pods that leave, each moved above zero by `LIFT`, so that fewer pods are fewer."""
    units: int
    vacancy: float
    """How empty it leaves the topology domain of the placement: the fuller, the better, so that whole domains stay free."""
    earliest: float
    """Minus the creation of the oldest of the most important victims (seconds since 1970): who was created last leaves first."""


# --- what a dry run ends with ----------------------------------------------------------------------------------------


class Victim(msgspec.Struct, frozen=True):
    """A unit that leaves, with its pods (upstream: Victim)."""

    unit: PreemptionUnit
    pods: tuple[PodRecord, ...]
    violates_budget: bool

    @property
    def leaves_by_suspension(self) -> bool:
        """Whether it is the gang of a Job, or of a JobSet: Jobs are suspended, for deleting their pods would count as failures.

        Where a podFailurePolicy ignores them, the Job controller still waits for minutes before it replaces so many.
        """
        group = self.unit.group
        return group is not None and bool(group.takes_only_owner) and leaves_by_suspension(group.owner.kind)


class Candidate(msgspec.Struct, frozen=True):
    """A placement with its victims: with these gone, these pods fit on these nodes, and no victim could stay."""

    key: EntityKey
    priority: int
    places: tuple[tuple[str, str], ...]
    """(pod UID, node name)."""
    victims: tuple[Victim, ...]
    cost: Cost
    devices: KeptDevices = ()

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
    TREE = auto()
    """A tree of groups that has started, or whose groups are confined to topology domains: others leave only for its start."""
    PAUSED = auto()
    """Its last preemption was too short a time ago."""


class Refusal(msgspec.Struct, frozen=True):
    """Nobody leaves, and why. What decides is the code; the other numbers are for the message.

    Attributes:
        code: why.
        waits: true when pods that are leaving already make the room.
        places: (pod UID, node name) where that room is, for an item that is nominated already.
        devices: those that its pods count on there.
        need: minCount of the group.
        scheduled: members that have a place or would have one with everybody of lower priority gone.
        remaining: members that would still have none.
        victims: pods that leave already, for an item of this `kind`.
        pause_seconds: until the next preemption may begin.
    """

    code: RefusalCode
    waits: bool = False
    places: tuple[tuple[str, str], ...] = ()
    devices: KeptDevices = ()
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
    RefusalCode.TREE: "nobody is asked to leave for groups beyond minGroupCount",
    RefusalCode.OVER_BUDGET: "finding out who would have to leave takes longer than one decision may",
}


KIND_NAMES: Final[dict[Kind, str]] = {"group": "podgroup", "pod": "pod", "composite": "compositepodgroup"}
"""What messages call the kinds of items, in upstream's words."""


def found_message(victims: int, kind: Kind) -> str:
    """Said of a candidate with so many victims that is carried out for an item of this kind (upstream's words)."""
    return f"found a placement for {KIND_NAMES[kind]}, preempting {victims} victims"

"""What a plan costs: its victims, and where that is equal how well it leaves a topology domain filled."""

from typing import Final

import numpy as np

from api.requests import PODS
from scheduler.preemption.plan import Cost, VictimUnit
from scheduler.preemption.reprieve import Placement
from scheduler.preemption.selection import LIFT, Mask
from scheduler.preemption.situation import Situation

_LOWEST: Final = -(2**31)
_DIGITS: Final = 9
"""Shares that differ by less are equal: they are sums of fractions in another order."""


def cost_of(victims: tuple[VictimUnit, ...], vacancy: float) -> Cost:
    """The cost of a plan with these victims; `vacancy` as in `vacancy_after`."""
    priorities = [victim.unit.priority for victim in victims]
    sizes = [len(victim.pods) for victim in victims]
    top, lift = max(priorities, default=_LOWEST), int(LIFT)
    return Cost(
        violations=sum(size for size, victim in zip(sizes, victims, strict=True) if victim.violates_budget),
        top_priority=top,
        priority_sum=sum((priority + lift) * size for priority, size in zip(priorities, sizes, strict=True)),
        units=len(victims),
        vacancy=vacancy,
        earliest=-min((victim.unit.created_seconds for victim in victims if victim.unit.priority == top), default=0.0),
    )


def vacancy_after(situation: Situation, domain: Mask | None, placement: Placement, units: list[int]) -> float:
    """How empty a domain is once these units have left and the members are placed: minus the sum of the shares in use.

    Only what the members ask for counts, as when a domain is chosen that needs no victims. The whole cluster (None) is 0.

    Args:
        situation: the snapshot.
        domain: [node slot] which nodes are in it.
        placement: where the members go.
        units: numbers of the units that leave, with all their pods, on whatever node these are.
    """
    if domain is None:
        return 0.0
    nodes, residents = situation.state.nodes, situation.state.residents
    leaving = np.array([row for number in units for row in residents.units[number].rows], dtype=np.intp)
    slots = residents.slots[leaving]
    leaving = leaving[(slots >= 0) & domain[slots]]
    free = situation.room.free[:, domain].sum(axis=1, dtype=np.float64)
    freed = residents.amounts[:, leaving].sum(axis=1, dtype=np.float64)
    free[: len(freed)] += freed
    asked: set[int] = set()
    for shape, _, counts in placement:
        demand = nodes.resolve(shape.demand)
        free[demand.rows] -= demand.amounts * float(counts.sum())
        asked.update(demand.rows.tolist())
    rows = [row for row in sorted(asked) if nodes.resources[row] != PODS]
    offered = nodes.allocatable[rows][:, domain].sum(axis=1, dtype=np.float64)
    return -round(float(((offered - free[rows]) / np.maximum(offered, 1)).sum()), _DIGITS)

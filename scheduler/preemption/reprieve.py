"""Who of the chosen can stay after all: with every preemptor on its node, units are given back one by one if that still works.

Those that would exceed a disruption budget are tried first, then from the most important down (KEP-5710). A unit is given back
whole or not at all. What is left is minimal: giving back any one more would push a preemptor off its node. What is over on a node
only becomes less, so a unit that is too large for it at the beginning is not looked at one by one.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.placement.overlay import Room
from scheduler.preemption.harmony import Harmony
from scheduler.preemption.situation import Candidates, Situation
from scheduler.state.changes import Slots
from scheduler.state.demand import HostPort, ports_conflict
from scheduler.state.shapes import Shape

_A_POD: Final = 3_000
"""Steps of putting one pod back."""
NO_LIMIT: Final = 2**62

Placement = Sequence[tuple[Shape, Slots, NDArray[np.int64]]]
"""(shape, node slots, pods on each of them)."""


def reprieve(
    situation: Situation, room: Room, placement: Placement, candidates: Candidates, chosen: NDArray[np.bool_]
) -> list[int]:
    """Numbers of the units that must leave. `room` is that before any of the chosen left."""
    everybody = np.flatnonzero(chosen)
    rows = sorted(
        {row for shape, _, _ in placement for row in situation.state.nodes.resolve(shape.demand).rows.tolist()}
    )
    used, over = _slack(situation, room, placement, candidates, everybody, rows)
    stuck = _too_large(candidates, everybody, rows, used, over)
    left = everybody[~np.isin(candidates.unit[everybody], stuck)]
    if not len(left):
        return _numbers(stuck)
    harmony = _harmony(situation, placement, candidates.where(chosen))
    slack: dict[int, list[int]] = dict(zip(used.tolist(), over.T.tolist(), strict=True))
    ports = _ports(placement)
    amounts = candidates.amounts[np.ix_(rows, left)].T.tolist()
    parts: dict[int, list[tuple[int, list[int], int]]] = {}
    slots, units = candidates.slot[left].tolist(), candidates.unit[left].tolist()
    for index, (unit, slot) in enumerate(zip(units, slots, strict=True)):
        parts.setdefault(unit, []).append((slot, amounts[index], int(candidates.row[left[index]])))
    violating = set(candidates.unit[left[candidates.violates[left]]].tolist())
    order = [*(unit for unit in reversed(parts) if unit in violating)]
    order += [unit for unit in reversed(parts) if unit not in violating]
    while True:
        leave = [unit for unit in order if not _returns(situation, parts[unit], slack, ports, harmony)]
        # Somebody who came back may be whom required affinity needs, or make a spread even, so that others can stay as well.
        if harmony is None or len(leave) == len(order):
            return [*_numbers(stuck), *leave]
        order = leave


def _too_large(
    candidates: Candidates, left: Slots, rows: list[int], used: Slots, over: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Units of which a pod does not fit into what is over on its node, even if nobody else comes back."""
    here = left[np.isin(candidates.slot[left], used)]
    where = np.searchsorted(used, candidates.slot[here])
    excess = (candidates.amounts[rows][:, here] > over[:, where]).any(axis=0)
    return np.unique(candidates.unit[here[excess]])


def _numbers(units: NDArray[np.int64]) -> list[int]:
    found: list[int] = units.tolist()
    return found


def _harmony(situation: Situation, placement: Placement, leaving: Candidates) -> Harmony | None:
    relations = situation.relations_without(leaving)
    return Harmony(relations, placement) if relations is not None else None


def _returns(
    situation: Situation,
    pods: list[tuple[int, list[int], int]],
    slack: dict[int, list[int]],
    ports: dict[int, list[HostPort]],
    harmony: Harmony | None,
) -> bool:
    """Puts all pods of a unit back if every node they were on bears it, and so do the planned pods."""
    situation.state.nodes.steps.spend(_A_POD * (1 + len(pods)))
    after: dict[int, list[int]] = {}
    for slot, amounts, row in pods:
        have = after.get(slot) or slack.get(slot)
        if have is None:
            continue
        rest = [free - amount for free, amount in zip(have, amounts, strict=True)]
        if min(rest) < 0 or (slot in ports and _collides(situation, row, ports[slot])):
            return False
        after[slot] = rest
    if harmony is not None and situation.influence is not None:
        effects = [effect for _, _, row in pods for effect in situation.influence.of(row)]
        if not harmony.bears(effects):
            return False
    slack.update(after)
    return True


def _collides(situation: Situation, row: int, taken: list[HostPort]) -> bool:
    pod = situation.state.residents.pods[row]
    return pod is not None and any(ports_conflict(own, other) for own in pod.demand.ports for other in taken)


def _ports(placement: Placement) -> dict[int, list[HostPort]]:
    found: dict[int, list[HostPort]] = {}
    for shape, slots, _ in placement:
        if shape.demand.ports:
            for slot in slots.tolist():
                found.setdefault(slot, []).extend(shape.demand.ports)
    return found


def _slack(
    situation: Situation, room: Room, placement: Placement, candidates: Candidates, left: Slots, rows: list[int]
) -> tuple[Slots, NDArray[np.int64]]:
    """The used nodes, and what is over on each of them in these resources; one that nobody placed there asks for has no limit."""
    nodes = situation.state.nodes
    used = np.unique(np.concatenate([slots for _, slots, _ in placement]))
    free = np.zeros((len(nodes.resources), len(used)), dtype=np.int64)
    free += room.free[:, used]
    asked = np.zeros(free.shape, dtype=np.bool_)
    here = left[np.isin(candidates.slot[left], used)]
    where = np.searchsorted(used, candidates.slot[here])
    for row in rows:
        np.add.at(free[row], where, candidates.amounts[row][here])
    for shape, slots, counts in placement:
        demand = nodes.resolve(shape.demand)
        at = np.searchsorted(used, slots)
        for row, amount in zip(demand.rows.tolist(), demand.amounts.tolist(), strict=True):
            free[row, at] -= amount * counts
            asked[row, at] = True
    free[~asked] = NO_LIMIT
    return used, free[rows]

"""Which nodes to clear, and whom that takes: nodes are opened in the order of what each further place on them costs.

On one node the least important leave first, so what a node can take after the first 1, 2, ... of them left is one running sum,
computed for all nodes at once. Each point where one more preemptor fits is a `step` with a cost. A pod's cost is its own; that
of a whole group is shared by as many places as it can open, for whoever takes one of its pods has paid for all of them.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.filters.resources_fit import slots_for_pods
from scheduler.placement.fits import fits_of
from scheduler.placement.overlay import Room
from scheduler.preemption.situation import Candidates, Situation
from scheduler.state.changes import Slots
from scheduler.state.shapes import Shape
from scheduler.state.steps import ONE_LOOK

LIFT: Final = 2.0**31
"""Added to every victim's priority in sums, so that fewer victims cost less whatever their priority is (as upstream does)."""

Mask = NDArray[np.bool_]


class Steps:
    """Points at which a node takes more preemptors, best first: the rows that must leave are `start..end` of `order`."""

    __slots__ = ("end", "gain", "needs_whole", "order", "slot", "start")

    def __init__(
        self, order: Slots, start: Slots, end: Slots, slot: Slots, gain: NDArray[np.int64], needs_whole: Mask
    ) -> None:
        self.order: Final = order
        self.start: Final = start
        self.end: Final = end
        self.slot: Final = slot
        self.gain: Final = gain
        self.needs_whole: Final = needs_whole

    def __len__(self) -> int:
        return len(self.end)

    def rows(self, index: int) -> Slots:
        """The candidates of one step."""
        return self.order[self.start[index] : self.end[index] + 1]


def capacity(situation: Situation, room: Room, shape: Shape, allowed: Mask | None) -> NDArray[np.int64]:
    """How many pods of this shape each node could take in this room; ports are not looked at."""
    state = situation.state
    found = slots_for_pods(room.free, state.nodes.resolve(shape.demand), slice(None))
    found[fits_of(state).of(shape).mask.codes != 0] = 0
    if allowed is not None:
        found[~allowed] = 0
    return found


def select(
    situation: Situation, room: Room, shape: Shape, count: int, candidates: Candidates, allowed: Mask | None
) -> tuple[NDArray[np.int64], Mask]:
    """Opens nodes until `count` pods fit.

    Returns:
        Pods per node slot (their sum is less than `count` when that is all there is), and the candidates that leave.
    """
    chosen = np.zeros(len(candidates), dtype=np.bool_)
    inside = allowed[candidates.slot] if allowed is not None else ~chosen
    room = room.copy()
    places = capacity(situation, room, shape, allowed)
    while (need := count - int(places.sum())) > 0:
        steps = steps_of(situation, room, shape, need, candidates, inside & ~chosen, places)
        if not len(steps):
            break
        leaving = _units_of(_best_rows(steps, need, len(candidates)), candidates) & ~chosen
        chosen |= leaving
        room.add(candidates.slot[leaving], candidates.amounts[:, leaving])
        places = capacity(situation, room, shape, allowed)
    _give_whole_units_back(situation, room, shape, count, candidates, chosen, places)
    return _trimmed(places, count, candidates, chosen), chosen


def steps_of(
    situation: Situation,
    room: Room,
    shape: Shape,
    need: int,
    candidates: Candidates,
    open_to: Mask,
    places: NDArray[np.int64],
) -> Steps:
    """All steps, best first; on one node an earlier step always comes before a later one."""
    demand = situation.state.nodes.resolve(shape.demand)
    situation.state.nodes.steps.spend((10 + len(demand.rows)) * (ONE_LOOK + 20 * len(candidates)))
    order = np.flatnonzero(open_to)
    order = order[np.lexsort((candidates.violates[order], candidates.slot[order]))]
    slot = candidates.slot[order]
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = slot[1:] != slot[:-1]
    begin = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    after: NDArray[np.int64] | None = None
    for row, amount in zip(demand.rows.tolist(), demand.amounts.tolist(), strict=True):
        freed = np.cumsum(candidates.amounts[row][order])
        freed -= np.where(begin > 0, freed[begin - 1], 0)
        fitting = (room.free[row][slot] + freed) // amount
        after = fitting if after is None else np.minimum(after, fitting)
    if after is None or not len(order):
        empty = np.empty(0, dtype=np.intp)
        return Steps(order, empty, empty, empty, empty, np.empty(0, dtype=np.bool_))
    after = np.maximum(after, 0)
    after[fits_of(situation.state).of(shape).mask.codes[slot] != 0] = 0
    before = np.empty_like(after)
    before[1:] = after[:-1]
    before[first] = places[slot[first]]
    gain = after - before
    return _ranked(candidates, order, slot, begin, gain, need)


def _ranked(
    candidates: Candidates, order: Slots, slot: Slots, begin: Slots, gain: NDArray[np.int64], need: int
) -> Steps:
    end = np.flatnonzero(gain > 0)
    start = begin[end]
    follows = np.zeros(len(end), dtype=np.bool_)
    follows[1:] = slot[end[1:]] == slot[end[:-1]]
    start[follows] = end[np.flatnonzero(follows) - 1] + 1
    if not len(end):
        return Steps(order, start, end, slot[end], gain[end], np.empty(0, dtype=np.bool_))
    pods, violations = _shares(candidates, order, slot, need)
    money = np.concatenate([[0.0], np.cumsum(pods * (candidates.priority[order] + LIFT))])
    broken = np.concatenate([[0.0], np.cumsum(violations)])
    whole = np.concatenate([[0], np.cumsum(candidates.in_whole[order])])
    tops = np.append(candidates.priority[order], np.iinfo(np.int64).min)
    top = np.maximum.reduceat(tops, np.ravel(np.column_stack([start, end + 1])))[::2]
    gained = np.minimum(gain[end], need)
    ranking = np.lexsort(
        (slot[end], (money[end + 1] - money[start]) / gained, top, (broken[end + 1] - broken[start]) / gained)
    )
    rank = np.empty(len(end), dtype=np.int64)
    rank[ranking] = np.arange(len(end))
    # A later step on a node includes the earlier ones, so it is never better than they are.
    node = np.cumsum(~follows) * (len(end) + 1)
    rank = np.maximum.accumulate(rank + node) - node
    best = np.argsort(rank, kind="stable")
    needs_whole = whole[end + 1] > whole[start]
    return Steps(order, start[best], end[best], slot[end[best]], gain[end[best]], needs_whole[best])


def _shares(
    candidates: Candidates, order: Slots, slot: Slots, need: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What each row costs in pods, and in pods beyond a budget: once per unit and node."""
    unit, in_whole = candidates.unit[order], candidates.in_whole[order]
    pods = np.ones(len(order))
    if in_whole.any():
        again = np.zeros(len(order), dtype=np.bool_)
        again[1:] = (unit[1:] == unit[:-1]) & (slot[1:] == slot[:-1])
        _, inverse = np.unique(unit, return_inverse=True)
        nodes = np.bincount(inverse, weights=~again)[inverse]
        pods = np.where(in_whole, candidates.size[order] / np.minimum(nodes, need), 1.0)
        pods[again] = 0.0
    return pods, pods * candidates.violates[order]


def _best_rows(steps: Steps, need: int, total: int) -> Mask:
    """The rows of the best steps: as many as are needed, but of those that take a whole group only one at a time."""
    enough = int(np.searchsorted(np.cumsum(steps.gain), need)) + 1
    wholes = np.flatnonzero(steps.needs_whole)
    count = min(enough, len(steps), int(wholes[0]) + 1 if len(wholes) else enough)
    marks = np.zeros(len(steps.order) + 1, dtype=np.int64)
    np.add.at(marks, steps.start[:count], 1)
    np.subtract.at(marks, steps.end[:count] + 1, 1)
    chosen = np.zeros(total, dtype=np.bool_)
    chosen[steps.order[np.cumsum(marks[:-1]) > 0]] = True
    return chosen


def _units_of(chosen: Mask, candidates: Candidates) -> Mask:
    whole = chosen & candidates.in_whole
    if whole.any():
        return chosen | np.isin(candidates.unit, np.unique(candidates.unit[whole]))
    return chosen


def _give_whole_units_back(
    situation: Situation,
    room: Room,
    shape: Shape,
    count: int,
    candidates: Candidates,
    chosen: Mask,
    places: NDArray[np.int64],
) -> None:
    """Groups without which enough places remain stay, the most important first; changes `room`, `chosen` and `places`."""
    whole = np.flatnonzero(chosen & candidates.in_whole)
    if not len(whole):
        return
    demand = situation.state.nodes.resolve(shape.demand)
    spare = int(places.sum()) - count
    for unit in dict.fromkeys(candidates.unit[whole[::-1]].tolist()):
        situation.state.nodes.steps.spend(20 * ONE_LOOK + 2 * len(whole))
        rows = whole[candidates.unit[whole] == unit]
        slots = np.unique(candidates.slot[rows])
        before = room.free[:, slots].copy()
        room.add(candidates.slot[rows], -candidates.amounts[:, rows])
        now = np.where(places[slots] > 0, slots_for_pods(room.free, demand, slots), 0)
        lost = int((places[slots] - now).sum())
        if lost <= spare:
            spare -= lost
            places[slots] = now
            chosen[rows] = False
        else:
            room.free[:, slots] = before


def _trimmed(places: NDArray[np.int64], count: int, candidates: Candidates, chosen: Mask) -> NDArray[np.int64]:
    """Exactly `count` places: nodes that nobody has to leave first, then those that fewest have to."""
    excess = int(places.sum()) - count
    if excess <= 0:
        return places
    cost = np.bincount(candidates.slot[chosen], minlength=len(places))
    order = np.flatnonzero(places)
    order = order[np.lexsort((order, cost[order]))]
    taken = np.diff(np.minimum(np.cumsum(places[order]), count), prepend=0)
    kept = np.zeros_like(places)
    kept[order] = taken
    return kept

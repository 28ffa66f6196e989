"""Attempts at groups whose members mind each other: one order after the other, and one gathering place after the other.

No order is right for all rules, and pods that must be together may start where there is too little room for all. So when
members are left over others ways are tried, as long as patience lasts; what no way can reach is known from an upper bound.
"""

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.placement.attempt import Attempt, Pending
from scheduler.placement.ceiling import by_value, ceiling, ceiling_by_node
from scheduler.placement.company import Company
from scheduler.placement.seating import Confined, Seating
from scheduler.placement.trial import Trial
from scheduler.state.shapes import Shape

MOST_PLACES: Final = 16
"""Gathering places that are tried, roomiest first."""
_MARGIN: Final = 2
"""A further way is tried while there are so many times the steps that the longest has taken: what was found is worth more."""
DOUBT: Final = "where one of the pods goes limits the others."


class Patience:
    """How many pods may be placed in trials before giving up on further ways."""

    __slots__ = ("pods",)

    def __init__(self, pods: int) -> None:
        self.pods = pods


def patience_for(pending: Pending) -> Patience:
    """Enough for a few orders of a large group and for very many of a small one."""
    return Patience(1000 + 3 * sum(pending.values()))


def must_be_seated(trial: Trial, pending: Pending) -> bool:
    """Whether the place of one member matters to another one."""
    return trial.company is not None and not trial.company.relations.are_fixed and sum(pending.values()) > 1


def seated_attempt(pending: Pending, wanted: int, new_trial: Callable[[], Trial], patience: Patience) -> Attempt:
    """The best attempt that was found; `proven` when no other one can place enough."""
    empty = new_trial()
    limits = {shape: ceiling(empty, shape, count) for shape, count in pending.items()}
    limit = sum(limits.values())
    best: Attempt | None = None
    steps, cost = empty.steps, 0
    for order, pack, confined in _ways(pending, limits, empty):
        if best is not None and (patience.pods <= 0 or steps.left < _MARGIN * cost):
            break
        begun = steps.spent
        trial = new_trial()
        attempt = Attempt(trial, Seating(trial, _company(trial), pack=pack, confined=confined).seat(order))
        patience.pods -= sum(pending.values())
        cost = max(cost, steps.spent - begun)
        if best is None or attempt.total > best.total:
            best = attempt
        if best.total == limit or limit < wanted:
            break
    if best is None:
        raise ValueError("nothing to place")
    best.proven = limit < wanted
    best.doubt = DOUBT
    return best


def _ways(
    pending: Pending, limits: dict[Shape, int], empty: Trial
) -> Iterator[tuple[list[tuple[Shape, int]], bool, Confined]]:
    hardest_first = sorted(pending, key=lambda shape: (limits[shape], int(empty.room(shape).sum())))
    orders = [hardest_first]
    for order in (list(pending), hardest_first[::-1]):
        if order not in orders:
            orders.append(order)
    runs = [[(shape, pending[shape]) for shape in order] for order in orders]
    yield runs[0], False, _anywhere
    for confined in _gatherings(pending, empty):
        yield runs[0], False, confined
    for run in runs[1:]:
        yield run, False, _anywhere
    for run in runs:
        yield run, True, _anywhere


def _gatherings(pending: Pending, empty: Trial) -> Iterator[Confined]:
    company = _company(empty)
    relations = company.relations
    gathering = [shape for shape in pending if relations.is_self_gathering(shape)]
    for at in dict.fromkeys(relations.stances[shape].near[0] for shape in gathering):
        place = relations.places[at]
        together = [shape for shape in gathering if at in relations.stances[shape].near]
        room = sum((by_value(place, ceiling_by_node(empty, shape)) for shape in together), np.zeros(1, dtype=np.int64))
        for value in np.argsort(-room, kind="stable")[:MOST_PLACES].tolist():
            if room[value] > 0:
                yield _inside(together, place.codes == value)


def _inside(shapes: list[Shape], nodes: NDArray[np.bool_]) -> Confined:
    return lambda shape: nodes if shape in shapes else None


def _anywhere(_: Shape) -> None:
    return None


def _company(trial: Trial) -> Company:
    if trial.company is None:
        raise ValueError("a trial without relations needs no seating")
    return trial.company

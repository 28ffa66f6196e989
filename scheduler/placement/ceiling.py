"""An upper bound for rules about other pods: how many of some pods no placement can exceed, whatever the order.

What only ever gets worse while pods are placed is counted (anti-affinity, missing labels), and everything that no member
changes. What another member may make possible (affinity to it, a spread that evens out) is not.
"""

from typing import Final

import numpy as np

from scheduler.placement.identical import Counts
from scheduler.placement.relations import Place
from scheduler.placement.trial import Trial
from scheduler.state.shapes import Shape

_LOOKS_OF_A_CEILING: Final = 15


def ceiling_by_node(trial: Trial, shape: Shape) -> Counts:
    """Per node slot, on a trial that has placed nothing yet."""
    room = trial.room(shape)
    company = trial.company
    if company is None:
        return room
    trial.spend(_LOOKS_OF_A_CEILING)
    room = room.copy()
    refused = company.closed(shape)
    if refused is not None:
        room[company.slots[refused]] = 0
    for place in company.relations.self_repelling(shape):
        np.minimum(room, 1, out=room, where=place.codes != 0)
    return room


def ceiling(trial: Trial, shape: Shape, count: int) -> int:
    """In total, of so many pods."""
    room = ceiling_by_node(trial, shape)
    most = min(count, int(room.sum()))
    company = trial.company
    if company is None:
        return most
    for place in company.relations.self_repelling(shape):
        most = min(most, _one_each(place, room))
    if company.relations.is_self_gathering(shape):
        for at in company.relations.stances[shape].near:
            most = min(most, int(by_value(company.relations.places[at], room).max()))
    return most


def by_value(place: Place, room: Counts) -> Counts:
    """The room inside each value of a place's label; nothing for nodes without it."""
    sums = np.bincount(place.codes, weights=room, minlength=len(place.sums)).astype(np.int64)
    sums[0] = 0
    return sums


def _one_each(place: Place, room: Counts) -> int:
    unlabelled = int(room[place.codes == 0].sum())
    return unlabelled + int(np.count_nonzero(by_value(place, room)))

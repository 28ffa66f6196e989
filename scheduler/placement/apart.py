"""Equal pods of which a value of a node label takes one: the usual anti-affinity, one pod per node.

A node that got one is out, and nothing else changes for the others, so the best node is looked for in one row of figures that
only ever loses entries. The outcome is that of seating them one by one.
"""

from typing import Final

import numpy as np

from scheduler.placement.company import Company, Mask, Whole
from scheduler.state.changes import Slots
from scheduler.state.shapes import Shape
from scheduler.state.steps import ONE_LOOK, Steps

OUT: Final = np.iinfo(np.int64).min
"""The merit of a node that cannot take one more."""


def marks(company: Company, shape: Shape) -> list[Slots]:
    """By rule that lets one pod of this shape into each value: the values of the nodes. None of them when other rules matter."""
    stance = company.relations.stances[shape]
    if company.luggage is not None or stance.near or stance.even or stance.soft or stance.wish:
        return []
    own = company.relations.effects[shape]
    found = [company.values(at) for at in dict.fromkeys((*stance.keeps_off, *stance.repelled)) if own.get(at, 0) > 0]
    distinct: list[Slots] = []
    for values in found:
        if not any(np.array_equal(values, other) for other in distinct):
            distinct.append(values)
    return distinct


def all_labelled(values: list[Slots], feasible: Mask) -> bool:
    """Whether some rule lets only one pod onto each of these nodes."""
    return any(bool((codes[feasible] != 0).all()) for codes in values)


def take_one_each(merit: Whole, values: list[Slots], count: int, steps: Steps) -> list[int]:
    """The indices of the best nodes in turn, at most `count`; `merit` is used up.

    Every node that is not `OUT` must have one of the `values` at least (not 0).
    """
    found: list[int] = []
    while len(found) < count:
        steps.spend((1 + len(values)) * (ONE_LOOK + len(merit)))
        index = int(merit.argmax())
        if merit[index] == OUT:
            break
        for codes in values:
            if codes[index]:
                merit[codes == codes[index]] = OUT
        found.append(index)
    return found

"""The weighted sum of all scores."""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.scores.after import After, Loads, Numbers
from scheduler.scores.balanced_allocation import balanced_allocation, best_balanced_allocation
from scheduler.scores.least_allocated import best_least_allocated, least_allocated
from scheduler.scores.strategies import resource_score
from scheduler.state.changes import Slots
from scheduler.state.nodes import Amounts

Score = Callable[[After], Numbers]

SCORES: Final[tuple[tuple[Score, int], ...]] = ((least_allocated, 1), (balanced_allocation, 1))
"""(score, weight) as in kube-scheduler's default profile; other profiles: `strategies`."""


BEST: Final[Mapping[Score, Callable[[After, After], Numbers]]] = {
    least_allocated: best_least_allocated,
    balanced_allocation: best_balanced_allocation,
}
"""What no load exceeds, from the nodes under the least and under the most that is asked of each resource."""


def best_score(
    allocatable: Amounts, free: Amounts, scored: Amounts, loads: Loads, slots: Slots | slice
) -> NDArray[np.int64]:
    """Per node: none of these loads scores more on it by `SCORES`."""
    least, most = (After(allocatable, free, scored, extreme, slots) for extreme in loads.extremes())
    best = sum(weight * BEST[score](least, most)[:, 0] for score, weight in SCORES)
    return np.asarray(best, dtype=np.int64)


def total_score(after: After) -> NDArray[np.int64]:
    """One whole number per node and number of pods."""
    if not after.loads.scoring.is_usual:
        return resource_score(after, after.loads.scoring).astype(np.int64)
    first, *others = (score(after) * weight if weight != 1 else score(after) for score, weight in SCORES)
    for other in others:
        first += other
    return first.astype(np.int64)

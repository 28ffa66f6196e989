"""The weighted sum of all scores."""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.scores.after import After, Numbers
from scheduler.scores.balanced_allocation import balanced_allocation
from scheduler.scores.least_allocated import least_allocated

SCORES: Final[tuple[tuple[Callable[[After], Numbers], int], ...]] = ((least_allocated, 1), (balanced_allocation, 1))
"""(score, weight) as in kube-scheduler's default profile."""


def total_score(after: After) -> NDArray[np.int64]:
    """One whole number per node and number of pods."""
    first, *others = (score(after) * weight if weight != 1 else score(after) for score, weight in SCORES)
    for other in others:
        first += other
    return first.astype(np.int64)

"""PodTopologySpread, constraints with ScheduleAnyway: nodes in whose value fewer of the pods run are better.

Each constraint counts the pods, weighted by how many values there are to choose from (the logarithm: many small values would
otherwise count for nothing beside few large ones), plus the skew that is allowed anyway.
"""

from math import log

import numpy as np
from numpy.typing import NDArray

from scheduler.scores.normalise import MAX_SCORE, Whole

Numbers = NDArray[np.float64]


def crowding(pods_there: NDArray[np.int64], labelled: NDArray[np.bool_], values: int, max_skew: int) -> Numbers:
    """What one constraint holds against each node; nothing where the node lacks the label."""
    return np.asarray((pods_there * log(values + 2) + (max_skew - 1)) * labelled, dtype=np.float64)


def pod_topology_spread(crowded: Numbers, counting: NDArray[np.bool_]) -> Whole:
    """Scores from the sum over all constraints, among the nodes that are `counting`; the others get 0."""
    raw = np.floor(crowded + 0.5).astype(np.int64)
    if not counting.any():
        return np.zeros(len(raw), dtype=np.int64)
    most = int(raw.max(where=counting, initial=0))
    least = int(raw.min(where=counting, initial=2**62))
    if not most:
        return np.where(counting, MAX_SCORE, 0)
    return np.where(counting, MAX_SCORE * (most + least - raw) // most, 0)

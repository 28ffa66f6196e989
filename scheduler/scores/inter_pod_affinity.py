"""InterPodAffinity, preferred: the weights of all wishes for and against company, the pod's own and those of running pods.

A running pod's required affinity counts as a wish of weight 1: pods that it needs near it are welcome there.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.scores.normalise import MAX_SCORE, Whole

WEIGHT_OF_NEED: Final = 1


def inter_pod_affinity(raw: Whole, feasible: NDArray[np.bool_]) -> Whole:
    """Scores between the worst and the best feasible node; all 0 when these are equal."""
    if not feasible.any():
        return np.zeros(len(raw), dtype=np.int64)
    most = int(raw.max(where=feasible, initial=-(2**62)))
    least = int(raw.min(where=feasible, initial=2**62))
    if most == least:
        return np.zeros(len(raw), dtype=np.int64)
    return np.asarray(np.trunc(MAX_SCORE * ((raw - least) / (most - least))), dtype=np.int64)

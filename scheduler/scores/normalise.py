"""From raw figures to scores of 0..100 among the nodes that can take the pod, as kube-scheduler does it."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

MAX_SCORE: Final = 100

Whole = NDArray[np.int64]


def by_most(raw: Whole, feasible: NDArray[np.bool_], *, is_bad: bool = False) -> Whole:
    """The share of the most that a feasible node has; with `is_bad` what is missing to it."""
    most = int(raw.max(where=feasible, initial=0))
    if most <= 0:
        return np.full(len(raw), MAX_SCORE if is_bad else 0, dtype=np.int64)
    share = MAX_SCORE * raw // most
    return MAX_SCORE - share if is_bad else share

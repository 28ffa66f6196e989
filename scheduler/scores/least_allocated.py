"""NodeResourcesFit with the strategy LeastAllocated: the emptier the node, the better, so pods spread."""

from typing import Final

import numpy as np

from scheduler.scores.after import After, Numbers

MAX_SCORE: Final = 100
ROUNDING: Final = 1e-9
"""Keeps a whole number whole that comes out of floating point a hair too small."""


def least_allocated(after: After) -> Numbers:
    """Mean free share of CPU and memory, each cut to a whole number, as kube-scheduler computes it (0..100)."""
    shares = after.scored * after.percent
    np.subtract(MAX_SCORE + ROUNDING, shares, out=shares)
    np.floor(np.maximum(shares, 0, out=shares), out=shares)
    if after.is_offered_by_all:
        mean = shares[0] + shares[1]
        mean *= 0.5
    else:
        mean = (shares * after.is_offered).sum(axis=0) / np.maximum(after.is_offered.sum(axis=0), 1)
    return np.asarray(np.floor(mean, out=mean), dtype=np.float64)


def best_least_allocated(least: After, _most: After) -> Numbers:
    """The fuller a node, the worse: no load gets more than the least there is."""
    return least_allocated(least)

"""NodeResourcesFit with the strategy LeastAllocated: the emptier the node, the better, so pods spread."""

from typing import Final

import numpy as np

from scheduler.scores.after import After, Numbers

MAX_SCORE: Final = 100
ROUNDING: Final = 1e-9
"""Keeps a whole number whole that comes out of floating point a hair too small."""


def least_allocated(after: After) -> Numbers:
    """Mean free share of CPU and memory, each cut to a whole number, as kube-scheduler computes it (0..100)."""
    shares: list[Numbers] = []
    for taken, percent in zip(after.scored, after.percent, strict=True):
        share = taken * percent
        np.subtract(MAX_SCORE + ROUNDING, share, out=share)
        shares.append(np.floor(np.maximum(share, 0, out=share), out=share))
    cpu, memory = shares
    has_cpu, has_memory = after.is_offered
    offered: Numbers | float = 2.0
    if not (has_cpu.all() and has_memory.all()):
        cpu *= has_cpu
        memory *= has_memory
        offered = np.maximum(has_cpu.astype(np.float64) + has_memory, 1)
    mean: Numbers = (cpu + memory) / offered
    return np.asarray(np.floor(mean, out=mean), dtype=np.float64)

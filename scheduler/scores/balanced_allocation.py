"""NodeResourcesBalancedAllocation: the more alike the used shares of CPU and memory, the better."""

import numpy as np

from scheduler.scores.after import NAMES, After, Numbers
from scheduler.scores.least_allocated import MAX_SCORE, ROUNDING


def balanced_allocation(after: After) -> Numbers:
    """100 x (1 - standard deviation of the used shares), cut to a whole number; 0 for pods that ask for neither."""
    if not any(after.demand.amounts.get(name) for name in NAMES):
        return np.zeros_like(after.requested[0])
    cpu, memory = (
        np.minimum(taken * percent, MAX_SCORE) for taken, percent in zip(after.requested, after.percent, strict=True)
    )
    np.abs(np.subtract(cpu, memory, out=cpu), out=cpu)
    has_cpu, has_memory = after.is_offered
    if not (has_cpu.all() and has_memory.all()):
        cpu *= has_cpu & has_memory
    return np.floor(MAX_SCORE + ROUNDING - cpu / 2)

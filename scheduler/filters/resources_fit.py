"""NodeResourcesFit: how many pods of one demand fit on each node, and what is short where none does.

Only resources the pod asks for are looked at, so a node that is over-committed in another one still takes it.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from api.requests import PODS
from scheduler.state.changes import Slots
from scheduler.state.nodes import Amounts, Resolved


def slots_for_pods(free: Amounts, demand: Resolved, slots: Slots | slice) -> NDArray[np.int64]:
    """How many pods of this demand each node can take with these free amounts; 0 where none fits."""
    if demand.missing:
        return np.zeros(free[0][slots].shape, dtype=np.int64)
    fitting: NDArray[np.int64] | None = None
    for row, amount in zip(demand.rows.tolist(), demand.amounts.tolist(), strict=True):
        here = free[row][slots] // amount
        fitting = here if fitting is None else np.minimum(fitting, here, out=fitting)
    if fitting is None:
        raise ValueError("a demand asks for at least one of `pods`")
    return np.maximum(fitting, 0, out=fitting)


def shortages(free: Amounts, demand: Resolved, resources: list[str], slots: Slots) -> Iterator[tuple[str, int]]:
    """(reason, nodes) for every resource that is short on some of these nodes."""
    for row, amount in zip(demand.rows.tolist(), demand.amounts.tolist(), strict=True):
        short = int(np.count_nonzero(free[row][slots] < amount))
        if short:
            yield reason(resources[row]), short
    for resource in demand.missing:
        if len(slots):
            yield reason(resource), len(slots)


def reason(resource: str) -> str:
    """What a refused pod is told about a resource."""
    return "Too many pods" if resource == PODS else f"Insufficient {resource}"

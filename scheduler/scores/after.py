"""What nodes would look like with some more pods of one demand on them."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.state.changes import Slots
from scheduler.state.demand import Demand
from scheduler.state.nodes import CPU_ROW, MEMORY_ROW, Amounts

Numbers = NDArray[np.float64]

ROWS: Final = (CPU_ROW, MEMORY_ROW)
"""The resources that are scored, as in the default profile."""
NAMES: Final = ("cpu", "memory")


class After:
    """Nodes (first axis) with 1..`depth` more pods (second axis), in the amounts scoring looks at."""

    __slots__ = ("demand", "is_offered", "percent", "requested", "scored")

    def __init__(
        self, allocatable: Amounts, free: Amounts, scored: Amounts, demand: Demand, slots: Slots | slice, depth: int
    ) -> None:
        pods = np.arange(1, depth + 1, dtype=np.float64)
        offered = [allocatable[row][slots][:, None] for row in ROWS]
        self.demand: Final = demand
        self.is_offered: Final = [total > 0 for total in offered]
        self.percent: Final[list[Numbers]] = [100.0 / np.maximum(total, 1) for total in offered]
        """Percent of the node that one unit is."""
        self.requested: Final[list[Numbers]] = [
            (total - free[row][slots][:, None]) + pods * demand.amounts.get(name, 0)
            for row, name, total in zip(ROWS, NAMES, offered, strict=True)
        ]
        """What pods ask for, exactly."""
        self.scored: Final[list[Numbers]] = [
            scored[index][slots][:, None] + pods * demand.scored[index] for index in range(len(ROWS))
        ]
        """The same with a default for pods that ask for nothing."""

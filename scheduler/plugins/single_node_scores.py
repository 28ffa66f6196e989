"""The scores that depend on amounts, in plain numbers, for one node whose pods change one by one.

There a call of numpy costs more than the whole figure. The plain figures are those of `framework.total_score` to the last bit: the
same steps in the same order, on the same floating point numbers.
"""

from itertools import starmap
from typing import Final, NamedTuple

import numpy as np

from scheduler.plugins.interface import MAX_SCORE
from scheduler.plugins.node_resources_balanced_allocation import HALF
from scheduler.plugins.resource_allocation import ROUNDING, PodLoads

_FULL: Final = MAX_SCORE + ROUNDING


class SingleLoad(NamedTuple):
    """One pod, in the amounts scoring looks at."""

    asked_cpu: float
    asked_memory: float
    counted_cpu: float
    counted_memory: float
    is_demanding: bool
    """Whether it asks for CPU or memory at all."""


def plain_loads(loads: PodLoads) -> list[SingleLoad]:
    """The same loads one by one."""
    demanding = np.any(loads.asked, axis=0).tolist()
    rows = [*loads.asked.tolist(), *loads.counted.tolist(), demanding]
    return list(starmap(SingleLoad, zip(*rows, strict=True)))


class SingleNode:
    """CPU and memory of one node: what there is, what is free, and what is taken as scoring sees it."""

    __slots__ = (
        "_both",
        "_cpu_counts",
        "_cpu_percent",
        "_memory_counts",
        "_memory_percent",
        "_offered",
        "_scored_cpu",
        "_scored_memory",
        "_share",
        "_used_cpu",
        "_used_memory",
        "_without",
    )

    def __init__(
        self, cpu: int, memory: int, free_cpu: int, free_memory: int, scored_cpu: int, scored_memory: int
    ) -> None:
        self._offered: Final = (cpu, memory)
        self._cpu_percent: Final = 100.0 / max(cpu, 1)
        self._memory_percent: Final = 100.0 / max(memory, 1)
        self._cpu_counts: Final = float(cpu > 0)
        self._memory_counts: Final = float(memory > 0)
        self._both: Final = self._cpu_counts * self._memory_counts
        self._share: Final = 1 / max(self._cpu_counts + self._memory_counts, 1)
        self._used_cpu, self._used_memory = float(cpu - free_cpu), float(memory - free_memory)
        self._scored_cpu, self._scored_memory = float(scored_cpu), float(scored_memory)
        self._without = self._evenness(0, 0)

    @property
    def unused(self) -> tuple[float, float]:
        """CPU and memory that nobody asked for."""
        cpu, memory = self._offered
        return cpu - self._used_cpu, memory - self._used_memory

    @property
    def scored(self) -> tuple[float, float]:
        """CPU and memory taken as scoring sees it."""
        return self._scored_cpu, self._scored_memory

    def take(self, load: SingleLoad) -> None:
        """A pod is on the node from now on."""
        self._used_cpu += load.asked_cpu
        self._used_memory += load.asked_memory
        self._scored_cpu += load.counted_cpu
        self._scored_memory += load.counted_memory
        self._without = self._evenness(0, 0)

    def score(self, load: SingleLoad) -> float:
        """What `total_score` says of this node and this pod."""
        asked_cpu, asked_memory, counted_cpu, counted_memory, is_demanding = load
        cpu = _FULL - (self._scored_cpu + counted_cpu) * self._cpu_percent
        memory = _FULL - (self._scored_memory + counted_memory) * self._memory_percent
        cpu = cpu // 1 * self._cpu_counts if cpu > 0 else 0.0
        memory = memory // 1 * self._memory_counts if memory > 0 else 0.0
        least = (cpu + memory) * self._share // 1
        if not is_demanding:
            return least
        return least + (self._evenness(asked_cpu, asked_memory) - self._without + 3 * HALF) * 0.5 // 1

    def _evenness(self, asked_cpu: float, asked_memory: float) -> float:
        cpu = (self._used_cpu + asked_cpu) * self._cpu_percent
        memory = (self._used_memory + asked_memory) * self._memory_percent
        if cpu > MAX_SCORE or memory > MAX_SCORE:
            cpu, memory = min(cpu, MAX_SCORE), min(memory, MAX_SCORE)
        return (_FULL - abs(cpu - memory) * self._both * 0.5) // 1

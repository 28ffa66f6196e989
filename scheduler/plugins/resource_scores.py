"""The weighted sum of the scores that depend on amounts, for arrays of nodes and, in plain numbers, for one node.

Where nodes change pod by pod, a call of numpy costs more than the whole figure. The plain figures are those of `total_score` to
the last bit: the same steps in the same order, on the same floating point numbers.
"""

from collections.abc import Callable, Mapping
from itertools import starmap
from typing import Final, NamedTuple

import numpy as np

from scheduler.cache.node_columns import Slots
from scheduler.cache.nodes import Amounts
from scheduler.plugins.framework import MAX_SCORE, IntArray
from scheduler.plugins.node_resources_balanced_allocation import (
    HALF,
    balanced_allocation,
    balanced_scores,
    best_balanced_allocation,
)
from scheduler.plugins.node_resources_fit import best_least_allocated, least_allocated, strategy_scores
from scheduler.plugins.resource_allocation import ROUNDING, NodesWithPods, Numbers, PodLoads

Score = Callable[[NodesWithPods], Numbers]

SCORES: Final[tuple[tuple[Score, int], ...]] = ((least_allocated, 1), (balanced_allocation, 1))
"""(score, weight) as in kube-scheduler's default profile."""

_BEST: Final[Mapping[Score, Callable[[NodesWithPods, NodesWithPods], Numbers]]] = {
    least_allocated: best_least_allocated,
    balanced_allocation: best_balanced_allocation,
}
"""What no load exceeds, from the nodes under the least and under the most that is asked of each resource."""

_FULL: Final = MAX_SCORE + ROUNDING


def total_score(after: NodesWithPods) -> IntArray:
    """The weighted sum by the loads' profile, `[node, load]`."""
    scoring = after.loads.scoring
    if not scoring.is_usual:
        weights = scoring.weights
        total = weights.node_resources_fit * strategy_scores(after, scoring)
        if weights.balanced_allocation:
            total = total + weights.balanced_allocation * balanced_scores(after, scoring)
        return total.astype(np.int64)
    first, *others = (score(after) * weight if weight != 1 else score(after) for score, weight in SCORES)
    for other in others:
        first += other
    return first.astype(np.int64)


def best_score(allocatable: Amounts, free: Amounts, scored: Amounts, loads: PodLoads, slots: Slots | slice) -> IntArray:
    """What none of these loads exceeds on each node by the default profile, `[asked node]`; tables as for `NodesWithPods`."""
    least, most = (NodesWithPods(allocatable, free, scored, extreme, slots) for extreme in loads.extremes())
    best = sum(weight * _BEST[score](least, most)[:, 0] for score, weight in SCORES)
    return np.asarray(best, dtype=np.int64)


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
        "_standing_cpu",
        "_standing_memory",
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
        self._standing_cpu, self._standing_memory = float(cpu - free_cpu), float(memory - free_memory)
        self._scored_cpu, self._scored_memory = float(scored_cpu), float(scored_memory)
        self._without = self._evenness(0, 0)

    @property
    def unused(self) -> tuple[float, float]:
        """CPU and memory that nobody asked for."""
        cpu, memory = self._offered
        return cpu - self._standing_cpu, memory - self._standing_memory

    @property
    def scored(self) -> tuple[float, float]:
        """CPU and memory taken as scoring sees it."""
        return self._scored_cpu, self._scored_memory

    def take(self, load: SingleLoad) -> None:
        """A pod is on the node from now on."""
        self._standing_cpu += load.asked_cpu
        self._standing_memory += load.asked_memory
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
        cpu = (self._standing_cpu + asked_cpu) * self._cpu_percent
        memory = (self._standing_memory + asked_memory) * self._memory_percent
        if cpu > MAX_SCORE or memory > MAX_SCORE:
            cpu, memory = min(cpu, MAX_SCORE), min(memory, MAX_SCORE)
        return (_FULL - abs(cpu - memory) * self._both * 0.5) // 1

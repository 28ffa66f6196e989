"""NodeResourcesFit: how many pods of one demand fit on each node, what is short where none does, and how full the node gets.

Only resources the pod asks for are looked at by the filter, so a node that is over-committed in another one still takes it.
The score has three strategies. `least_allocated` is a shorter way to the figures of `strategy_scores` for the default profile;
`single_node_scores` has the same in plain numbers.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from api.requests import PODS
from scheduler.cache.node_columns import Slots
from scheduler.cache.nodes import Amounts, Resolved
from scheduler.cache.scoring import Scoring
from scheduler.plugins.interface import MAX_SCORE
from scheduler.plugins.resource_allocation import ROUNDING, NodesWithPods, Numbers
from scheduler.plugins.status import Code, Status

NAME: Final = "NodeResourcesFit"


def pods_that_fit(free: Amounts, demand: Resolved, slots: Slots | slice) -> NDArray[np.int64]:
    """How many pods of this demand each node can take, `[asked node]`; 0 where none fits. `free` is `[resource, node slot]`.

    Raises:
        ValueError: the demand asks for nothing, not even for a place among the node's pods.
    """
    if demand.missing:
        return np.zeros(free[0][slots].shape, dtype=np.int64)
    fitting: NDArray[np.int64] | None = None
    for row, amount in zip(demand.rows.tolist(), demand.amounts.tolist(), strict=True):
        here = free[row][slots] // amount
        fitting = here if fitting is None else np.minimum(fitting, here, out=fitting)
    if fitting is None:
        raise ValueError("a demand asks for at least one of `pods`")
    return np.maximum(fitting, 0, out=fitting)


def insufficient_resources(
    free: Amounts, demand: Resolved, resources: list[str], slots: Slots
) -> Iterator[tuple[Status, int]]:
    """(status, number of nodes refused with it) for every resource that is short; `free` is `[resource, node slot]`."""
    for row, amount in zip(demand.rows.tolist(), demand.amounts.tolist(), strict=True):
        short = int(np.count_nonzero(free[row][slots] < amount))
        if short:
            yield refusal(resources[row]), short
    for resource in demand.missing:
        if len(slots):
            yield refusal(resource), len(slots)


def refusal(resource: str) -> Status:
    """With what nodes are refused that have too little of a resource."""
    text = "Too many pods" if resource == PODS else f"Insufficient {resource}"
    return Status(Code.UNSCHEDULABLE, text, plugin=NAME)


def least_allocated(after: NodesWithPods) -> Numbers:
    """Mean free share of CPU and memory, each cut to a whole number, as kube-scheduler computes it: `[node, load]` of 0..100."""
    shares = after.scored * after.percent
    np.subtract(MAX_SCORE + ROUNDING, shares, out=shares)
    np.floor(np.maximum(shares, 0, out=shares), out=shares)
    if after.is_offered_by_all:
        mean = shares[0] + shares[1]
        mean *= 0.5
    else:
        mean = (shares * after.is_offered).sum(axis=0) / np.maximum(after.is_offered.sum(axis=0), 1)
    return np.asarray(np.floor(mean, out=mean), dtype=np.float64)


def best_least_allocated(least: NodesWithPods, _most: NodesWithPods) -> Numbers:
    """The fuller a node, the worse: no load gets more than the least there is; `[node, 1]`."""
    return least_allocated(least)


def strategy_scores(after: NodesWithPods, scoring: Scoring) -> Numbers:
    """The score by any strategy and any resources, `[node, load]` of 0..100."""
    uses = after.uses(scoring.resources, counted=True)
    total, weight_sum = np.zeros(uses[0][0].shape), np.zeros(uses[0][0].shape)
    is_ratio = scoring.strategy == "RequestedToCapacityRatio"
    for (used, offered, counts), weight in zip(uses, scoring.resources.values(), strict=True):
        score = _of_one(used, offered, scoring)
        counting = counts * (score > 0) if is_ratio else counts
        total += score * weight * counting
        weight_sum += weight * counting
    mean = total / np.maximum(weight_sum, 1)
    return np.asarray(np.floor(mean + (0.5 if is_ratio else ROUNDING)), dtype=np.float64)


def _of_one(used: Numbers, offered: Numbers, scoring: Scoring) -> Numbers:
    share = np.floor(MAX_SCORE * used / np.maximum(offered, 1) + ROUNDING)
    if scoring.strategy == "MostAllocated":
        return np.minimum(share, MAX_SCORE)
    if scoring.strategy == "LeastAllocated":
        left = np.floor(MAX_SCORE * (offered - used) / np.maximum(offered, 1) + ROUNDING)
        return np.maximum(left, 0)
    return _broken_line(np.minimum(share, MAX_SCORE), scoring.ratio)


def _broken_line(percent: Numbers, points: Sequence[tuple[int, int]]) -> Numbers:
    """The score between the points, each step cut to a whole number towards the point before."""
    found = np.full(percent.shape, float(points[-1][1]))
    for (left, low), (right, high) in reversed(list(pairwise(points))):
        inside = low + np.trunc((high - low) * (percent - left) / max(right - left, 1))
        found = np.where(percent <= right, inside, found)
    return np.where(percent <= points[0][0], float(points[0][1]), found)

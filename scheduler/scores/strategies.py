"""NodeResourcesFit and NodeResourcesBalancedAllocation for profiles of any strategy and any resources.

The default profile has shorter ways (`least_allocated`, `balanced_allocation`) to the same figures. A resource that the node
does not have does not count, nor does one beside CPU, memory and ephemeral storage that the pod does not ask for.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from scheduler.scores.after import After, Numbers
from scheduler.scores.balanced_allocation import improvement
from scheduler.scores.normalise import MAX_SCORE
from scheduler.state.scoring import Scoring

ROUNDING: Final = 1e-9
ALWAYS: Final = frozenset({"cpu", "memory", "ephemeral-storage"})

Use = tuple[Numbers, Numbers, Numbers]
"""(amount in use, amount there is, whether it counts) of one resource, by node and load."""


def resource_score(after: After, scoring: Scoring) -> Numbers:
    """The weighted sum of both, by node and load."""
    weights = scoring.weights
    total = weights.node_resources_fit * _fit(_uses(after, scoring.resources, counted=True), scoring)
    if weights.balanced_allocation:
        uses = _uses(after, scoring.balanced, counted=False)
        with_pod = _evenness(uses)
        alone = _without_load(after, uses)
        balance = improvement(with_pod, after.before(with_pod, _evenness(alone)))
        asks = np.any([after.loads.amounts_of(name) > 0 for name in scoring.balanced], axis=0)
        balance[:, ~asks] = 0
        total = total + weights.balanced_allocation * balance
    return np.asarray(total, dtype=np.float64)


def _uses(after: After, names: Sequence[str] | Mapping[str, int], *, counted: bool) -> list[Use]:
    found = []
    for name in names:
        used, offered = after.use_of(name, counted=counted)
        counts = np.broadcast_to(offered > 0, used.shape).astype(np.float64)
        if name not in ALWAYS:
            counts = counts * (after.loads.amounts_of(name) > 0)[None, :]
        found.append((used, offered, counts))
    return found


def _fit(uses: list[Use], scoring: Scoring) -> Numbers:
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


def _without_load(after: After, uses: list[Use]) -> list[Use]:
    loads = after.loads
    return [
        (used - loads.amounts_of(name)[None, :], offered, counts)
        for name, (used, offered, counts) in zip(loads.scoring.balanced, uses, strict=True)
    ]


def _evenness(uses: list[Use]) -> Numbers:
    shares = np.array([np.minimum(used / np.maximum(offered, 1), 1) for used, offered, _ in uses])
    counts = np.array([counts for _, _, counts in uses])
    number = counts.sum(axis=0)
    mean = (shares * counts).sum(axis=0) / np.maximum(number, 1)
    variance = (((shares - mean) ** 2) * counts).sum(axis=0) / np.maximum(number, 1)
    return np.asarray(np.floor((1 - np.sqrt(variance)) * MAX_SCORE + ROUNDING), dtype=np.float64)

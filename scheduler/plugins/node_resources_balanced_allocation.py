"""NodeResourcesBalancedAllocation: the more a pod evens out the used shares of CPU and memory, the better.

What counts is the change (Kubernetes 1.36, PR 135573): 75 is none, 50 is from even to as uneven as can be, 100 is the opposite.
`balanced_allocation` is a shorter way to the figures of `balanced_scores` for the default profile.
"""

import numpy as np

from scheduler.cache.scoring import Scoring
from scheduler.plugins.interface import MAX_SCORE
from scheduler.plugins.resource_allocation import ROUNDING, NodesWithPods, Numbers, Use

HALF = MAX_SCORE // 2


def balanced_allocation(after: NodesWithPods) -> Numbers:
    """50 + (50 + evenness with the pod - evenness without it) / 2, cut to a whole number, `[node, load]`.

    0 for pods that ask for neither CPU nor memory.
    """
    with_pod = _evenness(after, after.requested)
    found = _improvement(with_pod, after.before(with_pod, _evenness(after, after.used)))
    if after.undemanding is not None:
        found[:, after.undemanding] = 0
    return found


def best_balanced_allocation(least: NodesWithPods, most: NodesWithPods) -> Numbers:
    """The shares come as close to each other as anything between the least and the most of each can bring them; `[node, 1]`."""
    (cpu_from, memory_from), (cpu_to, memory_to) = _shares(least, least.requested), _shares(most, most.requested)
    apart = np.maximum(cpu_from - memory_to, memory_from - cpu_to)
    with_pod = _even(least, np.maximum(apart, 0, out=apart))
    return _improvement(with_pod, _evenness(least, least.used))


def balanced_scores(after: NodesWithPods, scoring: Scoring) -> Numbers:
    """The score for any resources, `[node, load]`."""
    uses = after.uses(scoring.balanced, counted=False)
    with_pod = _evenness_of(uses)
    alone = [
        (used - after.loads.amounts_of(name)[None, :], offered, counts)
        for name, (used, offered, counts) in zip(scoring.balanced, uses, strict=True)
    ]
    balance = _improvement(with_pod, after.before(with_pod, _evenness_of(alone)))
    asks = np.any([after.loads.amounts_of(name) > 0 for name in scoring.balanced], axis=0)
    balance[:, ~asks] = 0
    return balance


def _evenness_of(uses: list[Use]) -> Numbers:
    shares = np.array([np.minimum(used / np.maximum(offered, 1), 1) for used, offered, _ in uses])
    counts = np.array([counts for _, _, counts in uses])
    number = counts.sum(axis=0)
    mean = (shares * counts).sum(axis=0) / np.maximum(number, 1)
    variance = (((shares - mean) ** 2) * counts).sum(axis=0) / np.maximum(number, 1)
    return np.asarray(np.floor((1 - np.sqrt(variance)) * MAX_SCORE + ROUNDING), dtype=np.float64)


def _improvement(with_pod: Numbers, without: Numbers) -> Numbers:
    """The score of a change of evenness (0..100 each)."""
    found = with_pod - without
    found += 3 * HALF
    found *= 0.5
    return np.asarray(np.floor(found, out=found), dtype=np.float64)


def _evenness(after: NodesWithPods, requested: Numbers) -> Numbers:
    """100 x (1 - standard deviation of the used shares), cut to a whole number."""
    cpu, memory = _shares(after, requested)
    return _even(after, np.abs(np.subtract(cpu, memory, out=cpu), out=cpu))


def _shares(after: NodesWithPods, requested: Numbers) -> Numbers:
    shares = requested * after.percent
    return np.minimum(shares, MAX_SCORE, out=shares)


def _even(after: NodesWithPods, apart: Numbers) -> Numbers:
    if not after.is_offered_by_all:
        apart *= after.is_offered.all(axis=0)
    apart *= 0.5
    return np.asarray(np.floor(np.subtract(MAX_SCORE + ROUNDING, apart, out=apart), out=apart), dtype=np.float64)

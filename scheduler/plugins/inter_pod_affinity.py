"""InterPodAffinity: affinity and anti-affinity between pods, in both directions.

Required terms filter. A pod goes where pods that all its affinity terms select are, within one value of each term's node label,
and where none is that an anti-affinity term selects. Pods that run already keep newcomers away by their own anti-affinity.
Where nobody is that the affinity selects, a pod that it selects itself may start anywhere: it is the first of its kind.

Preferred terms score: the weights of all of them, the pod's own and those of running pods. A running pod's required affinity
counts as a preference of weight 1: pods that it needs near it are welcome there.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from scheduler.plugins.interface import MAX_SCORE, IntArray, Mask
from scheduler.plugins.status import Code, Status

NAME: Final = "InterPodAffinity"

REASON_AFFINITY: Final = Status(
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) didn't match pod affinity rules", plugin=NAME
)
REASON_ANTI_AFFINITY: Final = Status(Code.UNSCHEDULABLE, "node(s) didn't match pod anti-affinity rules", plugin=NAME)
REASON_EXISTING: Final = Status(
    Code.UNSCHEDULABLE, "node(s) didn't satisfy existing pods anti-affinity rules", plugin=NAME
)

HARD_POD_AFFINITY_WEIGHT: Final = 1
"""Upstream's default of `hardPodAffinityWeight`."""


def satisfies_affinity(pods_there: Sequence[IntArray], labelled: Sequence[Mask], *, is_first: bool) -> Mask:
    """The nodes `[node]` near the pods that required affinity selects.

    Args:
        pods_there: for each term `[node]`, selected pods in the node's value of the term's label.
        labelled: for each term `[node]`, whether the node has the label.
        is_first: there are no selected pods anywhere, and the pod itself is one.
    """
    near = np.logical_and.reduce(labelled)
    if not is_first:
        for pods in pods_there:
            near &= pods > 0
    return np.asarray(near, dtype=np.bool_)


def satisfies_anti_affinity(pods_there: Sequence[IntArray]) -> Mask:
    """The nodes `[node]` without any pod that is not wanted; `pods_there` has `[node]` for each term."""
    quiet: Mask = np.asarray(pods_there[0] == 0, dtype=np.bool_)
    for pods in pods_there[1:]:
        quiet &= pods == 0
    return quiet


def normalize_scores(raw: IntArray, feasible: Mask) -> IntArray:
    """Scores between the worst (0) and the best (100) feasible node, all `[node]`; all 0 when these are equal."""
    if not feasible.any():
        return np.zeros(len(raw), dtype=np.int64)
    most = int(raw.max(where=feasible, initial=-(2**62)))
    least = int(raw.min(where=feasible, initial=2**62))
    if most == least:
        return np.zeros(len(raw), dtype=np.int64)
    return np.asarray(np.trunc(MAX_SCORE * ((raw - least) / (most - least))), dtype=np.int64)

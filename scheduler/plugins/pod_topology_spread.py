"""PodTopologySpread: how evenly pods are spread over the values of a node label.

Constraints with DoNotSchedule filter: no value may get too many more pods than the least.

    pods in the value + 1 if the pod itself counts - fewest pods in any eligible value <= maxSkew

Eligible are the values of nodes that carry the keys of all hard constraints of the pod and that its `nodeAffinityPolicy` and
`nodeTaintsPolicy` let count. With fewer eligible values than `minDomains` the fewest count as none.

Constraints with ScheduleAnyway score: nodes in whose value fewer of the pods run are better. Each constraint counts the pods,
weighted by how many values there are to choose from (the logarithm: many small values would otherwise count for nothing beside
few large ones), plus the skew that is allowed anyway.
"""

from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.plugins.interface import MAX_SCORE, IntArray, Mask
from scheduler.plugins.status import Code, Status

NAME: Final = "PodTopologySpread"

_NOT_MATCHED: Final = "node(s) didn't match pod topology spread constraints"
REASON: Final = Status(Code.UNSCHEDULABLE, _NOT_MATCHED, plugin=NAME)
REASON_LABEL: Final = Status(
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE, _NOT_MATCHED + " (missing required label)", plugin=NAME
)

Numbers = NDArray[np.float64]


def min_match(by_value: IntArray, eligible: NDArray[np.intp], min_domains: int) -> int:
    """Pods in the value with the fewest of them; `by_value` is `[value of the label]`, `eligible` are indices into it."""
    if len(eligible) < max(min_domains, 1):
        return 0
    return int(by_value[eligible].min())


def within_max_skew(pods_there: IntArray, least: int, *, counts_itself: bool, max_skew: int) -> Mask:
    """The nodes in whose value one more pod does not make the skew too large.

    Args:
        pods_there: `[node]`, pods in the node's value.
        least: what `min_match` says.
        counts_itself: whether the constraint selects the pod itself.
        max_skew: of the constraint.

    Returns:
        `[node]`.
    """
    return pods_there <= max_skew + least - counts_itself


def score_for_count(pods_there: IntArray, labelled: Mask, values: int, max_skew: int) -> Numbers:
    """What one soft constraint holds against each node, all `[node]`; 0 where the node lacks the label."""
    return np.asarray((pods_there * log(values + 2) + (max_skew - 1)) * labelled, dtype=np.float64)


def normalize_scores(crowded: Numbers, counting: Mask) -> IntArray:
    """Scores `[node]` of 0..100 among the nodes that are `counting`, the others get 0; `crowded` is summed over all constraints."""
    raw = np.floor(crowded + 0.5).astype(np.int64)
    if not counting.any():
        return np.zeros(len(raw), dtype=np.int64)
    most = int(raw.max(where=counting, initial=0))
    least = int(raw.min(where=counting, initial=2**62))
    if not most:
        return np.where(counting, MAX_SCORE, 0)
    return np.where(counting, MAX_SCORE * (most + least - raw) // most, 0)

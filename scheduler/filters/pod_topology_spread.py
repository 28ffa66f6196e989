"""PodTopologySpread, constraints with DoNotSchedule: no value of the node label may get too many more pods than the least.

    pods in the value + 1 if the pod itself counts - fewest pods in any eligible value <= maxSkew

Eligible are the values of nodes that carry the keys of all hard constraints of the pod and that its `nodeAffinityPolicy` and
`nodeTaintsPolicy` let count. With fewer eligible values than `minDomains` the fewest count as none.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

REASON: Final = "node(s) didn't match pod topology spread constraints"
REASON_LABEL: Final = REASON + " (missing required label)"


def fewest(by_value: NDArray[np.int64], eligible: NDArray[np.intp], min_domains: int) -> int:
    """Pods in the value with the fewest of them; `eligible` are indices into `by_value`."""
    if len(eligible) < max(min_domains, 1):
        return 0
    return int(by_value[eligible].min())


def even_enough(pods_there: NDArray[np.int64], least: int, *, counts_itself: bool, max_skew: int) -> NDArray[np.bool_]:
    """The nodes in whose value one more pod does not make the skew too large."""
    return pods_there <= max_skew + least - counts_itself

"""InterPodAffinity: required affinity and anti-affinity, in both directions.

A pod goes where pods that all its affinity terms speak of are, within one value of each term's node label, and where none is
that an anti-affinity term speaks of. Pods that run already keep newcomers away by their own anti-affinity. Where nobody is
that the affinity speaks of, a pod that it speaks of itself may start anywhere: it is the first of its kind.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

REASON_AFFINITY: Final = "node(s) didn't match pod affinity rules"
REASON_ANTI_AFFINITY: Final = "node(s) didn't match pod anti-affinity rules"
REASON_EXISTING: Final = "node(s) didn't satisfy existing pods anti-affinity rules"

Mask = NDArray[np.bool_]


def near_its_kind(pods_there: Sequence[NDArray[np.int64]], labelled: Sequence[Mask], *, is_first: bool) -> Mask:
    """The nodes near the pods that required affinity speaks of; one entry per term in both lists.

    `is_first` says that there are none anywhere and that the pod itself is one.
    """
    near = np.logical_and.reduce(labelled)
    if not is_first:
        for pods in pods_there:
            near &= pods > 0
    return np.asarray(near, dtype=np.bool_)


def undisturbed(pods_there: Sequence[NDArray[np.int64]]) -> Mask:
    """The nodes without anybody who is not wanted; one entry per term."""
    quiet: Mask = np.asarray(pods_there[0] == 0, dtype=np.bool_)
    for pods in pods_there[1:]:
        quiet &= pods == 0
    return quiet

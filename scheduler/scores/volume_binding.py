"""VolumeBinding: where volumes are to be made, nodes with more storage left are better (StorageCapacityScoring).

A volume that exists counts by how much of it the claim would use, the less the better; then what could be made does not count.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from scheduler.scores.normalise import MAX_SCORE, Whole

Use = tuple[Whole, Whole]
"""(bytes asked for, bytes there are) by node slot; nothing there where the second is 0."""


def volume_binding(existing: Mapping[str, Use], makeable: Mapping[str, Use], slots: int) -> Whole:
    """The mean over storage classes, by node slot."""
    total, classes = np.zeros(slots), np.zeros(slots)
    has_existing = np.zeros(slots, dtype=np.bool_)
    for asked, there in existing.values():
        has_existing |= there > 0
        _add(total, classes, asked, there, there > 0)
    for asked, there in makeable.values():
        _add(total, classes, asked, there, (there > 0) & ~has_existing)
    return np.asarray(np.floor(total / np.maximum(classes, 1) + 0.5), dtype=np.int64)


def _add(
    total: NDArray[np.float64], classes: NDArray[np.float64], asked: Whole, there: Whole, counts: NDArray[np.bool_]
) -> None:
    used = np.minimum(MAX_SCORE * asked.astype(np.float64) // np.maximum(there, 1), MAX_SCORE)
    total += np.where(counts, MAX_SCORE - used, 0)
    classes += counts

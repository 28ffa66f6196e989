"""VolumeZone: a volume that is labelled with a zone or region is used there, by nodes that say where they are at all."""

from collections.abc import Iterable
from typing import Final

import numpy as np

from scheduler.cache.nodes import NodeTable
from scheduler.cache.volume_records import ZONE_LABELS
from scheduler.plugins.interface import Mask
from scheduler.plugins.status import Code, Status

NAME: Final = "VolumeZone"

REASON: Final = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) had no available volume zone", plugin=NAME)

_TODAY: Final = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
}


def in_other_zone(zones: Iterable[tuple[str, frozenset[str]]], nodes: NodeTable) -> Mask | None:
    """The nodes `[node slot]` in another zone; None when the volumes name no zone.

    `zones` are (label key, values) of volumes. A node without a label of the old name is asked for that of the new one.
    """
    refused: Mask | None = None
    for key, values in zones:
        column = nodes.label_column(key)
        everybody = np.arange(nodes.slots)
        here = column.ask(lambda value, allowed=values: value in allowed, everybody)  # type: ignore[misc]
        if key in _TODAY:
            today = nodes.label_column(_TODAY[key])
            here |= (column.codes == 0) & today.ask(lambda value, allowed=values: value in allowed, everybody)  # type: ignore[misc]
        refused = ~here if refused is None else refused | ~here
    if refused is None:
        return None
    placed = np.zeros(nodes.slots, dtype=np.bool_)
    for key in ZONE_LABELS:
        placed |= nodes.label_column(key).codes != 0
    return refused & placed

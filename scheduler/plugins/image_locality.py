"""ImageLocality: nodes that hold the pod's images already are better, the more so the larger the images are.

An image counts with its size times the share of nodes that have it, so that one rare image does not draw every pod to the
same node. The sum counts from 23 MiB on, up to 1000 MiB per container.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from scheduler.cache.node_columns import ImageTable
from scheduler.plugins.interface import MAX_SCORE, IntArray

MEBIBYTE: Final = 1024 * 1024
LEAST_BYTES: Final = 23 * MEBIBYTE
MOST_BYTES_PER_CONTAINER: Final = 1000 * MEBIBYTE


def score_nodes(images: Sequence[str], table: ImageTable, nodes_total: int, slots: int) -> IntArray | None:
    """The scores `[node slot]` of 0..100 for a pod with one container per image; None when no node has any of them."""
    held = [name for name in map(full_name, images) if table.nodes_with(name)]
    if not held or not nodes_total:
        return None
    total = np.zeros(slots, dtype=np.int64)
    for name in held:
        scaled = int(float(table.size_bytes(name)) * (table.nodes_with(name) / nodes_total))
        total += scaled * table.holders(name, slots)
    most = MOST_BYTES_PER_CONTAINER * len(images)
    return MAX_SCORE * (total.clip(LEAST_BYTES, most) - LEAST_BYTES) // (most - LEAST_BYTES)


def full_name(image: str) -> str:
    """The name with its tag: `latest` when it has none."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"

"""NodeVolumeLimits: a node can have so many volumes of a driver attached, each of them counted once.

Volumes of drivers built into Kubernetes once (EBS, GCE and so on without CSI) are not counted.
"""

from collections.abc import Collection, Iterable
from typing import Final

import numpy as np

from scheduler.cache.nodes import NodeTable
from scheduler.cache.volume_topology import Attached, Attachments
from scheduler.plugins.interface import IntArray, Mask
from scheduler.plugins.status import Code, Status

NAME: Final = "NodeVolumeLimits"

REASON: Final = Status(Code.UNSCHEDULABLE, "node(s) exceed max volume count", plugin=NAME)


def reason_missing(driver: str) -> Status:
    """With what nodes are refused without a driver that asks to be installed first."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, f"{driver} CSI driver is not installed on the node", plugin=NAME)


def exceeding_limits(
    volumes: Iterable[Attached], attachments: Attachments, also: dict[int, set[Attached]], slots: int
) -> Mask | None:
    """The nodes `[node slot]` that cannot have these volumes attached as well; None when no node limits them.

    Args:
        volumes: (driver, handle) of each volume; the same one twice counts once.
        attachments: what is attached where, and how much may be.
        also: volumes that are about to be attached, by node slot.
        slots: number of node slots.
    """
    refused: Mask | None = None
    by_driver: dict[str, list[Attached]] = {}
    for volume in dict.fromkeys(volumes):
        by_driver.setdefault(volume[0], []).append(volume)
    for driver, wanted in by_driver.items():
        spare = attachments.spare(driver)
        if spare is None:
            continue
        new = np.full(slots, len(wanted), dtype=np.int64)
        for volume in wanted:
            new[list(attachments.nodes_with(volume))] -= 1
        left = _left(spare, wanted, attachments, also, new)
        short = (new > 0) & (new > left)
        refused = short if refused is None else refused | short
    return refused


def _left(
    spare: IntArray,
    wanted: Collection[Attached],
    attachments: Attachments,
    also: dict[int, set[Attached]],
    new: IntArray,
) -> IntArray:
    if not also:
        return spare
    left = spare.copy()
    driver = next(iter(wanted))[0]
    for slot, volumes in also.items():
        coming = {volume for volume in volumes if volume[0] == driver and slot not in attachments.nodes_with(volume)}
        left[slot] -= len(coming)
        new[slot] -= len(coming.intersection(wanted))
    return left


def nodes_without_driver(
    drivers: Iterable[str], attachments: Attachments, nodes: NodeTable
) -> Iterable[tuple[str, Mask]]:
    """(driver, the nodes `[node slot]` where it is not installed), for each driver once."""
    for driver in dict.fromkeys(drivers):
        missing = np.ones(nodes.slots, dtype=np.bool_)
        for name, installed in attachments.drivers_of.items():
            slot = nodes.slot_of.get(name)
            if slot is not None and driver in installed:
                missing[slot] = False
        yield driver, missing

"""NodePorts: a host port can be open once on a node."""

from typing import Final

import numpy as np

from scheduler.cache.demand import HostPort, PortTable
from scheduler.cache.node_columns import Slots
from scheduler.cache.nodes import NodeTable
from scheduler.plugins.interface import Mask
from scheduler.plugins.status import Code, Status

NAME: Final = "NodePorts"

REASON: Final = Status(Code.UNSCHEDULABLE, "node(s) didn't have free ports for the requested pod ports", plugin=NAME)


def nodes_in_conflict(ports: tuple[HostPort, ...], nodes: NodeTable, taken: PortTable, slots: Slots) -> Mask:
    """The nodes on which one of the ports is taken already, `[asked node]` in the order of `slots`."""
    names = taken.conflicts(ports)
    busy = {slot for name in names if (slot := nodes.slot_of.get(name)) is not None}
    return np.isin(slots, list(busy))

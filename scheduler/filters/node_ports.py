"""NodePorts: a host port can be open once on a node."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.state.changes import Slots
from scheduler.state.demand import HostPort, PortTable
from scheduler.state.nodes import NodeTable

REASON: Final = "node(s) didn't have free ports for the requested pod ports"


def ports_taken(ports: tuple[HostPort, ...], nodes: NodeTable, taken: PortTable, slots: Slots) -> NDArray[np.bool_]:
    """The nodes on which one of the ports is taken already."""
    names = taken.conflicts(ports)
    busy = {slot for name in names if (slot := nodes.slot_of.get(name)) is not None}
    return np.isin(slots, list(busy))

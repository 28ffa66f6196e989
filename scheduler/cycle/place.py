"""One attempt to place the pending members of an item: anywhere, or inside one value of a label.

What the nodes are is left to the caller, who hands in how a trial is made: on the room there is, or on the room there would be.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.placement.attempts import Attempt, best_attempt
from scheduler.placement.domains import best_domain, domains_in_use
from scheduler.placement.muster import Muster
from scheduler.placement.trial import Trial
from scheduler.state.cluster import ClusterState
from scheduler.state.members import Members
from scheduler.state.shapes import Pending

MakeTrial = Callable[[NDArray[np.bool_] | None, str], Trial]
"""(the nodes it is limited to, None for all; the reason to give for the others) -> a trial."""

TWO_DOMAINS: Final = "members already run in more than one "
"""How the refusal begins that no room can mend."""


def attempt_to_place(
    state: ClusterState, members: Members, found: Muster, need: int, trial: MakeTrial
) -> Attempt | str:
    """The best attempt that was found, or why there is nowhere to try; `need` members must get a place together."""
    key = members.group.topology_key if members.group else None
    if key is None:
        return best_attempt(found.pending, need, state.nodes, lambda: trial(None, ""))
    pins = domains_in_use(key, state.nodes_in_use(members), state.nodes)
    if len(pins) > 1:
        return f"{TWO_DOMAINS}{key}: {', '.join(sorted(pins))}"
    pin = next(iter(pins), None)
    hoped = None if pin is not None else _hoped(members, found)
    if hoped is not None:
        room_for_all = best_domain(key, None, hoped, sum(hoped.values()), state, trial)
        if room_for_all is not None and room_for_all.total == sum(hoped.values()):
            pin = room_for_all.domain
    inside = best_domain(key, pin, found.pending, need, state, trial)
    if inside is not None:
        return inside
    value = f" with the value {pin}, where members already run" if pin else ""
    return f"no node has the label {key}{value}"


def _hoped(members: Members, found: Muster) -> Pending | None:
    """The members a group would like to have, the missing ones like the most common of those there are; None when none miss."""
    group = members.group
    missing = group.waiting.desired_count - members.satisfied - members.pending_count if group else 0
    if missing <= 0:
        return None
    most = max(found.pending, key=lambda shape: found.pending[shape])
    return {**found.pending, most: found.pending[most] + missing}

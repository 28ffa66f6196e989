"""Can it have become possible to place a waiting item? A necessary condition, cheap enough to ask on every event.

For members of one shape outside topology constraints it is exact, so such an item is never woken in vain.
"""

from scheduler.placement.domains import domains_in_use, most_in_domain
from scheduler.placement.mixed import most
from scheduler.placement.muster import minds_others
from scheduler.placement.room import new_trial
from scheduler.state.cluster import ClusterState
from scheduler.state.members import Members


def wanted(members: Members) -> int:
    """Members that must get a place together now: what is missing to `need`, at least one."""
    return max(members.need - members.satisfied, 1)


def wakes_exactly(state: ClusterState, members: Members) -> bool:
    """True when `placeable` is not only necessary but sufficient."""
    if members.group and members.group.topology_key:
        return False
    return len({shape.base for shape in members.pending}) == 1 and not minds_others(state, members)


def placeable(state: ClusterState, members: Members) -> int:
    """No placement now puts more of the item's pending members on nodes than this."""
    pending = {shape: len(waiting) for shape, waiting in members.pending.items()}
    key = members.group.topology_key if members.group else None
    trial = new_trial(state, members)
    if key is None:
        return most(pending, trial)
    pins = domains_in_use(key, state.nodes_in_use(members), state.nodes)
    if len(pins) > 1:
        return 0
    return int(most_in_domain(key, next(iter(pins), None), pending, state.nodes, trial).max())

"""Room that is kept for pods that do not exist yet: as they arrive and get their place, less is kept."""

from collections import Counter

from scheduler.state.demand import Demand
from scheduler.state.records import ItemKey
from scheduler.state.reservations import Amounts, Reservation, Reservations


class Remainders(Reservations):
    """What is kept for the pods to come of each group."""

    def taken(self, key: ItemKey, node_name: str, demand: Demand) -> None:
        """A pod of this group has a place now: one place less is kept, on its node where possible."""
        kept = self.of(key)
        if kept is None:
            return
        place = _place_of(kept.held, node_name, demand)
        if place is None:
            return
        node, known = place
        left = {name: Counter(demands) for name, demands in kept.held.items()}
        left[node] -= Counter([known])
        held = {name: demands for name, demands in left.items() if demands}
        self.put(Reservation(key, kept.priority, held, kept.deadline_seconds))


def _place_of(held: Amounts, node_name: str, demand: Demand) -> tuple[str, Demand] | None:
    """The place that a pod takes: on its node for its demand, else on its node, else for its demand, else any."""
    places = [(node, known) for node, demands in held.items() for known in demands]
    return min(places, key=lambda place: (place[0] != node_name, place[1].amounts != demand.amounts), default=None)

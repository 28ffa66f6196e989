"""The cluster as it would be if no room was kept for groups that have waited too long.

They get room by turns, and each turn ends by the clock; what is kept for pods to come, for lost members and for nodes that may be
lost stays kept. Who is refused here is refused in every turn.
"""

from collections.abc import Callable
from typing import Any, Final

from scheduler.algorithm.cluster_view import ClusterView
from scheduler.algorithm.free_after_nominations import FreeByPriority, free_by_priority
from scheduler.cache.cluster import ClusterState
from scheduler.cache.reservations import Reservations


class ClusterWithoutStarvationReservations(ClusterView):
    """The cluster without the room that is kept by turns.

    Args:
        state: the cluster, possibly with pods that are to come.
    """

    def __init__(self, state: ClusterState) -> None:
        super().__init__(state)
        self.reservations: Final = Reservations(beside=state.future_reservations)
        self._left: Final = FreeByPriority(state.nodes, state.ports, state.nominator, self.reservations)

    def derived(self, make: Callable[[ClusterState], Any]) -> Any:
        """What `make` makes of this cluster: only what is left to items is its own."""
        return self._left if make is free_by_priority else self._state.derived(make)

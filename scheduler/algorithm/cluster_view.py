"""A cluster that differs from the real one in some answers, so that the one decision can be asked about what is not there yet."""

from typing import Any, Final, cast

from scheduler.cache.cluster import ClusterState


class ClusterView:
    """Whatever is not said in a subclass is the cluster's own.

    Args:
        state: the cluster as it is.
    """

    def __init__(self, state: ClusterState) -> None:
        self._state: Final = state

    def __getattr__(self, name: str) -> Any:
        return getattr(self._state, name)

    @property
    def view(self) -> ClusterState:
        """Itself, for those who ask a cluster."""
        return cast("ClusterState", self)

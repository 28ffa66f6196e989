"""What every process shows of itself: how long the API server has been silent, and whose the lease is.

Gauges are read when somebody asks, so nothing has to be kept up to date.
"""

from collections.abc import Callable
from typing import Final

from prometheus_client import CollectorRegistry, Gauge

from api.constants import METRIC_LEADER, METRIC_LEASE_AGE_SECONDS, METRIC_WATCH_SILENCE_SECONDS


class WatchMetrics:
    """How long each watch has been silent; a server that is well says something at least every minute or so."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._silence: Final = Gauge(
            METRIC_WATCH_SILENCE_SECONDS,
            "Seconds since the API server last said anything about a resource.",
            ["resource"],
            registry=registry,
        )

    def follow(self, resource: str, read: Callable[[], float]) -> None:
        """Show that watch."""
        self._silence.labels(resource).set_function(read)


class LeaseMetrics:
    """Whether this process leads, and when it last said so to the others."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._leader: Final = Gauge(
            METRIC_LEADER, "Whether this process holds the lease: 1 or 0.", ["name"], registry=registry
        )
        self._age: Final = Gauge(
            METRIC_LEASE_AGE_SECONDS,
            "Seconds since the last successful renewal of the lease began; 0 while it is not held.",
            ["name"],
            registry=registry,
        )

    def follow(self, name: str, age_seconds: Callable[[], float | None]) -> None:
        """Show that lease: `age_seconds` is None while it is not held."""
        self._leader.labels(name).set_function(lambda: float(age_seconds() is not None))
        self._age.labels(name).set_function(lambda: age_seconds() or 0.0)

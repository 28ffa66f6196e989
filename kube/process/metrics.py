"""What every process shows of itself: what it asks of the API server, how long that has been silent, and whose the lease is.

Gauges are read when somebody asks, so nothing has to be kept up to date.
"""

from collections.abc import Callable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from api.constants import (
    METRIC_API_REQUEST_SECONDS,
    METRIC_API_REQUESTS,
    METRIC_LEADER,
    METRIC_LEASE_AGE_SECONDS,
    METRIC_WATCH_SILENCE_SECONDS,
)

REQUEST_BUCKETS: Final = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Seconds; a bind is timed by them, too."""


class RequestMetrics:
    """How long requests to the API server take, and how they end.

    Two metrics, as upstream has them: a histogram takes 4 KB for each set of labels, and there are hundreds of them by code once
    every kind has met every trouble.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._seconds: Final = Histogram(
            METRIC_API_REQUEST_SECONDS,
            "Time of requests to the API server.",
            ["verb", "resource"],
            buckets=REQUEST_BUCKETS,
            registry=registry,
        )
        self._ended: Final = Counter(
            METRIC_API_REQUESTS,
            "Requests to the API server, by how they ended.",
            ["verb", "resource", "code"],
            registry=registry,
        )

    def request(self, verb: str, resource: str, code: str, seconds: float) -> None:
        """A request was answered, or failed; fits the client's `observe`.

        Args:
            verb: as in RBAC.
            resource: plural name of the kind.
            code: of the answer, or a word when there was none.
            seconds: until then.
        """
        self._seconds.labels(verb, resource).observe(seconds)
        self._ended.labels(verb, resource, code).inc()


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

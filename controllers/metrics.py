"""What the controllers count. Names are an interface: dashboards and alerts in `config/` use them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from api.constants import (
    EVENT_NOT_ADMITTED_AS_GANG,
    METRIC_JOB_OBJECTS_CREATED,
    METRIC_RECONCILE_ERRORS,
    METRIC_RECONCILE_QUEUE_DEPTH,
    METRIC_RECONCILE_SECONDS,
    METRIC_WARNINGS,
)
from kube.client.resources import JOB_SETS, JOBS, LEADER_WORKER_SETS
from kube.outside import monotonic_seconds
from kube.process.metrics import RequestMetrics, WatchMetrics

_BUCKETS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The controllers' metrics in one registry."""

    def __init__(self, registry: CollectorRegistry, *, clock: Callable[[], float] = monotonic_seconds) -> None:
        self._clock = clock
        self.request: Final = RequestMetrics(registry).request
        self._created = Counter(
            METRIC_JOB_OBJECTS_CREATED,
            "Attempts to create a Workload or PodGroup, by outcome: created, found (an earlier attempt of ours), taken, failed.",
            ["kind", "result"],
            registry=registry,
        )
        self._seconds = Histogram(
            METRIC_RECONCILE_SECONDS,
            "Duration of one pass over one object, requests included.",
            ["kind"],
            buckets=_BUCKETS,
            registry=registry,
        )
        self._errors = Counter(
            METRIC_RECONCILE_ERRORS,
            "Passes that ended with an error and will be repeated.",
            ["kind"],
            registry=registry,
        )
        self._warnings = Counter(
            METRIC_WARNINGS,
            "Warning events about Jobs, LeaderWorkerSets and JobSets, each once for an object, by its reason.",
            ["kind", "reason"],
            registry=registry,
        )
        for kind in (JOBS.kind, LEADER_WORKER_SETS.kind, JOB_SETS.kind):
            # A series that begins with 1 has not increased for Prometheus, and the first one would alert nobody.
            self._warnings.labels(kind, EVENT_NOT_ADMITTED_AS_GANG)
            self._errors.labels(kind)
        self._watches = WatchMetrics(registry)
        self._depth = Gauge(METRIC_RECONCILE_QUEUE_DEPTH, "Objects that wait for a pass.", ["kind"], registry=registry)

    def object_created(self, kind: str, result: str) -> None:
        """One attempt to create an object of that kind ended so."""
        self._created.labels(kind, result).inc()

    def warned(self, kind: str, reason: str) -> None:
        """An object of that kind was given a Warning event."""
        self._warnings.labels(kind, reason).inc()

    def follow_silence(self, resource: str, read: Callable[[], float]) -> None:
        """Show how long a watch has been silent."""
        self._watches.follow(resource, read)

    def follow_queue(self, kind: str, depth: Callable[[], float]) -> None:
        """Read the depth of that kind's queue whenever somebody asks."""
        self._depth.labels(kind).set_function(depth)

    @contextmanager
    def reconciling(self, kind: str) -> Iterator[None]:
        """Measure one pass; an exception that leaves it counts as an error."""
        started = self._clock()
        try:
            yield
        except Exception:
            self._errors.labels(kind).inc()
            raise
        finally:
            self._seconds.labels(kind).observe(self._clock() - started)

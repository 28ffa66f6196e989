"""Metrics of preemption. Names that exist upstream keep their meaning, with our prefix.

Wasted evictions must stay 0 without faults.
"""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram

from api import constants as names

_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
_VICTIMS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096)


class PreemptionMetrics:
    """Counters and histograms of one scheduler process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._attempts = Counter(
            names.METRIC_PREEMPTION_ATTEMPTS,
            "Searches for victims, by what came of them.",
            ["result"],
            registry=registry,
        )
        self._seconds = Histogram(
            names.METRIC_PREEMPTION_SECONDS, "Time of a search for victims.", buckets=_SECONDS, registry=registry
        )
        self._victims = Histogram(
            names.METRIC_PREEMPTION_VICTIMS, "Pods that leave for one preemptor.", buckets=_VICTIMS, registry=registry
        )
        self._violations = Counter(
            names.METRIC_PREEMPTION_VIOLATIONS, "Victims beyond what a disruption budget allows.", registry=registry
        )
        self._evictions = Counter(names.METRIC_EVICTIONS, "Deletes of victims that were accepted.", registry=registry)
        self._wasted = Counter(
            names.METRIC_WASTED_EVICTIONS, "Evictions whose preemptor did not start in their place.", registry=registry
        )

    def searched(self, result: str, seconds: float) -> None:
        """A refused item was looked at."""
        self._attempts.labels(result).inc()
        self._seconds.observe(seconds)

    def planned(self, victims: int, violations: int) -> None:
        """A plan was found."""
        self._victims.observe(victims)
        self._violations.inc(violations)

    def evicted(self) -> None:
        """The server accepted the deletion of a victim."""
        self._evictions.inc()

    def wasted(self, evictions: int) -> None:
        """A plan was given up after so many evictions."""
        self._wasted.inc(evictions)

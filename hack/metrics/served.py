"""What each process serves, asked of the very classes that count."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from prometheus_client import CollectorRegistry

from controllers.metrics import Metrics as ControllersMetrics
from kube.process.metrics import LeaseMetrics
from scheduler.reporting.metrics import PreemptionMetrics, SchedulerMetrics
from webhooks.server.metrics import Metrics as WebhooksMetrics

SERIES_OF: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "histogram": {"_bucket": ("le",), "_sum": (), "_count": ()},
    "summary": {"_sum": (), "_count": ()},
}
"""How the names of the series of a kind end that has several, with the labels that come with each."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of one process.

    Attributes:
        name: as it is declared.
        kind: counter, gauge, histogram or summary.
        text: what it counts.
        labels: their names.
    """

    name: str
    kind: str
    text: str
    labels: tuple[str, ...]

    @property
    def shown_name(self) -> str:
        """As Prometheus has it; of a histogram, the name that its series begin with."""
        return f"{self.name}_total" if self.kind == "counter" else self.name

    def series(self) -> dict[str, frozenset[str]]:
        """The names that expressions may use, each with its labels."""
        endings = SERIES_OF.get(self.kind)
        if endings is None:
            return {self.shown_name: frozenset(self.labels)}
        return {self.name + ending: frozenset((*self.labels, *more)) for ending, more in endings.items()}


def registries() -> dict[str, CollectorRegistry]:
    """All metrics of each process, as its `main` makes them."""
    found = {name: CollectorRegistry() for name in ("scheduler", "controllers", "webhooks")}
    SchedulerMetrics(found["scheduler"])
    PreemptionMetrics(found["scheduler"])
    LeaseMetrics(found["scheduler"])
    ControllersMetrics(found["controllers"])
    LeaseMetrics(found["controllers"])
    WebhooksMetrics(found["webhooks"])
    return found


def metrics(registry: CollectorRegistry) -> Iterator[Metric]:
    """The metrics of a registry by name, those included that have no value yet."""
    collectors = {id(each): each for each in registry._collector_to_names}
    found = []
    for collector in collectors.values():
        labels = tuple(getattr(collector, "_labelnames", ()))
        found += [Metric(each.name, each.type, each.documentation, labels) for each in collector.collect()]
    yield from sorted(found, key=lambda each: each.name)


def all_series() -> dict[str, frozenset[str]]:
    """Every name that an expression may use, with its labels."""
    found: dict[str, frozenset[str]] = {}
    for registry in registries().values():
        for metric in metrics(registry):
            found |= metric.series()
    return found

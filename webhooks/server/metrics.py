"""What the admission server counts, per path."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from api.constants import METRIC_ADMISSION_REFUSALS, METRIC_ADMISSION_SECONDS, METRIC_CERTIFICATE_EXPIRY_SECONDS
from kube.process.metrics import WatchMetrics

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 3.0)


class Metrics:
    """The webhooks' metrics in one registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.seconds = Histogram(
            METRIC_ADMISSION_SECONDS,
            "Seconds from the last byte of an admission request to its verdict",
            ["path", "verdict"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.refusals = Counter(
            METRIC_ADMISSION_REFUSALS,
            "Requests that were no admission review and got an HTTP error",
            ["status"],
            registry=registry,
        )
        self.watches = WatchMetrics(registry)
        self.certificate_expiry = Gauge(
            METRIC_CERTIFICATE_EXPIRY_SECONDS,
            "When the serving certificate in use ends, Unix time",
            registry=registry,
        )

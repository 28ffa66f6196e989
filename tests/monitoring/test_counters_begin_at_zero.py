"""A counter by which somebody is called is served before it counts: Prometheus sees no increase in a series that begins with 1."""

import re
from itertools import product

import pytest
from prometheus_client import CollectorRegistry

from controllers.metrics import Metrics
from scheduler.queue.item_errors import STAGES
from scheduler.reporting.metrics import PreemptionMetrics, SchedulerMetrics
from tests.monitoring.rules import alerts

SERVED_BY_OTHERS = {"tutti_reconcile_duration_seconds_count"}
"""What is asked for a rate of many; the first one does not matter."""


@pytest.fixture
def registry() -> CollectorRegistry:
    """What scheduler and controllers serve before anything has happened."""
    made = CollectorRegistry()
    SchedulerMetrics(made)
    PreemptionMetrics(made)
    controllers = CollectorRegistry()
    Metrics(controllers)
    both = CollectorRegistry()
    both.register(made)
    both.register(controllers)
    return both


def counted() -> set[str]:
    """Counters whose increase calls somebody."""
    found = {name for rule in alerts() for name in re.findall(r"(?:increase|rate)\((tutti_\w+_total)", rule["expr"])}
    return found - SERVED_BY_OTHERS


@pytest.mark.parametrize("name", sorted(counted()))
def test_every_counter_of_an_alert_is_there_from_the_start(registry: CollectorRegistry, name: str) -> None:
    samples = [sample for family in registry.collect() for sample in family.samples if sample.name == name]
    assert samples
    assert all(sample.value == 0 for sample in samples)


def test_with_every_label_that_it_may_have(registry: CollectorRegistry) -> None:
    for stage in STAGES:
        assert registry.get_sample_value("tutti_item_errors_total", {"stage": stage}) == 0
    for kind in ("Job", "LeaderWorkerSet"):
        labels = {"kind": kind, "reason": "NotAdmittedAsGang"}
        assert registry.get_sample_value("tutti_warnings_total", labels) == 0
        assert registry.get_sample_value("tutti_reconcile_errors_total", {"kind": kind}) == 0
    for kind, result in product(("group", "pod"), ("scheduled", "unschedulable", "error", "nothing")):
        labels = {"type": kind, "result": result}
        assert registry.get_sample_value("tutti_podgroup_schedule_attempts_total", labels) == 0

"""What every process shows of its requests, its watches and its lease."""

from prometheus_client import CollectorRegistry

from kube.process.metrics import LeaseMetrics, RequestMetrics, WatchMetrics


def test_the_lease_of_a_leader_has_an_age() -> None:
    registry = CollectorRegistry()
    LeaseMetrics(registry).follow("tutti-scheduler", lambda: 3.5)
    labels = {"name": "tutti-scheduler"}
    assert registry.get_sample_value("tutti_leader_election_master_status", labels) == 1
    assert registry.get_sample_value("tutti_lease_age_seconds", labels) == 3.5


def test_who_does_not_lead_has_none() -> None:
    registry = CollectorRegistry()
    LeaseMetrics(registry).follow("tutti-scheduler", lambda: None)
    labels = {"name": "tutti-scheduler"}
    assert registry.get_sample_value("tutti_leader_election_master_status", labels) == 0
    assert registry.get_sample_value("tutti_lease_age_seconds", labels) == 0


def test_a_leader_that_renewed_this_moment_leads() -> None:
    registry = CollectorRegistry()
    LeaseMetrics(registry).follow("tutti-scheduler", lambda: 0.0)
    assert registry.get_sample_value("tutti_leader_election_master_status", {"name": "tutti-scheduler"}) == 1


def test_the_silence_of_a_watch_is_read_when_somebody_asks() -> None:
    registry, seconds = CollectorRegistry(), [1.0]
    WatchMetrics(registry).follow("pods", lambda: seconds[0])
    seconds[0] = 7.0
    assert registry.get_sample_value("tutti_watch_silence_seconds", {"resource": "pods"}) == 7


def test_requests_are_timed_by_verb_and_resource_and_counted_by_how_they_ended_too() -> None:
    registry = CollectorRegistry()
    metrics = RequestMetrics(registry)
    metrics.request("patch", "jobs", "200", 0.5)
    metrics.request("patch", "jobs", "429", 0.25)
    labels = {"verb": "patch", "resource": "jobs"}
    assert registry.get_sample_value("tutti_api_request_duration_seconds_count", labels) == 2
    assert registry.get_sample_value("tutti_api_request_duration_seconds_sum", labels) == 0.75
    for code in ("200", "429"):
        assert registry.get_sample_value("tutti_api_requests_total", labels | {"code": code}) == 1

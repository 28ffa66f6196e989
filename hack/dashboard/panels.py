"""The panels of the dashboard: what somebody looks at first comes first."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture.

    Attributes:
        title: above it.
        unit: Grafana's name of the unit.
        queries: expressions by what their lines are called, in Grafana's language.
        text: what to read from it.
        kind: of Grafana's panels.
    """

    title: str
    unit: str
    queries: dict[str, str]
    text: str = ""
    kind: str = "timeseries"


def _quantiles(metric: str, by: str = "") -> dict[str, str]:
    more = f", {by}" if by else ""
    name = f" {{{{{by}}}}}" if by else ""
    return {
        f"p{share}{name}": f"histogram_quantile(0.{share}, sum by (le{more}) (rate({metric}_bucket[$__rate_interval])))"
        for share in (50, 99)
    }


ROWS: Final[dict[str, tuple[Panel, ...]]] = {
    "Gangs": (
        Panel(
            "Gangs that wait, by reason",
            "short",
            {"{{reason}}": "sum by (reason) (tutti_pending_podgroups)"},
            "The reason of the condition PodGroupInitiallyScheduled; docs/waiting.md says what each means.",
        ),
        Panel(
            "From creation to start, by size",
            "s",
            _quantiles("tutti_podgroup_start_duration_seconds", "size"),
            "Waiting for room included: what users feel.",
        ),
        Panel(
            "Gangs bound in part",
            "short",
            {"had started: {{started}}": "max by (started) (tutti_partial_podgroups)"},
            "Those that have never been whole must be 0 but for moments.",
        ),
        Panel(
            "Attempts",
            "ops",
            {
                "{{type}} {{result}}": "sum by (type, result) (rate(tutti_podgroup_schedule_attempts_total[$__rate_interval]))"
            },
        ),
    ),
    "Scheduler": (
        Panel("Queue", "short", {"{{queue}}": "sum by (queue) (tutti_queued_entities)"}),
        Panel(
            "Share of the loop by cause",
            "percentunit",
            {"{{cause}}": "sum by (cause) (rate(tutti_scheduling_loop_seconds_sum[$__rate_interval]))"},
            "Of one processor. All but news are retries.",
        ),
        Panel("Time of an attempt", "s", _quantiles("tutti_podgroup_scheduling_attempt_duration_seconds")),
        Panel("From decision to bound", "s", _quantiles("tutti_bind_duration_seconds")),
        Panel(
            "Writes",
            "ops",
            {"{{lane}} {{outcome}}": "sum by (lane, outcome) (rate(tutti_writes_total[$__rate_interval]))"},
        ),
        Panel("Writes not yet sent", "short", {"{{lane}}": "sum by (lane) (tutti_queued_writes)"}),
        Panel("Difference to a fresh list", "short", {"{{kind}}": "max by (kind) (tutti_cache_drift)"}, "Must be 0."),
        Panel("Objects followed", "short", {"{{kind}}": "max by (kind) (tutti_cache_objects)"}),
    ),
    "Preemption": (
        Panel(
            "Evictions",
            "ops",
            {
                "started": "sum(rate(tutti_evictions_total[$__rate_interval]))",
                "in vain": "sum(rate(tutti_wasted_evictions_total[$__rate_interval]))",
                "beyond a budget": "sum(rate(tutti_preemption_pdb_violations_total[$__rate_interval]))",
            },
        ),
        Panel(
            "Searches for victims",
            "ops",
            {"{{result}}": "sum by (result) (rate(tutti_workload_preemption_attempts_total[$__rate_interval]))"},
        ),
    ),
    "Admission and controllers": (
        Panel(
            "Admissions by verdict",
            "ops",
            {"{{verdict}}": "sum by (verdict) (rate(tutti_admission_duration_seconds_count[$__rate_interval]))"},
        ),
        Panel(
            "Time of an admission",
            "s",
            _quantiles("tutti_admission_duration_seconds"),
            "The API server waits three seconds.",
        ),
        Panel(
            "Passes of the controllers",
            "ops",
            {
                "{{kind}}": "sum by (kind) (rate(tutti_reconcile_duration_seconds_count[$__rate_interval]))",
                "{{kind}} failed": "sum by (kind) (rate(tutti_reconcile_errors_total[$__rate_interval]))",
            },
        ),
        Panel("Objects that wait for a pass", "short", {"{{kind}}": "sum by (kind) (tutti_reconcile_queue_depth)"}),
    ),
    "Processes": (
        Panel("Who leads", "short", {"{{name}} {{pod}}": "tutti_leader_election_master_status"}),
        Panel("Age of the leases", "s", {"{{name}}": "max by (name) (tutti_lease_age_seconds)"}),
        Panel(
            "Requests to the API server",
            "ops",
            {"{{verb}} {{code}}": "sum by (verb, code) (rate(tutti_api_requests_total[$__rate_interval]))"},
        ),
        Panel(
            "Silence of the watches",
            "s",
            {"{{resource}}": "max by (resource) (tutti_watch_silence_seconds)"},
            "A process that waits for its lease follows less.",
        ),
        Panel("Memory", "bytes", {"{{pod}}": 'process_resident_memory_bytes{namespace="tutti-system"}'}),
        Panel(
            "The certificate of admission ends in",
            "s",
            {"": "min(tutti_webhook_certificate_expiry_timestamp_seconds) - time()"},
            kind="stat",
        ),
    ),
}

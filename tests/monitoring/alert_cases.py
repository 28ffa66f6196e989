"""For every alert a course of events that raises it and one after which it is gone, in Prometheus' notation of series."""

from dataclasses import dataclass, field

_LEADER = 'tutti_leader_election_master_status{name="%s",instance="a"}'
_CERTIFICATE = 'tutti_webhook_certificate_expiry_timestamp_seconds{instance="a"}'


@dataclass(frozen=True)
class Case:
    """One alert.

    Attributes:
        series: a value a minute.
        fires: the minute at which it fires.
        gone: a minute at which it does not any more.
        labels: of the alert beside its severity.
    """

    series: dict[str, str]
    fires: int
    gone: int
    labels: dict[str, str] = field(default_factory=dict)


def histogram(name: str, fast: str, slow: str, labels: str = "") -> dict[str, str]:
    """Buckets of observations of a tenth of a second at most, and of a minute at most."""
    return {
        f'{name}_bucket{{{labels}le="{le}"}}': values for le, values in (("0.1", fast), ("60", slow), ("+Inf", slow))
    }


CASES = {
    "TuttiWebhooksDown": Case({_CERTIFICATE: "1x5 _x10 1x10"}, 14, 20),
    "TuttiNoLeader": Case({_LEADER % "tutti-scheduler": "1x5 0x10 1x10"}, 10, 20, {"name": "tutti-scheduler"}),
    "TuttiSchedulerDown": Case({_LEADER % "tutti-scheduler": "1x5 _x15 1x10"}, 14, 25, {"name": "tutti-scheduler"}),
    "TuttiControllersDown": Case(
        {_LEADER % "tutti-controllers": "1x5 _x15 1x10"}, 14, 25, {"name": "tutti-controllers"}
    ),
    "TuttiTwoLeaders": Case(
        {
            _LEADER % "tutti-scheduler": "1x30",
            'tutti_leader_election_master_status{name="tutti-scheduler",instance="b"}': "0x5 1x10 0x15",
        },
        10,
        20,
        {"name": "tutti-scheduler"},
    ),
    "TuttiLeaseOld": Case(
        {'tutti_lease_age_seconds{name="tutti-scheduler"}': "1x5 8x10 1x10"}, 10, 20, {"name": "tutti-scheduler"}
    ),
    "TuttiPartialGang": Case(
        {
            'tutti_partial_podgroups{started="false"}': "0x5 2x10 0x10",
            'tutti_partial_podgroups{started="true"}': "7x30",
        },
        10,
        20,
    ),
    "TuttiCacheDrift": Case({'tutti_cache_drift{kind="missing"}': "0x5 3x15 0x10"}, 18, 25, {"kind": "missing"}),
    "TuttiWatchSilent": Case(
        {
            # After ten minutes the controllers are no longer live, and begin anew.
            'tutti_watch_silence_seconds{resource="pods",instance="a"}': "0+60x10 10x30",
            _LEADER % "tutti-scheduler": "1x40",
            'tutti_watch_silence_seconds{resource="pods",instance="b"}': "0+60x40",
            'tutti_leader_election_master_status{name="tutti-scheduler",instance="b"}': "0x40",
        },
        9,
        15,
        {"resource": "pods", "instance": "a"},
    ),
    "TuttiSchedulerStuck": Case(
        {
            'tutti_queued_entities{queue="active"}': "4x40",
            'tutti_podgroup_schedule_attempts_total{type="group",result="scheduled"}': "0+10x5 60x20 60+10x20",
        },
        25,
        35,
    ),
    "TuttiRetriesDominate": Case(
        {
            'tutti_scheduling_loop_seconds_sum{cause="news"}': "0+1x90",
            'tutti_scheduling_loop_seconds_sum{cause="doubt"}': "0x5 0+50x40 2000x40",
        },
        40,
        80,
    ),
    "TuttiBindsSlow": Case(histogram("tutti_bind_duration_seconds", "0x20 0+100x40", "0+10x20 200+100x40"), 18, 40),
    "TuttiWastedEvictions": Case({"tutti_wasted_evictions_total": "0x5 2x40"}, 8, 30),
    "TuttiPlainJobs": Case(
        {'tutti_warnings_total{kind="Job",reason="NotAdmittedAsGang"}': "0x5 1x40"}, 8, 30, {"kind": "Job"}
    ),
    "TuttiItemErrors": Case({'tutti_item_errors_total{stage="decide"}': "0x5 1x40"}, 8, 30, {"stage": "decide"}),
    "TuttiReconcileErrors": Case(
        {
            'tutti_reconcile_errors_total{kind="Job"}': "0+5x30 150x30",
            'tutti_reconcile_duration_seconds_count{kind="Job"}': "0+10x60",
        },
        25,
        50,
        {"kind": "Job"},
    ),
    "TuttiAdmissionSlow": Case(
        histogram("tutti_admission_duration_seconds", "0x20 0+100x40", "0+10x20 200+100x40", 'path="/mutate/jobs",'),
        18,
        40,
    ),
    # Time begins in 1970 here: the certificate ends after six days, and then after sixty.
    "TuttiCertificateExpires": Case({_CERTIFICATE: "518400x100 5184000x60"}, 90, 130),
}

"""What people should know of each metric beside what the code says of it: unit, values of labels, and what to do.

A test fails while a metric has no note, or a label none.
"""

from dataclasses import dataclass, field
from typing import Final

from api import constants as names

_CODE: Final = "HTTP status, or a word when there was no answer"
_RESOURCE: Final = "plural name of a kind we use"
_VERB: Final = "verb as in RBAC"


@dataclass(frozen=True, slots=True)
class Note:
    """What people should know.

    Attributes:
        unit: of its value.
        act: what to look at, or to do.
        labels: what values each may have: never a name that users choose.
        upstream: the metric of kube-scheduler or Kubernetes that means the same.
    """

    unit: str
    act: str
    labels: dict[str, str] = field(default_factory=dict)
    upstream: str = ""


NOTES: Final[dict[str, Note]] = {
    names.METRIC_API_REQUESTS: Note(
        "requests",
        "Many of 429: the API server throttles us; 403: a right is missing.",
        {"verb": _VERB, "resource": _RESOURCE, "code": _CODE},
        "rest_client_requests_total",
    ),
    names.METRIC_API_REQUEST_SECONDS: Note(
        "seconds",
        "Slow for all verbs: the API server is busy.",
        {"verb": _VERB, "resource": _RESOURCE},
        "rest_client_request_duration_seconds",
    ),
    names.METRIC_ATTEMPTS: Note(
        "attempts",
        "`error` is a defect: see the logs. Only `unschedulable` for long: the cluster is full, or a gang asks for too much.",
        {"type": "group, pod", "result": "scheduled, unschedulable, error, nothing"},
        "scheduler_podgroup_schedule_attempts_total",
    ),
    names.METRIC_ATTEMPT_SECONDS: Note(
        "seconds",
        "Above a second: gangs with rules about other pods; `tutti_over_budget_total` tells whether they are ended.",
        {"result": "scheduled, unschedulable, error, nothing"},
        "scheduler_podgroup_scheduling_attempt_duration_seconds",
    ),
    names.METRIC_ALGORITHM_SECONDS: Note(
        "seconds", "As above, without what is written.", {}, "scheduler_podgroup_scheduling_algorithm_duration_seconds"
    ),
    names.METRIC_BIND_SECONDS: Note(
        "seconds", "Above seconds: the API server is slow, or `bind_concurrency` is small for it."
    ),
    names.METRIC_CACHE_DRIFT: Note(
        "differences",
        "Must be 0. See the runbook of TuttiCacheDrift.",
        {"kind": "node, missing, extra"},
    ),
    names.METRIC_CACHE_OBJECTS: Note(
        "objects", "For sizing.", {"kind": "pods, nodes, podgroups"}, "scheduler_cache_size"
    ),
    names.METRIC_EVICTIONS: Note("pods", "Evictions that were started; how much is preempted at all."),
    names.METRIC_ITEM_ERRORS: Note(
        "exceptions",
        "Must not grow: each is a defect that was contained. See the runbook of TuttiItemErrors.",
        {"stage": "a part of the scheduler: bind, decide, group, keep, preempt, queue, report, reserve, restore"},
    ),
    names.METRIC_LEADER: Note(
        "1 or 0",
        "One per name must be 1. None: nobody schedules, or no gang is made.",
        {"name": "tutti-scheduler, tutti-controllers"},
        "leader_election_master_status",
    ),
    names.METRIC_LEASE_AGE_SECONDS: Note(
        "seconds",
        "Below `retry_seconds` and a little; the process ends when it reaches `renew_seconds`.",
        {"name": "tutti-scheduler, tutti-controllers"},
    ),
    names.METRIC_LOOP_SECONDS: Note(
        "seconds, and attempts as the count",
        "The share of all but `news` is that of retries. Near 1 while the loop is busy: see TuttiRetriesDominate.",
        {"cause": "news, room (there is some now), doubt (something changed), time (nothing did)"},
    ),
    names.METRIC_OVER_BUDGET: Note(
        "computations",
        "Gangs that are too large for their rules; the setting `decision_steps` allows more.",
        {"computation": "decision, preemption, reservation"},
    ),
    names.METRIC_DEGRADED: Note(
        "gangs",
        "Nodes that die or are drained, and members that fail; each has an event `GangDegraded` that says who is missing.",
    ),
    names.METRIC_RESTARTS: Note(
        "gangs",
        "Gangs with `tutti.scheduler/degraded: restart` for whose lost members there was no room in time, and gangs that were "
        "begun and not completed in a minute.",
    ),
    names.METRIC_REPAIR_SECONDS: Note(
        "seconds",
        "Ten seconds and more of it are the Job controller's pause before it makes a replacement; docs/degraded.md.",
    ),
    names.METRIC_SPARE_PODS: Note(
        "pods",
        "Room is missing where the cluster is full; the gang runs, and would wait for room if it lost a node (docs/degraded.md).",
        {"room": "kept, missing"},
    ),
    names.METRIC_PARTIAL_PODGROUPS: Note(
        "gangs",
        "`false` must be 0 but for moments, that is the promise; `true` are gangs that have lost a member since.",
        {"started": "false, true"},
    ),
    names.METRIC_PENDING_PODGROUPS: Note(
        "groups",
        "Says why gangs wait; docs/waiting.md tells what each reason means.",
        {
            "reason": "reasons of the condition PodGroupInitiallyScheduled: Unschedulable, WaitingForMembers, WaitingForPodGroup, "
            "SchedulingGated, SchedulingTimeout, SchedulerError; and NotTriedYet"
        },
        "scheduler_pending_pods, by another label",
    ),
    names.METRIC_PREEMPTION_ATTEMPTS: Note(
        "searches",
        "`none`: nobody's leaving would help, or may.",
        {"result": "victims, waiting, paused, none"},
        "scheduler_workload_preemption_attempts_total",
    ),
    names.METRIC_PREEMPTION_SECONDS: Note(
        "seconds",
        "Above tenths of a second: many small victims.",
        {},
        "scheduler_preemption_evaluation_duration_seconds",
    ),
    names.METRIC_PREEMPTION_VICTIMS: Note(
        "pods", "How much one preemption costs.", {}, "scheduler_workload_preemption_victims"
    ),
    names.METRIC_PREEMPTION_VIOLATIONS: Note(
        "pods",
        "Budgets that could not be kept: priorities say that somebody has to leave.",
        {},
        "scheduler_preemption_pdb_violations_total",
    ),
    names.METRIC_QUEUED_ENTITIES: Note(
        "groups and pods",
        "`active` that does not shrink: the scheduler does not keep up. `gated` lack something, `waiting` were refused.",
        {"queue": "idle, gated, waiting, active, running"},
        "scheduler_queued_entities",
    ),
    names.METRIC_QUEUED_WRITES: Note(
        "writes", "Growing: the API server takes them slower than they come.", {"lane": "bind, eviction, status"}
    ),
    names.METRIC_START_SECONDS: Note(
        "seconds",
        "What users feel. It includes waiting for room: compare by size, and with how full the cluster is.",
        {"size": "by minimum: 1, 2-8, 9-64, 65-512, 513-"},
        "scheduler_pod_scheduling_sli_duration_seconds, for groups",
    ),
    names.METRIC_WASTED_EVICTIONS: Note("pods", "Stays 0 without faults. See the runbook of TuttiWastedEvictions."),
    names.METRIC_WATCH_SILENCE_SECONDS: Note(
        "seconds",
        "Since the last byte of that watch. Above five minutes: see the runbook of TuttiWatchSilent.",
        {"resource": _RESOURCE},
    ),
    names.METRIC_WRITES: Note(
        "writes",
        "`retry` and `unknown` are sent again; `forbidden` needs a right; `no_lease` belongs to a takeover.",
        {"lane": "bind, eviction, status", "outcome": "a word of ours for what became of it"},
    ),
    names.METRIC_ADMISSION_REFUSALS: Note(
        "requests", "Strangers, or a server that cuts requests off.", {"status": "HTTP status"}
    ),
    names.METRIC_ADMISSION_SECONDS: Note(
        "seconds",
        "The API server waits 3 s and then goes on without us: a Job is then a plain Job.",
        {"path": "one of ten paths", "verdict": "allowed, patched, denied"},
        "apiserver_admission_webhook_admission_duration_seconds, seen from the other side",
    ),
    names.METRIC_CERTIFICATE_EXPIRY_SECONDS: Note(
        "Unix time", "Less than a week ahead: see the runbook of TuttiCertificateExpires."
    ),
    names.METRIC_JOB_OBJECTS_CREATED: Note(
        "attempts",
        "`failed`: the event of the Job says why. `taken`: an object of somebody else has the name.",
        {"kind": "Workload, PodGroup, or the CRD of a gang scheduler", "result": "created, found, taken, failed"},
    ),
    names.METRIC_RECONCILE_ERRORS: Note(
        "passes",
        "Passes are repeated. Constantly: see the runbook of TuttiReconcileErrors.",
        {"kind": "Job, LeaderWorkerSet"},
        "controller_runtime_reconcile_errors_total",
    ),
    names.METRIC_WARNINGS: Note(
        "objects",
        "`NotAdmittedAsGang`: see the runbook of TuttiPlainJobs. Others: the event at the object says what its user can do.",
        {"kind": "Job, LeaderWorkerSet", "reason": "reason of the event, one of ours"},
    ),
    names.METRIC_RECONCILE_QUEUE_DEPTH: Note(
        "objects",
        "Growing: more `workers`, or the API server is slow.",
        {"kind": "Job, LeaderWorkerSet"},
        "workqueue_depth",
    ),
    names.METRIC_RECONCILE_SECONDS: Note(
        "seconds",
        "Mostly requests: see those.",
        {"kind": "Job, LeaderWorkerSet"},
        "controller_runtime_reconcile_time_seconds",
    ),
}

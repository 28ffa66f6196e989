"""Every label, annotation, reason and name that is visible outside a process, in one place.

These strings are an interface: manifests in `config/`, documentation and users' objects carry them. `tests/api` compares
them with the manifests.
"""

from typing import Final

GROUP: Final = "tutti.scheduler"
"""Our API group and the prefix of all our labels and annotations."""

VERSION: Final = "v1beta1"
"""Version of our CRDs; the same as the built-in group API they mirror (Kubernetes 1.37)."""

BUILT_IN_GROUP: Final = "scheduling.k8s.io"

DEFAULT_SCHEDULER_NAME: Final = "tutti"
"""`spec.schedulerName` the embedded scheduler answers to unless configured otherwise."""

EMBEDDED_PROVIDER: Final = "embedded"
"""The provider that is Tutti's own scheduler."""

STOCK_SCHEDULER_NAME: Final = "default-scheduler"

STOCK_JOB_CONTROLLER: Final = "kubernetes.io/job-controller"
"""Value of a Job's `spec.managedBy` that means the same as leaving it out."""

SYSTEM_NAMESPACE: Final = "tutti-system"
"""Namespace of our own Deployments, Leases, Secrets and ServiceAccounts unless configured otherwise."""

# --- annotations a user sets -----------------------------------------------------------------------------------------

POLICY: Final = "tutti.scheduler/policy"
"""On a Job or LeaderWorkerSet: `gang`, `basic` or `none`; overrides what we would infer."""

MIN_COUNT: Final = "tutti.scheduler/min-count"
"""On a Job: the gang's minimum below its parallelism, 1..parallelism."""

PROVIDER: Final = "tutti.scheduler/provider"
"""On a Job, LeaderWorkerSet or Namespace: which gang scheduler places the gang. On a PodGroup of ours: for which other one than
the embedded scheduler it was made."""

DISRUPTION_MODE: Final = "tutti.scheduler/disruption-mode"
"""On a Job or LeaderWorkerSet: `all` (the gang is preempted as a whole, default) or `single`."""

TOPOLOGY: Final = "tutti.scheduler/topology"
"""On a Job, LeaderWorkerSet or PodGroup: node label keys, widest first, each required or `preferred:`
(`api.topology_annotations`). The gang is placed inside one value of each required one."""

SLICE_SIZE: Final = "tutti.scheduler/slice-size"
"""On a Job, LeaderWorkerSet or PodGroup: how many members with consecutive ranks are a slice."""

SLICE_TOPOLOGY: Final = "tutti.scheduler/slice-topology"
"""Beside `SLICE_SIZE`: the node label inside one value of which each slice is placed, whichever that is."""

ELASTIC: Final = "tutti.scheduler/elastic"
"""On a Job: `"true"` lets parallelism change while it is a gang; the minimum follows."""

DESIRED_COUNT: Final = "tutti.scheduler/desired-count"
"""On a Job with policy `basic`, or a basic PodGroup: how many pods it would like to start with."""

PREEMPTION_PRIORITY_CLASS: Final = "tutti.scheduler/preemption-priority-class"
"""On a Job, LeaderWorkerSet or PodGroup: the PriorityClass whose value counts when somebody wants its room (KEP-5710)."""

ALLOW_AS_PREEMPTION_PRIORITY: Final = "tutti.scheduler/allow-as-preemption-priority"
"""Label on a PriorityClass: `"true"` lets groups of a lower priority name it as their `PREEMPTION_PRIORITY_CLASS`."""

SCOPE: Final = "tutti.scheduler/scope"
"""On owners of several gangs: how much starts together. On a JobSet `set`, `replicated-job` or `job`; admission writes it on its
Jobs, too. On a LeaderWorkerSet `set` or `replica`."""

SCHEDULING_TIMEOUT: Final = "tutti.scheduler/scheduling-timeout"
"""On a Job, LeaderWorkerSet, JobSet or PodGroup, or on the CompositePodGroup at the root of a tree: a duration such as `10m`, after
which a group, or a tree, that could not start gives up."""

ON_SCHEDULING_TIMEOUT: Final = "tutti.scheduler/on-scheduling-timeout"
"""On a Job: what its giving up means, `stop` (its pods stay and are not tried any more, default) or `suspend`."""

DEGRADED: Final = "tutti.scheduler/degraded"
"""On a Job, LeaderWorkerSet or PodGroup: what is done when a started gang falls below its minimum (`api.degraded`)."""

RESTART: Final = "restart"
"""Value of `DEGRADED`: the whole gang leaves when it could not be repaired in time."""

REPAIR_TIMEOUT: Final = "tutti.scheduler/repair-timeout"
"""On a Job, LeaderWorkerSet or PodGroup: a duration such as `15m` (default), for which room is kept for replacements."""

SPARE_NODES: Final = "tutti.scheduler/spare-nodes"
"""On a Job, LeaderWorkerSet or PodGroup: for so many of a started gang's nodes room is kept elsewhere, should they be lost."""

STOP_ON_TIMEOUT: Final = "stop"
SUSPEND_ON_TIMEOUT: Final = "suspend"

# --- metadata we set -------------------------------------------------------------------------------------------------

MANAGED: Final = "tutti.scheduler/managed"
"""Label on pod templates and pods we associate with a group; its value is the provider's name."""

POD_GROUP: Final = "tutti.scheduler/pod-group"
"""Annotation on pod templates and pods: name of the PodGroup the pod belongs to."""

PARENT_COMPOSITE: Final = "tutti.scheduler/parent-composite-pod-group"
"""Annotation on PodGroups: name of the CompositePodGroup they belong to, where the server drops the field that says so."""

POD_GROUP_UID: Final = "tutti.scheduler/pod-group-uid"
"""Annotation beside `POD_GROUP`: that PodGroup's UID, so that pod admission needs no look-up."""

INCARNATION: Final = "tutti.scheduler/incarnation"
"""Annotation on the leader of a LeaderWorkerSet replica: a token that no other leader has, so that its group is its own."""

LEADER_FIRST: Final = "tutti.scheduler/leader-first"
"""Annotation on pod templates and pods of a LeaderWorkerSet whose gang scheduler is another than ours: `"true"` when its workers
are created only once their leader is ready, which that scheduler has to be told."""

MIN_RESOURCES: Final = "tutti.scheduler/min-resources"
"""Annotation on a PodGroup whose members come in two steps: what those that come later will ask for, as JSON."""

GATE: Final = "tutti.scheduler/gate"
"""Annotation on a Job that admission suspended; the controller resumes it once its group exists."""

GATE_POD_GROUP: Final = "pod-group"
"""Value of `GATE`: what the Job waits for."""

HELD: Final = "tutti.scheduler/held"
"""Annotation on a Job that the admission policy of `config/components/hold-gangs` has written to before any webhook was asked. The
webhooks take it off, with all else that the policy wrote, and decide themselves; where none answered it goes with the gate."""

HELD_AND_GATED: Final = "policy"
"""Value of `HELD`: the policy has suspended the Job, with a gate, and marked its pod template."""

HELD_MARKED: Final = "template"
"""Value of `HELD`: the policy has marked the pod template only, since somebody else says when the Job starts."""

SUSPENDED: Final = "tutti.scheduler/suspended"
"""Annotation on a Job that the controllers suspended because its group gave up waiting: its UID and the generation of its spec
since then, as UID/GENERATION. Another generation means that somebody has resumed or changed it since."""

MANAGED_BY: Final = "tutti.scheduler/managed-by"
"""Annotation on Workloads and groups that we made; their life is ours."""

MANAGED_BY_TUTTI: Final = "tutti"

DELEGATED_TEMPLATE: Final = "scheduling.k8s.io/group-template-name"
"""Annotation by which a parent controller asks a Job's controller for the PodGroup only (KEP-5547)."""

KUEUE_QUEUE: Final = "kueue.x-k8s.io/queue-name"
"""Label of Jobs that Kueue manages; it owns their `spec.suspend`."""

KUEUE_JOB_UID: Final = "kueue.x-k8s.io/job-uid"
"""Label of Kueue's Workloads: the UID of their Job."""

STOPPED_IN_QUEUE: Final = "tutti.scheduler/stopped"
"""On Kueue's Workloads: we made it inactive, `preempted` until a preemptor has its room, `timed-out` until its user resumes it."""

JOB_UID_LABEL: Final = "batch.kubernetes.io/controller-uid"
"""Label the stock Job controller puts on every pod of a Job."""

JOB_COMPLETION_INDEX: Final = "batch.kubernetes.io/job-completion-index"
"""Label the stock Job controller puts on every pod of an Indexed Job (since Kubernetes 1.28): its rank."""

# --- metadata of LeaderWorkerSets (github.com/kubernetes-sigs/lws) ----------------------------------------------------

LWS_NAME: Final = "leaderworkerset.sigs.k8s.io/name"
"""Label on everything that is made for a LeaderWorkerSet: its name."""

LWS_GROUP_INDEX: Final = "leaderworkerset.sigs.k8s.io/group-index"
"""Label on pods and worker StatefulSets: which replica they belong to."""

LWS_GROUP_KEY: Final = "leaderworkerset.sigs.k8s.io/group-key"
"""Label on pods: the same for all pods of a replica, and unlike that of every other."""

LWS_WORKER_INDEX: Final = "leaderworkerset.sigs.k8s.io/worker-index"
"""Label on pods: their rank in the replica, `0` on leaders."""

LWS_REVISION: Final = "leaderworkerset.sigs.k8s.io/template-revision-hash"
"""Label on pods, StatefulSets and ControllerRevisions: which revision of the LeaderWorkerSet they follow."""

LWS_SIZE: Final = "leaderworkerset.sigs.k8s.io/size"
"""Annotation on pods: how many pods their replica has, in their revision."""

LWS_EXCLUSIVE_TOPOLOGY: Final = "leaderworkerset.sigs.k8s.io/exclusive-topology"
"""Annotation on LeaderWorkerSets and pods: a node label; a replica has one of its values for itself."""

LEADER_INDEX: Final = "0"
"""Value of `LWS_WORKER_INDEX` on leaders."""

# --- metadata of JobSets (github.com/kubernetes-sigs/jobset), the same on Jobs, pod templates and pods -----------------

JOBSET_NAME: Final = "jobset.sigs.k8s.io/jobset-name"
"""Label: the JobSet that a Job or pod was made for."""

JOBSET_UID: Final = "jobset.sigs.k8s.io/jobset-uid"
"""Label: UID of that JobSet."""

JOBSET_PART: Final = "jobset.sigs.k8s.io/replicatedjob-name"
"""Label: which replicated Job of it."""

JOBSET_JOB_INDEX: Final = "jobset.sigs.k8s.io/job-index"
"""Label: which Job of that replicated Job."""

JOBSET_ATTEMPT: Final = "jobset.sigs.k8s.io/restart-attempt"
"""Label: how often the JobSet had been restarted when the Job was made."""

JOBSET_EXCLUSIVE_TOPOLOGY: Final = "alpha.jobset.sigs.k8s.io/exclusive-topology"
"""Annotation of a JobSet or replicated Job: the node label a value of which each of its Jobs has for itself."""

JOBSET_NODE_SELECTOR: Final = "alpha.jobset.sigs.k8s.io/node-selector"
"""Annotation beside it: nodes are labelled beforehand, so that all pods of a Job come at once."""

# --- storage (kubernetes.io) -------------------------------------------------------------------------------------------

BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
"""On claims: the binding is whole, on both sides."""

BOUND_BY_CONTROLLER: Final = "pv.kubernetes.io/bound-by-controller"
"""On volumes: no person chose the claim, so the binding may be undone."""

DEVICE_CLASS_PREFIX: Final = "deviceclass.resource.kubernetes.io/"
"""With the name of a class behind it: an extended resource that this class always stands for."""
EXTENDED_CLAIM: Final = "resource.kubernetes.io/extended-resource-claim"
"""Annotation of a ResourceClaim that a scheduler has made for a pod's extended resources: "true"."""

CLAIM_FINALIZER: Final = "resource.kubernetes.io/delete-protection"
"""On a ResourceClaim with devices: Kubernetes' controller takes it off when nobody uses them any more."""

LEGACY_STORAGE_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
"""Wins over `spec.storageClassName` where it is set."""

NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
"""Provisioner of classes whose volumes are made by people."""

SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
"""On claims: the node for whose pod the volume is to be made."""

WAIT_FOR_FIRST_CONSUMER: Final = "WaitForFirstConsumer"

# --- condition types and reasons -------------------------------------------------------------------------------------

CONDITION_SCHEDULED: Final = "PodGroupInitiallyScheduled"
"""PodGroup condition: True for good once minCount members are bound (KEP-4671)."""

CONDITION_COMPOSITE_SCHEDULED: Final = "CompositePodGroupInitiallyScheduled"
"""CompositePodGroup condition: True for good once minGroupCount of its children have had their start."""

CONDITION_POD_GROUP_SATISFIED: Final = "PodGroupSatisfied"
"""PodGroup condition: False while some members are bound, fewer than must run together; True again after that (KEP-4671)."""

CONDITION_DEGRADED: Final = "Degraded"
"""PodGroup condition of earlier versions, for `PodGroupSatisfied` False; taken away where a scheduler of theirs has left it."""

CONDITION_DISRUPTION_TARGET: Final = "DisruptionTarget"
"""Pod and PodGroup condition: True on what is asked to leave for somebody more important."""

CONDITION_PREEMPTED_BY: Final = "PreemptedBy"
"""PodGroup condition beside `DisruptionTarget`: for whom; the reason is its kind, the message `namespace/name/UID`."""

CONDITION_GROUP_KIND_MISSING: Final = "tutti.scheduler/GroupKindMissing"
"""Job and LeaderWorkerSet condition: True while it waits for the CRD of its gang scheduler, which the message names."""

CONDITION_PREEMPTION_PRIORITY: Final = "PreemptionPriority"
"""PodGroup condition: True while its `PREEMPTION_PRIORITY_CLASS` is in force; the message names the priority that is."""

CONDITION_TIMED_OUT: Final = "SchedulingTimedOut"
"""PodGroup condition: True while the group has given up waiting and is not tried any more."""

CONDITION_POD_SCHEDULED: Final = "PodScheduled"

REASON_BELOW_MINIMUM: Final = "BelowMinimum"
"""PodGroupSatisfied is False: some members are bound, fewer than minCount; members are lost, or binds do not succeed."""

REASON_BIND_FORBIDDEN: Final = "BindForbidden"
"""PodGroupSatisfied is False: the scheduler's identity may not bind pods."""

REASON_NAMESPACE_TERMINATING: Final = "NamespaceTerminating"
"""PodGroupSatisfied is False: the namespace is being deleted, so no pod of it is bound any more; the API server's word."""

REASON_BELOW_SCHEDULING_PRIORITY: Final = "BelowSchedulingPriority"
"""PreemptionPriority is False: the class is below the priority the group is scheduled with, which counts."""

REASON_GROUP_KIND_FOUND: Final = "GroupKindFound"
"""GroupKindMissing is False: the CRD is there now."""

REASON_IN_FORCE: Final = "InForce"
REASON_NOT_STATED: Final = "NotStated"
REASON_PODS_NOT_MATCHING_PRIORITY: Final = "PodsNotMatchingPriority"
"""PreemptionPriority is True, and members show another number in their own `spec.priority` (KEP-5710)."""

REASON_PRIORITY_CLASS_NOT_ALLOWED: Final = "PriorityClassNotAllowed"
"""PreemptionPriority is False: the class is above the group's own priority, and groups may not name it."""

REASON_PRIORITY_CLASS_NOT_FOUND: Final = "PriorityClassNotFound"

REASON_PREEMPTION_BY_SCHEDULER: Final = "PreemptionByScheduler"
"""Reason of `DisruptionTarget` on pods that leave for a more important group or pod."""

REASON_GANG_RESTART: Final = "GangRestart"
"""Reason of `DisruptionTarget` on a gang, and on pods, that leave because members were missing for too long."""

REASON_RECOVERED: Final = "Recovered"
"""PodGroupSatisfied is True again."""

REASON_SCHEDULED: Final = "Scheduled"
REASON_UNSCHEDULABLE: Final = "Unschedulable"
REASON_SCHEDULER_ERROR: Final = "SchedulerError"
REASON_POD_GROUP_ERROR: Final = "PodGroupError"
"""The group's pods contradict each other or their group; before 1.38 this is `SchedulerError`, on pods it still is."""

REASON_INVALID: Final = "Invalid"
"""CompositePodGroup condition: the tree is none that can be scheduled: it is too deep, or goes in a circle."""

REASON_SCHEDULING_TIMEOUT: Final = "SchedulingTimeout"
"""The group has given up waiting; also the reason of the event that says so."""

REASON_WAITS_AGAIN: Final = "WaitsAgain"
"""SchedulingTimedOut is False again: the pods that waited too long are gone, or the limit is another one."""

REASON_SCHEDULING_GATED: Final = "SchedulingGated"
"""A member still has `schedulingGates`, which holds its whole group."""

REASON_WAITING_FOR_MEMBERS: Final = "WaitingForMembers"
"""PodGroup condition reason: fewer than minCount members exist (the stock scheduler says nothing then)."""

REASON_WAITING_FOR_POD_GROUP: Final = "WaitingForPodGroup"
"""Pods name a PodGroup that does not exist, or are to name one and do not yet."""

REASON_WAITING_FOR_CLAIMS: Final = "WaitingForResourceClaims"
"""PodScheduled reason: a ResourceClaim that the pod names, or that is to be made for it, is not there yet."""

# --- event reasons ---------------------------------------------------------------------------------------------------

EVENT_FAILED_SCHEDULING: Final = "FailedScheduling"
EVENT_GANG_RESTARTED: Final = "GangRestarted"
"""A degraded gang that could not be repaired leaves whole and queues again."""

EVENT_GANG_DEGRADED: Final = "GangDegraded"
"""A started gang has fewer members left than must run together; says who is missing."""

EVENT_INVALID_GANG_SETTINGS: Final = "InvalidGangSettings"
EVENT_NOT_ADMITTED_AS_GANG: Final = "NotAdmittedAsGang"
EVENT_GANG_OBJECT_CREATED: Final = "GangObjectCreated"
"""A group object of the gang scheduler itself (Volcano's PodGroup, say) was made."""

EVENT_GROUP_KIND_MISSING: Final = "GroupKindMissing"
"""The gang scheduler's own kind of group is not installed in the cluster; the note names its CRD."""

EVENT_FAILED_GANG_OBJECT_CREATE: Final = "FailedGangObjectCreate"
EVENT_POD_GROUP_CREATED: Final = "PodGroupCreated"
EVENT_PREEMPTED: Final = "Preempted"
EVENT_PREEMPTING: Final = "Preempting"
"""On who wants the room and its owner: how many leave for it."""

EVENT_SCHEDULED: Final = "Scheduled"
EVENT_SCHEDULING_DEPENDENCY_NOT_FOUND: Final = "SchedulingDependencyNotFound"
"""The parent of a delegated Job has no Workload, or its Workload not the template the Job names (KEP-5547)."""

EVENT_UNSUPPORTED_WORKLOAD_STRUCTURE: Final = "UnsupportedWorkloadStructure"
EVENT_WAITING_FOR_POD_GROUP: Final = "WaitingForPodGroup"
EVENT_WORKLOAD_CREATED: Final = "WorkloadCreated"
EVENT_FAILED_WORKLOAD_CREATE: Final = "FailedWorkloadCreate"
EVENT_FAILED_POD_GROUP_CREATE: Final = "FailedPodGroupCreate"
EVENT_NAME_TAKEN: Final = "NameTaken"
"""An object of somebody else holds the name our Workload or PodGroup must have."""

# --- names of our own objects ----------------------------------------------------------------------------------------

CONTROLLERS_NAME: Final = "tutti-controllers"
SCHEDULER_NAME: Final = "tutti-scheduler"
WEBHOOKS_NAME: Final = "tutti-webhooks"
"""The three names above are those of the Deployments, ServiceAccounts and (for the first two) Leases."""

MUTATING_CONFIGURATION: Final = "tutti-mutating"
VALIDATING_CONFIGURATION: Final = "tutti-validating"
CERTIFICATE_SECRET: Final = "tutti-webhooks-certificates"
PART_OF_LABEL: Final = "app.kubernetes.io/part-of"
PART_OF: Final = "tutti"
"""Label and value on everything that `config/` installs."""

WEBHOOK_SERVICE: Final = "tutti-webhooks"
GROUP_API_CONFIG_MAP: Final = "tutti-group-api"
"""ConfigMap in which the first process records the group API in force, so that no two processes disagree."""

WHY_SERVICE: Final = "tutti-scheduler"
WHY_PORT_NAME: Final = "why"
WHY_TOKEN_HEADER: Final = "Tutti-Authorization"
"""Service, port and header by which somebody who may see one namespace asks the scheduler why his objects wait."""

# --- paths of the admission server -----------------------------------------------------------------------------------

PATH_MUTATE_BUILT_IN_POD_GROUPS: Final = "/mutate/built-in-podgroups"
PATH_MUTATE_COMPOSITES: Final = "/mutate/compositepodgroups"
PATH_MUTATE_JOBS: Final = "/mutate/jobs"
PATH_MUTATE_LEADERS: Final = "/mutate/leaders"
PATH_MUTATE_JOB_SETS: Final = "/mutate/jobsets"
PATH_MUTATE_LEADER_WORKER_SETS: Final = "/mutate/leaderworkersets"
PATH_MUTATE_PODS: Final = "/mutate/pods"
PATH_MUTATE_POD_GROUPS: Final = "/mutate/podgroups"
PATH_MUTATE_STATEFUL_SETS: Final = "/mutate/statefulsets"
PATH_VALIDATE_CRON_JOBS: Final = "/validate/cronjobs"
PATH_VALIDATE_BUILT_IN_POD_GROUPS: Final = "/validate/built-in-podgroups"
PATH_VALIDATE_JOBS: Final = "/validate/jobs"
PATH_VALIDATE_POD_GROUPS: Final = "/validate/podgroups"

# --- limits ----------------------------------------------------------------------------------------------------------

MAX_INT32: Final = 2**31 - 1
HIGHEST_USER_PRIORITY: Final = 1_000_000_000
"""Largest priority a user may give a group (the API server's HighestUserDefinablePriority)."""

# --- metric names ----------------------------------------------------------------------------------------------------

METRIC_API_REQUESTS: Final = "tutti_api_requests_total"
METRIC_API_REQUEST_SECONDS: Final = "tutti_api_request_duration_seconds"
METRIC_ATTEMPTS: Final = "tutti_podgroup_schedule_attempts_total"
METRIC_ATTEMPT_SECONDS: Final = "tutti_podgroup_scheduling_attempt_duration_seconds"
METRIC_ALGORITHM_SECONDS: Final = "tutti_podgroup_scheduling_algorithm_duration_seconds"
METRIC_BIND_SECONDS: Final = "tutti_bind_duration_seconds"
METRIC_CACHE_DRIFT: Final = "tutti_cache_drift"
METRIC_CACHE_OBJECTS: Final = "tutti_cache_objects"
METRIC_EVICTIONS: Final = "tutti_evictions_total"
METRIC_ITEM_ERRORS: Final = "tutti_item_errors_total"
METRIC_LOOP_SECONDS: Final = "tutti_scheduling_loop_seconds"
METRIC_OVER_BUDGET: Final = "tutti_over_budget_total"
METRIC_RESTARTS: Final = "tutti_gang_restarts_total"
METRIC_DEGRADED: Final = "tutti_degraded_gangs_total"
METRIC_REPAIR_SECONDS: Final = "tutti_gang_repair_duration_seconds"
METRIC_SPARE_PODS: Final = "tutti_spare_pods"
METRIC_PARTIAL_PODGROUPS: Final = "tutti_partial_podgroups"
METRIC_PENDING_PODGROUPS: Final = "tutti_pending_podgroups"
METRIC_PREEMPTION_ATTEMPTS: Final = "tutti_workload_preemption_attempts_total"
METRIC_PREEMPTION_SECONDS: Final = "tutti_preemption_evaluation_duration_seconds"
METRIC_PREEMPTION_VICTIMS: Final = "tutti_workload_preemption_victims"
METRIC_PREEMPTION_VIOLATIONS: Final = "tutti_preemption_pdb_violations_total"
METRIC_QUEUED_ENTITIES: Final = "tutti_queued_entities"
METRIC_QUEUED_WRITES: Final = "tutti_queued_writes"
METRIC_START_SECONDS: Final = "tutti_podgroup_start_duration_seconds"
METRIC_WASTED_EVICTIONS: Final = "tutti_wasted_evictions_total"
METRIC_WATCH_SILENCE_SECONDS: Final = "tutti_watch_silence_seconds"
METRIC_WRITES: Final = "tutti_writes_total"
"""The scheduler's metrics. Those that exist upstream keep the name they have there after the prefix."""

METRIC_LEADER: Final = "tutti_leader_election_master_status"
METRIC_LEASE_AGE_SECONDS: Final = "tutti_lease_age_seconds"
"""Of the processes that need a lease: scheduler and controllers."""

METRIC_ADMISSION_REFUSALS: Final = "tutti_admission_refusals_total"
METRIC_ADMISSION_SECONDS: Final = "tutti_admission_duration_seconds"
METRIC_CERTIFICATE_EXPIRY_SECONDS: Final = "tutti_webhook_certificate_expiry_timestamp_seconds"
"""The webhooks' metrics; the last one is Unix time in seconds."""

METRIC_JOB_OBJECTS_CREATED: Final = "tutti_job_objects_created_total"
METRIC_RECONCILE_ERRORS: Final = "tutti_reconcile_errors_total"
METRIC_RECONCILE_QUEUE_DEPTH: Final = "tutti_reconcile_queue_depth"
METRIC_RECONCILE_SECONDS: Final = "tutti_reconcile_duration_seconds"
METRIC_WARNINGS: Final = "tutti_warnings_total"

"""Jobs and CronJobs, and the kinds of apps/v1."""

BATCH = """\
kind Job: Pods that run until enough of them have succeeded.
  spec JobSpec: What runs, how often, and when it counts as done.
  status JobStatus: How far it is. Kept by the Job controller.
JobSpec: What a Job runs.
  activeDeadlineSeconds int64: How long the Job may be active before it is ended as failed.
  backoffLimit int32: How many failed pods make the Job fail; 6 if left out.
  backoffLimitPerIndex int32: The same for each index, of Indexed Jobs.
  completionMode string: NonIndexed, or Indexed for pods with a number of their own each.
  completions int32: How many pods must succeed.
  managedBy string: The controller that runs the Job, if not the usual one.
  manualSelector bool: Whether the selector is given by hand.
  maxFailedIndexes int32: How many indexes may fail before the Job does.
  parallelism int32: How many pods run at a time; 1 if left out.
  podFailurePolicy object: What a pod's failure means, by exit code or condition.
  podReplacementPolicy string: When a new pod is made: TerminatingOrFailed or Failed.
  selector LabelSelector: The pods of the Job. Set by the server.
  successPolicy object: When an Indexed Job counts as done before all indexes have succeeded.
  suspend bool: Whether the Job has no pods for now.
  template PodTemplateSpec!: What the pods look like.
  ttlSecondsAfterFinished int32: How long after its end the Job is deleted; never if left out.
JobStatus: How far a Job is.
  active int32: How many pods run or wait to.
  completedIndexes string: Which indexes have succeeded, such as 0-2,4.
  completionTime time: When the Job succeeded.
  conditions [JobCondition]: Whether it is suspended, complete or failed.
  failed int32: How many pods have failed.
  failedIndexes string: Which indexes have failed.
  ready int32: How many pods are ready.
  startTime time: When the Job started, or was last resumed.
  succeeded int32: How many pods have succeeded.
  terminating int32: How many pods are ending.
  uncountedTerminatedPods object: Ended pods that the counts do not include yet.
JobCondition: One thing that is or is not the case with a Job.
  lastProbeTime time: When it was last looked at.
  lastTransitionTime time: When the status last changed.
  message string: A sentence for people.
  reason string: One word for programs.
  status string!: True, False or Unknown.
  type string!: Suspended, Complete, Failed, FailureTarget or SuccessCriteriaMet.
kind CronJob: Starts Jobs at certain times.
  spec CronJobSpec: When and what.
  status CronJobStatus: What was started.
CronJobSpec: When a CronJob starts which Jobs.
  concurrencyPolicy string: What happens while the last one still runs: Allow, Forbid or Replace.
  failedJobsHistoryLimit int32: How many failed Jobs are kept.
  jobTemplate JobTemplateSpec!: What the Jobs look like.
  schedule string!: When, in cron's notation.
  startingDeadlineSeconds int64: How late a Job may still be started.
  successfulJobsHistoryLimit int32: How many successful Jobs are kept.
  suspend bool: Whether no further Jobs are started.
  timeZone string: The time zone of the schedule.
JobTemplateSpec: What the Jobs of a CronJob look like.
  metadata ObjectMeta: Labels and annotations the Jobs get.
  spec JobSpec: What the Jobs run.
CronJobStatus: What a CronJob has started.
  active [object]: Jobs that are running.
  lastScheduleTime time: When a Job was last started.
  lastSuccessfulTime time: When a Job last succeeded.
"""

APPS = """\
kind Deployment: Equal pods, replaced step by step when their template changes.
  spec DeploymentSpec: How many pods of which kind.
  status object: How many there are.
DeploymentSpec: How many pods of which kind.
  minReadySeconds int32: How long a pod must be ready to count as available.
  paused bool: Whether changes of the template wait.
  progressDeadlineSeconds int32: How long a change may take without progress.
  replicas int32: How many pods; 1 if left out.
  revisionHistoryLimit int32: How many old templates are kept.
  selector LabelSelector!: The pods of the Deployment.
  strategy object: How pods are replaced.
  template PodTemplateSpec!: What the pods look like.
kind ReplicaSet: Equal pods.
  spec ReplicaSetSpec: How many pods of which kind.
  status object: How many there are.
ReplicaSetSpec: How many pods of which kind.
  minReadySeconds int32: How long a pod must be ready to count as available.
  replicas int32: How many pods; 1 if left out.
  selector LabelSelector!: The pods of the ReplicaSet.
  template PodTemplateSpec: What the pods look like.
kind StatefulSet: Pods with lasting names, in order.
  spec StatefulSetSpec: How many pods of which kind.
  status StatefulSetStatus: How many there are.
StatefulSetSpec: How many pods of which kind, and what stays theirs.
  minReadySeconds int32: How long a pod must be ready to count as available.
  ordinals StatefulSetOrdinals: Where numbering starts.
  persistentVolumeClaimRetentionPolicy StatefulSetPersistentVolumeClaimRetentionPolicy: What becomes of claims.
  podManagementPolicy string: OrderedReady or Parallel.
  replicas int32: How many pods; 1 if left out.
  revisionHistoryLimit int32: How many old templates are kept.
  selector LabelSelector!: The pods of the StatefulSet.
  serviceName string: The service that gives the pods their names.
  template PodTemplateSpec!: What the pods look like.
  updateStrategy StatefulSetUpdateStrategy: How pods are replaced.
  volumeClaimTemplates [PersistentVolumeClaim]: Claims each pod gets.
StatefulSetOrdinals: Where numbering starts.
  start int32: The number of the first pod.
StatefulSetPersistentVolumeClaimRetentionPolicy: What becomes of claims.
  whenDeleted string: When the StatefulSet goes, Retain or Delete.
  whenScaled string: When their pod is one too many, Retain or Delete.
StatefulSetUpdateStrategy: How pods are replaced when the template changes.
  rollingUpdate RollingUpdateStatefulSetStrategy: How many at a time, and which.
  type string: RollingUpdate or OnDelete.
RollingUpdateStatefulSetStrategy: How many pods are replaced at a time, and which.
  maxUnavailable intOrString: How many may be unavailable, or a percentage of all.
  partition int32: Pods below this number stay as they are.
StatefulSetStatus: How many pods there are, and of which template.
  availableReplicas int32: Pods that have been ready long enough.
  collisionCount int32: How often a name of a revision was taken.
  conditions [object]: Nobody sets any.
  currentReplicas int32: Pods made from the current revision.
  currentRevision string: What pods below the partition are made from.
  observedGeneration int64: The version of the spec that this is about.
  readyReplicas int32: Pods that are ready.
  replicas int32: Pods that there are.
  updateRevision string: What pods from the partition on are made from.
  updatedReplicas int32: Pods made from the update revision.
kind ControllerRevision: What a controller made pods from at some time.
  data object: What it was, in the controller's own form; never changes.
  revision int64!: Which one of several it is; the highest is the newest.
kind DaemonSet: One pod on every node that fits.
  spec DaemonSetSpec: What runs on the nodes.
  status object: On how many nodes it runs.
DaemonSetSpec: What runs on the nodes.
  minReadySeconds int32: How long a pod must be ready to count as available.
  revisionHistoryLimit int32: How many old templates are kept.
  selector LabelSelector!: The pods of the DaemonSet.
  template PodTemplateSpec!: What the pods look like.
  updateStrategy object: How pods are replaced.
"""

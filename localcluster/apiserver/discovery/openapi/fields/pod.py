"""Pods and their containers."""

POD = """\
kind Pod: Containers that run together on one node and share its network.
  spec PodSpec: What is to run, and where it may.
  status PodStatus: What has become of it. Kept by the kubelet and the scheduler.
PodTemplateSpec: What the pods that a controller creates look like.
  metadata ObjectMeta: Labels and annotations the pods get.
  spec PodSpec: What the pods run.
PodSpec: What a pod runs, and where it may run.
  activeDeadlineSeconds int64: How long the pod may run before it is ended as failed.
  affinity Affinity: Which nodes and which neighbours the pod wants or avoids.
  automountServiceAccountToken bool: Whether the service account's token is mounted.
  containers [Container]!: The containers. At least one; they cannot be added or removed later.
  dnsPolicy string: How names are resolved: ClusterFirst, ClusterFirstWithHostNet, Default or None.
  enableServiceLinks bool: Whether services appear as environment variables.
  ephemeralContainers [object]: Containers added to a running pod, for looking into it.
  hostAliases [object]: Lines added to the pod's hosts file.
  hostIPC bool: Whether the pod shares the node's inter-process communication.
  hostNetwork bool: Whether the pod uses the node's network.
  hostPID bool: Whether the pod sees the node's processes.
  hostname string: The pod's host name; its own name if left out.
  imagePullSecrets [LocalObjectReference]: Secrets for pulling the images.
  initContainers [Container]: Containers that run one after the other before the others start.
  nodeName string: The node the pod runs on. Set by the scheduler's binding.
  nodeSelector {string}: Labels a node must have for the pod to run on it.
  os object: The operating system of the pod.
  overhead {quantity}: What running the pod costs beside its containers.
  preemptionPolicy string: PreemptLowerPriority, or Never for a pod that makes nobody give way.
  priority int32: The value of the priority class. Filled in on creation.
  priorityClassName string: How important the pod is, by the name of a PriorityClass.
  readinessGates [object]: Conditions that must be true, too, for the pod to be ready.
  resourceClaims [object]: Claims for devices.
  restartPolicy string: What happens to ended containers: Always, OnFailure or Never.
  runtimeClassName string: The RuntimeClass that runs the pod.
  schedulerName string: The scheduler that places the pod.
  schedulingGates [PodSchedulingGate]: While there are any, no scheduler looks at the pod.
  schedulingGroup PodSchedulingGroup: The group the pod is scheduled with.
  securityContext object: User, groups and rights of all containers.
  serviceAccountName string: The identity the pod has towards the API server.
  setHostnameAsFQDN bool: Whether the host name is the full one.
  shareProcessNamespace bool: Whether the containers see each other's processes.
  subdomain string: The domain in which the pod's host name lies.
  terminationGracePeriodSeconds int64: How long containers have to end after they are told to.
  tolerations [Toleration]: The taints of nodes that do not keep the pod away.
  topologySpreadConstraints [TopologySpreadConstraint]: How evenly pods spread over zones or nodes.
  volumes [Volume]: Folders the containers may mount.
Container: One container of a pod.
  args [string]: Arguments, instead of those of the image.
  command [string]: The program, instead of that of the image.
  env [EnvVar]: Environment variables.
  envFrom [object]: ConfigMaps and Secrets whose entries become environment variables.
  image string: The image.
  imagePullPolicy string: Always, IfNotPresent or Never.
  lifecycle object: What runs after the start and before the end.
  livenessProbe Probe: Tells when the container hangs and must be restarted.
  name string!: The name, unique within the pod.
  ports [ContainerPort]: Ports the container listens on.
  readinessProbe Probe: Tells when the container may be sent requests.
  resizePolicy [object]: What a change of resources does to the running container.
  resources ResourceRequirements: How much the container needs and how much it may use.
  restartPolicy string: Always for an init container that keeps running beside the others.
  securityContext object: User and rights of the container.
  startupProbe Probe: Tells when the container has started; other probes wait for it.
  stdin bool: Whether the container's input is kept open.
  terminationMessagePath string: The file whose content is reported when the container ends.
  terminationMessagePolicy string: File, or FallbackToLogsOnError.
  tty bool: Whether the container gets a terminal.
  volumeDevices [object]: Block devices the container sees.
  volumeMounts [VolumeMount]: Volumes the container sees, and where.
  workingDir string: The folder the program starts in.
ContainerPort: A port of a container.
  containerPort int32!: The number.
  hostIP string: The address of the node to which the port is bound.
  hostPort int32: The number on the node.
  name string: A name that services may use.
  protocol string: TCP, UDP or SCTP.
EnvVar: An environment variable.
  name string!: The name.
  value string: The value.
  valueFrom object: Where the value comes from, instead.
Probe: Asks a container how it is.
  exec object: A command; success is exit code 0.
  failureThreshold int32: How many failures in a row count.
  grpc object: A gRPC health check.
  httpGet object: An HTTP request; success is a code from 200 to 399.
  initialDelaySeconds int32: How long to wait after the start.
  periodSeconds int32: How often to ask.
  successThreshold int32: How many successes in a row count.
  tcpSocket object: A connection to a port.
  terminationGracePeriodSeconds int64: How long the container has to end after a failure.
  timeoutSeconds int32: How long an answer may take.
ResourceRequirements: How much of each resource a container needs and may use.
  claims [object]: Names of the pod's resource claims that the container uses.
  limits {quantity}: The most it may use.
  requests {quantity}: What is set aside for it; the limits if left out.
LocalObjectReference: An object in the same namespace.
  name string: Its name.
PodSchedulingGate: A reason for which no scheduler looks at a pod.
  name string!: Who holds the pod.
PodSchedulingGroup: The group a pod is scheduled with.
  podGroupName string: Name of the PodGroup in the same namespace.
Affinity: Which nodes and which neighbours a pod wants or avoids.
  nodeAffinity object: Nodes it requires or prefers, by their labels.
  podAffinity object: Pods it wants to be near.
  podAntiAffinity object: Pods it wants to be away from.
Toleration: Taints that do not keep a pod away.
  effect string: NoSchedule, PreferNoSchedule or NoExecute; all if empty.
  key string: The taint's key; all if empty.
  operator string: Equal, or Exists for any value.
  tolerationSeconds int64: How long the pod stays after such a taint appears; for ever if left out.
  value string: The taint's value.
TopologySpreadConstraint: How evenly pods spread.
  labelSelector LabelSelector: The pods that are counted.
  matchLabelKeys [string]: Labels of the pod whose values the counted pods share.
  maxSkew int32!: By how many pods two domains may differ.
  minDomains int32: How many domains there should be at least.
  nodeAffinityPolicy string: Whether nodes that the pod cannot use count: Honor or Ignore.
  nodeTaintsPolicy string: Whether tainted nodes count: Honor or Ignore.
  topologyKey string!: The node label whose values are the domains.
  whenUnsatisfiable string!: DoNotSchedule or ScheduleAnyway.
PodStatus: What has become of a pod.
  conditions [PodCondition]: Whether it is scheduled, initialized and ready.
  containerStatuses [ContainerStatus]: The state of each container.
  extendedResourceClaimStatus object: The claim that was made for its extended resources.
  hostIP string: The address of its node.
  initContainerStatuses [ContainerStatus]: The state of each init container.
  message string: Why it is as it is, in words.
  nodeAllocatableResourceClaimStatuses [object]: Resources of the node that its claims take.
  nominatedNodeName string: The node on which room is being made for it.
  observedGeneration int64: The generation of the pod that this speaks of.
  phase string: Pending, Running, Succeeded, Failed or Unknown.
  podIP string: Its address.
  podIPs [object]: Its addresses.
  qosClass string: Guaranteed, Burstable or BestEffort, by its requests and limits.
  reason string: Why it is as it is, in one word.
  startTime time: When its kubelet took it on.
  volumeHealth [object]: How its volumes are.
PodCondition: One thing that is or is not the case with a pod.
  lastProbeTime time: When it was last looked at.
  lastTransitionTime time: When the status last changed.
  message string: A sentence for people.
  observedGeneration int64: The generation of the pod that the condition speaks of.
  reason string: One word for programs.
  status string!: True, False or Unknown.
  type string!: What the condition is about, such as PodScheduled or Ready.
ContainerStatus: The state of a container.
  containerID string: Its identity at the container runtime.
  image string: The image it runs.
  imageID string: The exact image.
  lastState ContainerState: How it ended the last time.
  name string: Its name.
  ready bool: Whether it may be sent requests.
  restartCount int32: How often it was restarted.
  started bool: Whether it has started.
  state ContainerState: How it is now.
ContainerState: Waiting, running or ended; one of them.
  running object: Since when it runs.
  terminated object: How and when it ended.
  waiting object: What it waits for.
"""

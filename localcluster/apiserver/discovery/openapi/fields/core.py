"""The smaller kinds of core/v1."""

CORE = """\
kind Namespace: A room for names; most objects live in one.
  spec NamespaceSpec: Who must agree to its end.
  status NamespaceStatus: Whether it is there to stay.
NamespaceSpec: Who must agree to the end of a namespace.
  finalizers [string]: Those who must agree.
NamespaceStatus: Whether a namespace is there to stay.
  conditions [object]: What holds up its deletion.
  phase string: Active or Terminating.
kind ConfigMap: Settings for programs.
  binaryData {bytes}: Entries that are no text.
  data {string}: Entries.
  immutable bool: Whether the entries may never change.
kind Secret: Settings that not everybody may see.
  data {bytes}: Entries, in base64.
  immutable bool: Whether the entries may never change.
  stringData {string}: Entries as text; written into data by the server.
  type string: What the entries are for.
kind ServiceAccount: An identity for pods.
  automountServiceAccountToken bool: Whether pods get a token.
  imagePullSecrets [LocalObjectReference]: Secrets for pulling images.
  secrets [object]: Secrets that belong to it.
kind Service: One address for several pods.
  spec ServiceSpec: Which pods, and on which ports.
  status object: The addresses given by a load balancer.
ServiceSpec: Which pods a service stands for, and on which ports.
  clusterIP string: Its address within the cluster; None for no address.
  externalName string: A name for which the service is another word.
  ports [ServicePort]: Its ports.
  publishNotReadyAddresses bool: Whether pods count that are not ready.
  selector {string}: The pods, by their labels.
  sessionAffinity string: None, or ClientIP to keep clients with one pod.
  type string: ClusterIP, NodePort, LoadBalancer or ExternalName.
ServicePort: A port of a service.
  name string: Its name.
  nodePort int32: The port on every node.
  port int32!: The port.
  protocol string: TCP, UDP or SCTP.
  targetPort intOrString: The port of the pods.
kind ReplicationController: Equal pods, as they were made before there were ReplicaSets.
  spec ReplicationControllerSpec: How many pods of which kind.
  status ReplicationControllerStatus: How many there are.
ReplicationControllerSpec: How many pods of which kind.
  minReadySeconds int32: How long a pod must be ready to count as available.
  replicas int32: How many pods; 1 if left out.
  selector {string}: The pods, by their labels; those of the template if left out.
  template PodTemplateSpec: What the pods look like.
ReplicationControllerStatus: How many pods there are.
  availableReplicas int32: Pods that have been ready long enough.
  conditions [object]: What keeps it from making pods.
  fullyLabeledReplicas int32: Pods with all labels of the template.
  observedGeneration int64: The version of the spec that this is about.
  readyReplicas int32: Pods that are ready.
  replicas int32: Pods that there are.
kind Event: Something that happened to an object.
  action string: What was done.
  count int32: How often it happened.
  eventTime time: When it happened first.
  firstTimestamp time: When it happened first, in the older form.
  involvedObject ObjectReference!: What it happened to.
  lastTimestamp time: When it happened last.
  message string: What happened, in words.
  reason string: Why, in one word.
  related ObjectReference: Another object that matters.
  reportingComponent string: Who says so.
  reportingInstance string: Which instance of it.
  series object: How often and when it happened last.
  source object: Who says so, in the older form.
  type string: Normal or Warning.
ObjectReference: Names an object.
  apiVersion string: Its group and version.
  fieldPath string: A part of it.
  kind string: Its kind.
  name string: Its name.
  namespace string: Its namespace.
  resourceVersion string: Its state.
  uid string: Its UID.
"""

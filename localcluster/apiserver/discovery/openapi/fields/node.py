"""Nodes."""

NODE = """\
kind Node: A machine that runs pods.
  spec NodeSpec: How the node may be used.
  status NodeStatus: How the node is. Kept by its kubelet.
NodeSpec: How a node may be used.
  podCIDR string: The addresses of its pods.
  podCIDRs [string]: The addresses of its pods, by family.
  podPreemptionPolicy object: How its pods may be made to give way.
  providerID string: Its identity at the provider of the machine.
  taints [Taint]: What keeps pods away that do not tolerate it.
  unschedulable bool: Whether it takes no new pods, as after `kubectl cordon`.
Taint: Keeps pods off a node.
  effect string!: NoSchedule, PreferNoSchedule or NoExecute.
  key string!: The key.
  timeAdded time: When it was added.
  value string: The value.
NodeStatus: How a node is.
  addresses [NodeAddress]: Its addresses.
  allocatable {quantity}: What pods may use.
  capacity {quantity}: What the machine has.
  conditions [NodeCondition]: Whether it is ready, and what presses it.
  images [object]: Images it has.
  nodeInfo object: The versions of what runs on it.
  volumesAttached [object]: Volumes that are attached.
  volumesInUse [string]: Volumes that are in use.
NodeAddress: An address of a node.
  address string!: The address.
  type string!: InternalIP, ExternalIP, Hostname, InternalDNS or ExternalDNS.
NodeCondition: One thing that is or is not the case with a node.
  lastHeartbeatTime time: When it was last reported.
  lastTransitionTime time: When the status last changed.
  message string: A sentence for people.
  reason string: One word for programs.
  status string!: True, False or Unknown.
  type string!: Ready, MemoryPressure, DiskPressure, PIDPressure or NetworkUnavailable.
"""

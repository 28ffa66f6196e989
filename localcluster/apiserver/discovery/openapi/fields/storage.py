"""Volumes, claims, and what CSI drivers tell."""

_SOURCES = """\
  awsElasticBlockStore object: A disk of AWS.
  azureDisk object: A disk of Azure.
  azureFile object: A file share of Azure.
  cephfs object: A folder of CephFS.
  cinder object: A disk of OpenStack.
  csi object: A volume of a CSI driver.
  fc object: A disk behind Fibre Channel.
  flexVolume object: A volume of a FlexVolume driver.
  flocker object: A volume of Flocker.
  gcePersistentDisk object: A disk of Google Cloud.
  glusterfs object: A volume of GlusterFS.
  hostPath object: A folder of the node.
  iscsi object: A disk behind iSCSI.
  local object: A disk or folder of one node.
  nfs object: A folder of an NFS server.
  photonPersistentDisk object: A disk of Photon.
  portworxVolume object: A volume of Portworx.
  quobyte object: A volume of Quobyte.
  rbd object: A block device of Ceph.
  scaleIO object: A volume of ScaleIO.
  storageos object: A volume of StorageOS.
  vsphereVolume object: A disk of vSphere.
"""

VOLUMES = f"""\
kind PersistentVolume: A piece of storage, made by a person or by a driver.
  spec PersistentVolumeSpec: What it is.
  status PersistentVolumeStatus: Whether somebody has it.
PersistentVolumeSpec: What a volume is; exactly one source.
  accessModes [string]: From how many nodes and pods it can be used, and how.
  capacity {{quantity}}: How large it is.
  claimRef object: The claim that has it, or for which it is kept.
  mountOptions [string]: How it is mounted.
  nodeAffinity object: The nodes that reach it; all of them if left out.
  persistentVolumeReclaimPolicy string: What becomes of it when its claim goes: Retain, Delete or Recycle.
  storageClassName string: Its class.
  volumeAttributesClassName string: Its attributes class.
  volumeMode string: Filesystem or Block.
{_SOURCES}\
PersistentVolumeStatus: Whether somebody has a volume.
  lastPhaseTransitionTime time: Since when.
  message string: Why.
  phase string: Pending, Available, Bound, Released or Failed.
  reason string: Why, in a word.
kind PersistentVolumeClaim: A wish for storage.
  spec PersistentVolumeClaimSpec: What is wished for.
  status PersistentVolumeClaimStatus: What came of it.
PersistentVolumeClaimSpec: What a claim wishes for.
  accessModes [string]: From how many nodes and pods it is to be used, and how.
  dataSource object: What the volume is filled with.
  dataSourceRef object: What the volume is filled with, of any kind.
  resources object: How large it must be.
  selector LabelSelector: Labels that the volume must have.
  storageClassName string: The class; none at all if it is empty.
  volumeAttributesClassName string: The attributes class.
  volumeMode string: Filesystem or Block.
  volumeName string: The volume, once it is known.
PersistentVolumeClaimStatus: What came of a claim.
  accessModes [string]: How the volume can be used.
  allocatedResourceStatuses {{string}}: How far growing has come.
  allocatedResources {{quantity}}: How large it is to be.
  capacity {{quantity}}: How large the volume is.
  conditions [object]: What happens to it.
  currentVolumeAttributesClassName string: The attributes class in force.
  modifyVolumeStatus object: How far a change of its attributes has come.
  phase string: Pending, Bound or Lost.
"""

STORAGE = """\
kind StorageClass: A sort of storage, and who makes it.
  allowVolumeExpansion bool: Whether claims may grow.
  allowedTopologies [object]: The nodes for which volumes can be made.
  mountOptions [string]: How its volumes are mounted.
  parameters {string}: What the maker is told.
  provisioner string!: Who makes its volumes.
  reclaimPolicy string: What becomes of a volume when its claim goes; Delete if left out.
  volumeBindingMode string: Immediate or WaitForFirstConsumer.
kind CSINode: The CSI drivers of the node of that name.
  spec CSINodeSpec!: The drivers.
CSINodeSpec: The drivers of a node.
  drivers [object]: Name, the node's name for it, topology and how many volumes it can have.
kind CSIDriver: What a CSI driver asks of the cluster.
  spec CSIDriverSpec!: What it asks.
CSIDriverSpec: What a CSI driver asks of the cluster.
  attachRequired bool: Whether volumes are attached before they are mounted.
  fsGroupPolicy string: Whether files change their group.
  nodeAllocatableUpdatePeriodSeconds int64: How often limits of nodes are read anew.
  podInfoOnMount bool: Whether it is told of the pod.
  preventPodSchedulingIfMissing bool: Whether pods keep off nodes without it.
  requiresRepublish bool: Whether mounts are repeated.
  seLinuxMount bool: Whether it mounts with SELinux options.
  serviceAccountTokenInSecrets bool: Whether tokens come with the secrets.
  storageCapacity bool: Whether schedulers look at what is left.
  tokenRequests [object]: Tokens it needs.
  volumeLifecycleModes [string]: Persistent, Ephemeral or both.
kind CSIStorageCapacity: What is left of a class for some nodes.
  capacity quantity: How much is left.
  maximumVolumeSize quantity: The largest volume that can be made.
  nodeTopology LabelSelector: The nodes.
  storageClassName string!: The class.
kind VolumeAttachment: A volume that is, or is to be, attached to a node.
  spec VolumeAttachmentSpec!: What, where and by whom.
  status object: Whether it is.
VolumeAttachmentSpec: A volume to be attached.
  attacher string!: The driver that does it.
  nodeName string!: The node.
  source object!: The volume.
"""

"""Volumes of pods."""

VOLUMES = """\
Volume: A folder that containers may mount; exactly one source beside the name.
  awsElasticBlockStore object: A disk of AWS.
  azureDisk object: A disk of Azure.
  azureFile object: A file share of Azure.
  cephfs object: A folder of CephFS.
  cinder object: A disk of OpenStack.
  configMap object: The entries of a ConfigMap as files.
  csi object: A volume of a CSI driver that lives as long as the pod.
  downwardAPI object: Facts about the pod as files.
  emptyDir object: An empty folder that goes with the pod.
  ephemeral object: A claim made for this pod.
  fc object: A disk behind Fibre Channel.
  flexVolume object: A volume of a FlexVolume driver.
  flocker object: A volume of Flocker.
  gcePersistentDisk object: A disk of Google Cloud.
  gitRepo object: The content of a Git repository.
  glusterfs object: A volume of GlusterFS.
  hostPath object: A folder of the node.
  image object: The content of an image.
  iscsi object: A disk behind iSCSI.
  name string!: The name, unique within the pod.
  nfs object: A folder of an NFS server.
  persistentVolumeClaim object: A claim in the same namespace.
  photonPersistentDisk object: A disk of Photon.
  portworxVolume object: A volume of Portworx.
  projected object: Several sources in one folder.
  quobyte object: A volume of Quobyte.
  rbd object: A block device of Ceph.
  scaleIO object: A volume of ScaleIO.
  secret object: The entries of a Secret as files.
  storageos object: A volume of StorageOS.
  vsphereVolume object: A disk of vSphere.
VolumeMount: Where a container sees a volume.
  bindMountOptions [string]: Options of the mount in the container.
  mountPath string!: The folder in the container.
  mountPropagation string: Whether mounts made later are seen.
  name string!: The volume's name.
  readOnly bool: Whether writing is forbidden.
  recursiveReadOnly string: Whether that holds for mounts below, too.
  subPath string: A folder within the volume.
  subPathExpr string: The same, with environment variables.
"""

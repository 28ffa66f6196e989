"""Volumes of pods."""

VOLUMES = """\
Volume: A folder that containers may mount; exactly one source beside the name.
  configMap object: The entries of a ConfigMap as files.
  csi object: A volume of a CSI driver that lives as long as the pod.
  downwardAPI object: Facts about the pod as files.
  emptyDir object: An empty folder that goes with the pod.
  ephemeral object: A claim made for this pod.
  hostPath object: A folder of the node.
  image object: The content of an image.
  name string!: The name, unique within the pod.
  nfs object: A folder of an NFS server.
  persistentVolumeClaim object: A claim in the same namespace.
  projected object: Several sources in one folder.
  secret object: The entries of a Secret as files.
VolumeMount: Where a container sees a volume.
  mountPath string!: The folder in the container.
  mountPropagation string: Whether mounts made later are seen.
  name string!: The volume's name.
  readOnly bool: Whether writing is forbidden.
  recursiveReadOnly string: Whether that holds for mounts below, too.
  subPath string: A folder within the volume.
  subPathExpr string: The same, with environment variables.
"""

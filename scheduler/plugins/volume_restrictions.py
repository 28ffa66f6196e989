"""VolumeRestrictions: disks that only one pod on a node may mount, and claims that only one pod in the cluster may use."""

from typing import Final

REASON_DISK: Final = "node(s) had no available disk"
REASON_ONE_POD: Final = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)

"""VolumeRestrictions: disks that only one pod on a node may mount, and claims that only one pod in the cluster may use.

These are its reasons; `algorithm.volume_binder` looks for them.
"""

from typing import Final

from scheduler.plugins.status import Code, Status

NAME: Final = "VolumeRestrictions"

REASON_DISK: Final = Status(Code.UNSCHEDULABLE, "node(s) had no available disk", plugin=NAME)
REASON_ONE_POD: Final = Status(
    Code.UNSCHEDULABLE,
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
    plugin=NAME,
)

"""The volumes of a pod that limit where it may run: its claims, and disks that only one pod may write to.

Most pods have none, and cost one look at each of their volumes. What cannot be read is told in `problem`.
"""

from typing import Final

import msgspec

from api.pod import PodSpec, Volume


class ClaimUse(msgspec.Struct, frozen=True, gc=False):
    """A PersistentVolumeClaim by name; `is_owned` when it is made for the pod (a generic ephemeral volume)."""

    name: str
    is_owned: bool = False


class Disk(msgspec.Struct, frozen=True, gc=False):
    """A disk that is named in the pod itself; `portals` are the Ceph monitors of an RBD image."""

    kind: str
    name: str
    portals: tuple[str, ...] = ()
    is_read_only: bool = False

    def conflicts(self, other: "Disk") -> bool:
        """Whether the two cannot be mounted on one node."""
        if (self.kind, self.name) != (other.kind, other.name):
            return False
        if self.kind == "rbd" and not set(self.portals) & set(other.portals):
            return False
        return self.kind == "ebs" or not (self.is_read_only and other.is_read_only)


class PodVolumes(msgspec.Struct, frozen=True):
    """What a pod mounts, as far as it matters."""

    claims: tuple[ClaimUse, ...] = ()
    disks: tuple[Disk, ...] = ()
    problem: str = ""


class _Claim(msgspec.Struct, rename="camel"):
    claim_name: str = ""


class _Gce(msgspec.Struct, rename="camel"):
    pd_name: str = ""
    read_only: bool = False


class _Ebs(msgspec.Struct):
    volume_id: str = msgspec.field(default="", name="volumeID")
    read_only: bool = msgspec.field(default=False, name="readOnly")


class _Iscsi(msgspec.Struct, rename="camel"):
    iqn: str = ""
    read_only: bool = False


class _Rbd(msgspec.Struct, rename="camel"):
    monitors: tuple[str, ...] = ()
    image: str = ""
    pool: str = "rbd"
    read_only: bool = False


_claim: Final = msgspec.json.Decoder(_Claim).decode
_gce: Final = msgspec.json.Decoder(_Gce).decode
_ebs: Final = msgspec.json.Decoder(_Ebs).decode
_iscsi: Final = msgspec.json.Decoder(_Iscsi).decode
_rbd: Final = msgspec.json.Decoder(_Rbd).decode


def limits(volume: Volume) -> bool:
    """Whether the volume can limit where its pod runs."""
    return bool(
        volume.persistent_volume_claim
        or volume.ephemeral
        or volume.gce_persistent_disk
        or volume.aws_elastic_block_store
        or volume.iscsi
        or volume.rbd
    )


def parse_volumes(spec: PodSpec, pod_name: str) -> PodVolumes | None:
    """The volumes of a pod of this name, None when none of them limits it; never raises for what a user wrote."""
    limiting = [volume for volume in spec.volumes if limits(volume)]
    if not limiting:
        return None
    try:
        claims = tuple(use for volume in limiting if (use := _use(volume, pod_name)) is not None)
        disks = tuple(disk for volume in limiting if (disk := _disk(volume)) is not None)
    except (msgspec.MsgspecError, RecursionError) as error:
        return PodVolumes(problem=f"its volumes cannot be read: {error}")
    return PodVolumes(claims, disks)


def _use(volume: Volume, pod_name: str) -> ClaimUse | None:
    if volume.persistent_volume_claim:
        return ClaimUse(_claim(volume.persistent_volume_claim).claim_name)
    return ClaimUse(f"{pod_name}-{volume.name}", is_owned=True) if volume.ephemeral else None


def _disk(volume: Volume) -> Disk | None:
    if volume.gce_persistent_disk:
        gce = _gce(volume.gce_persistent_disk)
        return Disk("gce", gce.pd_name, is_read_only=gce.read_only)
    if volume.aws_elastic_block_store:
        ebs = _ebs(volume.aws_elastic_block_store)
        return Disk("ebs", ebs.volume_id, is_read_only=ebs.read_only)
    if volume.iscsi:
        iscsi = _iscsi(volume.iscsi)
        return Disk("iscsi", iscsi.iqn, is_read_only=iscsi.read_only)
    if volume.rbd:
        rbd = _rbd(volume.rbd)
        return Disk("rbd", f"{rbd.pool}/{rbd.image}", tuple(sorted(rbd.monitors)), rbd.read_only)
    return None

"""The volumes of the pods to be placed, looked up once per decision.

Pods that differ in nothing but the names of claims that are each made for one of them, and for which volumes are yet to be
made, are alike. Everybody else with other claims is a case of its own.
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import Final

from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.pod_volumes import ClaimUse, Disk, PodVolumes
from scheduler.cache.records import PodRecord
from scheduler.cache.storage import Storage
from scheduler.cache.volume_records import ONE_POD_ONLY, ClaimKey, ClaimRecord, VolumeRecord
from scheduler.cache.volume_topology import Attached
from scheduler.plugins.status import Code, Status
from scheduler.plugins.volume_binding import NAME, REASON_IMMEDIATE


class PodVolumeClaims:
    """The volumes of one pod; a `refusal` says why it can run nowhere as things are."""

    __slots__ = ("attached", "bound", "delayed", "disks", "gone", "key", "one_pod", "refusal", "zones")

    def __init__(self, refusal: Status | None = None, key: Hashable = None) -> None:
        self.refusal = refusal
        self.key = key if key is not None else refusal
        """Equal for pods that are alike."""
        self.bound: list[VolumeRecord] = []
        self.gone = False
        """A claim is bound to a volume that is not there."""
        self.delayed: list[ClaimRecord] = []
        """Claims that get their volume when the pod gets its node."""
        self.one_pod: list[ClaimKey] = []
        self.disks: tuple[Disk, ...] = ()
        self.attached: list[Attached] = []
        self.zones: list[tuple[str, frozenset[str]]] = []


class MemberVolumeClaims:
    """The volume claims of all signatures of a decision; None for a signature without volumes."""

    def __init__(self, storage: Storage, volume_claims: Mapping[PodSignature, tuple[PodVolumeClaims, int]]) -> None:
        """With the claims of each signature the number of pods that have alike ones."""
        self.storage: Final = storage
        self.of: Final = {signature: pod_claims for signature, (pod_claims, _) in volume_claims.items()}
        self.are_fixed: Final = _are_fixed(storage, list(volume_claims.values()))
        """True when where one member goes matters to none of the others."""


def volume_claims_of_pod(storage: Storage, pod: PodRecord) -> PodVolumeClaims:
    """The claims of a pod, looked up."""
    volumes = pod.volumes or PodVolumes()
    refusal = volumes.problem or _missing(storage, pod, volumes.claims) or _unfit(storage, pod, volumes.claims)
    if refusal:
        return _refused(refusal)
    claims = [storage.claims[pod.namespace, name] for name in dict.fromkeys(use.name for use in volumes.claims)]
    if any(not claim.is_bound and not _waits(storage, claim) for claim in claims):
        return PodVolumeClaims(REASON_IMMEDIATE)
    for use in volumes.claims:
        claim = storage.claims[pod.namespace, use.name]
        if not use.is_owned and claim.is_bound and claim.volume_name not in storage.volumes:
            return _refused(f'persistentvolume "{claim.volume_name}" not found')
    pod_claims = PodVolumeClaims(key=(volumes.disks, *(_likeness(storage, claim) for claim in claims)))
    pod_claims.disks = volumes.disks
    for claim in claims:
        _add(pod_claims, storage, claim)
    return pod_claims


def _refused(why: str) -> PodVolumeClaims:
    return PodVolumeClaims(Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, why, plugin=NAME))


def _missing(storage: Storage, pod: PodRecord, uses: Iterable[ClaimUse]) -> str:
    for use in uses:
        if not use.is_owned and (pod.namespace, use.name) not in storage.claims:
            return f'persistentvolumeclaim "{use.name}" not found'
    return ""


def _unfit(storage: Storage, pod: PodRecord, uses: Iterable[ClaimUse]) -> str:
    for use in uses:
        claim = storage.claims.get((pod.namespace, use.name))
        named = f'persistentvolumeclaim "{use.name}"'
        if claim is None:
            wanted = f'"{use.name}"'
            return f"waiting for ephemeral volume controller to create the persistentvolumeclaim {wanted}"
        if claim.is_lost:
            return f'{named} bound to non-existent persistentvolume "{claim.volume_name}"'
        if claim.metadata.is_terminating:
            return f"{named} is being deleted"
        if use.is_owned and claim.owner_uid != pod.uid:
            where = f"{pod.namespace}/{use.name} was not created for pod {pod.namespace}/{pod.name}"
            return f"PVC {where} (pod is not owner)"
    return ""


def _waits(storage: Storage, claim: ClaimRecord) -> bool:
    """Whether the claim gets its volume when its pod gets a node; one that names a volume already does not."""
    storage_class = storage.classes.get(claim.storage_class)
    return not claim.volume_name and storage_class is not None and storage_class.waits


def _likeness(storage: Storage, claim: ClaimRecord) -> Hashable:
    if claim.is_bound:
        return claim.volume_name
    storage_class = storage.classes[claim.storage_class]
    is_alone = claim.owner_uid and not storage.is_in_use(claim.key) and not storage.chosen_node(claim)
    is_made = not any(storage.free_volumes(claim.storage_class)) and storage.reserved_for(claim) is None
    if is_alone and is_made and not storage.attachments.is_limited([storage_class.provisioner]):
        return (claim.storage_class, claim.size_bytes, claim.modes, claim.is_block)
    return claim.key


def _add(pod_claims: PodVolumeClaims, storage: Storage, claim: ClaimRecord) -> None:
    if claim.is_bound:
        volume = storage.volumes.get(claim.volume_name)
        if volume is None:
            pod_claims.gone = True
        else:
            pod_claims.bound.append(volume)
            pod_claims.zones += volume.zones
    else:
        pod_claims.delayed.append(claim)
    if ONE_POD_ONLY in claim.modes:
        pod_claims.one_pod.append(claim.key)
    attached = storage.attached_as(claim.key)
    if attached is not None:
        pod_claims.attached.append(attached)


def _are_fixed(storage: Storage, volume_claims: list[tuple[PodVolumeClaims, int]]) -> bool:
    if sum(count for _, count in volume_claims) <= 1:
        return True
    if any(
        pod_claims.one_pod or pod_claims.disks or (pod_claims.delayed and _is_own(pod_claims))
        for pod_claims, _ in volume_claims
    ):
        return False
    with_volumes = [pod_claims for pod_claims, _ in volume_claims if pod_claims.attached]
    drivers = {driver for pod_claims in with_volumes for driver, _ in pod_claims.attached}
    return len(with_volumes) <= 1 or not storage.attachments.is_limited(drivers)


def _is_own(pod_claims: PodVolumeClaims) -> bool:
    """Whether these stand for one set of claims, not for many that are alike."""
    keys = pod_claims.key if isinstance(pod_claims.key, tuple) else ()
    return any(claim.key in keys for claim in pod_claims.delayed)

"""StatefulSets as their controller reads them, with the server's defaults, and the names it leaves on pods."""

from typing import Final

import msgspec

from api.meta import NO_METADATA, Metadata
from localcluster.controllers.jobs.pods import Pod

HASH_LABEL: Final = "controller.kubernetes.io/hash"
POD_INDEX_LABEL: Final = "apps.kubernetes.io/pod-index"
POD_NAME_LABEL: Final = "statefulset.kubernetes.io/pod-name"
REVISION_LABEL: Final = "controller-revision-hash"

PARALLEL: Final = "Parallel"
ROLLING: Final = "RollingUpdate"
KEEP: Final = "Retain"


class Ordinals(msgspec.Struct, frozen=True):
    """`ordinals`: where numbering starts."""

    start: int = 0


class RollingUpdate(msgspec.Struct, frozen=True, rename="camel"):
    """`rollingUpdate`; `max_unavailable` is a number or a percentage of the replicas."""

    partition: int = 0
    max_unavailable: int | str = 1


class UpdateStrategy(msgspec.Struct, frozen=True, rename="camel"):
    """`updateStrategy`."""

    type: str = ROLLING
    rolling_update: RollingUpdate = RollingUpdate()


class ClaimRetention(msgspec.Struct, frozen=True, rename="camel"):
    """`persistentVolumeClaimRetentionPolicy`."""

    when_deleted: str = KEEP
    when_scaled: str = KEEP


class StatefulSetSpec(msgspec.Struct, frozen=True, rename="camel"):
    """`spec` of a StatefulSet."""

    replicas: int = 1
    pod_management_policy: str = ""
    min_ready_seconds: int = 0
    ordinals: Ordinals = Ordinals()
    update_strategy: UpdateStrategy = UpdateStrategy()
    revision_history_limit: int = 10
    persistent_volume_claim_retention_policy: ClaimRetention = ClaimRetention()


class StatefulSetStatus(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """`status` of a StatefulSet: what was last written."""

    observed_generation: int = 0
    replicas: int = 0
    ready_replicas: int = 0
    current_replicas: int = 0
    updated_replicas: int = 0
    current_revision: str = ""
    update_revision: str = ""
    collision_count: int | None = None
    available_replicas: int = 0


class SetMetadata(Metadata, frozen=True, rename="camel", omit_defaults=True):
    """`ObjectMeta` with the generation of the spec."""

    generation: int = 0


class StatefulSet(msgspec.Struct, frozen=True):
    """A StatefulSet."""

    metadata: SetMetadata = SetMetadata()
    spec: StatefulSetSpec = StatefulSetSpec()
    status: StatefulSetStatus = StatefulSetStatus()

    @property
    def is_parallel(self) -> bool:
        """Whether its pods come and go without waiting for each other."""
        return self.spec.pod_management_policy == PARALLEL

    @property
    def ordinals(self) -> range:
        """The ordinals of the pods it wants."""
        start = self.spec.ordinals.start
        return range(start, start + self.spec.replicas)


class Revision(msgspec.Struct, frozen=True):
    """A ControllerRevision, without what it holds."""

    metadata: Metadata = NO_METADATA
    revision: int = 0


def ordinal_of(pod: Pod, set_name: str) -> int | None:
    """The number behind the set's name in the pod's; None when it has none."""
    prefix, _, number = pod.metadata.name.rpartition("-")
    return int(number) if prefix == set_name and number.isascii() and number.isdigit() else None


def revision_of(pod: Pod) -> str:
    """Name of the revision that the pod was made from."""
    return pod.metadata.label(REVISION_LABEL) or ""


def status_document(status: StatefulSetStatus) -> dict[str, object]:
    """The status as it is written: two counts stand there even when they are zero."""
    counts = {"replicas": status.replicas, "availableReplicas": status.available_replicas}
    return {**msgspec.to_builtins(status), **counts}

"""LeaderWorkerSets as their controller reads them, with the defaults of schema and webhook."""

from typing import Final

import msgspec

from api.meta import Condition
from localcluster.controllers.statefulsets.model import SetMetadata

LEADER_READY: Final = "LeaderReady"
LEADER_EXCLUDED: Final = "LeaderExcluded"
RECREATE: Final = "RecreateGroupOnPodRestart"
RECREATE_AFTER_START: Final = "RecreateGroupAfterStart"
SHARED: Final = "Shared"
UNIQUE: Final = "UniquePerReplica"


class SubGroupPolicy(msgspec.Struct, frozen=True, rename="camel"):
    """`subGroupPolicy`."""

    sub_group_policy_type: str = "LeaderWorker"
    sub_group_size: int = 1


class LeaderWorkerTemplate(msgspec.Struct, frozen=True, rename="camel"):
    """`leaderWorkerTemplate`, without the pod templates."""

    size: int = 1
    restart_policy: str = RECREATE
    sub_group_policy: SubGroupPolicy | None = None


class RollingConfiguration(msgspec.Struct, frozen=True, rename="camel"):
    """`rollingUpdateConfiguration`; the two limits are numbers or percentages of the replicas."""

    partition: int = 0
    max_unavailable: int | str = 1
    max_surge: int | str = 0


class RolloutStrategy(msgspec.Struct, frozen=True, rename="camel"):
    """`rolloutStrategy`."""

    type: str = "RollingUpdate"
    rolling_update_configuration: RollingConfiguration = RollingConfiguration()


class NetworkConfig(msgspec.Struct, frozen=True, rename="camel"):
    """`networkConfig`."""

    subdomain_policy: str = SHARED


class LeaderWorkerSetSpec(msgspec.Struct, frozen=True, rename="camel"):
    """`spec` of a LeaderWorkerSet."""

    replicas: int = 1
    leader_worker_template: LeaderWorkerTemplate = LeaderWorkerTemplate()
    rollout_strategy: RolloutStrategy = RolloutStrategy()
    startup_policy: str = "LeaderCreated"
    network_config: NetworkConfig = NetworkConfig()


class LeaderWorkerSetStatus(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """`status` of a LeaderWorkerSet: what was last written."""

    conditions: tuple[Condition, ...] = ()
    hpa_pod_selector: str = ""
    observed_generation: int = 0
    ready_replicas: int = 0
    replicas: int = 0
    updated_replicas: int = 0


class LeaderWorkerSet(msgspec.Struct, frozen=True):
    """A LeaderWorkerSet."""

    metadata: SetMetadata = SetMetadata()
    spec: LeaderWorkerSetSpec = LeaderWorkerSetSpec()
    status: LeaderWorkerSetStatus = LeaderWorkerSetStatus()

    @property
    def size(self) -> int:
        """Pods of one group, its leader included."""
        return self.spec.leader_worker_template.size

    @property
    def rolling(self) -> RollingConfiguration:
        """How it rolls out."""
        return self.spec.rollout_strategy.rolling_update_configuration

    @property
    def has_own_subdomains(self) -> bool:
        """Whether each group has a headless service of its own."""
        return self.spec.network_config.subdomain_policy == UNIQUE

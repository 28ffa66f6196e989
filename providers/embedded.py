"""The scheduler that comes with Tutti. It reads Workload and PodGroup themselves, so it needs no objects of its own."""

from dataclasses import dataclass
from typing import Any, Final

from api.constants import DEFAULT_SCHEDULER_NAME, EMBEDDED_PROVIDER
from api.podgroup import PodGroup
from providers.base import Capabilities, GroupKind, MinMemberRule, PodMetadata, StartupPolicy, tutti_association
from providers.gang import Gang, Role

EMBEDDED: Final = EMBEDDED_PROVIDER


@dataclass(frozen=True, slots=True)
class Embedded:
    """The embedded scheduler under the `schedulerName` it was configured with; `profile_names` are further ones of it."""

    scheduler_name: str = DEFAULT_SCHEDULER_NAME
    profile_names: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """`embedded`."""
        return EMBEDDED

    def serves(self, scheduler_name: str) -> bool:
        """Whether it is one of its names."""
        return scheduler_name == self.scheduler_name or scheduler_name in self.profile_names

    @property
    def capabilities(self) -> Capabilities:
        """Everything: it was built for these groups."""
        return Capabilities(
            counts_succeeded=True,
            mutable_minimum=True,
            topology=True,
            whole_disruption=True,
            timeout=True,
            late_association=True,
            reads_pod_groups=True,
        )

    @property
    def kind(self) -> GroupKind | None:
        """None: it works from the PodGroup."""
        return None

    @property
    def group_keys(self) -> tuple[str, ...]:
        """None but Tutti's own."""
        return ()

    @property
    def pod_keys(self) -> tuple[str, ...]:
        """None but Tutti's own."""
        return ()

    @property
    def template_keys(self) -> tuple[str, ...]:
        """None."""
        return ()

    def association(self, group: PodGroup) -> PodMetadata:
        """Our own label and annotations; the scheduler reads nothing else."""
        return tutti_association(EMBEDDED, group)

    def pod_metadata(self, gang: Gang, role: Role) -> PodMetadata:  # noqa: ARG002
        """Nothing beside `association`."""
        return PodMetadata()

    def group_objects(self, gang: Gang) -> list[dict[str, Any]]:  # noqa: ARG002
        """None: it works from the PodGroup."""
        return []

    def min_member_rule(self, policy: StartupPolicy) -> MinMemberRule:
        """The whole group, unless the workers appear only once the leader is ready: then the leader alone."""
        return MinMemberRule.LEADER_ONLY if policy is StartupPolicy.LEADER_READY else MinMemberRule.WHOLE_GROUP

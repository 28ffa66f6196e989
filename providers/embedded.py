"""The scheduler that comes with Tutti. It reads Workload and PodGroup themselves, so it needs no objects of its own."""

from dataclasses import dataclass
from typing import Any, Final

from api.constants import DEFAULT_SCHEDULER_NAME
from api.podgroup import PodGroup
from providers.base import Capabilities, MinMemberRule, PodMetadata, StartupPolicy, tutti_association

EMBEDDED: Final = "embedded"


@dataclass(frozen=True, slots=True)
class Embedded:
    """The embedded scheduler under the `schedulerName` it was configured with."""

    scheduler_name: str = DEFAULT_SCHEDULER_NAME

    @property
    def name(self) -> str:
        """`embedded`."""
        return EMBEDDED

    @property
    def capabilities(self) -> Capabilities:
        """Everything: it was built for these groups."""
        return Capabilities(counts_succeeded=True, mutable_minimum=True, topology=True, whole_disruption=True)

    def association(self, group: PodGroup) -> PodMetadata:
        """Our own label and annotations; the scheduler reads nothing else."""
        return tutti_association(EMBEDDED, group)

    def group_objects(self, group: PodGroup) -> list[dict[str, Any]]:  # noqa: ARG002
        """None: it works from the PodGroup."""
        return []

    def min_member_rule(self, policy: StartupPolicy) -> MinMemberRule:
        """The whole group, unless the workers appear only once the leader is ready: then the leader alone."""
        return MinMemberRule.LEADER_ONLY if policy is StartupPolicy.LEADER_READY else MinMemberRule.WHOLE_GROUP

"""KAI-Scheduler: a PodGroup of its own, found by an annotation on the pods.

KAI's podgrouper makes groups for the owners it knows and would rewrite our annotation; pods tell it to keep away, and KAI to
ignore the cluster's own Workloads. Pods without a queue stay pending, so one is always named. A running group that stays below
its minimum for a minute is evicted as stale, even when its other members have succeeded: the minimum follows the tail of a Job.

A replica whose workers come later has a minimum of one until its leader has a node, then of all.
"""

from typing import Any, ClassVar, Final

from providers.base import Capabilities, External, GroupKind, MinMemberRule, PodMetadata, StartupPolicy
from providers.gang import Gang, Role, group_object

GROUP_NAME: Final = "pod-group-name"
IGNORE_WORKLOADS: Final = "kai.scheduler/ignore-workload-api"
QUEUE: Final = "kai.scheduler/queue"
SKIP_PODGROUPER: Final = "kai.scheduler/skip-podgrouper"
USUAL_QUEUE: Final = "default-queue"
KIND: Final = GroupKind("scheduling.run.ai", "v2alpha2", "podgroups", "PodGroup")


class Kai(External):
    """KAI's scheduler."""

    name: ClassVar[str] = "kai"
    usual_scheduler_name: ClassVar[str] = "kai-scheduler"
    kind: ClassVar[GroupKind | None] = KIND
    capabilities: ClassVar[Capabilities] = Capabilities(
        counts_succeeded=False,
        mutable_minimum=True,
        topology=False,
        whole_disruption=False,
        evicts_below_minimum=True,
    )

    @property
    def group_keys(self) -> tuple[str, ...]:
        """The annotation with the group's name."""
        return (GROUP_NAME,)

    @property
    def pod_keys(self) -> tuple[str, ...]:
        """The group, its queue, and that nobody else is to group the pod."""
        return (*self.group_keys, QUEUE, SKIP_PODGROUPER, IGNORE_WORKLOADS)

    def pod_metadata(self, gang: Gang, role: Role) -> PodMetadata:  # noqa: ARG002
        """The group's name, its queue, and that nobody else is to group the pod."""
        return PodMetadata(
            labels={QUEUE: _queue(gang)},
            annotations={GROUP_NAME: gang.name, SKIP_PODGROUPER: "true", IGNORE_WORKLOADS: "true"},
        )

    def group_objects(self, gang: Gang) -> list[dict[str, Any]]:
        """The PodGroup."""
        waits_for_leader = gang.leader_comes_first and not gang.leader_is_placed
        spec = {
            "minMember": 1 if waits_for_leader else gang.min_count,
            "priorityClassName": gang.priority_class_name,
            "queue": _queue(gang),
        }
        return [group_object(KIND.api_version, KIND.kind, gang.name, gang, spec)]

    def min_member_rule(self, policy: StartupPolicy) -> MinMemberRule:
        """The leader first when the workers come later."""
        return MinMemberRule.LEADER_FIRST if policy is StartupPolicy.LEADER_READY else MinMemberRule.WHOLE_GROUP


def _queue(gang: Gang) -> str:
    return gang.setting(QUEUE) or USUAL_QUEUE


GANG_SCHEDULER: Final = Kai

"""Volcano: a PodGroup of its own, found by an annotation on the pods.

The annotation must be there when a pod is created; a pod of Volcano without it is put into a group that Volcano makes up, with
a minimum of one. `minResources` decides when the group enters the queue and is reserved there, so it is that of the pods that
start together. Without a priority class a group is ordered as priority 0. A queue that does not exist makes the creation fail.

A replica whose workers come later has a minimum of one and the resources of all: its leader starts only when the queue has
room for the whole.
"""

from typing import Any, ClassVar, Final

from providers.base import Capabilities, External, GroupKind, MinMemberRule, PodMetadata, StartupPolicy
from providers.gang import Gang, Role, group_object, minimum_resources

GROUP_NAME: Final = "scheduling.k8s.io/group-name"
QUEUE: Final = "scheduling.volcano.sh/queue-name"
PASSED_ON: Final = "volcano.sh/"
"""Annotations with this prefix steer a group and are copied to it from the Job or LeaderWorkerSet."""

KIND: Final = GroupKind("scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup")


class Volcano(External):
    """Volcano's scheduler."""

    name: ClassVar[str] = "volcano"
    usual_scheduler_name: ClassVar[str] = "volcano"
    kind: ClassVar[GroupKind | None] = KIND
    capabilities: ClassVar[Capabilities] = Capabilities(
        counts_succeeded=False, mutable_minimum=True, topology=False, whole_disruption=False
    )

    @property
    def group_keys(self) -> tuple[str, ...]:
        """The annotation with the group's name."""
        return (GROUP_NAME,)

    def pod_metadata(self, gang: Gang, role: Role) -> PodMetadata:  # noqa: ARG002
        """The group's name, for leader and workers alike."""
        return PodMetadata(annotations={GROUP_NAME: gang.name})

    def group_objects(self, gang: Gang) -> list[dict[str, Any]]:
        """The PodGroup."""
        spec = {
            "minMember": 1 if gang.leader_comes_first else gang.min_count,
            "minResources": minimum_resources(gang),
            "priorityClassName": gang.priority_class_name,
            "queue": gang.setting(QUEUE),
        }
        made = group_object(KIND.api_version, KIND.kind, gang.name, gang, spec)
        passed_on = {key: value for key, value in gang.annotations.items() if key.startswith(PASSED_ON)}
        made["metadata"]["annotations"].update(passed_on)
        return [made]

    def min_member_rule(self, policy: StartupPolicy) -> MinMemberRule:
        """The leader alone when the workers come later; `minResources` stands for them."""
        return MinMemberRule.LEADER_ONLY if policy is StartupPolicy.LEADER_READY else MinMemberRule.WHOLE_GROUP


GANG_SCHEDULER: Final = Volcano

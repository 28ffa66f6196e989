"""The coscheduling plugin of scheduler-plugins: a PodGroup of its own, found by a label on the pods.

The group's name is a label value, so it has at most 63 characters; it is unlike any other in the cluster, because the plugin's
controller lists pods by label only. Members that have ended do not count: a member that is made again at the tail of a Job
waits for ever unless `minMember` is lowered. The plugin adds the resource `pods` to `minResources` by itself and compares it to
the free room of the whole cluster, which is only a weak guard for a replica whose workers come later. All members need one
priority.
"""

from typing import Any, ClassVar, Final

from api.names import MAX_LABEL
from providers.base import Capabilities, External, GroupKind, MinMemberRule, PodMetadata, StartupPolicy
from providers.gang import Gang, Role, group_object, minimum_resources, short_name

POD_GROUP_LABEL: Final = "scheduling.x-k8s.io/pod-group"
KIND: Final = GroupKind("scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup")


class Coscheduling(External):
    """A scheduler profile with the plugin Coscheduling."""

    name: ClassVar[str] = "coscheduling"
    usual_scheduler_name: ClassVar[str] = "scheduler-plugins-scheduler"
    kind: ClassVar[GroupKind | None] = KIND
    capabilities: ClassVar[Capabilities] = Capabilities(
        counts_succeeded=False, mutable_minimum=True, topology=False, whole_disruption=False, timeout=True
    )

    @property
    def group_keys(self) -> tuple[str, ...]:
        """The label with the group's name."""
        return (POD_GROUP_LABEL,)

    def pod_metadata(self, gang: Gang, role: Role) -> PodMetadata:  # noqa: ARG002
        """The group's name, as a label."""
        return PodMetadata(labels={POD_GROUP_LABEL: _name(gang)})

    def group_objects(self, gang: Gang) -> list[dict[str, Any]]:
        """The PodGroup."""
        spec = {
            "minMember": 1 if gang.leader_comes_first else gang.min_count,
            "minResources": minimum_resources(gang),
            "scheduleTimeoutSeconds": gang.timeout_seconds,
        }
        return [group_object(KIND.api_version, KIND.kind, _name(gang), gang, spec)]

    def min_member_rule(self, policy: StartupPolicy) -> MinMemberRule:
        """The leader alone when the workers come later; `minResources` stands for them."""
        return MinMemberRule.LEADER_ONLY if policy is StartupPolicy.LEADER_READY else MinMemberRule.WHOLE_GROUP


def _name(gang: Gang) -> str:
    return short_name(gang.name, MAX_LABEL)


GANG_SCHEDULER: Final = Coscheduling

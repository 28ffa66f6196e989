"""Koordinator: a PodGroup of its own, found by a label on the pods.

The group's name is a label value of at most 63 characters. Once a group has been satisfied its later members need no full gang,
so the tail of a Job needs nothing. The scheduler does not read `minResources`, so it is not written. Pods carry none of the
gang annotations: they would override the object.

A leader that starts before its workers is a gang of its own, and the workers are another, which is not tied to it.
"""

from typing import Any, ClassVar, Final

from api.names import MAX_LABEL
from providers.base import Capabilities, External, GroupKind, MinMemberRule, PodMetadata, StartupPolicy
from providers.gang import LEADER, Gang, Role, group_object, short_name

POD_GROUP_LABEL: Final = "pod-group.scheduling.sigs.k8s.io"
QUOTA: Final = "quota.scheduling.koordinator.sh/name"
KIND: Final = GroupKind("scheduling.sigs.k8s.io", "v1alpha1", "podgroups", "PodGroup")
_WORKERS: Final = "workers"


class Koordinator(External):
    """Koordinator's scheduler."""

    name: ClassVar[str] = "koordinator"
    usual_scheduler_name: ClassVar[str] = "koord-scheduler"
    kind: ClassVar[GroupKind | None] = KIND
    capabilities: ClassVar[Capabilities] = Capabilities(
        counts_succeeded=True, mutable_minimum=True, topology=False, whole_disruption=False, timeout=True
    )

    @property
    def group_keys(self) -> tuple[str, ...]:
        """The label with the group's name."""
        return (POD_GROUP_LABEL,)

    @property
    def pod_keys(self) -> tuple[str, ...]:
        """The group and its quota."""
        return (*self.group_keys, QUOTA)

    def pod_metadata(self, gang: Gang, role: Role) -> PodMetadata:
        """The group's name and, if the user named one, the quota it counts against."""
        labels = {POD_GROUP_LABEL: _name(gang, role.name)}
        if quota := gang.setting(QUOTA):
            labels[QUOTA] = quota
        return PodMetadata(labels)

    def group_objects(self, gang: Gang) -> list[dict[str, Any]]:
        """The PodGroup, or one for the leader and one for its workers."""
        if not gang.leader_comes_first:
            return [_pod_group(gang, _name(gang), gang.min_count)]
        return [_pod_group(gang, _name(gang, role.name), role.count) for role in gang.roles if role.count]

    def min_member_rule(self, policy: StartupPolicy) -> MinMemberRule:
        """Leader and workers apart when the workers come later."""
        return MinMemberRule.LEADER_APART if policy is StartupPolicy.LEADER_READY else MinMemberRule.WHOLE_GROUP


def _name(gang: Gang, role: str = "") -> str:
    if not gang.leader_comes_first:
        return short_name(gang.name, MAX_LABEL)
    suffix = LEADER if role == LEADER else _WORKERS
    return f"{short_name(gang.name, MAX_LABEL - len(suffix) - 1)}-{suffix}"


def _pod_group(gang: Gang, name: str, min_member: int) -> dict[str, Any]:
    spec = {"minMember": min_member, "scheduleTimeoutSeconds": gang.timeout_seconds}
    return group_object(KIND.api_version, KIND.kind, name, gang, spec)


GANG_SCHEDULER: Final = Koordinator

"""The stock kube-scheduler (1.37, gate GenericWorkload): it places the cluster's own PodGroups, so it needs no others.

Pods name their group in `spec.schedulingGroup`, which admission fills in from our annotation; the field is immutable, so a pod
that was made without it can never join. Members that have ended do not count towards `minCount`, so it is lowered at the tail
of a Job. All members need one priority and one `schedulerName`; any profile of the scheduler will do.

When workers wait for their leader, one gang of all would wait for ever: the leader gets a basic group of its own, beside the
gang of the workers that the replica's PodGroup is then.
"""

from typing import Any, ClassVar, Final

from api.constants import BUILT_IN_GROUP, POD_GROUP, STOCK_SCHEDULER_NAME, VERSION
from api.podgroup import POD_GROUP_KIND
from providers.base import Capabilities, External, MinMemberRule, PodMetadata, StartupPolicy
from providers.gang import LEADER, Gang, Role, group_object, short_name

KUBE_SCHEDULER: Final = "kube-scheduler"
_MAX_NAME: Final = 253


class KubeScheduler(External):
    """The stock scheduler with the built-in group API."""

    name: ClassVar[str] = KUBE_SCHEDULER
    usual_scheduler_name: ClassVar[str] = STOCK_SCHEDULER_NAME
    capabilities: ClassVar[Capabilities] = Capabilities(
        counts_succeeded=False,
        mutable_minimum=True,
        topology=True,
        whole_disruption=True,
        reads_pod_groups=True,
        needs_built_in_groups=True,
    )

    def pod_metadata(self, gang: Gang, role: Role) -> PodMetadata:
        """Nothing, but for a leader that starts before its workers: that one belongs to a group of its own."""
        if not gang.leader_comes_first or role.name != LEADER:
            return PodMetadata()
        return PodMetadata(annotations={POD_GROUP: _leader_group(gang)})

    def group_objects(self, gang: Gang) -> list[dict[str, Any]]:
        """The basic group of a leader that starts before its workers."""
        if not gang.leader_comes_first:
            return []
        spec = {"schedulingPolicy": {"basic": {}}, "priorityClassName": gang.priority_class_name}
        return [group_object(f"{BUILT_IN_GROUP}/{VERSION}", POD_GROUP_KIND, _leader_group(gang), gang, spec)]

    def min_member_rule(self, policy: StartupPolicy) -> MinMemberRule:
        """Leader and workers apart when the workers come later."""
        return MinMemberRule.LEADER_APART if policy is StartupPolicy.LEADER_READY else MinMemberRule.WHOLE_GROUP


def _leader_group(gang: Gang) -> str:
    return f"{short_name(gang.name, _MAX_NAME - len(LEADER) - 1)}-{LEADER}"


GANG_SCHEDULER: Final = KubeScheduler

"""The gang plugin of Preferred Networks' scheduler-plugins: no group object; the pods say name and exact size.

A gang without its full size never starts, and while a member is terminating none does; the size cannot follow the tail of a
Job, a minimum below the size, or a Job that is resized. A group of one is no gang. A leader that starts before its workers must
therefore stay outside, and the size is that of the workers. The plugin caps its time-out at 100 s. The annotation with a pod's
position is the scheduler's own.
"""

from typing import ClassVar, Final

from providers.base import Capabilities, External, MinMemberRule, PodMetadata, StartupPolicy
from providers.gang import LEADER, Gang, Role

USUAL_PREFIX: Final = "gang-scheduling.preferred.jp/gang"
MAX_TIMEOUT_SECONDS: Final = 100


class Pfnet(External):
    """Whichever scheduler profile has the plugin.

    Args:
        scheduler_name: that profile's name; left out, the pod template names it.
        prefix: the plugin's setting `gangAnnotationPrefix`.
    """

    name: ClassVar[str] = "pfnet"
    usual_scheduler_name: ClassVar[str] = ""
    capabilities: ClassVar[Capabilities] = Capabilities(
        counts_succeeded=False,
        mutable_minimum=False,
        topology=False,
        whole_disruption=False,
        partial_minimum=False,
        timeout=True,
    )

    def __init__(self, scheduler_name: str | None = None, *, prefix: str = USUAL_PREFIX) -> None:
        super().__init__(scheduler_name)
        self._prefix = prefix

    @property
    def group_keys(self) -> tuple[str, ...]:
        """Name, size and time-out of the gang."""
        return (f"{self._prefix}-name", f"{self._prefix}-size", f"{self._prefix}-schedule-timeout-seconds")

    def pod_metadata(self, gang: Gang, role: Role) -> PodMetadata:
        """Name and size of the gang, unless it is none."""
        size = gang.size
        if gang.leader_comes_first:
            size = 0 if role.name == LEADER else role.count
        if size <= 1 or gang.min_count <= 1:
            return PodMetadata()
        name, size_key, timeout = self.group_keys
        annotations = {name: gang.name, size_key: str(size)}
        if gang.timeout_seconds is not None:
            annotations[timeout] = str(min(gang.timeout_seconds, MAX_TIMEOUT_SECONDS))
        return PodMetadata(annotations=annotations)

    def min_member_rule(self, policy: StartupPolicy) -> MinMemberRule:
        """Leader and workers apart when the workers come later."""
        return MinMemberRule.LEADER_APART if policy is StartupPolicy.LEADER_READY else MinMemberRule.WHOLE_GROUP


GANG_SCHEDULER: Final = Pfnet

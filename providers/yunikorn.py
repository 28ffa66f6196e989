"""Apache YuniKorn: no group object; a gang is an application, and the pods describe it in annotations.

Every pod carries the whole description, because only that of the first one counts. Placeholder pods hold the room of each task
group until the real pods come, which is what makes leaders that start before their workers possible: the workers' room is held
meanwhile, as long as the time-out allows. A placeholder is replaced only by a pod that asks for the same, so `minResource` is
what the scheduler computes for the real pod.

The application's id must differ for every incarnation: one that has failed never schedules again. The minimum is asked for
once, at the start. YuniKorn's usual style is Soft: when placeholders time out, the pods are placed one by one; a user who wants
Hard says so in `schedulingPolicyParameters`.
"""

import json
from typing import Any, ClassVar, Final

from api.names import MAX_LABEL
from providers.base import Capabilities, External, PodMetadata
from providers.gang import Gang, Role, quantities, short_name

PREFIX: Final = "yunikorn.apache.org/"
APP_ID: Final = f"{PREFIX}app-id"
TASK_GROUP_NAME: Final = f"{PREFIX}task-group-name"
TASK_GROUPS: Final = f"{PREFIX}task-groups"
PARAMETERS: Final = f"{PREFIX}schedulingPolicyParameters"
QUEUE: Final = f"{PREFIX}queue"


class YuniKorn(External):
    """YuniKorn's scheduler."""

    name: ClassVar[str] = "yunikorn"
    usual_scheduler_name: ClassVar[str] = "yunikorn"
    capabilities: ClassVar[Capabilities] = Capabilities(
        counts_succeeded=True, mutable_minimum=False, topology=False, whole_disruption=False, timeout=True
    )

    @property
    def group_keys(self) -> tuple[str, ...]:
        """The application's id and the description of its task groups."""
        return (APP_ID, TASK_GROUP_NAME, TASK_GROUPS)

    @property
    def pod_keys(self) -> tuple[str, ...]:
        """The application, its queue and the parameters."""
        return (*self.group_keys, QUEUE, PARAMETERS)

    @property
    def template_keys(self) -> tuple[str, ...]:
        """What describes the application, but for its id and which of its groups a pod is in."""
        return (TASK_GROUPS, QUEUE, PARAMETERS)

    def pod_metadata(self, gang: Gang, role: Role) -> PodMetadata:
        """The application, its queue, all its task groups and the one this pod is in."""
        labels = {APP_ID: short_name(f"{gang.namespace}-{gang.name}", MAX_LABEL)}
        if queue := gang.setting(QUEUE):
            labels[QUEUE] = queue
        annotations = {TASK_GROUP_NAME: role.name, TASK_GROUPS: _description(gang)}
        parameters = gang.annotations.get(PARAMETERS) or _time_out(gang)
        if parameters:
            annotations[PARAMETERS] = parameters
        return PodMetadata(labels, annotations)


def _description(gang: Gang) -> str:
    known = gang.annotations.get(TASK_GROUPS)
    if known and not any(role.requests for role in gang.roles):
        # A pod under creation: its template, which knew what all roles ask for, has said it already.
        return known
    return json.dumps([_task_group(gang, each) for each in gang.roles if each.count], sort_keys=True)


def _task_group(gang: Gang, role: Role) -> dict[str, Any]:
    return {
        "name": role.name,
        "minMember": gang.minimum_of(role),
        "minResource": quantities(role.requests),
        **role.placement,
    }


def _time_out(gang: Gang) -> str:
    return "" if gang.timeout_seconds is None else f"placeholderTimeoutInSeconds={gang.timeout_seconds}"


GANG_SCHEDULER: Final = YuniKorn

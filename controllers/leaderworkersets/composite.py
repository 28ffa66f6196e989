"""The CompositePodGroup over all replicas of a set that starts as a whole (annotation `scope: set`). Pure.

Its minimum is the number of replicas until the set has started: then the promise is kept, replicas that come later join one by
one, and the minimum only ever falls. A replica whose group was made without the parent can never count for it, so a set that was
not whole from its beginning does not become so.
"""

from api.constants import CONDITION_COMPOSITE_SCHEDULED
from api.errors import InvalidGangSettings
from api.gang import GroupIntent
from api.meta import condition_of
from api.podgroup import Workload
from api.replica import starts_as_a_set
from controllers.gangs.common_steps import Rules
from controllers.leaderworkersets.observed import ObservedSet
from controllers.leaderworkersets.steps import CreateComposite, SetCompositeMinimum, Step

_NO_KIND = (
    "its replicas wait: they are to start together (annotation tutti.scheduler/scope), and the server has no "
    "CompositePodGroups"
)


def whole_set_obstacle(seen: ObservedSet, rules: Rules) -> str | None:
    """None when each replica starts by itself; empty when all start together; else why they cannot, for people."""
    try:
        if not starts_as_a_set(seen.lws):
            return None
    except InvalidGangSettings as error:
        return f"its replicas wait: {error}"
    if any(each.group is not None and not each.group.parent for each in seen.replicas):
        return None
    return "" if rules.has_composites else _NO_KIND


def composite_steps(seen: ObservedSet, workload: Workload | None, intent: GroupIntent) -> list[Step]:
    """What is to be done about the CompositePodGroup of a set that starts as a whole."""
    composite = seen.composite
    if composite is None:
        return [CreateComposite(intent, workload.metadata.name if workload is not None else None)]
    wanted = max(seen.lws.replicas, 1)
    said = condition_of(composite.status.conditions or (), CONDITION_COMPOSITE_SCHEDULED)
    if said is not None and said.status == "True":
        wanted = min(wanted, composite.need)
    return [] if composite.need == wanted else [SetCompositeMinimum(composite, wanted)]

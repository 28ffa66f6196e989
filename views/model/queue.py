"""The place of each gang in the queue: priority first, then who waits longest, then the UID, as the scheduler orders them. Pure."""

from collections.abc import Iterable
from dataclasses import replace

from api.constants import CONDITION_SCHEDULED, CONDITION_TIMED_OUT
from api.meta import condition_of
from api.podgroup import PodGroup
from views.model.gang import HOLDS, IN_QUEUE, Gang

Order = tuple[int, str, str]


def with_places(gangs: Iterable[Gang], others: Iterable[PodGroup] = ()) -> list[Gang]:
    """The same gangs, each that waits with its place in the queue.

    Args:
        gangs: all whose pods are known.
        others: groups of other namespaces, of which no more than the PodGroup is known. One that has run before and waits again
            is not counted among them: nothing on it says that it waits.
    """
    found = list(gangs)
    known = {gang.uid for gang in found}
    waiting = [queue_order(gang) for gang in found if gang.state in IN_QUEUE]
    waiting += [_group_order(group) for group in others if group.metadata.uid not in known and _waits(group)]
    places = {uid: place for place, (_, _, uid) in enumerate(sorted(waiting), start=1)}
    return [replace(gang, place=places.get(gang.uid, 0)) for gang in found]


def queue_order(gang: Gang) -> Order:
    """Sorts gangs that wait as the scheduler tries them: one that had to leave keeps the age of its group."""
    return (-gang.priority, gang.created, gang.uid)


def _group_order(group: PodGroup) -> Order:
    return (-(group.spec.priority or 0), group.metadata.creation_timestamp or "", group.metadata.uid)


def _waits(group: PodGroup) -> bool:
    conditions = group.status.conditions or ()
    given_up = condition_of(conditions, CONDITION_TIMED_OUT)
    if given_up is not None and given_up.status == "True":
        return False
    scheduled = condition_of(conditions, CONDITION_SCHEDULED)
    return scheduled is not None and scheduled.status == "False" and scheduled.reason not in HOLDS

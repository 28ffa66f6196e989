"""The place of each gang in the queue: priority first, then who waits longest, then the UID, as the scheduler orders them. Pure."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from api.compositepodgroup import CompositePodGroup
from api.constants import CONDITION_SCHEDULED, CONDITION_TIMED_OUT
from api.meta import condition_of
from api.podgroup import PodGroup
from views.model.gang import HOLDS, IN_QUEUE, Gang, Order


def with_places(
    gangs: Iterable[Gang],
    others: Iterable[PodGroup] = (),
    root_of: Callable[[PodGroup], CompositePodGroup | None] = lambda _: None,
) -> list[Gang]:
    """The same gangs, each that waits with its place in the queue. A tree of groups has one place.

    Args:
        gangs: all whose pods are known.
        others: groups of other namespaces, of which no more than the PodGroup is known. One that has run before and waits again
            is not counted among them: nothing on it says that it waits.
        root_of: the root of the tree that one of the others belongs to; None without one.
    """
    found = list(gangs)
    known = {gang.uid for gang in found}
    waiting = {queue_order(gang) for gang in found if gang.state in IN_QUEUE}
    waiting |= {
        _group_order(group, root_of(group)) for group in others if group.metadata.uid not in known and _waits(group)
    }
    places = {order: place for place, order in enumerate(sorted(waiting), start=1)}
    return [replace(gang, place=places[queue_order(gang)] if gang.state in IN_QUEUE else 0) for gang in found]


def queue_order(gang: Gang) -> Order:
    """Sorts gangs that wait as the scheduler tries them: one that had to leave keeps the age of its group."""
    return gang.tree_order or (-gang.priority, gang.created, gang.uid)


def composite_order(composite: CompositePodGroup) -> Order:
    """Sorts trees among gangs, by their roots."""
    metadata = composite.metadata
    return (-(composite.spec.priority or 0), metadata.creation_timestamp or "", metadata.uid)


def _group_order(group: PodGroup, root: CompositePodGroup | None) -> Order:
    if root is not None:
        return composite_order(root)
    return (-(group.spec.priority or 0), group.metadata.creation_timestamp or "", group.metadata.uid)


def _waits(group: PodGroup) -> bool:
    conditions = group.status.conditions or ()
    given_up = condition_of(conditions, CONDITION_TIMED_OUT)
    if given_up is not None and given_up.status == "True":
        return False
    scheduled = condition_of(conditions, CONDITION_SCHEDULED)
    return scheduled is not None and scheduled.status == "False" and scheduled.reason not in HOLDS

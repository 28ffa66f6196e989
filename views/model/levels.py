"""Groups of groups as they stand at one moment: each CompositePodGroup with what is below it, its state, and why it waits. Pure.

Parents are named, not referred to, so a parent may not exist, or names may lead in a circle: both are shown as they are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from api.compositepodgroup import CompositePodGroup
from api.constants import CONDITION_COMPOSITE_SCHEDULED, CONDITION_TIMED_OUT
from api.meta import Condition, condition_of
from api.podgroup import PodGroup
from views.model.gang import HOLDS, WITHOUT_NODES, Gang, State, part_of
from views.model.objects import Objects

MOST_LEVELS_SHOWN: Final = 16
"""More than any tree has that is scheduled; who nests a thousand is not shown all of them."""

STARTED: Final = frozenset({State.STARTING, State.RUNNING, State.PREEMPTED, State.DONE})
"""A group in one of these states has its nodes, or had them until it was done."""


@dataclass(frozen=True, slots=True)
class Level:
    """One CompositePodGroup with what is below it.

    Attributes:
        namespace: where it is.
        name: of it.
        composite: None when it is only named: it does not exist, or cannot be seen.
        levels: the CompositePodGroups that are its children, the oldest first.
        gangs: the PodGroups that are its children, with their rows.
        is_above: it stands above itself, and what is below it is not repeated.
        is_cut: it has children, of which nothing is said because they are too deep.
        state: what it does.
        need: children that must start together.
        started: children that have started.
        reason: why it does not run, one word; empty when it does.
        message: the same for people.
        since: since when it waits, RFC 3339; empty when it does not.
    """

    namespace: str
    name: str
    composite: CompositePodGroup | None = None
    levels: tuple["Level", ...] = ()
    gangs: tuple[tuple[Gang, PodGroup], ...] = ()
    is_above: bool = False
    is_cut: bool = False
    state: State = State.HELD
    need: int = 1
    started: int = 0
    reason: str = ""
    message: str = ""
    since: str = ""

    @property
    def children_count(self) -> int:
        """How many children it has."""
        return len(self.levels) + len(self.gangs)

    @property
    def title(self) -> str:
        """As people name it."""
        return f"compositepodgroup/{self.name}"

    def leaves(self) -> Iterator[tuple[Gang, PodGroup]]:
        """Every PodGroup below it."""
        yield from self.gangs
        for level in self.levels:
            yield from level.leaves()


def level_of(namespace: str, name: str, objects: Objects, above: tuple[str, ...] = ()) -> Level:
    """A CompositePodGroup with all that is below it, whether it exists or is only named; `above` are the names over it."""
    composite = objects.composites.get(namespace, name)
    if name in above:
        return Level(namespace, name, composite, is_above=True)
    below = objects.composites_below(namespace, name)
    groups = objects.groups_below(namespace, name)
    if len(above) >= MOST_LEVELS_SHOWN:
        return Level(namespace, name, composite, is_cut=bool(below or groups))
    levels = tuple(level_of(namespace, one.metadata.name, objects, (*above, name)) for one in _by_age(below))
    gangs = tuple((objects.gang(group), group) for group in sorted(groups, key=_group_order))
    if composite is None:
        return Level(namespace, name, levels=levels, gangs=gangs)
    return _judged(composite, levels, gangs)


def levels_above(group: PodGroup, objects: Objects) -> list[Level]:
    """The CompositePodGroups above a group, the root first; empty when it has none."""
    namespace, name = group.metadata.namespace, group.parent
    if not name:
        return []
    names: list[str] = []
    while name and name not in names and len(names) < MOST_LEVELS_SHOWN:
        names.insert(0, name)
        composite = objects.composites.get(namespace, name)
        name = composite.parent if composite is not None else ""
    found = [level_of(namespace, names[0], objects)]
    for one in names[1:]:
        found += [level for level in found[-1].levels if level.name == one]
    return found


def _judged(composite: CompositePodGroup, levels: tuple[Level, ...], gangs: tuple[tuple[Gang, PodGroup], ...]) -> Level:
    states = [*(level.state for level in levels), *(gang.state for gang, _ in gangs)]
    said = condition_of(composite.status.conditions or (), CONDITION_COMPOSITE_SCHEDULED)
    refused = said if said is not None and said.status == "False" else None
    started = sum(state in STARTED for state in states)
    gave_up = condition_of(composite.status.conditions or (), CONDITION_TIMED_OUT)
    has_given_up = gave_up is not None and gave_up.status == "True"
    state = _state(states, started, composite.need, refused, has_given_up=has_given_up)
    children: list[Level | Gang] = [*levels, *(gang for gang, _ in gangs)]
    reason = message = since = ""
    if state in WITHOUT_NODES:
        reason, message = (refused.reason, refused.message) if refused is not None else _first_reason(children)
        since = composite.metadata.creation_timestamp or ""
        if said is not None and said.status == "True":
            since = min((each.since for each in children if each.since), default=since)
    return Level(
        composite.metadata.namespace,
        composite.metadata.name,
        composite,
        levels,
        gangs,
        state=state,
        need=composite.need,
        started=started,
        reason=reason,
        message=message,
        since=since,
    )


def _state(
    children: Sequence[State], started: int, need: int, refused: Condition | None, *, has_given_up: bool
) -> State:
    """A state follows from what the children do; the condition only says of one that waits whether it is tried."""
    ended = {State.DONE, State.FAILED}
    if children and all(state in ended for state in children):
        return State.FAILED if State.FAILED in children else State.DONE
    if children and all(state in ended | {State.SUSPENDED} for state in children):
        return State.SUSPENDED
    if started >= need:
        if sum(state in {State.RUNNING, State.DONE} for state in children) >= need:
            return State.RUNNING
        return State.PREEMPTED if State.PREEMPTED in children else State.STARTING
    if has_given_up:
        return State.GAVE_UP
    if refused is not None:
        return State.HELD if refused.reason in HOLDS else State.WAITING
    return State.WAITING if State.WAITING in children else State.HELD


def _first_reason(children: Sequence[Level | Gang]) -> tuple[str, str]:
    return next(((each.reason, each.message) for each in children if each.reason), ("", ""))


def _by_age(composites: Sequence[CompositePodGroup]) -> list[CompositePodGroup]:
    return sorted(composites, key=lambda one: (one.metadata.creation_timestamp or "", one.metadata.name))


def _group_order(group: PodGroup) -> tuple[int, str, str]:
    """Replicas by their number, others by age."""
    part = part_of(group)
    return (int(part) if part.isdigit() else -1, group.metadata.creation_timestamp or "", group.metadata.name)

"""What the objects of a tree say of themselves: pods, PodGroups, CompositePodGroups. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from api.compositepodgroup import MOST_LEVELS
from api.meta import controller_of
from api.podgroup import PodGroup
from views.model.gang import Gang
from views.model.levels import Level
from views.model.objects import Objects
from views.model.records import Member

NO_COMPOSITE: Final = "does not exist: what names it as its parent waits for it"
_CIRCLE: Final = "stands above itself: they name each other as parents in a circle"
_CUT: Final = f"has more below it, which is not shown: a tree of more than {MOST_LEVELS} levels is not scheduled"


@dataclass(frozen=True, slots=True)
class Branch:
    """One object of a tree.

    Attributes:
        title: KIND/NAME.
        state: what it does, of groups.
        since: since when it does not run, RFC 3339; empty where it runs or that is not known.
        said: whatever else there is to say of it.
        facts: the same for programs.
        children: what stands below it.
    """

    title: str
    said: str = ""
    children: tuple["Branch", ...] = field(default=())
    state: str = ""
    since: str = ""
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def remark(self) -> str:
        """All there is to say of it, but for the time."""
        return ", ".join(filter(None, (self.state, self.said)))

    def as_json(self) -> dict[str, Any]:
        """The same for programs; facts that are empty are left out."""
        facts = {key: value for key, value in self.facts.items() if value not in ("", None)}
        return {
            "name": self.title,
            "remark": self.remark,
            **facts,
            "children": [each.as_json() for each in self.children],
        }


def level_branch(level: Level, objects: Objects, owner: str = "", owner_uid: str = "", told: str = "") -> Branch:
    """A CompositePodGroup with what is below it.

    Args:
        level: it.
        objects: for the pods below.
        owner: KIND/NAME above the tree, of which nothing is said any more; empty for none.
        owner_uid: UID of that; empty when it is not known.
        told: what a level above has said of why it waits: it is not repeated.
    """
    if level.is_above:
        return Branch(level.title, _CIRCLE)
    if level.is_cut:
        return Branch(level.title, _CUT)
    children = [
        *(level_branch(one, objects, owner, told=level.message or told) for one in level.levels),
        *(group_branch(group, gang, objects, owner or None, told=level.message or told) for gang, group in level.gangs),
    ]
    if level.composite is None:
        return Branch(level.title, said_of_level(level, objects), tuple(children))
    return Branch(
        level.title,
        said_of_level(level, objects) + _foreign(level, owner, owner_uid) + _reason(level.reason, level.message, told),
        tuple(children),
        state=str(level.state),
        since=level.since,
        facts={
            "state": str(level.state),
            "minGroupCount": level.need if level.composite.is_gang else None,
            "started": level.started,
            "groups": level.children_count,
            "waitingSince": level.since,
            "reason": level.reason,
            "message": level.message,
        },
    )


def said_of_level(level: Level, objects: Objects) -> str:
    """How many of its groups have started, or why nothing is known of it."""
    if level.composite is None:
        return f"not known: {objects.unknown_composites}" if objects.unknown_composites else NO_COMPOSITE
    if not level.composite.is_gang:
        return f"each group by itself, {level.started} of {level.children_count} started"
    said = f"{level.started} of {level.need} groups started"
    if level.children_count > level.need:
        return f"{said}, {level.children_count} in all"
    return f"{said}, {level.children_count} exist" if level.children_count < level.need else said


def _foreign(level: Level, owner: str, owner_uid: str) -> str:
    """That it belongs to somebody else than who is shown above it: names are used again, UIDs are not."""
    controller = controller_of(level.composite.metadata) if level.composite is not None else None
    if controller is None or not owner_uid or controller.uid == owner_uid:
        return ""
    is_former = owner.endswith(f"/{controller.name}")
    return f"; belongs to {f'a former {owner}' if is_former else f'{controller.kind} {controller.name}'}"


def group_branch(group: PodGroup, gang: Gang, objects: Objects, top: str | None = "", told: str = "") -> Branch:
    """A PodGroup with its pods.

    Args:
        group: it.
        gang: its row.
        objects: for its pods.
        top: KIND/NAME above it; None where nobody is above it, so that it is said whose pods it has; empty to say nothing.
        told: what a level above has said of why it waits: it is not repeated.
    """
    counts = gang.counts
    members = in_order(objects.members_of(group))
    said = f"{counts.started} of {gang.need} started"
    if counts.all > gang.need:
        said += f", {counts.all} in all"
    said += _reason(gang.reason, gang.message, told)
    if gang.preempted_by:
        said += f"; leaves for {gang.preempted_by}"
    whose = _whose(gang, members) if top not in {"", gang.owner} else ""
    if whose:
        said += f"; of {whose}"
    return Branch(
        f"podgroup/{group.metadata.name}",
        said,
        tuple(map(pod_branch, members)),
        state=str(gang.state),
        since=gang.since,
        facts={
            "state": str(gang.state),
            "minCount": gang.need,
            "started": counts.started,
            "pods": counts.all,
            "waitingSince": gang.since,
            "reason": gang.reason,
            "message": gang.message,
        },
    )


def _reason(reason: str, message: str, told: str) -> str:
    """A level below repeats what its tree waits for, with the name of the root before it."""
    if not reason:
        return ""
    if told and message.endswith(told):
        return f"; {reason}, as above"
    return f"; {reason}: {message}" if message else f"; {reason}"


def _whose(gang: Gang, members: Iterable[Member]) -> str:
    """What made the group or, of one made by hand, its pods."""
    if not gang.owner.startswith("podgroup/"):
        return gang.title
    owners = {f"{pod.owner_kind.lower()}/{pod.owner_name}" for pod in members if pod.owner_name}
    return ", ".join(sorted(owners))


def pod_branch(pod: Member) -> Branch:
    """A pod with its node."""
    if pod.node:
        where = f"on {pod.node}"
    elif pod.nominated:
        where = f"no node yet, {pod.nominated} is kept for it"
    else:
        where = "no node"
    leaving = ", leaves for somebody more important" if pod.is_preempted else ""
    return Branch(f"pod/{pod.metadata.name}", f"{pod.phase}, {where}{leaving}")


def in_order(pods: Iterable[Member]) -> list[Member]:
    """By name, numbers in it by their value."""
    return sorted(pods, key=lambda pod: [f"{int(part):09d}" if part.isdigit() else part for part in _parts(pod)])


def _parts(pod: Member) -> list[str]:
    return re.split(r"(\d{1,9})", pod.metadata.name)

"""The answer to "why does it wait?": what is printed as JSON (docs/why.md has the schema) and as one screen of text."""

from enum import StrEnum

import msgspec

from explain.hint import Hint
from explain.reasons import Reason


class Verdict(StrEnum):
    """In one word."""

    STARTED = "started"
    STARTS = "starts"
    """At its next turn, possibly in the place of others."""
    WAITS = "waits"
    NEVER = "never"
    """With this cluster as it is, and be it empty."""


class Item(msgspec.Struct, frozen=True, rename="camel"):
    """What was asked about: `owner` is KIND/NAME of the object that people made."""

    kind: str
    namespace: str
    name: str
    owner: str


class Members(msgspec.Struct, frozen=True, rename="camel"):
    """Its pods; `placeable` is how many of the waiting ones would get a place now."""

    need: int = 0
    pending: int = 0
    scheduled: int = 0
    missing: int = 0
    gated: int = 0
    placeable: int = 0


class GroupState(StrEnum):
    """How one group of a tree stands."""

    STARTED = "started"
    """It has its minimum."""
    FITS = "fits"
    """There is room for it; where its tree waits, for it by itself."""
    WAITS = "waits"
    """There is no room for it."""
    INCOMPLETE = "incomplete"
    """It lacks something that it must have before there is any use in looking for room."""


class GroupAnswer(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One PodGroup of a tree.

    Attributes:
        name: of it.
        parent: the CompositePodGroup that it is a child of.
        state: in one word.
        message: why it does not start, or that it could by itself; empty where there is nothing to say.
        need: its pods that must start together.
        pending: its pods that wait.
        scheduled: its pods that have a place or are done.
    """

    name: str
    parent: str
    state: GroupState
    message: str = ""
    need: int = 0
    pending: int = 0
    scheduled: int = 0

    @property
    def starts(self) -> bool:
        """Whether it has started, or there is room for it."""
        return self.state in {GroupState.STARTED, GroupState.FITS}


class Turn(msgspec.Struct, frozen=True, rename="camel"):
    """Its place among all that wait, from 1 on, and how many these are; 0 for one that is not in the queue."""

    position: int = 0
    waiting: int = 0


class ClassCount(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One class of nodes and one reason.

    Attributes:
        nodes: what they have in common.
        count: how many they are.
        refused: how many of them the reason is about.
        room_for: for a resource: for how many of its pods there is enough of it on them.
        most_free: for a resource: the most that is free on one of them.
        too_small: for a resource: how many have too little of it even when they are empty.
    """

    nodes: str
    count: int
    refused: int
    room_for: int = 0
    most_free: str = ""
    too_small: int = 0


class Obstacle(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One reason that stands in the way."""

    reason: Reason
    message: str
    resource: str = ""
    nodes: tuple[ClassCount, ...] = ()


class Preemption(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Who leaves for it, or why nobody does."""

    message: str
    code: str = ""
    victims: tuple[str, ...] = ()
    pods: tuple[str, ...] = ()


class Answer(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Why one item waits.

    Attributes:
        item: which.
        verdict: in one word.
        reason: the class of what it waits for; None when it has started.
        message: the same in a sentence.
        waiting_seconds: since when it waits.
        certainty: how sure it is that no placement of a group is enough (`scheduler.plugins.status.Certainty`); empty for others.
        members: its pods.
        groups: of a tree, its PodGroups.
        min_group_count: of a tree, how many groups must start together below its root; 0 for others, and for a basic root.
        turn: its place in the queue.
        blocking: the smallest set of reasons that keeps it from starting.
        together: all of `blocking` must go; otherwise any one is enough.
        preemption: what comes of asking others to leave.
        hint: what would be enough, tried on the snapshot; None where nothing was found.
        decisions: how many decisions it took to find out.
    """

    item: Item
    verdict: Verdict
    reason: Reason | None = None
    message: str = ""
    waiting_seconds: float = 0.0
    certainty: str = ""
    members: Members = Members()
    groups: tuple[GroupAnswer, ...] = ()
    min_group_count: int = 0
    turn: Turn = Turn()
    blocking: tuple[Obstacle, ...] = ()
    together: bool = False
    preemption: Preemption | None = None
    hint: Hint | None = None
    decisions: int = 0

    @property
    def exit_code(self) -> int:
        """0 has started or starts, 3 waits, 4 never with this cluster."""
        return {Verdict.STARTED: 0, Verdict.STARTS: 0, Verdict.WAITS: 3, Verdict.NEVER: 4}[self.verdict]

"""What is below one CompositePodGroup at one moment, and what that lacks of its minimum."""

from collections.abc import Iterator
from math import inf
from typing import Final

from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.records import CompositeRecord


def is_complete(leaf: PodGroupState) -> bool:
    """Whether a group has all it must have before it is tried: itself, its minimum of pods, none of them gated."""
    counts = leaf.counts()
    return (
        leaf.group is not None and not counts.gated and (not leaf.group.is_gang or counts.known >= leaf.group.min_count)
    )


def missing_pods(leaf: PodGroupState) -> float:
    """Pods that a group needs a place for until it has its minimum; infinite while there are too few."""
    missing = leaf.min_count - leaf.scheduled_count
    if missing <= 0:
        return 0
    return missing if is_complete(leaf) and leaf.pending_count >= missing else inf


class Branch:
    """One CompositePodGroup of a tree with what is below it, as it stands at one moment.

    Attributes:
        record: the CompositePodGroup.
        branches: the CompositePodGroups that are its children, the oldest first.
        leaves: the PodGroups that are its children, the oldest first.
        missing: pods that it needs a place for at least until it has its minimum; infinite while too few are there.
        started: children that have their minimum.
        complete: children that have it, or could have it if there were room.
    """

    __slots__ = ("branches", "complete", "leaves", "missing", "record", "started")

    def __init__(self, record: CompositeRecord, branches: list["Branch"], leaves: list[PodGroupState]) -> None:
        self.record: Final = record
        self.branches: Final = branches
        self.leaves: Final = leaves
        missing = sorted((*(branch.missing for branch in branches), *map(missing_pods, leaves)))
        self.started: Final = missing.count(0)
        self.complete: Final = len(missing) - missing.count(inf)
        wanted = max(record.min_group_count - self.started, 0)
        rest = missing[self.started : self.started + wanted]
        self.missing: Final[float] = sum(rest) if len(rest) == wanted else inf

    @property
    def children_count(self) -> int:
        """How many children it has."""
        return len(self.branches) + len(self.leaves)

    def walk(self) -> Iterator["Branch"]:
        """Itself and all branches below."""
        yield self
        for branch in self.branches:
            yield from branch.walk()

    def all_leaves(self) -> Iterator[PodGroupState]:
        """Every group below it."""
        for branch in self.walk():
            yield from branch.leaves

    def usable_leaves(self) -> Iterator[PodGroupState]:
        """The groups below it that may start now if there is room: complete, as is everything above them."""
        if self.missing == inf:
            return
        yield from (leaf for leaf in self.leaves if leaf.pending_count and is_complete(leaf))
        for branch in self.branches:
            yield from branch.usable_leaves()


Child = Branch | PodGroupState


def children_of(branch: Branch) -> list[Child]:
    """All its children."""
    return [*branch.branches, *branch.leaves]


def missing_in(child: Child) -> float:
    """Pods that a child needs a place for until it has its minimum; infinite while too few are there."""
    return child.missing if isinstance(child, Branch) else missing_pods(child)


def _created(child: Child) -> tuple[float, str]:
    if isinstance(child, Branch):
        return (child.record.created_seconds, child.record.name)
    return age_of(child)


def by_age(child: Child) -> tuple[float, float, str]:
    """Orders children: the oldest first."""
    return (0.0, *_created(child))


def by_size(child: Child) -> tuple[float, float, str]:
    """Orders children: the one that needs the fewest pods first."""
    return (missing_in(child), *_created(child))


def by_size_descending(child: Child) -> tuple[float, float, str]:
    """Orders children: the one that needs the most pods first, those that lack some last."""
    missing = missing_in(child)
    return (-missing if missing < inf else 1.0, *_created(child))


def age_of(leaf: PodGroupState) -> tuple[float, str]:
    """Orders groups: the oldest first."""
    return (leaf.group.created_seconds if leaf.group else 0.0, leaf.key.name)

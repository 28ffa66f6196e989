"""Decides on one item again and again, each time with something different; counts the decisions and can set them an end."""

from collections.abc import Callable, Sequence
from typing import Final

from api.errors import TuttiError
from explain.changed_tree import changed_members
from explain.item_change import Change, ChangedCluster
from explain.node_classes import NodeClass, node_classes
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.future_pods import ClusterWithFuturePods
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.records import EntityKey

MOST_DECISIONS: Final = 600
"""For one answer."""


class NoMoreTrials(TuttiError):
    """The decisions of one answer are used up."""


class Trials:
    """Decisions about one item.

    Args:
        state: a copy of the cluster that nobody else uses.
        key: the item.
        most: decisions of one answer.
        before_each: called before each decision.
    """

    def __init__(
        self,
        state: ClusterState,
        key: EntityKey,
        most: int = MOST_DECISIONS,
        before_each: Callable[[], None] | None = None,
    ) -> None:
        self.state: Final = state
        self.seen: Final = ClusterWithFuturePods(state)
        self.key: Final = key
        self.made = 0
        self._classes: list[NodeClass] | None = None
        self._most: Final = most
        self._before_each: Final = before_each

    @property
    def members(self) -> PodGroupState | None:
        """The item, with its pods that are to come."""
        return self.seen.item(self.key)

    @property
    def classes(self) -> list[NodeClass]:
        """The nodes by what distinguishes them for the item, as they were when this was first asked."""
        if self._classes is None:
            members = self.members
            self._classes = node_classes(self.state, members) if members is not None else []
        return self._classes

    def decide(self, *changes: Change) -> Decision:
        """What would be decided with these changes.

        Raises:
            NoMoreTrials: there were too many decisions already.
        """
        self._count()
        return decide(self.view(changes), self.key)

    def decide_alone(self, group: EntityKey) -> Decision:
        """What would be decided of one group of a tree if it were in none.

        Raises:
            NoMoreTrials: there were too many decisions already.
        """
        self._count()
        return decide(self.seen.view, group)

    def _count(self) -> None:
        if self.made >= self._most:
            raise NoMoreTrials(f"{self._most} decisions were not enough")
        if self._before_each is not None:
            self._before_each()
        self.made += 1

    def view(self, changes: Sequence[Change]) -> ClusterState:
        """The cluster with these changes."""
        return ChangedCluster(self.seen.view, self.key, changes, changed_members).view if changes else self.seen.view

    def starts(self, *changes: Change) -> bool:
        """Whether it would start with these changes."""
        return self.decide(*changes).result == "scheduled"


def greatest_that_starts(numbers: Sequence[int], starts: Callable[[int], bool]) -> int | None:
    """Of ascending numbers the greatest for which it starts, None when it starts for none; the smaller, the easier."""
    if not numbers or not starts(numbers[0]):
        return None
    low, high = 0, len(numbers) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if starts(numbers[middle]):
            low = middle
        else:
            high = middle - 1
    return numbers[low]


def fewest_that_start(most: int, starts: Callable[[int], bool], guess: int = 1) -> int | None:
    """The smallest number from 1 to `most` for which it starts, None when it does not for `most`; the more, the easier.

    A `guess` that is right takes two decisions.
    """
    low, high = 0, min(max(guess, 1), most)
    while not starts(high):
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    step = 1
    while high - low > 1:
        middle = max(high - step, low + 1) if step < high - low else (low + high) // 2
        if starts(middle):
            high, step = middle, 2 * step
        else:
            low = middle
    return high

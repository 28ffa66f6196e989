"""Pods that come one after the other: is there an order in which the rules allow each of them when it comes?"""

from collections.abc import Callable
from typing import Final, NamedTuple

from scheduler.algorithm.exact.pod_classes import PodClass, Sums, can_all_come_at_best


class _Stage(NamedTuple):
    """What came after a choice."""

    came: list[int]
    """The class of each pod: the one that was chosen, then those that were in nobody's way."""
    options: list[int]
    """Who may be chosen next."""


class Arrivals:
    """Pods that come one after the other.

    A pod that may come and is in nobody's way comes at once: every order that goes on from here could as well go on with it.
    """

    def __init__(self, pod_classes: list[PodClass], pods: list[int], sums: Sums, spend: Callable[[], None]) -> None:
        self._classes: Final = pod_classes
        self._left: Final = pods
        self._spend: Final = spend
        self._sums: Final = [list(each) for each in sums]
        self._final: Final = [list(each) for each in sums]
        """When all have come."""
        for pod_class, count in zip(pod_classes, pods, strict=True):
            pod_class.add_to(self._final, count)
        self._spread_at: Final[dict[tuple[int, int], list[int]]] = {}
        """By group and value: the classes that have a spread there."""
        self._seen: Final[set[tuple[int, ...]]] = set()

    def can_end(self) -> bool:
        """Whether all can come."""
        if not self._is_possible():
            return False
        for at, pod_class in enumerate(self._classes):
            for each in pod_class.even:
                self._spread_at.setdefault((each.group, each.value), []).append(at)
        path = [self._stage([])]
        while any(self._left):
            while not path[-1].options:
                for at in path.pop().came:
                    self._come(at, -1)
                if not path:
                    return False
            chosen = path[-1].options.pop()
            self._come(chosen)
            path.append(self._stage([chosen]) if self._is_possible() else _Stage([chosen], []))
        return True

    def _is_possible(self) -> bool:
        """Whether all that are left can come in the best case."""
        self._spend()
        return can_all_come_at_best(self._classes, self._left, self._sums, [list(each) for each in self._sums])

    def _stage(self, came: list[int]) -> _Stage:
        """Lets all come that are in nobody's way."""
        before = -1
        while before < len(came):
            before = len(came)
            for at, pod_class in enumerate(self._classes):
                while self._left[at] and pod_class.can_come(self._sums) and self._hinders_nobody(at):
                    self._come(at)
                    came.append(at)
        state = tuple(self._left)
        if state in self._seen:
            return _Stage(came, [])
        self._seen.add(state)
        options = [at for at, left in enumerate(self._left) if left and self._classes[at].can_come(self._sums)]
        return _Stage(came, options)

    def _come(self, at: int, pods: int = 1) -> None:
        self._left[at] -= pods
        self._classes[at].add_to(self._sums, pods)

    def _hinders_nobody(self, at: int) -> bool:
        pod_class = self._classes[at]
        for group, value, _ in pod_class.adds:
            for other in self._spread_at.get((group, value), ()):
                if other != at and self._left[other] and not self._has_room_for_all(other):
                    return False
        return not any(
            left and other != at and self._keeps_from_being_first(pod_class, self._classes[other])
            for other, left in enumerate(self._left)
        )

    def _has_room_for_all(self, at: int) -> bool:
        """Whether the spreads of a class allow the last of it even after everybody else."""
        return all(
            each.allows(self._final[each.group][each.value] - each.own, self._sums) for each in self._classes[at].even
        )

    def _keeps_from_being_first(self, pod_class: PodClass, other: PodClass) -> bool:
        """Whether another class could be the first of those it needs, and not even come for company once this one is there."""
        if not other.can_be_first(self._sums):
            return False
        added = {group: value for group, value, _ in pod_class.adds}
        return any(group in added for group, _ in other.near) and any(
            added.get(group) != value for group, value in other.near
        )

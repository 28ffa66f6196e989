"""Pods that are the same to everybody's order, and whether all of them can come in the best case.

The best case is quick to look at, and nearly all pods that have no order have none because somebody cannot come even then.
"""

from collections.abc import Sequence
from typing import NamedTuple

Sums = Sequence[Sequence[int]]
"""By group and value: how many are counted there."""


class Even(NamedTuple):
    """A spread of a class of pods."""

    group: int
    value: int
    """Where the class is."""
    own: int
    """What one of the class adds there."""
    above: int
    """So many more than at the least value may be there before the next one."""
    among: tuple[int, ...]
    """The values of which the least counts; none where 0 counts as the least."""

    def allows(self, before: int, sums: Sums) -> bool:
        """Whether one more pod may come after so many."""
        return before - self.above <= min(map(sums[self.group].__getitem__, self.among), default=0)


class PodClass(NamedTuple):
    """Pods that are the same to everybody's order, on nodes with the labels that their rules ask for."""

    near: tuple[tuple[int, int], ...]
    """(group, value): there must be somebody."""
    may_be_first: bool
    even: tuple[Even, ...]
    adds: tuple[tuple[int, int, int], ...]
    """(group, value, what one of them adds to it)."""

    def can_come(self, sums: Sums) -> bool:
        """Whether one more may come now."""
        return self.could_come(0, sums, sums)

    def could_come(self, others: int, sums: Sums, best: Sums) -> bool:
        """Whether one more may come after so many others of its class, with no less than `sums` and no more than `best` there."""
        if self.near and not self.can_be_first(sums) and not all(best[group][value] > 0 for group, value in self.near):
            return False
        return all(each.allows(sums[each.group][each.value] + others * each.own, best) for each in self.even)

    def can_be_first(self, sums: Sums) -> bool:
        """Whether it may come because nobody is anywhere whom it needs."""
        return self.may_be_first and not any(any(sums[group]) for group, _ in self.near)

    def add_to(self, sums: list[list[int]], pods: int) -> None:
        """So many of them have come; less than none have left."""
        for group, value, amount in self.adds:
            sums[group][value] += pods * amount


def can_all_come_at_best(
    pod_classes: Sequence[PodClass], pods: Sequence[int], sums: Sums, best: list[list[int]]
) -> bool:
    """Whether everybody can come who would if nobody were in anybody's way, and all others that can come had come before.

    Args:
        pod_classes: of the pods.
        pods: how many of each are to come.
        sums: what is counted now.
        best: what is counted in the best case when the first of them comes; becomes that of the end.
    """
    left = list(pods)
    has_changed = True
    while has_changed:
        has_changed = False
        for at, pod_class in enumerate(pod_classes):
            while left[at] and pod_class.could_come(pods[at] - left[at], sums, best):
                left[at] -= 1
                pod_class.add_to(best, 1)
                has_changed = True
    return not any(left)

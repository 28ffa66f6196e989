"""I1: below a CompositePodGroup that was never satisfied nothing is bound, but for the bind window.

Sees: binds and ends of pods, which groups and CompositePodGroups name which parent, and the minimum of each level. A level is
satisfied once as many of its children were as it asks for; its children are what names it at that moment. Does not see: trees
whose root is not there, and what is to be done about a tree that has started and lost groups.
"""

from collections.abc import Iterator
from typing import Any

from verify.auditor.changes import Change, CompositeWritten, GroupGone, GroupWritten, PodBound, PodEnded
from verify.auditor.history import History
from verify.auditor.levels import is_satisfied, runs
from verify.auditor.model import Group, Key
from verify.auditor.promises.promise import Promise


class AtomicTrees(Promise):
    """As many groups of a tree start together as it asks for, or none does."""

    number = "I1"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._partial_since: dict[Key, float] = {}

    def see(self, change: Change, history: History) -> Iterator[str]:
        """Counts anew the levels above the group that is concerned."""
        match change:
            case PodBound(pod, record):
                yield from self._above(history.groups.get(pod.group) if pod.group else None, record.completed, history)
            case PodEnded(pod, when):
                yield from self._above(history.groups.get(pod.group) if pod.group else None, when, history)
            case GroupWritten(group, record):
                yield from self._above(group, record.completed, history)
            case GroupGone(group, when):
                yield from self._above(group, when, history)
            case CompositeWritten(composite, record):
                yield from self._upwards(composite.key, record.completed, history)

    def close(self, now: float, history: History) -> Iterator[str]:
        """Levels that are partial at this moment."""
        for key in list(self._partial_since):
            yield from self._whole_again(key, now, history)

    def _above(self, group: Group | None, when: float, history: History) -> Iterator[str]:
        if group is not None and group.parent:
            yield from self._upwards((group.key[0], group.parent), when, history)

    def _upwards(self, key: Key, when: float, history: History) -> Iterator[str]:
        seen: set[Key] = set()
        while key in history.composites and key not in seen:
            seen.add(key)
            composite = history.composites[key]
            if is_satisfied(composite, history) or not runs(composite, history):
                yield from self._whole_again(key, when, history)
            else:
                self._partial_since.setdefault(key, when)
            key = (key[0], composite.parent)

    def _whole_again(self, key: Key, now: float, history: History) -> Iterator[str]:
        since = self._partial_since.pop(key, None)
        if since is not None and now - since > self.windows.bind_seconds:
            composite = history.composites.get(key)
            minimum = composite.minimum if composite is not None else 0
            yield f"tree {key} ran in part for {now - since:.1f} s: fewer than {minimum} of its children had started"

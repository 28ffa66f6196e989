"""Members that had a place and have lost it without having succeeded: what replacements will ask for, and who is missing.

A group is here from its first loss until somebody has judged that it is whole again, or gone. What a lost pod asked for is known
from its record, which outlives it here. After a restart nobody remembers those that are gone; then there are none for a group.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from scheduler.cache.records import EntityKey, Phase, PodRecord

_NOBODY: Final[Mapping[str, PodRecord]] = MappingProxyType({})


class Losses:
    """The lost members of each group, in the order in which they were lost."""

    def __init__(self) -> None:
        self._of: dict[EntityKey, dict[str, PodRecord]] = {}
        self._version = 0

    def __len__(self) -> int:
        return len(self._of)

    def __iter__(self) -> Iterator[EntityKey]:
        """The groups that have lost somebody."""
        return iter(list(self._of))

    def __contains__(self, key: EntityKey) -> bool:
        """Whether members of this group are missing."""
        return key in self._of

    @property
    def version(self) -> int:
        """Raised with every change, and when replacements may find room that they did not find before."""
        return self._version

    def of(self, key: EntityKey) -> Mapping[str, PodRecord]:
        """The lost members of a group by UID, as they were before, in the order in which they were lost."""
        return self._of.get(key, _NOBODY)

    def room_appeared(self) -> None:
        """Somewhere; of no interest while nobody is missing."""
        if self._of:
            self._version += 1

    def begin(self, key: EntityKey) -> None:
        """Members of this group are missing, and nobody knows which."""
        if key not in self._of:
            self._of[key] = {}
            self._version += 1

    def lost(self, key: EntityKey, pod: PodRecord) -> None:
        """A member of this group has lost its place; `pod` is its last record with it."""
        self._of.setdefault(key, {})[pod.uid] = pod
        self._version += 1

    def forget(self, key: EntityKey) -> None:
        """Nobody of this group is missing any more."""
        if self._of.pop(key, None) is not None:
            self._version += 1


def loses_place(old: PodRecord, new: PodRecord | None) -> bool:
    """Whether a member that held a place holds it no more and has not succeeded; `new` is None when the pod is gone."""
    if not (old.group and old.is_bound) or old.is_terminal or old.terminating:
        return False
    return new is None or (new.phase is not Phase.SUCCEEDED and (new.phase is Phase.FAILED or new.terminating))

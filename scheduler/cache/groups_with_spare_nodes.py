"""Which groups ask for room for nodes they may lose."""

from collections.abc import Iterator
from typing import Final

from scheduler.cache.records import EntityKey, GroupRecord


class GroupsWithSpareNodes:
    """These groups, in the order in which they came."""

    def __init__(self) -> None:
        self._keys: Final[dict[EntityKey, None]] = {}
        self._version = 0

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[EntityKey]:
        return iter(self._keys)

    def __contains__(self, key: EntityKey) -> bool:
        """Whether this group does."""
        return key in self._keys

    @property
    def version(self) -> int:
        """Raised when one of them changes, or is one no longer."""
        return self._version

    def moved(self, before: EntityKey, record: GroupRecord | None) -> None:
        """A group came or changed, or went when there is no record; `before` is the item it was."""
        had = before in self._keys
        self._keys.pop(before, None)
        if record is not None and record.when_degraded.spare_nodes:
            self._keys[record.item] = None
        self._version += had or (record is not None and record.item in self._keys)

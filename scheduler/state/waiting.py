"""The pending members of one shape, sorted by name: kept per event, so that a decision for a thousand of them sorts nothing."""

from bisect import bisect_left
from collections.abc import Sequence


class Waiting:
    """Names and UIDs side by side; a decision takes the first so many `uids`."""

    __slots__ = ("_names", "_uids")

    def __init__(self) -> None:
        self._names: list[str] = []
        self._uids: list[str] = []

    def __len__(self) -> int:
        return len(self._names)

    @property
    def names(self) -> Sequence[str]:
        """Of the pods that exist, sorted."""
        return self._names

    @property
    def uids(self) -> Sequence[str]:
        """In the order of the names."""
        return self._uids

    def add(self, name: str, uid: str) -> None:
        """Takes in a pod."""
        index = bisect_left(self._names, name)
        self._names.insert(index, name)
        self._uids.insert(index, uid)

    def remove(self, name: str, uid: str) -> None:
        """Lets a pod go; of two pods of one name (a predecessor that is not gone yet) the right one."""
        index = self._uids.index(uid, bisect_left(self._names, name))
        del self._names[index], self._uids[index]

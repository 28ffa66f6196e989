"""The pending members of one shape, sorted by name: kept per event, so that a decision for a thousand of them sorts nothing."""

from bisect import bisect_left


class Waiting:
    """Names and UIDs side by side; a decision takes the first so many `uids`."""

    __slots__ = ("names", "uids")

    def __init__(self) -> None:
        self.names: list[str] = []
        self.uids: list[str] = []

    def __len__(self) -> int:
        return len(self.names)

    def add(self, name: str, uid: str) -> None:
        """Takes in a pod."""
        index = bisect_left(self.names, name)
        self.names.insert(index, name)
        self.uids.insert(index, uid)

    def remove(self, name: str, uid: str) -> None:
        """Lets a pod go; of two pods of one name (a predecessor that is not gone yet) the right one."""
        index = self.uids.index(uid, bisect_left(self.names, name))
        del self.names[index], self.uids[index]

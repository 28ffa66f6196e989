"""Which nodes' devices have changed, in order."""

from typing import Final

EVERYWHERE: Final = ""
"""In the log: devices that several nodes can reach have changed, or all may have."""
_MOST_LOGGED: Final = 100_000


class DeviceLog:
    """Names of the nodes whose devices changed, in order; who reads it remembers its position."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._first = 0

    @property
    def end(self) -> int:
        """The position behind the last change."""
        return self._first + len(self._names)

    def add(self, name: str) -> None:
        """The devices of this node changed."""
        if len(self._names) >= _MOST_LOGGED:
            dropped = len(self._names) // 2
            del self._names[:dropped]
            self._first += dropped
        self._names.append(name)

    def since(self, position: int) -> set[str] | None:
        """The nodes whose devices changed since; None when that may be all of them."""
        if position < self._first:
            return None
        changed = set(self._names[position - self._first :])
        return None if EVERYWHERE in changed else changed

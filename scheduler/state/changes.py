"""A log of changed node slots, so that derived views catch up lazily with what changed and with nothing else.

A view remembers the position up to which it is current. Asking for everything since then costs as much as there is to catch
up; a view that is too far behind is told to start afresh. Old entries are forgotten.
"""

from collections.abc import Set
from typing import Final

import numpy as np
from numpy.typing import NDArray

Slots = NDArray[np.intp]

NO_SLOTS = np.empty(0, dtype=np.intp)
"""Not to be written to."""

_NOTHING: Final[Set[int]] = frozenset()


class ChangeLog:
    """Positions count all changes ever made; `end` is the current one."""

    def __init__(self) -> None:
        self._slots: list[int] = []
        self._start = 0

    @property
    def end(self) -> int:
        """The position after the latest change."""
        return self._start + len(self._slots)

    def add(self, slot: int, *, keep: int) -> None:
        """Notes a change; at least `keep` entries stay known."""
        self._slots.append(slot)
        if len(self._slots) > 2 * keep:
            cut = len(self._slots) - keep
            del self._slots[:cut]
            self._start += cut

    def since(self, position: int, *, limit: int) -> Slots | None:
        """The slots changed after a position, each once; None when there are more than `limit` or they are forgotten."""
        changed = self.set_since(position, limit=limit)
        if changed is None:
            return None
        return np.array(sorted(changed), dtype=np.intp) if changed else NO_SLOTS

    def set_since(self, position: int, *, limit: int) -> Set[int] | None:
        """The same for one who looks at them one by one."""
        news = self.end - position
        if not news:
            return _NOTHING
        if position < self._start or news > limit:
            return None
        return set(self._slots[-news:])

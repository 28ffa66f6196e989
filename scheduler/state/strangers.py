"""Which groups are named by pods of other schedulers: those groups are none of ours to speak about."""

from collections import Counter
from typing import Final

from scheduler.state.records import PodRecord


class Strangers:
    """Counts pods of other schedulers by the group they name."""

    def __init__(self) -> None:
        self._named: Final[Counter[tuple[str, str]]] = Counter()

    def moved(self, old: PodRecord | None, new: PodRecord | None) -> None:
        """A pod came, changed or went."""
        if new is not None and new.foreign_group:
            self._named[new.namespace, new.foreign_group] += 1
        if old is not None and old.foreign_group:
            self._leave((old.namespace, old.foreign_group))

    def name(self, namespace: str, group: str) -> bool:
        """Whether some of them name this group."""
        return (namespace, group) in self._named

    def _leave(self, named: tuple[str, str]) -> None:
        self._named[named] -= 1
        if not self._named[named]:
            del self._named[named]

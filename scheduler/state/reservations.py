"""Room that is kept for groups that have waited too long: nobody leaves for it, it fills as pods end.

Held against items of lower or equal priority, like claims; unlike claims it is of amounts on nodes and not of certain pods, for
the members of a group may be replaced while it waits.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from scheduler.state.demand import Demand
from scheduler.state.records import ItemKey

Amounts = Mapping[str, Counter[Demand]]
"""Node name -> what is kept there: so many pods of each demand."""


class Reservation:
    """What is kept for one group, until when in monotonic seconds."""

    __slots__ = ("deadline_seconds", "held", "key", "priority")

    def __init__(self, key: ItemKey, priority: int, held: Amounts, deadline_seconds: float) -> None:
        self.key: Final = key
        self.priority: Final = priority
        self.held: Final = held
        self.deadline_seconds: Final = deadline_seconds


class Reservations:
    """All reservations, at most one per group; what is kept `beside` them for other reasons counts against others, too."""

    def __init__(self, beside: "Reservations | None" = None) -> None:
        self._by_key: dict[ItemKey, Reservation] = {}
        self._beside = beside
        self._version = 0

    @property
    def version(self) -> int:
        """Raised with every change."""
        return self._version + (self._beside.version if self._beside is not None else 0)

    def __len__(self) -> int:
        return len(self._by_key)

    def __iter__(self) -> Iterator[Reservation]:
        return iter(list(self._by_key.values()))

    def put(self, reservation: Reservation) -> None:
        """Takes a reservation, in the place of what the group had before."""
        self._version += 1
        self._by_key[reservation.key] = reservation

    def of(self, key: ItemKey) -> Reservation | None:
        """The reservation of a group."""
        return self._by_key.get(key)

    def drop(self, key: ItemKey) -> Reservation | None:
        """Gives the room up; returns what was given up."""
        self._version += 1
        return self._by_key.pop(key, None)

    def against(self, key: ItemKey, priority: int) -> Iterator[tuple[str, Counter[Demand]]]:
        """What is kept on which node against an item of that priority."""
        for reservation in self._by_key.values():
            if reservation.key != key and reservation.priority >= priority:
                yield from reservation.held.items()
        if self._beside is not None:
            yield from self._beside.against(key, priority)

"""Keys that are due later (upstream: the delaying work queue of client-go).

An entry is looked at again when it is due, so nothing has to be cancelled: whoever handles it checks first whether it
still matters.
"""

import heapq
from collections.abc import Callable, Hashable, Iterator
from typing import Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)

_MOST_POINTLESS: Final = 64
"""So many entries that became pointless may always wait for their time; beyond that as many as there are others."""


class DelayQueue(Generic[K]):
    """Keys with a due time. A key is in it once, at the earliest time asked for."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` gives monotonic seconds."""
        self._clock = clock
        self._heap: list[tuple[float, int, K]] = []
        self._due: dict[K, float] = {}
        self._counter = 0

    def __len__(self) -> int:
        return len(self._due)

    def __contains__(self, key: K) -> bool:
        return key in self._due

    def add(self, key: K, in_seconds: float) -> None:
        """Note that `key` is due in so many seconds, unless it is due earlier already."""
        at = self._clock() + in_seconds
        known = self._due.get(key)
        if known is not None and known <= at:
            return
        self._due[key] = at
        self._counter += 1
        heapq.heappush(self._heap, (at, self._counter, key))
        if len(self._heap) > 2 * len(self._due) + _MOST_POINTLESS:
            self._heap = [entry for entry in self._heap if self._due.get(entry[2]) == entry[0]]
            heapq.heapify(self._heap)

    def dues(self) -> Iterator[tuple[K, float]]:
        """Every key with the time it is due at, by the clock."""
        yield from self._due.items()

    def discard(self, key: K) -> None:
        """Forget the key."""
        self._due.pop(key, None)

    def take_due(self) -> list[K]:
        """The keys that are due now; they leave the queue."""
        now = self._clock()
        taken: list[K] = []
        while self._heap and self._heap[0][0] <= now:
            at, _, key = heapq.heappop(self._heap)
            if self._due.get(key) == at:
                del self._due[key]
                taken.append(key)
        return taken

    def next_due_seconds(self) -> float | None:
        """Seconds until the next key is due (0 when one is), None when it is empty."""
        while self._heap and self._due.get(self._heap[0][2]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return max(0.0, self._heap[0][0] - self._clock()) if self._heap else None

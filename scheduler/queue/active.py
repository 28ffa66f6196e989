"""The items that are to be tried, and which of them is next.

Those of which nothing bad is known go by their order: priority, then age. Doubtful ones, refused before for the most part, share
that order as long as attempts in vain have not taken more than their part of the time; then they come when nothing else waits.
Retries that only time has caused go by the time they have been due for, so that each has its turn, and have a part of the time of
their own. So however many items are hopeless, a new one that can be placed waits for a few attempts and not for all of them
(KEP-4671: retries of groups must not starve pods).
"""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Final

from scheduler.queue.allowance import Allowance
from scheduler.queue.entry import Cause, Entry
from scheduler.queue.settings import QueueSettings

Heap = list[tuple[tuple[int, float, int, str], int, Entry]]


class ActiveItems:
    """Entries by their order; one that has moved since (another stamp) is forgotten when it comes up."""

    def __init__(self, clock: Callable[[], float], settings: QueueSettings) -> None:
        self._promising: Heap = []
        self._doubtful: Heap = []
        self._overdue: dict[int, list[tuple[float, int, Entry]]] = {}
        """Refused items whose time has come, by priority, each with the time it was due."""
        self._allowances: Final = {
            Cause.DOUBT: Allowance(clock, settings.doubt_share, settings.saved_seconds),
            Cause.TIME: Allowance(clock, settings.retry_share, settings.saved_seconds),
        }

    @property
    def trusts_doubtful(self) -> bool:
        """Whether doubtful items count as much as the others now."""
        return self._allowances[Cause.DOUBT].is_open

    @property
    def is_drained(self) -> bool:
        """Whether nothing is there but retries by time."""
        return _head(self._promising) is None and _head(self._doubtful) is None

    def put(self, entry: Entry) -> None:
        """An entry has become active, for its `cause`."""
        heap = self._doubtful if entry.cause is Cause.DOUBT else self._promising
        heappush(heap, (entry.order, entry.stamp, entry))

    def put_overdue(self, entry: Entry) -> None:
        """The time of a waiting entry has come."""
        heappush(self._overdue.setdefault(entry.priority, []), (entry.due_seconds, entry.stamp, entry))

    def take(self) -> Entry | None:
        """The entry to be tried now, with its cause."""
        promising = _head(self._promising)
        overdue = self._longest_due(promising) if self._allowances[Cause.TIME].is_open else None
        if overdue is not None:
            overdue.cause, overdue.was_woken = Cause.TIME, False
            return overdue
        doubtful = _head(self._doubtful)
        is_doubtful_first = doubtful is not None and (
            promising is None or (self.trusts_doubtful and doubtful.order < promising.order)
        )
        if is_doubtful_first:
            return heappop(self._doubtful)[2]
        return heappop(self._promising)[2] if promising is not None else None

    def spent(self, cause: Cause, seconds: float) -> None:
        """Trying an item for this cause was in vain and took so long."""
        self._allowances[Cause.TIME if cause is Cause.TIME else Cause.DOUBT].spend(seconds)

    def next_due_seconds(self) -> float | None:
        """Seconds until `take` has something, None when it has nothing at all."""
        if not self.is_drained:
            return 0.0
        if self._longest_due(None, is_taken=False) is None:
            return None
        return self._allowances[Cause.TIME].opens_in_seconds()

    def _longest_due(self, rival: Entry | None, *, is_taken: bool = True) -> Entry | None:
        """Of the overdue entries that are no less important than the rival the one that was due first."""
        best: list[tuple[float, int, Entry]] | None = None
        for priority, heap in list(self._overdue.items()):
            while heap and heap[0][1] != heap[0][2].stamp:
                heappop(heap)
            if not heap:
                del self._overdue[priority]
            elif (rival is None or priority >= rival.priority) and (best is None or heap[0] < best[0]):
                best = heap
        if best is None:
            return None
        return heappop(best)[2] if is_taken else best[0][2]


def _head(heap: Heap) -> Entry | None:
    while heap and heap[0][1] != heap[0][2].stamp:
        heappop(heap)
    return heap[0][2] if heap else None

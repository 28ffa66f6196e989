"""Items that wait for their turn, fair to the flows they come from: fair queuing, as in the API server's priority and fairness.

Each flow has a queue of its own, in the order of coming, and flows with items take turns: an item waits for those before it in its
flow, and for one of each other flow before each of these, however many another flow has.
"""

from collections import deque
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """A queue of queues. Both operations take constant time, and a flow without items takes no memory.

    Args:
        flow: which flow an item belongs to.
    """

    def __init__(self, flow: Callable[[T], Hashable]) -> None:
        self._flow = flow
        self._queues: dict[Hashable, deque[T]] = {}
        self._turns: deque[Hashable] = deque()
        self._length = 0

    def __len__(self) -> int:
        """Items of all flows."""
        return self._length

    def append(self, item: T) -> None:
        """The item is the last of its flow; a flow that had none has its turn after all others."""
        flow = self._flow(item)
        queue = self._queues.get(flow)
        if queue is None:
            queue = self._queues[flow] = deque()
            self._turns.append(flow)
        queue.append(item)
        self._length += 1

    def popleft(self) -> T:
        """The first item of the flow whose turn it is.

        Raises:
            IndexError: there is none.
        """
        flow = self._turns.popleft()
        queue = self._queues[flow]
        item = queue.popleft()
        if queue:
            self._turns.append(flow)
        else:
            del self._queues[flow]
        self._length -= 1
        return item

"""From kopf's thread to ours: what was reported is put into the store that reconcile reads.

kopf reports thousands of objects in a row, and waking another thread's loop costs more than the object. So the loop is woken
for the first one only, and takes in all there is by then, in the order in which it was reported.
"""

import asyncio
from collections import deque
from typing import Literal, TypeVar

from controllers.job_watch import Deliver
from controllers.owner_store import OwnerStore
from kube.cache.store import KubeObject

T = TypeVar("T", bound=KubeObject)

Action = Literal["put", "remove"]


def handing_over_to(store: OwnerStore[T]) -> Deliver[T]:
    """Takes what one other thread reports. To be called in the loop that the store belongs to."""
    loop = asyncio.get_running_loop()
    actions = {"put": store.put, "remove": store.remove}
    reported: deque[tuple[Action, T]] = deque()

    def take_in() -> None:
        try:
            while reported:
                action, item = reported.popleft()
                actions[action](item)
        finally:
            # What could not be taken in must not keep the rest back.
            if reported:
                loop.call_soon(take_in)

    def deliver(action: Action, item: T) -> None:
        reported.append((action, item))
        if len(reported) == 1:
            loop.call_soon_threadsafe(take_in)

    return deliver

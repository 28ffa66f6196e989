"""What was made for questions that nobody asks any more is forgotten, long before a bound on how much is kept would have it go.

Such tables otherwise fill with the signatures and rules of Jobs that are gone, until they are full: for the better part of an hour
a scheduler has ever more in memory, and each bound pod is counted for rules of which none is left.
"""

import asyncio
from typing import Final

from scheduler.algorithm.node_fits import fits_of
from scheduler.cache.cluster import ClusterState

UNUSED_SECONDS: Final = 120.0
"""What was not asked for in so long, and in twice the time at most, goes. Making it anew takes milliseconds in a large cluster."""


async def forget_unused(state: ClusterState) -> None:
    """Forgets every two minutes until cancelled."""
    while True:
        await asyncio.sleep(UNUSED_SECONDS)
        state.topology_index.forget_unused()
        fits_of(state).forget_unused()

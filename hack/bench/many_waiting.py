"""How long thousands of groups that wait hold the scheduler's loop when room appears: whom can it be enough for?

None of them has room anywhere. Measured is what one `pop` takes, between two of which whatever is new is tried, and all of them
together until each group has been looked at. CPU of this process; the queue's clock shows the same.
"""

from time import process_time

from hack.bench import clusters
from hack.bench.table import show
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import EntityKey, StateChange
from scheduler.queue.scheduling_queue import ROOM_APPEARED, SchedulingQueue
from scheduler.queue.settings import QueueSettings

MORE_THAN_ANY_NODE_MILLI = 1_000_000
MORE_THAN_HALF_A_NODE_MILLI = 40_000
PAUSE_SECONDS = 3600.0
"""So that nobody is tried again by the clock."""

ROWS: dict[str, tuple[int, ...]] = {
    "1,000 alike": (100, 1_000, 0),
    "10,000 alike": (100, 10_000, 0),
    "1,000, no two alike": (100, 1_000, 1),
    "5,000, no two alike": (100, 5_000, 1),
    "2,000, no two alike, 5,000 nodes": (5_000, 2_000, 1),
    "5,000 pairs for one node, no two alike": (100, 5_000, 1, 2),
}
"""Nodes, groups, and by how many milli-CPUs each asks for more than the one before; how many pods it has, on one node.

A pod alone finds no place at all, a pair as many as there are nodes, but no two on one: that takes a closer look.
"""


def measure() -> None:
    """Prints the table."""
    show(
        "Room appears while groups wait that it is not enough for: ms",
        ["", "longest hold of the loop", "until all are looked at"],
        [[name, *(f"{figure:.1f}" for figure in _row(*row))] for name, row in ROWS.items()],
    )


def _row(nodes: int, groups: int, step_milli: int, size: int = 1) -> tuple[float, float]:
    state = clusters.cluster(nodes)
    queue = SchedulingQueue(
        process_time, QueueSettings(initial_backoff_seconds=PAUSE_SECONDS, max_backoff_seconds=PAUSE_SECONDS)
    )
    for number in range(groups):
        key = _asking(state, f"g-{number}", number * step_milli, size)
        queue.move_all_to_active(StateChange(items=(key,)), state)
    while (popped := queue.pop(state)) is not None:
        queue.done(popped, decide(state, popped), state)
    queue.move_all_to_active(ROOM_APPEARED, state)
    holds = []
    while queue.next_due_seconds() == 0.0:
        begin = process_time()
        if queue.pop(state) is not None:
            raise RuntimeError("a group was woken though there is no room for it")
        holds.append((process_time() - begin) * 1000)
    return max(holds), sum(holds)


def _asking(state: ClusterState, name: str, more_milli: int, size: int) -> EntityKey:
    """A group that has no room, and would not have it with so much less either."""
    if size == 1:
        return clusters.gang(state, name, 1, milli_cpu=lambda _: MORE_THAN_ANY_NODE_MILLI + more_milli)
    milli_cpu = MORE_THAN_HALF_A_NODE_MILLI + more_milli
    return clusters.gang(state, name, size, milli_cpu=lambda _: milli_cpu, topology_key="kubernetes.io/hostname")

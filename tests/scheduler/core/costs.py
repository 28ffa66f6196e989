"""What a computation costs in steps: the same for the same cluster, so that it is known beforehand who is within the budget."""

from collections.abc import Callable
from typing import TypeVar

from scheduler.cache.cluster import ClusterState

ENOUGH = 10**12

Made = TypeVar("Made")


def steps_of(state: ClusterState, compute: Callable[[], object]) -> int:
    """How many steps this takes when it may take any number."""
    steps = state.nodes.steps
    steps.most = ENOUGH
    before = steps.spent
    compute()
    return steps.spent - before


def within(state: ClusterState, most: int, compute: Callable[[], Made]) -> Made:
    """What comes of it when it may take no more than so many."""
    state.nodes.steps.most = most
    return compute()

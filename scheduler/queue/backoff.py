"""When a refused item is tried again without any event."""

from math import sqrt

from scheduler.queue.settings import QueueSettings


def backoff_seconds(failures: int, pods: int, settings: QueueSettings) -> float:
    """The wait after the `failures`-th refusal in a row of an item with so many pending pods (1 s, 2 s, ... by default)."""
    longest = settings.max_backoff_seconds * sqrt(max(pods, 1))
    return float(min(settings.initial_backoff_seconds * 2 ** min(failures - 1, 30), longest))

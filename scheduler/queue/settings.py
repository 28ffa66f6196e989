"""How long the queue waits, and how much time it lets attempts in vain take."""

from dataclasses import dataclass
from math import sqrt

from api.backoff import exponential_backoff


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """Times in seconds."""

    initial_backoff_seconds: float = 1.0
    """Wait after the first refusal; doubles with each further one."""
    max_backoff_seconds: float = 10.0
    """Longest wait of a lone pod; a group waits up to this times the square root of its pending pods."""
    wake_pause_seconds: float = 0.05
    """Least pause before an item that was woken in vain is woken again; doubles each time, up to its backoff."""
    over_budget_seconds: float = 300.0
    """How soon an item on which deciding takes too long is tried again."""
    over_budget_pause_seconds: float = 10.0
    """The same when its own pods or its group change meanwhile."""
    desired_wait_seconds: float = 5.0
    """How long a basic group waits for as many pods, and room for them, as it would like to start with."""
    doubt_share: float = 0.2
    """Part of the time for trying items in vain, save for retries by time, while something that may have room waits."""
    retry_share: float = 0.2
    """Part of the time for trying anew, in vain, what was refused and of which nothing is heard."""
    saved_seconds: float = 0.25
    """As much of either part as may be used at once."""
    unchanged_seconds: float = 300.0
    """A refused item is tried again after so long although nothing has changed since."""
    set_aside_seconds: float = 300.0
    """How soon an item about which an exception was raised is tried again, unless it changes."""
    reserve_after_seconds: float = 60.0
    """A group that has been refused for so long gets room reserved."""
    reserve_seconds: float = 300.0
    """How long room stays reserved for a group that does not start; it doubles until the group may have room reserved again."""


def backoff_seconds(failures: int, pods: int, settings: QueueSettings) -> float:
    """The wait after the `failures`-th refusal in a row of an item with so many pending pods (1 s, 2 s, ... by default)."""
    longest = settings.max_backoff_seconds * sqrt(max(pods, 1))
    return exponential_backoff(failures, base_seconds=settings.initial_backoff_seconds, max_seconds=longest)

"""How patient the queue is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """Times in seconds."""

    initial_backoff_seconds: float = 1.0
    """Wait after the first refusal; doubles with each further one."""
    max_backoff_seconds: float = 10.0
    """Longest wait of a lone pod; a group waits up to this times the square root of its pending pods."""
    wake_pause_seconds: float = 0.05
    """Least pause before an item that was woken in vain is woken again; doubles each time, up to its backoff."""

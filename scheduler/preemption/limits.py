"""How patient and how persistent preemption is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in seconds.

    Attributes:
        victim_deadline_seconds: a victim that has not gone by then is given up on; another plan is looked for.
        initial_pause_seconds: shortest time between two plans of one item; doubles with each plan that did not start it.
        max_pause_seconds: longest such time.
    """

    victim_deadline_seconds: float = 120.0
    initial_pause_seconds: float = 5.0
    max_pause_seconds: float = 600.0

    def pause_seconds(self, plans: int) -> float:
        """The pause after so many plans in a row."""
        return float(min(self.initial_pause_seconds * 2 ** min(plans - 1, 30), self.max_pause_seconds))

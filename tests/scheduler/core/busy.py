"""A world in which decisions take time: what each attempt costs is charged to the clock, as a slow decision would."""

from collections.abc import Callable

from scheduler.algorithm.decision import Decision
from scheduler.cache.records import EntityKey
from tests.scheduler.core.world import World


class BusyWorld(World):
    """`cost_seconds` says what an attempt at an item takes."""

    def __init__(self, cost_seconds: Callable[[EntityKey], float]) -> None:
        super().__init__()
        self._cost_seconds = cost_seconds
        self.attempts: list[tuple[float, EntityKey, float]] = []
        """When each attempt began, at what, and how long it took."""

    def step(self) -> Decision | None:
        began = self.now
        decision = super().step()
        if decision is not None:
            seconds = self._cost_seconds(decision.key)
            self.now += seconds
            self.queue.charge(self.charged, seconds)
            self.attempts.append((began, decision.key, seconds))
        return decision

    def live_until(self, end: float, *, is_over: Callable[[], bool] = lambda: False) -> float:
        """Cycles as they are due until a time, or until something is so; the time then."""
        while self.now < end and not is_over():
            if self.step() is None:
                due = self.queue.next_due_seconds()
                self.now = end if due is None else min(self.now + max(due, 0.001), end)
        return self.now

    def spent_seconds(self, since: float, kind: Callable[[EntityKey], bool]) -> float:
        """What attempts at some items have cost since a time."""
        return sum(seconds for began, key, seconds in self.attempts if began >= since and kind(key))

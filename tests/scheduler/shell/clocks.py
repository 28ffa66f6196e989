"""Time under a test's control."""

from collections.abc import Callable


class FakeClock:
    """Monotonic seconds that pass only when told to, and callbacks that come due with them."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._due: list[tuple[float, Callable[[], None]]] = []

    def __call__(self) -> float:
        return self.now

    def later(self, seconds: float, callback: Callable[[], None]) -> None:
        """Fits `Retries`."""
        self._due.append((self.now + seconds, callback))

    def pass_seconds(self, seconds: float) -> None:
        """Let time pass and call what comes due."""
        self.now += seconds
        due = [entry for entry in self._due if entry[0] <= self.now]
        self._due = [entry for entry in self._due if entry[0] > self.now]
        for _, callback in sorted(due, key=lambda entry: entry[0]):
            callback()

    @property
    def waiting(self) -> int:
        """Callbacks that have not come due."""
        return len(self._due)

"""What the loop does beside deciding, whenever something of it is due. One part that raises rests a while and stops no other."""

from collections.abc import Awaitable, Callable
from typing import Final

from scheduler.item_errors import ItemErrors

REST_SECONDS: Final = 1.0
"""How long a part that raised is left alone."""


class Ticks:
    """The parts in order, each with what it does and when that is due next. `clock` gives monotonic seconds."""

    def __init__(self, clock: Callable[[], float], errors: ItemErrors) -> None:
        self._clock: Final = clock
        self._errors: Final = errors
        self._parts: list[tuple[str, Callable[[], object], Callable[[], float | None]]] = []
        self._rests_until: dict[str, float] = {}

    def add(self, stage: str, run: Callable[[], object], next_due_seconds: Callable[[], float | None]) -> None:
        """One part more; `stage` names it among exceptions."""
        self._parts.append((stage, run, next_due_seconds))

    def run(self) -> None:
        """Let every part do what is due."""
        for stage, run, _ in self._parts:
            self.attempt(stage, run)

    def attempt(self, stage: str, run: Callable[[], object]) -> object:
        """What `run` returns; None when it raised, after which the stage rests, or while it rests."""
        if self.rests_seconds(stage) > 0:
            return None
        try:
            return run()
        except Exception as error:  # noqa: BLE001 (noted, and said by who collects the notes)
            self._failed(stage, error)
            return None

    async def attempt_in_turns(self, stage: str, run: Callable[[], Awaitable[object]]) -> object:
        """The same for work that lets others have their turn in between."""
        if self.rests_seconds(stage) > 0:
            return None
        try:
            return await run()
        except Exception as error:  # noqa: BLE001 (as above)
            self._failed(stage, error)
            return None

    def _failed(self, stage: str, error: Exception) -> None:
        self._errors.note(None, stage, error)
        self._rests_until[stage] = self._clock() + REST_SECONDS

    def rests_seconds(self, stage: str) -> float:
        """How much longer a stage is left alone, 0 when it is not."""
        until = self._rests_until.get(stage)
        return max(until - self._clock(), 0.0) if until is not None else 0.0

    def next_due_seconds(self) -> float | None:
        """Seconds until something is due, None when nothing is."""
        dues = [
            max(due, self.rests_seconds(stage))
            for stage, _, next_due_seconds in self._parts
            if (due := next_due_seconds()) is not None
        ]
        return min(dues, default=None)

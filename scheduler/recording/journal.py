"""Keeps the last decisions of a scheduler at work with everything they read: a beginning, and every change since then in order.

A journal follows the deciding parts by standing before each of their methods that changes something. So where nothing is recorded
nothing is slower. What is kept are references to values, made readable only when somebody asks.

Two volumes are kept, each with inputs at its beginning. When the newer one has as many decisions as wanted, it becomes the older
one: there are always the last so many decisions, and never more than twice as many.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Final

from scheduler.algorithm.decision import Decision
from scheduler.cache.records import EntityKey
from scheduler.core import Core
from scheduler.preemption.result import PreemptionResult
from scheduler.recording.capture import Moment, Taken, take
from scheduler.recording.outcome import PreemptionOutcome, outcome_of, preemption_outcome_of
from scheduler.recording.pods import PodWriter
from scheduler.recording.steps import OPERATIONS, Decided, Preempted, Step, write_change
from scheduler.reservations.future_reservations import Places

CHANGES_OF_A_DECISION: Final = 200
"""So many changes for each wanted decision are kept; where more happens, fewer decisions are."""


@dataclass(frozen=True, slots=True)
class _Change:
    operation: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Decision:
    key: EntityKey
    now_seconds: float
    aim: int
    decision: Decision
    future: Places


@dataclass(frozen=True, slots=True)
class _Preemption:
    key: EntityKey
    now_seconds: float
    outcome: PreemptionOutcome


@dataclass(slots=True)
class _Volume:
    """Inputs, and what happened after they were taken."""

    inputs: Taken
    steps: list[_Change | _Decision | _Preemption] = field(default_factory=list)
    decisions: int = 0


@dataclass(frozen=True, slots=True)
class RecordedSteps:
    """Inputs with the steps since then, as they were when somebody asked."""

    inputs: Taken
    steps: tuple[_Change | _Decision | _Preemption, ...]

    def each_step(self, writer: PodWriter) -> Iterator[Step]:
        """The steps as values."""
        for step in self.steps:
            match step:
                case _Change():
                    yield write_change(step.operation, step.arguments, writer)
                case _Decision():
                    yield Decided(step.key, step.now_seconds, step.aim, outcome_of(step.decision, step.future))
                case _Preemption():
                    yield Preempted(step.key, step.now_seconds, step.outcome)


class Journal:
    """Follows one scheduler from now on.

    Args:
        core: the deciding parts.
        moment: when, and under which settings.
        clock: monotonic seconds.
        most: decisions that are wanted.
    """

    def __init__(self, core: Core, moment: Callable[[], Moment], clock: Callable[[], float], most: int) -> None:
        self._core: Final = core
        self._moment: Final = moment
        self._clock: Final = clock
        self._most: Final = most
        self._depth = 0
        self._older: _Volume | None = None
        self._newer = _Volume(take(core, moment()))
        for name, operation in OPERATIONS.items():
            subject = operation.subject(core)
            setattr(subject, operation.method, self._noting(name, getattr(subject, operation.method)))
        setattr(core.evaluator, "preempt", self._noting_preemption(core.evaluator.preempt))  # noqa: B010 (as above)

    def decided(self, key: EntityKey, aim: int, decision: Decision, future: Places) -> None:
        """An item was decided on, and nothing has been done about it yet."""
        if self._newer.decisions >= self._most:
            self._begin_volume()
        self._newer.decisions += 1
        self._newer.steps.append(_Decision(key, self._clock(), aim, decision, future))

    def recorded(self) -> RecordedSteps:
        """The last decisions."""
        if self._older is None:
            return RecordedSteps(self._newer.inputs, tuple(self._newer.steps))
        return RecordedSteps(self._older.inputs, (*self._older.steps, *self._newer.steps))

    def _begin_volume(self) -> None:
        self._older, self._newer = self._newer, _Volume(take(self._core, self._moment()))

    def _noting(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def noting(*arguments: Any, **named: Any) -> Any:
            if self._depth:
                return method(*arguments, **named)
            if len(self._newer.steps) >= self._most * CHANGES_OF_A_DECISION:
                # Not left to the next decision: a cluster without gangs changes as well, for days.
                self._begin_volume()
            self._newer.steps.append(_Change(name, (*arguments, *named.values())))
            return self._inside(method, *arguments, **named)

        return noting

    def _noting_preemption(self, preempt: Callable[..., PreemptionResult]) -> Callable[..., PreemptionResult]:
        @wraps(preempt)
        def noting(key: EntityKey, now_seconds: float) -> PreemptionResult:
            result: PreemptionResult = self._inside(preempt, key, now_seconds)
            self._newer.steps.append(_Preemption(key, now_seconds, preemption_outcome_of(result)))
            return result

        return noting

    def _inside(self, method: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """What a noted call calls in turn follows from it."""
        self._depth += 1
        try:
            return method(*arguments, **named)
        finally:
            self._depth -= 1

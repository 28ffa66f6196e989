"""Repeats what was recorded: the same decisions, or where they differ; and decides what waits under other settings.

Nothing is changed anywhere: it is all done with what the recording says.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from scheduler.algorithm.devices.decided_claims import decided_claims
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.records import EntityKey
from scheduler.queue.active import Place, QueuedEntity
from scheduler.recording.inputs import DecisionInputs
from scheduler.recording.outcome import (
    DecisionOutcome,
    PreemptionOutcome,
    outcome_of,
    preemption_outcome_of,
)
from scheduler.recording.restore import Restored, restore
from scheduler.recording.steps import Changed, Decided, Preempted, Step, carry_out
from scheduler.reservations.future_reservations import of_existing_pods
from scheduler.settings import SchedulerSettings

_WAITING: Final = frozenset({Place.ACTIVE, Place.BACKOFF_OR_UNSCHEDULABLE, Place.IN_FLIGHT})


class Repeated(msgspec.Struct, frozen=True):
    """One decision, or search for victims, as it was and as it is now."""

    key: EntityKey
    was: DecisionOutcome | PreemptionOutcome
    now: DecisionOutcome | PreemptionOutcome

    @property
    def is_same(self) -> bool:
        """Whether nothing differs."""
        return self.was == self.now


def repeat(
    inputs: DecisionInputs, steps: Iterable[Step], settings: SchedulerSettings | None = None
) -> Iterator[Repeated]:
    """Every recorded decision and search for victims once more, each after the same changes.

    With other settings a decision that ends otherwise leaves the recorded changes as they are: each is compared on the cluster
    as it really was.
    """
    restored = restore(inputs, settings)
    for step in steps:
        match step:
            case Changed():
                carry_out(step, restored.core)
            case Decided():
                restored.clock.now_seconds = step.now_seconds
                yield Repeated(step.key, step.outcome, _decided(restored, step.key, step.aim))
            case Preempted():
                restored.clock.now_seconds = step.now_seconds
                result = restored.core.evaluator.preempt(step.key, step.now_seconds)
                yield Repeated(step.key, step.outcome, preemption_outcome_of(result))


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What becomes of an item that waits, and who would have to leave for it."""

    decision: DecisionOutcome
    preemption: PreemptionOutcome | None = None


def decide_queue(inputs: DecisionInputs, settings: SchedulerSettings | None = None) -> dict[EntityKey, Answer]:
    """What becomes of everything that waits, in the order of the queue: each sees those placed before it."""
    restored = restore(inputs, settings)
    core, answers = restored.core, dict[EntityKey, Answer]()
    waiting = sorted((entity for entity in core.queue if entity.place in _WAITING), key=_order)
    for entity in waiting:
        outcome = restored.attempt(entity.key)
        claims = decided_claims(core.state, outcome.decision)
        if claims:
            core.state.devices.assume(claims)
        for uid, node in outcome.decision.bindings:
            core.state.assume(uid, node, restored.clock() + restored.settings.assume_seconds)
        found = outcome.preemption
        answers[entity.key] = Answer(
            outcome_of(outcome.decision, outcome.future), preemption_outcome_of(found) if found is not None else None
        )
    return answers


def _order(entity: QueuedEntity) -> tuple[int, float, int, str]:
    return entity.order


def _decided(restored: Restored, key: EntityKey, aim: int) -> DecisionOutcome:
    core = restored.core
    return outcome_of(*of_existing_pods(decide(core.seen.view, key, aim), core.seen))

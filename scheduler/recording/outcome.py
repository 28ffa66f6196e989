"""What became of one attempt, as a value that is compared and written to a file: equal ones are the same decision, bit for bit."""

import msgspec

from scheduler.algorithm.decision import Decision, Result
from scheduler.cache.records import EntityKey
from scheduler.cache.volume_records import ClaimKey
from scheduler.preemption.evaluator import PreemptionResult
from scheduler.preemption.victims import Cost
from scheduler.reservations.future_reservations import Places


class FoundCandidate(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who leaves, unit by unit (UIDs of pods), where the item goes then, and what that costs."""

    victims: tuple[tuple[str, ...], ...]
    places: tuple[tuple[str, str], ...]
    cost: Cost


class DecisionOutcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was decided about an item; fields are those of `scheduler.algorithm.decision.Decision` unless it says otherwise."""

    key: EntityKey
    result: Result
    message: str
    """The text of the item's condition, with what came of preemption."""
    bindings: tuple[tuple[str, str], ...] = ()
    volumes: tuple[tuple[ClaimKey, str], ...] = ()
    pods_by_message: dict[str, tuple[str, ...]] = {}
    """UIDs of the pods without a place by the text that says why."""
    future: tuple[tuple[str, tuple[tuple[str, int], ...], int], ...] = ()
    """(node name, amounts, pods): room that is counted on for pods to come."""
    need: int = 1
    scheduled_so_far: int = 0
    depends_on_time: bool = False
    is_over_budget: bool = False
    room_is_held: bool = False
    preemption: str = ""
    """What came of looking for victims: `victims`, `none`, `waiting` or `paused`; empty when nobody looked."""
    candidate: FoundCandidate | None = None
    given_up: tuple[EntityKey, ...] = ()
    """Items whose nominations hold no room any more."""


def outcome_of(decision: Decision, future: Places, preemption: PreemptionResult | None) -> DecisionOutcome:
    """An attempt as a value.

    Args:
        decision: with what came of preemption in its status.
        future: room for pods to come.
        preemption: None when nobody looked for victims.
    """
    by_message: dict[str, list[str]] = {}
    for uid, text in decision.pod_messages:
        by_message.setdefault(text, []).append(uid)
    return DecisionOutcome(
        key=decision.key,
        result=decision.result,
        message=decision.condition_message,
        bindings=decision.bindings,
        volumes=decision.volumes,
        pods_by_message={text: tuple(uids) for text, uids in by_message.items()},
        future=tuple(
            (node, tuple(sorted(demand.amounts.items())), count)
            for node, demands in future.items()
            for demand, count in demands.items()
        ),
        need=decision.need,
        scheduled_so_far=decision.scheduled_so_far,
        depends_on_time=decision.depends_on_time,
        is_over_budget=decision.is_over_budget,
        room_is_held=decision.room_is_held,
        preemption=preemption.result if preemption is not None else "",
        candidate=_found(preemption),
        given_up=tuple(nomination.key for nomination in preemption.given_up) if preemption is not None else (),
    )


def _found(preemption: PreemptionResult | None) -> FoundCandidate | None:
    candidate = preemption.candidate if preemption is not None else None
    if candidate is None:
        return None
    victims = tuple(tuple(pod.uid for pod in victim.pods) for victim in candidate.victims)
    return FoundCandidate(victims, candidate.places, candidate.cost)

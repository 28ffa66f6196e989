"""What became of a decision and of a search for victims, as values: equal ones are the same, bit for bit."""

import msgspec

from scheduler.algorithm.decision import Decision, Result
from scheduler.algorithm.devices.binder import DeviceAllocation
from scheduler.cache.records import EntityKey
from scheduler.cache.volume_records import ClaimKey
from scheduler.preemption.result import PreemptionResult
from scheduler.preemption.victims import Cost
from scheduler.reservations.future_reservations import Places


class FoundCandidate(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who leaves, unit by unit (UIDs of pods), where the item goes then, and what that costs."""

    victims: tuple[tuple[str, ...], ...]
    places: tuple[tuple[str, str], ...]
    cost: Cost


class PreemptionOutcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of looking for victims.

    Attributes:
        result: `victims`, `none`, `waiting` or `paused`.
        message: for people.
        candidate: who is to leave now.
        nominated: (UID of a pod, node name) of the new nomination.
        given_up: items whose nominations hold no room any more.
    """

    result: str
    message: str = ""
    candidate: FoundCandidate | None = None
    nominated: tuple[tuple[str, str], ...] = ()
    given_up: tuple[EntityKey, ...] = ()


class AllocatedClaim(msgspec.Struct, frozen=True, omit_defaults=True):
    """A claim that gets devices: for each (request, driver, pool, device, billionths that a share takes of each capacity)."""

    claim: ClaimKey
    node_name: str
    devices: tuple[tuple[str, str, str, str, tuple[tuple[str, int], ...]], ...]


class DecisionOutcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was decided about an item; fields are those of `scheduler.algorithm.decision.Decision` unless it says otherwise."""

    key: EntityKey
    result: Result
    message: str = ""
    """The text of the item's condition, before anybody has looked for victims."""
    bindings: tuple[tuple[str, str], ...] = ()
    volumes: tuple[tuple[ClaimKey, str], ...] = ()
    devices: tuple[AllocatedClaim, ...] = ()
    """What claims of resource.k8s.io get."""
    pods_by_message: dict[str, tuple[str, ...]] = {}
    """UIDs of the pods without a place by the text that says why."""
    future: tuple[tuple[str, tuple[tuple[str, int], ...], int], ...] = ()
    """(node name, amounts, pods): room that is counted on for pods to come."""
    future_devices: tuple[tuple[str, str, str, str], ...] = ()
    """(node name, driver, pool, device): devices that are counted on for them."""
    need: int = 1
    scheduled_so_far: int = 0
    depends_on_time: bool = False
    is_over_budget: bool = False
    room_is_held: bool = False


def outcome_of(decision: Decision, future: Places) -> DecisionOutcome:
    """A decision as a value.

    Args:
        decision: as far as it is about pods that exist.
        future: room and devices for pods to come.
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
        devices=tuple(map(_allocated, decision.devices)),
        pods_by_message={text: tuple(uids) for text, uids in by_message.items()},
        future=tuple(
            (node, tuple(sorted(demand.amounts.items())), count)
            for node, demands in future.demands.items()
            for demand, count in demands.items()
        ),
        future_devices=tuple((node, *one.id) for node, kept in future.devices.items() for one in kept.devices),
        need=decision.need,
        scheduled_so_far=decision.scheduled_so_far,
        depends_on_time=decision.depends_on_time,
        is_over_budget=decision.is_over_budget,
        room_is_held=decision.room_is_held,
    )


def _allocated(one: DeviceAllocation) -> AllocatedClaim:
    devices = (
        (chosen.request.name, *chosen.device.id, tuple(sorted((chosen.consumed or {}).items())))
        for chosen in one.chosen
    )
    return AllocatedClaim(one.claim, one.node_name, tuple(devices))


def preemption_outcome_of(result: PreemptionResult) -> PreemptionOutcome:
    """The result of looking for victims as a value; to be asked at once, for its nomination changes."""
    nomination = result.nomination
    return PreemptionOutcome(
        result.result,
        result.message,
        _found(result),
        tuple((uid, node) for uid, (node, _) in nomination.places.items()) if nomination is not None else (),
        tuple(given_up.key for given_up in result.given_up),
    )


def _found(result: PreemptionResult) -> FoundCandidate | None:
    candidate = result.candidate
    if candidate is None:
        return None
    victims = tuple(tuple(pod.uid for pod in victim.pods) for victim in candidate.victims)
    return FoundCandidate(victims, candidate.places, candidate.cost)

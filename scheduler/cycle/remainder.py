"""Keeps room for pods that are to come (`scheduler.placement.remainder`) from the decision that counted on it.

The leader is bound, its workers follow once it is ready. Until each of them has arrived, its room is kept against everybody of
lower or equal priority; and for no longer than a limit, for a leader that never becomes ready must not hold a cluster's nodes.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from scheduler.cycle.decide import decide
from scheduler.cycle.decision import Decision
from scheduler.item_errors import ItemErrors
from scheduler.placement.remainder import Foreseen, is_to_come
from scheduler.queue.queue import Queue
from scheduler.state.cluster import ClusterState
from scheduler.state.demand import Demand
from scheduler.state.records import ItemKey, StateChange
from scheduler.state.reservations import Reservation

_ROOM_GIVEN_BACK: Final = StateChange(freed=(0,))

Places = Mapping[str, Counter[Demand]]
NOWHERE: Final[Places] = {}


def of_real_pods(decision: Decision, seen: Foreseen) -> tuple[Decision, Places]:
    """The decision as far as it is about pods that exist, and the room that it counts on for the others."""
    to_come = [binding for binding in decision.bindings if is_to_come(binding[0])]
    if not to_come and not any(is_to_come(uid) for uid, _ in decision.failures):
        return decision, NOWHERE
    places: dict[str, Counter[Demand]] = {}
    for uid, node in to_come:
        pod = seen.pod(uid)
        if pod is not None:
            places.setdefault(node, Counter())[pod.demand] += 1
    absent = len({uid for uid, _ in (*decision.bindings, *decision.failures) if is_to_come(uid)})
    return (
        msgspec.structs.replace(
            decision,
            bindings=tuple(binding for binding in decision.bindings if not is_to_come(binding[0])),
            failures=tuple(
                (uid, _worded(text, decision, absent)) for uid, text in decision.failures if not is_to_come(uid)
            ),
            condition_message=_worded(decision.condition_message, decision, absent),
            need=max(decision.need - absent, 1),
        ),
        places,
    )


def _worded(text: str, decision: Decision, absent: int) -> str:
    there = decision.need - absent
    return text.replace(
        f"minCount ({decision.need})", f"minCount ({there}) and room for the {absent} pods that come later", 1
    )


class RemainderKeeper:
    """What is kept for whom, and for how long; belongs to the scheduling loop.

    Args:
        seen: the cluster to decide on, pods to come included.
        state: the cluster as it is.
        queue: hears of room that is given back.
        clock: monotonic seconds.
        keep_seconds: how long room is kept at most.
        errors: where exceptions about single groups are noted.
    """

    def __init__(
        self,
        seen: Foreseen,
        state: ClusterState,
        queue: Queue,
        *,
        clock: Callable[[], float],
        keep_seconds: float,
        errors: ItemErrors | None = None,
    ) -> None:
        self._seen: Final = seen
        self._state: Final = state
        self._queue: Final = queue
        self._clock: Final = clock
        self._keep_seconds: Final = keep_seconds
        self._errors: Final = errors if errors is not None else ItemErrors()
        self._counted_on: Places = NOWHERE

    @property
    def view(self) -> ClusterState:
        """The cluster to decide on."""
        return self._seen.view

    def real_part(self, decision: Decision) -> Decision:
        """The decision as far as it is about pods that exist; what it counts on besides is remembered for `decided`."""
        real, self._counted_on = of_real_pods(decision, self._seen)
        return real

    def decided(self, decision: Decision) -> None:
        """The pods that exist are on their way: the room of those to come is kept from now on."""
        if decision.bindings:
            self._keep(decision.key, self._counted_on)
        self._counted_on = NOWHERE

    def restore(self) -> None:
        """After a restart: keeps room again for what has a leader on a node already, as far as there is room."""
        beside = Foreseen(self._state, beside=True)
        for key in list(self._state.items):
            with self._errors.about(key, "restore"):
                if beside.item(key) is not self._state.item(key):
                    self._keep(key, of_real_pods(decide(beside.view, key), beside)[1])

    def tick(self) -> None:
        """Gives back what is kept too long, or for somebody who does not need it any more."""
        now = self._clock()
        for kept in self._state.remainders:
            try:
                self._look_at(kept, now)
            except Exception as error:  # noqa: BLE001 (noted; what is kept for others is looked at all the same)
                self._errors.note(kept.key, "keep", error)
                self._give_back(kept)

    def next_due_seconds(self) -> float | None:
        """Seconds until `tick` has something to do by the clock alone."""
        deadlines = [kept.deadline_seconds for kept in self._state.remainders]
        return max(min(deadlines) - self._clock(), 0.0) if deadlines else None

    def _look_at(self, kept: Reservation, now: float) -> None:
        members = self._state.item(kept.key)
        is_needed = members is not None and members.satisfied and kept.held
        if not is_needed or now >= kept.deadline_seconds:
            self._give_back(kept)

    def _give_back(self, kept: Reservation) -> None:
        self._state.remainders.drop(kept.key)
        if kept.held:
            self._queue.woken(_ROOM_GIVEN_BACK, self._state)

    def _keep(self, key: ItemKey, places: Places) -> None:
        members = self._state.item(key)
        if places and members is not None:
            deadline = self._clock() + self._keep_seconds
            self._state.remainders.put(Reservation(key, members.priority, places, deadline))

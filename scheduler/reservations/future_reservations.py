"""Reservations for pods that will be created later (`scheduler.algorithm.future_pods`), from the decision that counted on them.

The leader is bound, its workers follow once it is ready. Until each of them has arrived, its room is kept against everybody of
lower or equal priority; and for no longer than a limit, for a leader that never becomes ready must not hold a cluster's nodes.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import compress
from operator import not_
from typing import Final

import msgspec

from scheduler.algorithm.decision import Decision
from scheduler.algorithm.devices.binder import DeviceAllocation
from scheduler.algorithm.future_pods import ClusterWithFuturePods
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.cache.demand import Demand
from scheduler.cache.devices.records import ClaimKey, HeldDevice
from scheduler.cache.future_uids import TO_COME, is_future_pod
from scheduler.cache.records import EntityKey, StateChange
from scheduler.cache.reservations import HeldDemands, HeldDevicesOnNodes, KeptDevices, Reservation
from scheduler.plugins.status import PodGroupDiagnosis, Status
from scheduler.queue.item_errors import ItemErrors
from scheduler.queue.scheduling_queue import ROOM_APPEARED
from scheduler.reservations.rest import Rest


class Places(msgspec.Struct, frozen=True):
    """Where pods to come are to go, and the devices that their claims are to get there."""

    demands: HeldDemands = {}
    devices: HeldDevicesOnNodes = {}

    def __bool__(self) -> bool:
        return bool(self.demands)


NOWHERE: Final = Places()


def of_existing_pods(decision: Decision, seen: ClusterWithFuturePods) -> tuple[Decision, Places]:
    """The decision as far as it is about pods that exist, and what it counts on for the others.

    Args:
        decision: made on `seen`; returned as it is when it is about no future pod.
        seen: the cluster with the future pods.
    """
    to_come = [binding for binding in decision.bindings if is_future_pod(binding[0])]
    if not to_come and not any(is_future_pod(uid) for uid, _ in decision.failures):
        return decision, NOWHERE
    places: dict[str, Counter[Demand]] = {}
    for uid, node in to_come:
        pod = seen.pod(uid)
        if pod is not None:
            places.setdefault(node, Counter())[pod.demand] += 1
    used = _claims_of((uid for uid, _ in decision.bindings if not is_future_pod(uid)), seen)
    only_later = _claims_of((uid for uid, _ in to_come), seen) - used
    is_later = [TO_COME in one.claim[1] or one.claim in only_later for one in decision.devices]
    devices = tuple(compress(decision.devices, map(not_, is_later)))
    absent = len({uid for uid, _ in (*decision.bindings, *decision.failures) if is_future_pod(uid)})
    return (
        msgspec.structs.replace(
            decision,
            bindings=tuple(binding for binding in decision.bindings if not is_future_pod(binding[0])),
            claims=bool(used or devices),
            devices=devices,
            status=_with_pods_to_come(decision.status, absent),
            failures=tuple(failure for failure in decision.failures if not is_future_pod(failure[0])),
            need=max(decision.need - absent, 1),
        ),
        Places(places, _kept(places, compress(decision.devices, is_later))),
    )


def _claims_of(uids: Iterable[str], seen: ClusterWithFuturePods) -> frozenset[ClaimKey]:
    """The claims that these pods use by name, or that have been made for them."""
    pods = (seen.pod(uid) for uid in uids)
    return frozenset(
        (pod.namespace, use.claim)
        for pod in pods
        if pod is not None and pod.claims is not None
        for use in pod.claims.uses
        if use.claim
    )


def _kept(places: HeldDemands, allocations: Iterable[DeviceAllocation]) -> HeldDevicesOnNodes:
    """What claims of nobody but pods to come are to get, by node."""
    devices: dict[str, list[HeldDevice]] = {}
    for one in allocations:
        devices.setdefault(one.node_name, []).extend(one.held)
    return {node: KeptDevices(sum(places[node].values()), tuple(held)) for node, held in devices.items() if held}


def _with_pods_to_come(status: Status, absent: int) -> Status:
    if not isinstance(status.diagnosis, PodGroupDiagnosis):
        return status
    return msgspec.structs.replace(status, diagnosis=msgspec.structs.replace(status.diagnosis, to_come=absent))


def is_over(reservation: Reservation, state: ClusterState, now_seconds: float) -> bool:
    """Whether a reservation is too old, or for somebody who does not need it any more; `now_seconds` is monotonic."""
    members = state.item(reservation.key)
    is_needed = members is not None and members.scheduled_count and reservation.demands
    return not is_needed or now_seconds >= reservation.deadline_seconds


class FutureReservations:
    """Keeps `state.future_reservations`; belongs to the scheduling loop.

    Args:
        state: the cluster as it is.
        clock: monotonic seconds.
        reserve_seconds: how long a reservation may last.
        apply: takes what giving room back changes.
        errors: where exceptions about single groups are noted.
    """

    def __init__(
        self,
        state: ClusterState,
        *,
        clock: Callable[[], float],
        reserve_seconds: float,
        apply: Callable[[StateChange], None],
        errors: ItemErrors | None = None,
    ) -> None:
        self._state: Final = state
        self._clock: Final = clock
        self._reserve_seconds: Final = reserve_seconds
        self._apply: Final = apply
        self._errors: Final = errors if errors is not None else ItemErrors()
        self._rest: Final = Rest(clock)

    def reserve(self, key: EntityKey, places: Places) -> None:
        """The pods of this group that exist are on their way: what those to come need is reserved from now on.

        Args:
            key: the group.
            places: of the pods that are to come; nothing is reserved when there are none.
        """
        members = self._state.item(key) if places else None
        if members is not None:
            deadline = self._clock() + self._reserve_seconds
            self._state.future_reservations.put(
                Reservation(key, members.priority, places.demands, deadline, places.devices)
            )

    def restore(self) -> None:
        """After a restart: reserves again for groups that have a leader on a node already, as far as their pods fit."""
        beside = ClusterWithFuturePods(self._state, beside=True)
        for key in list(self._state.entities):
            with self._errors.about(key, "restore"):
                if beside.item(key) is not self._state.item(key):
                    self.reserve(key, of_existing_pods(decide(beside.view, key), beside)[1])

    def tick(self) -> None:
        """Gives back what is reserved too long, or for somebody who does not need it any more."""
        self._rest.is_behind = False
        if not self._state.future_reservations or not self._rest.is_over():
            return
        with self._rest.counted():
            self._give_back()

    def _give_back(self) -> None:
        now = self._clock()
        for reservation in self._state.future_reservations:
            try:
                is_released = is_over(reservation, self._state, now)
            except Exception as error:  # noqa: BLE001 (noted; the other reservations are looked at all the same)
                self._errors.note(reservation.key, "keep", error)
                is_released = True
            if is_released:
                self._state.future_reservations.drop(reservation.key)
                if reservation.demands:
                    self._apply(ROOM_APPEARED)

    def next_due_seconds(self) -> float | None:
        """Seconds until `tick` has something to do by the clock alone."""
        deadlines = [reservation.deadline_seconds for reservation in self._state.future_reservations]
        return self._rest.due_seconds(max(min(deadlines) - self._clock(), 0.0) if deadlines else None)

"""Room that is kept on nodes for groups: for one that has waited too long, and for pods of a group that do not exist yet.

Nobody is preempted for it: it fills as pods end. It is held against items of lower or equal priority, like nominations; unlike
these it is of amounts on nodes and not of certain pods, for the members of a group may be replaced while it waits.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from scheduler.cache.demand import Demand
from scheduler.cache.devices.held import HeldDevices
from scheduler.cache.devices.records import HeldDevice
from scheduler.cache.records import EntityKey

HeldDemands = Mapping[str, Counter[Demand]]
"""Node name -> what is kept there: so many pods of each demand."""


class KeptDevices(msgspec.Struct, frozen=True, gc=False):
    """Devices that are kept on a node for so many pods that ask for the same."""

    pods: int
    devices: tuple[HeldDevice, ...]

    def left(self, pods: int, held: HeldDevices) -> tuple[HeldDevice, ...]:
        """Those that are still to be kept when so many of the pods are still to come.

        Pods may have taken others than these: what is held needs not be kept, and of the rest only what is needed is.

        Args:
            pods: that are still to come.
            held: what somebody has by now.
        """
        free = tuple(one for one in self.devices if one.id not in held)
        return free[: -(-len(self.devices) * pods // self.pods)]


HeldDevicesOnNodes = Mapping[str, KeptDevices]
"""By the name of the node."""
_NO_DEVICES: Final[HeldDevicesOnNodes] = {}


class Reservation:
    """What is kept for one group.

    Args:
        key: the group.
        priority: that of the group; items of a higher one may take the room.
        demands: what is kept on which node.
        deadline_seconds: until when, in monotonic seconds.
        devices: that are kept for the pods of `demands` on the same nodes.
    """

    __slots__ = ("deadline_seconds", "demands", "devices", "key", "priority")

    def __init__(
        self,
        key: EntityKey,
        priority: int,
        demands: HeldDemands,
        deadline_seconds: float,
        devices: HeldDevicesOnNodes = _NO_DEVICES,
    ) -> None:
        self.key: Final = key
        self.priority: Final = priority
        self.demands: Final = demands
        self.deadline_seconds: Final = deadline_seconds
        self.devices: Final = devices

    def devices_left(self, held: HeldDevices) -> Iterator[HeldDevice]:
        """The devices that are still to be kept; `held` is what somebody has by now."""
        for node, kept in self.devices.items():
            yield from kept.left(sum(self.demands.get(node, _NOBODY).values()), held)


_NOBODY: Final[Counter[Demand]] = Counter()


class Reservations:
    """All reservations, at most one per group; what is kept `beside` them for other reasons counts against others, too."""

    def __init__(self, beside: "Reservations | None" = None) -> None:
        self._by_key: dict[EntityKey, Reservation] = {}
        self._beside = beside
        self._version = 0

    @property
    def version(self) -> int:
        """Raised with every change."""
        return self._version + (self._beside.version if self._beside is not None else 0)

    def __len__(self) -> int:
        return len(self._by_key)

    def __iter__(self) -> Iterator[Reservation]:
        return iter(list(self._by_key.values()))

    def put(self, reservation: Reservation) -> None:
        """Takes a reservation, in the place of what the group had before."""
        self._version += 1
        self._by_key[reservation.key] = reservation

    def of(self, key: EntityKey) -> Reservation | None:
        """The reservation of a group."""
        return self._by_key.get(key)

    def drop(self, key: EntityKey) -> Reservation | None:
        """Gives the room up; returns what was given up."""
        self._version += 1
        return self._by_key.pop(key, None)

    def holds_against(self, key: EntityKey, priority: int) -> bool:
        """Whether anything is kept here against an item of that priority, whatever is kept beside."""
        return any(one.key != key and one.priority >= priority for one in self._by_key.values())

    def against(self, key: EntityKey, priority: int) -> Iterator[tuple[str, Counter[Demand]]]:
        """What is kept on which node against an item of that priority."""
        for reservation in self._by_key.values():
            if reservation.key != key and reservation.priority >= priority:
                yield from reservation.demands.items()
        if self._beside is not None:
            yield from self._beside.against(key, priority)

    def is_held_against(self, key: EntityKey, priority: int) -> bool:
        """Whether there is anything in `against`."""
        has_any = len(self) or (self._beside is not None and len(self._beside))
        return bool(has_any) and any(self.against(key, priority))

    def devices_against(self, key: EntityKey, priority: int, held: HeldDevices) -> Iterator[HeldDevice]:
        """The devices that are kept against an item of that priority; `held` is what somebody has by now."""
        for reservation in self._by_key.values():
            if reservation.devices and reservation.key != key and reservation.priority >= priority:
                yield from reservation.devices_left(held)
        if self._beside is not None:
            yield from self._beside.devices_against(key, priority, held)


class FuturePodReservations(Reservations):
    """What is kept for the pods to come of each group."""

    def taken(self, key: EntityKey, node_name: str, demand: Demand) -> None:
        """A pod of this group has a place now: one place less is kept, on its node where possible."""
        kept = self.of(key)
        if kept is None:
            return
        place = _place_of(kept.demands, node_name, demand)
        if place is None:
            return
        node, known = place
        left = {name: Counter(demands) for name, demands in kept.demands.items()}
        left[node] -= Counter([known])
        rest = {name: demands for name, demands in left.items() if demands}
        self.put(Reservation(key, kept.priority, rest, kept.deadline_seconds, kept.devices))


def _place_of(demands: HeldDemands, node_name: str, demand: Demand) -> tuple[str, Demand] | None:
    """The place that a pod takes: on its node for its demand, else on its node, else for its demand, else any."""
    places = [(node, known) for node, reserved in demands.items() for known in reserved]
    return min(places, key=lambda place: (place[0] != node_name, place[1].amounts != demand.amounts), default=None)

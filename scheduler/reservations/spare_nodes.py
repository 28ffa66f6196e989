"""Room for nodes that a gang may lose, kept while it runs and nobody is missing (`tutti.scheduler/spare-nodes`).

What the members on its fullest nodes ask for is placed by the decision that would place their replacements, on nodes where the gang
does not run, and kept in `state.future_reservations`, like room for lost members and pods to come: against everybody of the same
or a lower priority. It is as much as there is room for, and more when room appears. A gang does not wait for it to start, nobody
leaves for it, and who is more important takes it. When members are lost, their replacements have it (`lost_members`).

Nothing is kept for a gang of which some members have succeeded: it is finishing. Room for groups of a tree is kept for the
tree, which is what is scheduled: beside the nodes of all its groups that ask for some, and while no group of it misses anybody.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Final

import msgspec

from scheduler.cache.cluster import ClusterState
from scheduler.cache.demand import Demand
from scheduler.cache.nodes import PODS_ROW
from scheduler.cache.pod_group_state import MemberState, PodGroupState
from scheduler.cache.pod_group_tree import TreeState, queued_item
from scheduler.cache.records import EntityKey, PodRecord, StateChange
from scheduler.cache.reservations import HeldDemands, Reservation, Reservations
from scheduler.queue.item_errors import ItemErrors
from scheduler.queue.scheduling_queue import ROOM_APPEARED
from scheduler.reservations.future_reservations import NOWHERE, Places
from scheduler.reservations.lost_members import (
    ClusterWithReplacements,
    is_short,
    may_keep_room,
    places_in,
    replacement_of,
)
from scheduler.reservations.rest import Rest

_FOR_GOOD_SECONDS: Final = 10 * 365 * 86400.0
"""Such a reservation has no end by the clock; a number that may be written and compared is simpler than none."""

Stamp = tuple[int, int, int, int, int, int]
Version = tuple[int, int, tuple[tuple[str, int, int], ...], bytes]


def with_spare_nodes(item: PodGroupState) -> list[PodGroupState]:
    """The gangs of an item for which room for lost nodes is kept now: they ask for it, run whole, and none of them is finishing."""
    return [members for members in groups_of(item) if _has_spare_nodes(members)]


def _has_spare_nodes(members: PodGroupState) -> bool:
    group = members.group
    if group is None or not group.is_gang or not group.when_degraded.spare_nodes or not may_keep_room(group):
        return False
    running = members.count(MemberState.ASSUMED) + members.count(MemberState.BOUND)
    return running >= max(members.min_count, 1) and not members.count(MemberState.SUCCEEDED)


def groups_of(item: PodGroupState) -> list[PodGroupState]:
    """The groups of a tree; a group that is scheduled by itself."""
    if not isinstance(item, TreeState):
        return [item]
    return list(item.branch.all_leaves()) if item.branch is not None else []


def wanted_spares(state: ClusterState, members: PodGroupState) -> list[PodRecord]:
    """The members on the fullest nodes of a gang, as many nodes as it wants room for; fuller ones first, then by name."""
    by_node: dict[str, list[PodRecord]] = {}
    for node, pod in _placed(state, members):
        by_node.setdefault(node, []).append(pod)
    fullest = sorted(by_node, key=lambda node: (-len(by_node[node]), node))
    spare_nodes = members.group.when_degraded.spare_nodes if members.group is not None else 0
    return list(chain.from_iterable(by_node[node] for node in fullest[:spare_nodes]))


def places_of_spares(state: ClusterState, item: PodGroupState, asking: Sequence[PodGroupState]) -> Places:
    """Where replacements of the members on the fullest nodes of these gangs could go, beside their nodes; changes nothing."""
    spares = dict(
        chain.from_iterable(
            replacement_of(state, pod, f"{members.key.uid}/spare-{number}")
            for members in asking
            for number, pod in enumerate(wanted_spares(state, members))
        )
    )
    return places_in(_BesideTheirNodes(state, item, asking, spares), item.key, spares) if spares else NOWHERE


def _placed(state: ClusterState, members: PodGroupState) -> Iterator[tuple[str, PodRecord]]:
    for pod in members.pods(MemberState.BOUND):
        yield pod.node_name, pod
    for pod in members.pods(MemberState.ASSUMED):
        assumption = state.assumption(pod.uid)
        if assumption is not None:
            yield assumption.node_name, pod


class _BesideTheirNodes(ClusterWithReplacements):
    """The cluster in which the nodes of these gangs have no room left for anybody."""

    def __init__(
        self, state: ClusterState, item: PodGroupState, asking: Sequence[PodGroupState], spares: dict[str, PodRecord]
    ) -> None:
        super().__init__(state, item, spares)
        filled: dict[str, Counter[Demand]] = {}
        for node, pod in chain.from_iterable(_placed(state, members) for members in asking):
            slot = state.nodes.slot_of.get(node)
            if node not in filled and slot is not None:
                filled[node] = Counter({pod.demand: max(int(state.nodes.free[PODS_ROW, slot]), 0)})
        self.reservations: Final = _Filled(item.key, filled, state.reservations)


class _Filled(Reservations):
    """What is kept against a group, and so many pods of its own on each of its nodes that nobody fits there."""

    def __init__(self, key: EntityKey, filled: HeldDemands, beside: Reservations) -> None:
        super().__init__(beside)
        self._key: Final = key
        self._filled: Final = filled

    def __len__(self) -> int:
        return 1

    def of(self, key: EntityKey) -> Reservation | None:
        """Its own, so that nobody counts on what is left to others of its priority."""
        return Reservation(key, 0, {}, 0.0) if key == self._key else None

    def against(self, key: EntityKey, priority: int) -> Iterator[tuple[str, Counter[Demand]]]:
        """What is kept on which node against an item of that priority."""
        yield from self._filled.items()
        yield from super().against(key, priority)


class _Kept(msgspec.Struct, frozen=True):
    """What was kept for a gang when places were looked for last.

    Attributes:
        reservation: None when there was room for nobody.
        wanted: pods for which room is wanted.
        version: what the places depend on.
        room: position in the changes of room, of interest while room is missing.
        tried_seconds: when, monotonic.
    """

    reservation: Reservation | None
    wanted: int
    version: Version
    room: int
    tried_seconds: float

    @property
    def kept(self) -> int:
        """Pods for which room is kept."""
        demands = self.reservation.demands.values() if self.reservation is not None else ()
        return sum(map(Counter.total, demands))


class SpareNodes:
    """Keeps room for nodes that gangs may lose; belongs to the scheduling loop, which asks before each cycle.

    Args:
        state: the cluster as it is.
        clock: monotonic seconds.
        apply: takes what giving room back changes.
        errors: where exceptions about single groups are noted.
    """

    def __init__(
        self,
        state: ClusterState,
        *,
        clock: Callable[[], float],
        apply: Callable[[StateChange], None],
        errors: ItemErrors | None = None,
    ) -> None:
        self._state: Final = state
        self._clock: Final = clock
        self._apply: Final = apply
        self._errors: Final = errors if errors is not None else ItemErrors()
        self._kept: dict[EntityKey, _Kept] = {}
        self._rest: Final = Rest(clock)
        self._seen: Stamp | None = None
        """What the last look at all of them saw."""

    def tick(self) -> None:
        """Keeps room where gangs want it, after `LostMembers.tick`; cheap when none does, and while nothing changes."""
        self._rest.is_behind = False
        if not (self._state.with_spare_nodes or self._kept):
            return
        stamp = self._stamp()
        if stamp == self._seen or not self._rest.is_over():
            return
        with self._rest.counted():
            self._look_at_all()
        self._seen = stamp

    def next_due_seconds(self) -> float | None:
        """Seconds until `tick` looks at what has changed while it rested; None when it has seen everything."""
        return self._rest.due_seconds()

    def pods(self) -> dict[str, int]:
        """For how many pods room is kept, and for how many there is none."""
        kept = sum(one.kept for one in self._kept.values())
        return {"kept": kept, "missing": sum(one.wanted for one in self._kept.values()) - kept}

    def _look_at_all(self) -> None:
        wanting = dict.fromkeys(self._items())
        for key in [key for key in self._kept if key not in wanting]:
            self._release(key)
        # Who has not looked for places for the longest time does first, who never has before all others.
        new = [key for key in wanting if key not in self._kept]
        for key in [*new, *sorted(self._kept, key=lambda key: self._kept[key].tried_seconds)]:
            with self._errors.about(key, "repair"):
                self._review(key)

    def _items(self) -> Iterator[EntityKey]:
        """What the groups that ask for room are scheduled as."""
        for key in self._state.with_spare_nodes:
            members = self._state.item(key)
            if members is not None:
                yield queued_item(members)

    def _stamp(self) -> Stamp:
        """While this is the same, nobody has to be looked at: who starts, ends or loses members changes the room on some node."""
        state = self._state
        ends = state.nodes.room_changes.end, state.nodes.rule_changes.end
        groups = state.with_spare_nodes.version, state.entities.forest.version, state.losses.version
        return (*ends, *groups, state.future_reservations.version)

    def _review(self, key: EntityKey) -> None:
        item = self._state.item(key)
        short = [members.group for members in groups_of(item) if is_short(members)] if item is not None else []
        if item is None or any(group is not None and may_keep_room(group) for group in short):
            # Who is missing comes first; room is kept for them.
            self._kept.pop(key, None)
            return
        asking = with_spare_nodes(item)
        if short or not asking:
            self._release(key)
            return
        before = self._kept.get(key)
        if before is None or self._is_outdated(before, item, asking):
            self._keep(item, asking, before)

    def _is_outdated(self, before: _Kept, item: PodGroupState, asking: Sequence[PodGroupState]) -> bool:
        reservation = self._state.future_reservations.of(item.key)
        if reservation is not before.reservation or before.version != self._version(item, asking, reservation):
            return True
        return before.kept < before.wanted and before.room != self._state.nodes.room_changes.end

    def _keep(self, item: PodGroupState, asking: Sequence[PodGroupState], before: _Kept | None) -> None:
        state, key = self._state, item.key
        wanted = sum(len(wanted_spares(state, members)) for members in asking)
        places = places_of_spares(state, item, asking)
        old, reservation = state.future_reservations.of(key), None
        if places:
            deadline = self._clock() + _FOR_GOOD_SECONDS
            reservation = Reservation(key, item.priority, places.demands, deadline)
            if old is not None and (old.demands, old.priority) == (places.demands, item.priority):
                reservation = old
            else:
                state.future_reservations.put(reservation)
        elif old is not None:
            state.future_reservations.drop(key)
        version = self._version(item, asking, reservation)
        self._kept[key] = _Kept(reservation, wanted, version, state.nodes.room_changes.end, self._clock())
        if old is not None and reservation is not old and before is not None:
            self._apply(ROOM_APPEARED)

    def _version(
        self, item: PodGroupState, asking: Sequence[PodGroupState], reservation: Reservation | None
    ) -> Version:
        """What the places depend on beside room elsewhere: what is asked for, who runs, the nodes, and the room on those kept."""
        nodes = self._state.nodes
        kept = reservation.demands if reservation is not None else ()
        slots = [nodes.slot_of.get(name, -1) for name in kept]
        free = nodes.free[:, [slot for slot in slots if slot >= 0]].tobytes() if min(slots, default=0) >= 0 else b""
        wishes = tuple(
            (members.key.uid, members.scheduled_count, members.group.when_degraded.spare_nodes if members.group else 0)
            for members in asking
        )
        return (nodes.rule_changes.end, item.priority, wishes, free)

    def _release(self, key: EntityKey) -> None:
        before = self._kept.pop(key, None)
        reservation = self._state.future_reservations.of(key)
        if before is not None and reservation is not None and reservation is before.reservation:
            self._state.future_reservations.drop(key)
            self._apply(ROOM_APPEARED)

"""The snapshot a search works on: the room there would be, what others would mean, and the pods that could leave, as columns.

Pods that are being deleted count as gone, whoever asked for it, so nobody else is evicted for room that is about to be free.
Those in `overdue` were given up on: they count as staying, and their nodes as they are.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.placement.muster import muster
from scheduler.placement.overlay import Room
from scheduler.placement.relations import Relations
from scheduler.placement.room import room_for
from scheduler.preemption.influence import Influence
from scheduler.preemption.plan import VictimUnit
from scheduler.state.changes import Slots
from scheduler.state.cluster import ClusterState
from scheduler.state.demand import PortTable
from scheduler.state.members import Members, Standing
from scheduler.state.records import PodRecord
from scheduler.state.shapes import Shape
from scheduler.state.steps import ONE_LOOK

_A_RESIDENT: Final = 300
"""Steps of looking at one pod that could leave."""

Violators = Callable[[list[tuple[PodRecord, ...]]], list[bool]]
"""(units, least important first) -> which of them would exceed a disruption budget."""


class Candidates:
    """Pods that could leave, least important first; all arrays have one entry per pod."""

    __slots__ = ("amounts", "in_whole", "priority", "row", "size", "slot", "unit", "violates")

    def __init__(
        self,
        row: Slots,
        slot: Slots,
        unit: NDArray[np.int64],
        size: NDArray[np.int64],
        priority: NDArray[np.int64],
        in_whole: NDArray[np.bool_],
        violates: NDArray[np.bool_],
        amounts: NDArray[np.int64],
    ) -> None:
        self.row: Final = row
        self.slot: Final = slot
        self.unit: Final = unit
        self.size: Final = size
        """Pods of the unit."""
        self.priority: Final = priority
        self.in_whole: Final = in_whole
        self.violates: Final = violates
        self.amounts: Final = amounts

    def __len__(self) -> int:
        return len(self.row)

    def where(self, chosen: NDArray[np.bool_]) -> "Candidates":
        """Only these."""
        if chosen.all():
            return self
        return Candidates(
            self.row[chosen],
            self.slot[chosen],
            self.unit[chosen],
            self.size[chosen],
            self.priority[chosen],
            self.in_whole[chosen],
            self.violates[chosen],
            self.amounts[:, chosen],
        )


class Situation:
    """One preemptor, the room without those who leave anyway, and everybody who could be asked to."""

    def __init__(
        self, state: ClusterState, members: Members, violators: Violators | None, overdue: Collection[str] = ()
    ) -> None:
        self.state: Final = state
        self.members: Final = members
        state.residents.catch_up()
        state.nodes.steps.spend(_A_RESIDENT * len(state.residents.pods))
        self.priority: Final = members.priority
        found = muster(state, members)
        # Wishes alone do not decide whether somebody has to leave, and pods that only wish are equal.
        relations = found.relations if found.relations is not None and found.relations.is_strict else None
        self.uids: Final[Mapping[Shape, Sequence[str]]] = (
            found.parts
            if relations is not None
            else {shape: waiting.uids for shape, waiting in members.pending.items()}
        )
        self.pending: Final = {shape: len(uids) for shape, uids in self.uids.items()}
        self._late = frozenset(overdue)
        self._violators = violators
        held = room_for(state, members)
        self.room: Final = held if held is not None else Room(state.nodes, state.ports)
        self.leaving: Final = self._on_their_way_out()
        self._let_go()
        self.candidates: Final = self._candidates(violators)
        everybody = np.concatenate([self.leaving, self.candidates.row])
        self.influence: Final = Influence(state, relations, everybody) if relations is not None else None
        self.relations: Final = (
            self.influence.without(relations, self.leaving)
            if relations is not None and self.influence is not None
            else None
        )
        """None when no rule about other pods, or volumes, can refuse a node."""

    def room_without(self, leaving: Candidates) -> Room:
        """The room when these have left."""
        nodes = self.state.nodes
        nodes.steps.spend(2 * len(nodes.resources) * (ONE_LOOK + nodes.slots + 5 * len(leaving)))
        room = self.room.copy()
        room.add(leaving.slot, leaving.amounts)
        room.ports = self._ports_without(room.ports, leaving.row)
        return room

    def relations_without(self, leaving: Candidates) -> Relations | None:
        """The relations when these have left."""
        if self.relations is None or self.influence is None:
            return None
        return self.influence.without(self.relations, leaving.row)

    def helpers(self) -> NDArray[np.bool_]:
        """Which candidates the members may need: required affinity speaks of them, or of others of their unit."""
        if self.relations is None or self.influence is None:
            return np.zeros(len(self.candidates), dtype=np.bool_)
        near = {at for stance in self.relations.stances.values() for at in stance.near}
        units = np.unique(self.candidates.unit[np.isin(self.candidates.row, self.influence.rows(near))])
        return np.isin(self.candidates.unit, units)

    def victims(self, numbers: list[int]) -> tuple[VictimUnit, ...]:
        """The units of these numbers as they would leave, least important first."""
        residents = self.state.residents
        units = sorted((residents.units[number] for number in numbers), key=lambda unit: unit.importance)
        pods = [tuple(pod for pod in residents.records(unit.rows) if not pod.terminating) for unit in units]
        verdicts = self._violators(pods) if self._violators is not None else [False] * len(units)
        return tuple(VictimUnit(*victim) for victim in zip(units, pods, verdicts, strict=True))

    def _on_their_way_out(self) -> Slots:
        residents = self.state.residents
        rows = residents.on_their_way_out()
        if not self._late:
            return rows
        keep = [pod is not None and pod.uid not in self._late for pod in map(residents.pods.__getitem__, rows)]
        return rows[np.array(keep, dtype=np.bool_)]

    def _let_go(self) -> None:
        residents, rows = self.state.residents, self.leaving
        if len(rows):
            self.room.add(residents.slots[rows], residents.amounts[:, rows])
            self.room.ports = self._ports_without(self.room.ports, rows)

    def _ports_without(self, ports: PortTable, rows: Slots) -> PortTable:
        residents = self.state.residents
        concerned = residents.with_ports.intersection(rows.tolist()) if residents.with_ports else set()
        if not concerned or not any(shape.demand.ports for shape in self.pending):
            return ports
        copy = ports.copy()
        for pod in residents.records(concerned):
            copy.give_back(pod.node_name, pod.demand.ports)
        return copy

    def _candidates(self, violators: Violators | None) -> Candidates:
        residents = self.state.residents
        rows = residents.below(self.priority)
        unit = residents.unit_of[rows]
        in_whole = residents.in_whole[rows]
        unsure = self._unsure_units(np.unique(unit[in_whole]).tolist()) if in_whole.any() else []
        if unsure:
            keep = ~np.isin(unit, unsure)
            rows, unit, in_whole = rows[keep], unit[keep], in_whole[keep]
        size = np.ones(len(rows), dtype=np.int64)
        if in_whole.any():
            _, inverse, counts = np.unique(unit, return_inverse=True, return_counts=True)
            size = counts[inverse]
        priority = residents.priorities[rows]
        # The last key is the first to sort by; the youngest comes first, for it is the least important.
        order = np.lexsort((unit, -residents.since[rows], size, in_whole, priority))
        rows, unit, size, in_whole = rows[order], unit[order], size[order], in_whole[order]
        return Candidates(
            rows,
            residents.slots[rows],
            unit,
            size,
            priority[order],
            in_whole,
            self._violates(unit, violators),
            residents.amounts[:, rows],
        )

    def _unsure_units(self, numbers: list[int]) -> list[int]:
        """Whole groups some of whose members are on their way to a node: they cannot be taken whole at this moment."""
        found = []
        for number in numbers:
            group = self.state.residents.units[number].group
            members = self.state.item(group.item) if group else None
            if members is not None and members.count(Standing.ASSUMED):
                found.append(number)
        return found

    def _violates(self, unit: NDArray[np.int64], violators: Violators | None) -> NDArray[np.bool_]:
        if violators is None or not len(unit):
            return np.zeros(len(unit), dtype=np.bool_)
        residents = self.state.residents
        numbers = list(dict.fromkeys(unit.tolist()))
        verdicts = violators([tuple(residents.records(residents.units[number].rows)) for number in numbers])
        guilty = [number for number, verdict in zip(numbers, verdicts, strict=True) if verdict]
        return np.isin(unit, guilty)

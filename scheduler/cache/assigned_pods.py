"""Every pod that is bound to a node, in columns, and the units in which pods are preempted.

A unit is a pod, or a whole PodGroup whose disruption mode is `all` (KEP-5710). A pod of a group has its group's priority as a
victim, whatever the pod itself says. The columns follow every event, so that a preemption looks at twenty thousand pods without
touching one of them. Assumed pods are not in here: nobody knows yet whether they are bound.
"""

import contextlib
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from scheduler.cache.demand import Demand
from scheduler.cache.node_columns import Slots
from scheduler.cache.nodes import NodeTable
from scheduler.cache.priority_classes import PriorityClasses
from scheduler.cache.records import GroupRecord, PodRecord

_NOWHERE: Final = -1
_ROWS_OF_A_STEP: Final = 1000


class NodeNumbers:
    """Numbers are given again when the last pod of a node went, so there are never more than nodes in use at the same time."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes: Final = nodes
        self._number_of: dict[str, int] = {}
        self._names: list[str] = []
        self._pods: list[int] = []
        self._spare: list[int] = []
        self._slots: Slots = np.empty(0, dtype=np.intp)
        self._position = -1

    def enter(self, name: str) -> int:
        """One pod more on this node; the node's number."""
        number = self._number_of.get(name)
        if number is None:
            number = self._number_of[name] = self._spare.pop() if self._spare else self._new()
            self._names[number] = name
            self._position = -1
        self._pods[number] += 1
        return number

    def leave(self, number: int) -> None:
        """One pod less on the node of this number."""
        self._pods[number] -= 1
        if not self._pods[number]:
            del self._number_of[self._names[number]]
            self._names[number] = ""
            self._spare.append(number)

    @property
    def slots(self) -> Slots:
        """The node slot by number, -1 where the node is not known; at least one entry."""
        end = self._nodes.rule_changes.end
        if self._position != end:
            known = self._nodes.slot_of
            self._slots = np.fromiter(
                (known.get(name, _NOWHERE) for name in self._names or ("",)),
                dtype=np.intp,
                count=max(len(self._names), 1),
            )
            self._position = end
        return self._slots

    def _new(self) -> int:
        self._names.append("")
        self._pods.append(0)
        return len(self._names) - 1


FIRST_ROWS: Final = 256
NO_PRIORITY: Final = 2**62
"""Of rows and units that are not in use: above every real priority, so never below a preemptor's."""


class RowLayout(msgspec.Struct, frozen=True):
    """Which pod has which row, and in which order rows and units come into use: what decides between equal victims.

    Attributes:
        rows: how many rows there are.
        row_of: by UID of the pod: pods in the order in which they joined their units, units in the order of their numbers.
        spare: rows that are not in use; the last one is taken next.
    """

    rows: int
    row_of: dict[str, int]
    spare: tuple[int, ...]


class TakenRows(msgspec.Struct, frozen=True):
    """The rows as they were at one moment, taken in no time; `layout` makes them readable.

    Attributes:
        pods: by row.
        unit_of: by row.
        wholes: the rows of units that may have several, by number.
        spare: rows that are not in use.
    """

    pods: list[PodRecord | None]
    unit_of: NDArray[np.int64]
    wholes: dict[int, tuple[int, ...]]
    spare: tuple[int, ...]

    def layout(self) -> RowLayout:
        """What a table with the same pods must be laid out like to decide alike."""
        steps = self.layout_in_steps()
        while True:
            try:
                next(steps)
            except StopIteration as end:
                found: RowLayout = end.value
                return found

    def layout_in_steps(self) -> Generator[None, None, RowLayout]:
        """The same in steps of a millisecond or so, for who has something else to do between them."""
        row_of: dict[str, int] = {}
        in_use = np.flatnonzero(self.unit_of >= 0)
        order = in_use[np.argsort(self.unit_of[in_use], kind="stable")]
        for first in range(0, len(order), _ROWS_OF_A_STEP):
            rows = order[first : first + _ROWS_OF_A_STEP]
            for row, unit in zip(rows.tolist(), self.unit_of[rows].tolist(), strict=True):
                for each in self.wholes.get(unit, (row,)):
                    pod = self.pods[each]
                    if pod is not None:
                        row_of[pod.uid] = each
            yield
        return RowLayout(len(self.pods), row_of, self.spare)


class PreemptionUnit:
    """Pods that are preempted together or not at all (KEP-5710).

    Args:
        number: tells it from all other units.
        group: set when the unit is a whole group.
        priority: that of its pods as victims.
        created_seconds: of the group or of the pod, in seconds since 1970.
    """

    __slots__ = ("created_seconds", "group", "number", "priority", "rows")

    def __init__(self, number: int, group: GroupRecord | None, priority: int, created_seconds: float) -> None:
        self.number = number
        self.group = group
        self.priority = priority
        self.created_seconds = created_seconds
        self.rows: dict[int, None] = {}


class AssignedPods:
    """The rows of all bound pods; all arrays are `[row]` unless it says otherwise.

    Attributes:
        pods: the records, None for rows that are not in use.
        units: by number.
        unit_of: the number of the unit, -1 for rows that are not in use.
        priorities: of the unit, `NO_PRIORITY` for rows that are not in use.
        leaving: whether the pod is being deleted.
        in_whole: whether the unit is a whole group.
        since: when the unit was created, in seconds since 1970.
        amounts: what the pod asks for, `[resource, row]`, resources as in the node table.
        with_ports: rows of pods with host ports.
    """

    def __init__(self, nodes: NodeTable, classes: PriorityClasses | None = None) -> None:
        self._nodes: Final = nodes
        self._classes: Final = classes or PriorityClasses()
        self.pods: list[PodRecord | None] = [None] * FIRST_ROWS
        self.units: dict[int, PreemptionUnit] = {}
        self.unit_of: NDArray[np.int64] = np.full(FIRST_ROWS, -1, dtype=np.int64)
        self.priorities: NDArray[np.int64] = np.full(FIRST_ROWS, NO_PRIORITY, dtype=np.int64)
        self.leaving: NDArray[np.bool_] = np.zeros(FIRST_ROWS, dtype=np.bool_)
        self.in_whole: NDArray[np.bool_] = np.zeros(FIRST_ROWS, dtype=np.bool_)
        self.since: NDArray[np.float64] = np.zeros(FIRST_ROWS)
        self.amounts: NDArray[np.int64] = np.zeros((len(nodes.resources), FIRST_ROWS), dtype=np.int64)
        self.with_ports: set[int] = set()
        self._row_of: dict[str, int] = {}
        self._node_numbers: NDArray[np.int64] = np.zeros(FIRST_ROWS, dtype=np.int64)
        self._numbers: Final = NodeNumbers(nodes)
        self._spare: list[int] = list(range(FIRST_ROWS - 1, -1, -1))
        self._whole: dict[str, PreemptionUnit] = {}
        self._next_unit = 0
        self._noted: list[tuple[PodRecord, GroupRecord | None]] | None = None
        """Pods that came while `many_enter` lasts."""

    def __len__(self) -> int:
        return len(self._row_of)

    # --- events ------------------------------------------------------------------------------------------------------

    def enter(self, pod: PodRecord, group: GroupRecord | None) -> None:
        """A bound pod came; `group` is the PodGroup it belongs to, if that is known."""
        if self._noted is not None:
            self._noted.append((pod, group))
            return
        if not self._spare:
            self._grow()
        row = self._spare.pop()
        self._row_of[pod.uid] = row
        self.pods[row] = pod
        number = self._numbers.enter(pod.node_name)
        if pod.demand.ports:
            self.with_ports.add(row)
        self._node_numbers[row] = number
        self.leaving[row] = pod.terminating
        resolved = self._nodes.resolve(pod.demand)
        self.catch_up()
        self.amounts[resolved.rows, row] = resolved.amounts
        self._write(row, self._joined(row, pod, group))

    @contextlib.contextmanager
    def many_enter(self) -> Iterator[None]:
        """While this lasts pods that come are only noted, and taken in at its end: nobody may ask before."""
        self._noted = []
        self.catch_up()
        try:
            yield
        finally:
            self._settle()
            self._noted = None

    def _settle(self) -> None:
        """Takes in the pods that were only noted, for who is about to ask or to change something."""
        if self._noted:
            noted, self._noted = self._noted, []
            self._enter_all(noted)

    def _enter_all(self, noted: list[tuple[PodRecord, GroupRecord | None]]) -> None:
        while len(self._spare) < len(noted):
            self._grow()
        pods = [pod for pod, _ in noted]
        taken = self._spare[: -len(noted) - 1 : -1]
        del self._spare[-len(noted) :]
        for row, pod in zip(taken, pods, strict=True):
            self.pods[row] = pod
        self._row_of.update(zip((pod.uid for pod in pods), taken, strict=True))
        self.with_ports.update(row for row, pod in zip(taken, pods, strict=True) if pod.demand.ports)
        rows = np.array(taken, dtype=np.intp)
        self._node_numbers[rows] = [self._numbers.enter(pod.node_name) for pod in pods]
        self.leaving[rows] = [pod.terminating for pod in pods]
        units = [self._joined(row, pod, group) for row, (pod, group) in zip(taken, noted, strict=True)]
        self.unit_of[rows] = [unit.number for unit in units]
        self.priorities[rows] = [unit.priority for unit in units]
        self.in_whole[rows] = [unit.group is not None for unit in units]
        self.since[rows] = [unit.created_seconds for unit in units]
        self.catch_up()
        by_demand: defaultdict[Demand, list[int]] = defaultdict(list)
        for row, pod in zip(taken, pods, strict=True):
            by_demand[pod.demand].append(row)
        for demand, its_rows in by_demand.items():
            self.amounts[:, its_rows] = self._nodes.resolve(demand).column[:, np.newaxis]

    def leave(self, uid: str) -> None:
        """A pod is bound no longer, or gone; unknown ones are ignored."""
        self._settle()
        row = self._row_of.pop(uid, None)
        if row is None:
            return
        self._part(row)
        self._numbers.leave(int(self._node_numbers[row]))
        self._node_numbers[row] = 0
        self.pods[row] = None
        self.amounts[:, row] = 0
        self.leaving[row] = False
        self.with_ports.discard(row)
        self._spare.append(row)

    def regroup(self, pods: Iterable[PodRecord], group: GroupRecord | None) -> None:
        """Another PodGroup, or none, stands behind these pods."""
        self._settle()
        for pod in pods:
            row = self._row_of.get(pod.uid)
            if row is not None:
                self._part(row)
                self._write(row, self._joined(row, pod, group))

    # --- layout ------------------------------------------------------------------------------------------------------

    def taken(self) -> TakenRows:
        """The rows as they are now."""
        wholes = {unit.number: tuple(unit.rows) for unit in self._whole.values()}
        return TakenRows(self.pods.copy(), self.unit_of.copy(), wholes, tuple(self._spare))

    def lay_out(self, layout: RowLayout, uids: Iterable[str]) -> list[str]:
        """Prepares an empty table for pods of these UIDs, which are then to enter in the order that is returned."""
        while len(self.pods) < layout.rows:
            self._grow()
        wanted = dict.fromkeys(uids)
        known = [uid for uid in layout.row_of if uid in wanted]
        taken = [layout.row_of[uid] for uid in known]
        absent = set(range(len(self.pods))).difference(layout.spare, taken)
        self._spare = [*sorted(absent, reverse=True), *layout.spare, *reversed(taken)]
        return [*known, *(uid for uid in wanted if uid not in layout.row_of)]

    # --- questions ---------------------------------------------------------------------------------------------------

    @property
    def slots(self) -> Slots:
        """The node slot of each row in use, -1 where the node is not known."""
        return self._numbers.slots[self._node_numbers]

    def preemptible_below(self, priority: int) -> Slots:
        """Rows of pods on known nodes whose unit has a lower priority and that are not leaving already."""
        return np.flatnonzero((self.priorities < priority) & ~self.leaving & (self.slots >= 0))

    def row_of(self, uid: str) -> int | None:
        """The row of a bound pod."""
        return self._row_of.get(uid)

    def rows_on(self, slot: int) -> list[int]:
        """Rows of the pods on one node."""
        found: list[int] = np.flatnonzero((self.slots == slot) & (self.unit_of >= 0)).tolist()
        return found

    def terminating(self) -> Slots:
        """Rows of pods on known nodes that are being deleted."""
        return np.flatnonzero(self.leaving & (self.slots >= 0))

    def catch_up(self) -> None:
        """Takes in resources that nobody offered before; to be called before `amounts` is read."""
        known = len(self.amounts)
        missing = self._nodes.resources[known:]
        if not missing:
            return
        rows = np.zeros((len(missing), len(self.pods)), dtype=np.int64)
        for index, resource in enumerate(missing):
            for row, pod in enumerate(self.pods):
                if pod is not None:
                    rows[index, row] = pod.demand.amounts.get(resource, 0)
        self.amounts = np.concatenate([self.amounts, rows])

    def records(self, rows: Iterable[int]) -> Iterator[PodRecord]:
        """The pods of these rows."""
        for row in rows:
            pod = self.pods[row]
            if pod is not None:
                yield pod

    # --- inside ------------------------------------------------------------------------------------------------------

    def _joined(self, row: int, pod: PodRecord, group: GroupRecord | None) -> PreemptionUnit:
        """The unit of a pod, which has it now."""
        priority = self._classes.as_victim(group, pod.profile.priority)
        unit = self._whole.get(group.uid) if group is not None and group.leaves_whole else None
        if unit is None:
            whole = group if group is not None and group.leaves_whole else None
            created = whole.created_seconds if whole else pod.created_seconds
            unit = PreemptionUnit(self._next_unit, whole, priority, created)
            self._next_unit += 1
            self.units[unit.number] = unit
            if whole is not None:
                self._whole[whole.uid] = unit
        else:
            # Its pods join anew one after the other; the first one says for all what has changed.
            unit.group = group
            if unit.priority != priority:
                unit.priority = priority
                self.priorities[list(unit.rows)] = priority
        unit.rows[row] = None
        return unit

    def _write(self, row: int, unit: PreemptionUnit) -> None:
        self.unit_of[row] = unit.number
        self.priorities[row] = unit.priority
        self.in_whole[row] = unit.group is not None
        self.since[row] = unit.created_seconds

    def _part(self, row: int) -> None:
        unit = self.units[int(self.unit_of[row])]
        del unit.rows[row]
        if not unit.rows:
            del self.units[unit.number]
            if unit.group is not None:
                del self._whole[unit.group.uid]
        self.unit_of[row] = -1
        self.priorities[row] = NO_PRIORITY

    def _grow(self) -> None:
        old = len(self.pods)
        self.pods += [None] * old
        self.unit_of = np.concatenate([self.unit_of, np.full(old, -1, dtype=np.int64)])
        self.priorities = np.concatenate([self.priorities, np.full(old, NO_PRIORITY, dtype=np.int64)])
        self.leaving = np.concatenate([self.leaving, np.zeros(old, dtype=np.bool_)])
        self.in_whole = np.concatenate([self.in_whole, np.zeros(old, dtype=np.bool_)])
        self.since = np.concatenate([self.since, np.zeros(old)])
        self.amounts = np.concatenate([self.amounts, np.zeros((len(self.amounts), old), dtype=np.int64)], axis=1)
        self._node_numbers = np.concatenate([self._node_numbers, np.zeros(old, dtype=np.int64)])
        # What is left of the old rows is taken first.
        self._spare = [*range(2 * old - 1, old - 1, -1), *self._spare]

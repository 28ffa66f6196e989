"""The node table: what nodes have and what is free, as one row per resource and one column per node slot.

Rows exist only for resources that some node offers, so pods that ask for made-up resources cost nothing. Arrays grow by
doubling and slots are reused. A node is known by name *and* UID: another UID under the same name is another node. Amounts
taken on a node are counted whether they fit or not; `free` may be negative.
"""

import contextlib
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from api.errors import InvalidQuantity
from api.features import KNOWN_FEATURES, NO_FEATURES
from api.node import Node, Taint
from api.requests import CPU, PODS, parse_amount
from scheduler.cache.demand import MAX_AMOUNT, Demand
from scheduler.cache.node_columns import ChangeLog, Column, ImageTable, Slots
from scheduler.cache.selectors import FIELD_PREFIX, NAME_FIELD
from scheduler.cache.steps import ONE_BY_ONE, Steps

Amounts = NDArray[np.int64]

MEMORY: Final = "memory"
FIRST_ROWS: Final = (CPU, MEMORY, PODS, "ephemeral-storage")
CPU_ROW, MEMORY_ROW, PODS_ROW = 0, 1, 2
HARD_EFFECTS: Final = frozenset({"NoSchedule", "NoExecute"})
SOFT_EFFECT: Final = "PreferNoSchedule"
FIRST_SLOTS: Final = 64
MOST_LABEL_COLUMNS: Final = 256
MOST_RESOLVED: Final = 1024
PLENTY: Final = 2**40
"""Counted as there of a resource that a device class stands for, on a node without it: its devices say how much there is."""


class NodeFacts(msgspec.Struct, frozen=True, gc=False):
    """What a node says about itself; two equal values mean that nothing happened which scheduling looks at."""

    name: str
    uid: str
    labels: dict[str, str]
    allocatable: dict[str, str]
    taints: tuple[Taint, ...]
    unschedulable: bool
    features: frozenset[str] = NO_FEATURES
    """Those of its kubelet's that a pod can need (`api.features`)."""

    def label(self, key: str) -> str | None:
        """The value of a label, or of a field when the key is marked as one; None when the node lacks it."""
        return self.name if key == FIELD_PREFIX + NAME_FIELD else self.labels.get(key)

    def offers(self, resource: str) -> bool:
        """Whether it has some of a resource, be it taken or not."""
        quantity = self.allocatable.get(resource)
        return quantity is not None and _bounded(resource, quantity) > 0


class SlotLayout(msgspec.Struct, frozen=True):
    """Which node has which slot, and in which order slots and rows come into use: what decides between equally good nodes.

    Attributes:
        slots: how many slots there are.
        slot_of: by node name.
        spare: slots that are not in use; the last one is taken next.
        resources: in the order of their rows.
        image_bytes: the size that counts of each image: that which the first node with it has stated.
    """

    slots: int
    slot_of: dict[str, int]
    spare: tuple[int, ...]
    resources: tuple[str, ...]
    image_bytes: dict[str, int]


class Resolved:
    """A demand in terms of the table's rows; `missing` are resources that no node offers and no device class stands for."""

    __slots__ = ("amounts", "column", "missing", "rows", "scored")

    def __init__(self, demand: Demand, row_of: Mapping[str, int], backed: frozenset[str]) -> None:
        known = [(row_of[name], amount) for name, amount in demand.amounts.items() if name in row_of]
        self.rows: Final = np.array([row for row, _ in known], dtype=np.intp)
        self.amounts: Final = np.array([amount for _, amount in known], dtype=np.int64)
        self.missing: Final = tuple(name for name in demand.amounts if name not in row_of and name not in backed)
        self.column: Final[Amounts] = np.zeros(len(row_of), dtype=np.int64)
        """The amounts, one per row of the table."""
        self.column[self.rows] = self.amounts
        self.scored: Final[Amounts] = np.array(demand.scored, dtype=np.int64)


class NodeTable:
    """Nodes by slot; readers treat the arrays as read-only.

    Attributes:
        resources: names of the resources, by row.
        row_of: the row of each resource.
        slots: how many columns there are; no more than twice the nodes there ever were at the same time.
        used_slots: no slot from here on has ever been used.
        allocatable: what nodes have, `[resource, node]`, in milli for CPU, else in the unit of the resource.
        free: what is left of it, `[resource, node]`; may be negative.
        backed: resources that device classes stand for; nodes that do not offer one by themselves have `PLENTY` of it.
        scored: CPU and memory taken as scoring sees it, `[2, node]`: pods without requests count with a default.
        alive: whether a slot is in use, `[node]`.
        unschedulable: `spec.unschedulable`, `[node]`.
        facts, names: of each slot, None and "" where it is not in use.
        rule_changes: slots whose labels, taints, schedulability or features changed, or that came or went.
        room_changes: slots whose free or allocatable amounts changed.
        steps: what the computation under way may still cost; unlimited outside decisions.
    """

    def __init__(self) -> None:
        self.resources: list[str] = list(FIRST_ROWS)
        self.row_of: dict[str, int] = {name: row for row, name in enumerate(FIRST_ROWS)}
        self.slots = FIRST_SLOTS
        self.used_slots = 0
        self.allocatable: Amounts = np.zeros((len(FIRST_ROWS), FIRST_SLOTS), dtype=np.int64)
        self.free: Amounts = np.zeros((len(FIRST_ROWS), FIRST_SLOTS), dtype=np.int64)
        self.backed: frozenset[str] = frozenset()
        self.scored: Amounts = np.zeros((2, FIRST_SLOTS), dtype=np.int64)
        self.alive: NDArray[np.bool_] = np.zeros(FIRST_SLOTS, dtype=np.bool_)
        self.unschedulable: NDArray[np.bool_] = np.zeros(FIRST_SLOTS, dtype=np.bool_)
        self.taints: Column[tuple[Taint, ...]] = Column(FIRST_SLOTS, ())
        self.soft_taints: Column[tuple[Taint, ...]] = Column(FIRST_SLOTS, ())
        self.features: Column[frozenset[str]] = Column(FIRST_SLOTS, NO_FEATURES)
        self.images: Final = ImageTable()
        self.rule_changes = ChangeLog()
        self.room_changes = ChangeLog()
        self.facts: list[NodeFacts | None] = [None] * FIRST_SLOTS
        self.names: list[str] = [""] * FIRST_SLOTS
        self.slot_of: dict[str, int] = {}
        self._spare: list[int] = list(range(FIRST_SLOTS - 1, -1, -1))
        self.steps: Final = Steps()
        self._labels: dict[str, Column[str | None]] = {}
        self._labelled: Counter[str] = Counter()
        """Nodes by label key."""
        self._unlabelled: Final = Column[str | None](FIRST_SLOTS, None)
        """The column of every key that no node has: users may name as many as they like."""
        self._resolved: dict[Demand, Resolved] = {}
        self._noted: defaultdict[Demand, list[int]] | None = None
        """Slots on which something was taken, while `many_taken` lasts."""

    def __len__(self) -> int:
        return len(self.slot_of)

    def layout(self) -> SlotLayout:
        """What a table with the same nodes must be laid out like to decide alike."""
        return SlotLayout(
            self.slots, dict(self.slot_of), tuple(self._spare), tuple(self.resources), self.images.sizes_bytes()
        )

    def lay_out(self, layout: SlotLayout, names: Iterable[str]) -> list[str]:
        """Prepares an empty table for nodes of these names, which are then to be added in the order that is returned."""
        while self.slots < layout.slots:
            self._grow()
        self._rows_for(dict.fromkeys(layout.resources, ""))
        self.images.state_sizes(layout.image_bytes)
        wanted = list(names)
        known = sorted((name for name in wanted if name in layout.slot_of), key=layout.slot_of.__getitem__)
        taken = [layout.slot_of[name] for name in known]
        absent = set(range(self.slots)).difference(layout.spare, taken)
        self._spare = [*sorted(absent, reverse=True), *layout.spare, *reversed(taken)]
        return [*known, *(name for name in wanted if name not in layout.slot_of)]

    def live_slots(self) -> Slots:
        """The slots in use, ascending."""
        return np.flatnonzero(self.alive)

    def label_column(self, key: str) -> Column[str | None]:
        """The values of a label on all nodes; kept current from the first use on, unless no node has the label."""
        column = self._labels.get(key)
        if column is None:
            if key not in self._labelled and key != FIELD_PREFIX + NAME_FIELD:
                return self._unlabelled
            self.steps.spend(len(self) * ONE_BY_ONE)
            if len(self._labels) >= MOST_LABEL_COLUMNS:
                del self._labels[next(iter(self._labels))]
            column = self._labels[key] = Column[str | None](self.slots, None)
            column.fill((slot, facts.label(key)) for slot, facts in enumerate(self.facts) if facts)
        return column

    def resolve(self, demand: Demand) -> Resolved:
        """The rows and amounts of a demand."""
        found = self._resolved.get(demand)
        if found is None:
            if len(self._resolved) > MOST_RESOLVED:
                self._resolved.clear()
            found = self._resolved[demand] = Resolved(demand, self.row_of, self.backed)
        return found

    def add(self, facts: NodeFacts) -> tuple[int, tuple[str, ...]]:
        """Takes in a new node with all its room free; returns its slot and the resources nobody offered before."""
        if not self._spare:
            self._grow()
        slot = self._spare.pop()
        self.used_slots = max(self.used_slots, slot + 1)
        new = self._rows_for(facts.allocatable)
        self.slot_of[facts.name] = slot
        self.names[slot] = facts.name
        self.alive[slot] = True
        self.allocatable[:, slot] = self._column_of(facts)
        self.free[:, slot] = self.offered(slot)
        self.scored[:, slot] = 0
        self._note_rules(slot, facts)
        self._note_room(slot)
        return slot, new

    def update(self, slot: int, facts: NodeFacts) -> tuple[str, ...]:
        """Takes in what a known node says now; returns the resources nobody offered before."""
        old = self.facts[slot]
        new: tuple[str, ...] = ()
        if old is None or old.allocatable != facts.allocatable:
            new = self._rows_for(facts.allocatable)
            before = self.offered(slot)
            self.allocatable[:, slot] = self._column_of(facts)
            self.free[:, slot] += self.offered(slot) - before
            self._note_room(slot)
        self._note_rules(slot, facts)
        return new

    def remove(self, name: str) -> int:
        """Forgets a node; returns the slot it had."""
        slot = self.slot_of.pop(name)
        self.names[slot] = ""
        self.alive[slot] = False
        self.free[:, slot] = self.allocatable[:, slot] = 0
        self.scored[:, slot] = 0
        self.images.set(slot, ())
        self._note_rules(slot, None)
        self._note_room(slot)
        self._spare.append(slot)
        return slot

    def offered(self, slots: int | Slots | slice) -> Amounts:
        """What is there to be taken, `[resource, asked node]`: what nodes have, or plenty of what devices decide about."""
        amounts = self.allocatable[:, slots].copy()
        for row in self._backed_rows():
            amounts[row] = np.where((amounts[row] == 0) & self.alive[slots], PLENTY, amounts[row])
        return amounts

    def set_backed(self, resources: frozenset[str]) -> None:
        """Device classes stand for these resources from now on, and for no others."""
        if resources == self.backed:
            return
        before = self.offered(slice(None))
        self.backed = resources
        self.free += self.offered(slice(None)) - before
        self._resolved.clear()
        for slot in self.live_slots().tolist():
            self._note_room(slot)

    @contextlib.contextmanager
    def many_taken(self) -> Iterator[None]:
        """While this lasts, what is taken is noted and counted at its end: nobody may ask what is free before."""
        noted: defaultdict[Demand, list[int]] = defaultdict(list)
        self._noted = noted
        try:
            yield
        finally:
            self._noted = None
            for demand, slots in noted.items():
                resolved, pods = self.resolve(demand), np.bincount(slots, minlength=self.slots)
                self.free -= resolved.column[:, np.newaxis] * pods
                self.scored += resolved.scored[:, np.newaxis] * pods
            for slot in dict.fromkeys(slot for slots in noted.values() for slot in slots):
                self._note_room(slot)

    def take(self, slot: int, demand: Demand) -> None:
        """Counts a pod against a node."""
        if self._noted is not None:
            self._noted[demand].append(slot)
            return
        resolved = self.resolve(demand)
        free, scored = self.free[:, slot], self.scored[:, slot]
        free -= resolved.column
        scored += resolved.scored
        self._note_room(slot)

    def give_back(self, slot: int, demand: Demand) -> None:
        """Undoes `take`."""
        resolved = self.resolve(demand)
        free, scored = self.free[:, slot], self.scored[:, slot]
        free += resolved.column
        scored -= resolved.scored
        self._note_room(slot)

    def count(self, slot: int, resource: str, amount: int) -> None:
        """Counts an amount of a resource that got its row after the pod was taken."""
        self.free[self.row_of[resource], slot] -= amount

    def _note_room(self, slot: int) -> None:
        self.room_changes.add(slot, keep=2 * self.slots)

    def _note_rules(self, slot: int, facts: NodeFacts | None) -> None:
        self._count_labels(self.facts[slot], facts)
        self.facts[slot] = facts
        self.unschedulable[slot] = facts is not None and facts.unschedulable
        hard = tuple(taint for taint in facts.taints if taint.effect in HARD_EFFECTS) if facts else ()
        self.taints.set(slot, hard)
        self.soft_taints.set(
            slot, tuple(taint for taint in facts.taints if taint.effect == SOFT_EFFECT) if facts else ()
        )
        self.features.set(slot, facts.features if facts else NO_FEATURES)
        for key, column in self._labels.items():
            column.set(slot, facts.label(key) if facts else None)
        self.rule_changes.add(slot, keep=2 * self.slots)

    def _count_labels(self, old: NodeFacts | None, new: NodeFacts | None) -> None:
        before, after = old.labels if old else {}, new.labels if new else {}
        if before.keys() == after.keys():
            return
        self._labelled.update(after.keys() - before.keys())
        for key in before.keys() - after.keys():
            self._labelled[key] -= 1
            if not self._labelled[key]:
                del self._labelled[key]

    def _rows_for(self, allocatable: Mapping[str, str]) -> tuple[str, ...]:
        new = tuple(sys.intern(name) for name in allocatable if name not in self.row_of)
        if new:
            for name in new:
                self.row_of[name] = len(self.resources)
                self.resources.append(name)
            rows = np.zeros((len(new), self.slots), dtype=np.int64)
            self.free = np.concatenate([self.free, rows])
            for name in self.backed.intersection(new):
                self.free[self.row_of[name], self.alive] = PLENTY
            self.allocatable = np.concatenate([self.allocatable, rows])
            self._resolved.clear()
        return new

    def _backed_rows(self) -> list[int]:
        return [self.row_of[name] for name in self.backed if name in self.row_of] if self.backed else []

    def _column_of(self, facts: NodeFacts) -> Amounts:
        column = np.zeros(len(self.resources), dtype=np.int64)
        for name, quantity in facts.allocatable.items():
            column[self.row_of[name]] = _bounded(name, quantity)
        return column

    def _grow(self) -> None:
        old, self.slots = self.slots, 2 * self.slots
        self.free = _wider(self.free, old)
        self.allocatable = _wider(self.allocatable, old)
        self.scored = _wider(self.scored, old)
        self.alive = np.concatenate([self.alive, np.zeros(old, dtype=np.bool_)])
        self.unschedulable = np.concatenate([self.unschedulable, np.zeros(old, dtype=np.bool_)])
        self.taints.grow(self.slots)
        self.soft_taints.grow(self.slots)
        self.features.grow(self.slots)
        for column in (*self._labels.values(), self._unlabelled):
            column.grow(self.slots)
        self.facts += [None] * old
        self.names += [""] * old
        self._spare = list(range(self.slots - 1, old - 1, -1))


def _wider(amounts: Amounts, by: int) -> Amounts:
    return np.concatenate([amounts, np.zeros((len(amounts), by), dtype=np.int64)], axis=1)


def _bounded(resource: str, quantity: str) -> int:
    try:
        return min(max(parse_amount(resource, quantity), 0), MAX_AMOUNT)
    except InvalidQuantity:
        return 0


def facts_of(node: Node) -> NodeFacts:
    """What the table keeps of a node."""
    return NodeFacts(
        name=sys.intern(node.metadata.name),
        uid=node.metadata.uid,
        labels=node.metadata.labels or {},
        allocatable=node.status.allocatable,
        taints=node.spec.taints,
        unschedulable=node.spec.unschedulable,
        features=KNOWN_FEATURES.intersection(node.status.declared_features),
    )

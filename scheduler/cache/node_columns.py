"""Data by node slot: a log of the slots that changed, and columns of values as small integers, and which images are where.

A derived table remembers the position of the log up to which it is current. Asking for everything since then costs as much as
there is to catch up; a table that is too far behind is told to compute everything anew. Old entries are forgotten.
"""

import contextlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Set
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from api.node import ContainerImage

Slots = NDArray[np.intp]

NO_SLOTS = np.empty(0, dtype=np.intp)
"""Not to be written to."""

_NOTHING: Final[Set[int]] = frozenset()


class ChangeLog:
    """Positions count all changes ever made; `end` is the current one."""

    def __init__(self) -> None:
        self._slots: list[int] = []
        self._start = 0

    @property
    def end(self) -> int:
        """The position after the latest change."""
        return self._start + len(self._slots)

    def add(self, slot: int, *, keep: int) -> None:
        """Notes a change; at least `keep` entries stay known."""
        self._slots.append(slot)
        if len(self._slots) > 2 * keep:
            cut = len(self._slots) - keep
            del self._slots[:cut]
            self._start += cut

    def since(self, position: int, *, limit: int) -> Slots | None:
        """The slots changed after a position, each once; None when there are more than `limit` or they are forgotten."""
        changed = self.set_since(position, limit=limit)
        if changed is None:
            return None
        return np.array(sorted(changed), dtype=np.intp) if changed else NO_SLOTS

    def set_since(self, position: int, *, limit: int) -> Set[int] | None:
        """The same for one who looks at them one by one."""
        news = self.end - position
        if not news:
            return _NOTHING
        if position < self._start or news > limit:
            return None
        return set(self._slots[-news:])


Value = TypeVar("Value", bound=Hashable)
Codes = NDArray[np.int32]

_ROOM_FOR_OLD_VALUES: Final = 4


class Column(Generic[Value]):
    """One value per node slot, `absent` for slots that have none."""

    def __init__(self, slots: int, absent: Value) -> None:
        self.absent: Final = absent
        self.codes: Codes = np.zeros(slots, dtype=np.int32)
        self.values: list[Value] = [absent]
        self._code_of: dict[Value, int] = {absent: 0}

    def set(self, slot: int, value: Value) -> None:
        """Changes the value of one slot."""
        code = self._code_of.get(value)
        if code is None:
            if len(self.values) > _ROOM_FOR_OLD_VALUES * len(self.codes):
                self._forget_unused()
            code = self._code_of[value] = len(self.values)
            self.values.append(value)
        self.codes[slot] = code

    def fill(self, entries: Iterable[tuple[int, Value]]) -> None:
        """Sets many slots."""
        for slot, value in entries:
            self.set(slot, value)

    def grow(self, slots: int) -> None:
        """Makes room for more slots, all absent at first."""
        self.codes = np.concatenate([self.codes, np.zeros(slots - len(self.codes), dtype=np.int32)])

    def ask(self, question: Callable[[Value], bool], slots: Slots) -> NDArray[np.bool_]:
        """The answer for the value of each slot; the question is asked once per distinct value."""
        codes = self.codes[slots]
        if len(codes) < len(self.values):
            return np.fromiter(
                (question(self.values[code]) for code in codes.tolist()), dtype=np.bool_, count=len(codes)
            )
        answers = np.fromiter(map(question, self.values), dtype=np.bool_, count=len(self.values))
        return answers[codes]

    def one_of(self, wanted: Iterable[Value], slots: Slots) -> NDArray[np.bool_]:
        """Whether the value of each slot is among the wanted ones."""
        answers = np.zeros(len(self.values), dtype=np.bool_)
        answers[[code for value in wanted if (code := self._code_of.get(value)) is not None]] = True
        return answers[self.codes[slots]]

    def _forget_unused(self) -> None:
        used, codes = np.unique(np.append(self.codes, 0), return_inverse=True)
        self.codes = codes[:-1].astype(np.int32)
        self.values = [self.values[code] for code in used.tolist()]
        self._code_of = {value: code for code, value in enumerate(self.values)}


class ImageTable:
    """Images by name; an image has several names (tags and digests), each counts as its own."""

    def __init__(self) -> None:
        self.version = 0
        """Raised with every change."""
        self._number_of: dict[str, int] = {}
        self._names: list[str] = []
        self._sizes: list[int] = []
        self._holders: list[bytearray] = []
        self._held: list[int] = []
        self._spare: list[int] = []
        self._on_slot: dict[int, tuple[ContainerImage, ...]] = {}
        self._stated: Mapping[str, int] = {}
        self._noted: list[int] | None = None
        """Slots whose images nobody has counted yet, while `many_set` lasts."""

    @contextlib.contextmanager
    def many_set(self) -> Iterator[None]:
        """While this lasts the images of nodes that come are only noted, and counted at its end: nobody may ask before."""
        self._noted = []
        try:
            yield
        finally:
            self._settle()
            self._noted = None

    def _settle(self) -> None:
        """Counts what was noted, image by image: many nodes have the same ones."""
        noted, self._noted = self._noted or (), [] if self._noted is not None else None
        slots_of: dict[int, tuple[ContainerImage, list[int]]] = {}
        for slot in noted:
            for image in self._on_slot[slot]:
                found = slots_of.get(id(image))
                if found is None:
                    slots_of[id(image)] = (image, [slot])
                else:
                    found[1].append(slot)
        named: dict[str, list[list[int]]] = {}
        for image, slots in slots_of.values():
            for name in image.names or ():
                others = named.setdefault(name, [])
                others.append(slots)
                # As `_names` has it: of two sizes that one node states for one name the last one counts.
                if len(others) == 1 or others[0][0] == slots[0]:
                    self._state_anew(self._number(name, image.size_bytes), name, image.size_bytes)
        for name, slot_lists in named.items():
            where = np.unique(np.concatenate([np.array(slots, dtype=np.intp) for slots in slot_lists]))
            self._mark_all(self._number_of[name], where)

    def by_slot(self) -> dict[int, tuple[ContainerImage, ...]]:
        """The images of all nodes that have some."""
        return dict(self._on_slot)

    def sizes_bytes(self) -> dict[str, int]:
        """The size that counts of each image."""
        return {name: self._sizes[number] for name, number in self._number_of.items()}

    def state_sizes(self, sizes_bytes: Mapping[str, int]) -> None:
        """These images count with these sizes, whatever the first node to have them states."""
        self._stated = sizes_bytes

    def set(self, slot: int, images: tuple[ContainerImage, ...]) -> None:
        """The images of a node are these now."""
        before = self._on_slot.get(slot, ())
        if images == before:
            return
        self.version += 1
        if self._noted is not None and not before:
            self._on_slot[slot] = images
            self._noted.append(slot)
            return
        self._settle()
        known, now = _names(before), _names(images)
        for name in now.keys() - known.keys():
            self._mark(self._number(name, now[name]), slot)
        for name in known.keys() - now.keys():
            self._clear(self._number_of[name], slot)
        if images:
            self._on_slot[slot] = images
        else:
            del self._on_slot[slot]

    def nodes_with(self, name: str) -> int:
        """How many nodes have the image."""
        number = self._number_of.get(name)
        return 0 if number is None else self._held[number]

    def size_bytes(self, name: str) -> int:
        """The size the first node to have it stated."""
        return self._sizes[self._number_of[name]]

    def holders(self, name: str, slots: int) -> NDArray[np.int64]:
        """1 for each node slot that has the image, 0 for the others."""
        bits = np.frombuffer(self._holders[self._number_of[name]], dtype=np.uint8)
        return np.unpackbits(bits, bitorder="little", count=slots).astype(np.int64)

    def _number(self, name: str, size_bytes: int) -> int:
        number = self._number_of.get(name)
        if number is None:
            number = self._spare.pop() if self._spare else len(self._names)
            if number == len(self._names):
                self._names.append("")
                self._sizes.append(0)
                self._held.append(0)
                self._holders.append(bytearray())
            self._number_of[name] = number
            self._names[number], self._sizes[number] = name, self._stated.get(name, size_bytes)
        return number

    def _state_anew(self, number: int, name: str, size_bytes: int) -> None:
        if not self._held[number]:
            self._sizes[number] = self._stated.get(name, size_bytes)

    def _mark_all(self, number: int, slots: NDArray[np.intp]) -> None:
        bits = self._holders[number]
        marked = np.zeros(max(8 * len(bits), int(slots[-1]) + 1), dtype=np.uint8)
        marked[: 8 * len(bits)] = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), bitorder="little")
        marked[slots] = 1
        self._holders[number] = bytearray(np.packbits(marked, bitorder="little"))
        self._held[number] += len(slots)

    def _mark(self, number: int, slot: int) -> None:
        bits = self._holders[number]
        if slot // 8 >= len(bits):
            bits.extend(bytes(slot // 8 + 1 - len(bits)))
        bits[slot // 8] |= 1 << slot % 8
        self._held[number] += 1

    def _clear(self, number: int, slot: int) -> None:
        self._holders[number][slot // 8] &= ~(1 << slot % 8)
        self._held[number] -= 1
        if not self._held[number]:
            del self._number_of[self._names[number]]
            self._names[number], self._holders[number] = "", bytearray()
            self._spare.append(number)


def _names(images: Iterable[ContainerImage]) -> dict[str, int]:
    """Every name of these images with the size."""
    return {name: image.size_bytes for image in images for name in image.names or ()}

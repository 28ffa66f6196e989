"""Columns of what nodes say about themselves, as small integers: one per distinct value.

A question about labels is then answered once per distinct value and looked up for all nodes at once.
"""

from collections.abc import Callable, Hashable, Iterable
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from scheduler.state.changes import Slots

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

"""Whether planned pods may stay where they are planned although somebody stays: rules about other pods, on fixed nodes.

Anti-affinity is simple: whoever it speaks of cannot stay within the value of its node label. Required affinity and spreading
depend on the order in which the pods come, so they are seated again, one after the other; some order must work.
"""

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.placement.relations import Even, Relations
from scheduler.plugins.pod_topology_spread import fewest
from scheduler.preemption.influence import Effect
from scheduler.state.changes import Slots
from scheduler.state.shapes import Shape
from scheduler.state.steps import ONE_BY_ONE, ONE_LOOK

Sums = dict[int, NDArray[np.int64]]


class Harmony:
    """The planned pods among those who stay; `relations` are those once everybody who may leave has left."""

    def __init__(self, relations: Relations, placement: Iterable[tuple[Shape, Slots, NDArray[np.int64]]]) -> None:
        self._relations: Final = relations
        self._planned: Final = [
            (shape, slot) for shape, slots, counts in placement for slot in slots.repeat(counts).tolist()
        ]
        self._steps: Final = relations.nodes.steps
        self._closed: Final = set(self._kept_free())
        shapes = {shape for shape, _ in self._planned}
        stances = [relations.stances[shape] for shape in shapes]
        self._ordered: Final = {at for stance in stances for at in (*stance.near, *(one.place for one in stance.even))}
        self._sums: Final[Sums] = {at: relations.places[at].sums.copy() for at in self._ordered}

    @property
    def is_given(self) -> bool:
        """Whether all may be where they are when nobody comes back."""
        return not any(self._refuses(shape, slot) for shape, slot in self._planned) and self._can_be_seated()

    def bears(self, effects: list[Effect]) -> bool:
        """Whether a unit with these effects can stay as well; if so, it is taken to stay."""
        if any((at, code) in self._closed for at, code, _ in effects):
            return False
        felt = [effect for effect in effects if effect[0] in self._ordered]
        if not felt:
            return True
        for at, code, amount in felt:
            self._sums[at][code] += amount
        if self._can_be_seated():
            return True
        for at, code, amount in felt:
            self._sums[at][code] -= amount
        return False

    # --- inside ------------------------------------------------------------------------------------------------------

    def _kept_free(self) -> Iterable[tuple[int, int]]:
        for shape, slot in self._planned:
            stance = self._relations.stances[shape]
            self._steps.spend(ONE_BY_ONE * (1 + len(stance.keeps_off) + len(stance.repelled)))
            for at in (*stance.keeps_off, *stance.repelled):
                code = int(self._relations.places[at].codes[slot])
                if code:
                    yield at, code

    def _refuses(self, shape: Shape, slot: int) -> bool:
        stance, places = self._relations.stances[shape], self._relations.places
        return any(places[at].sums[places[at].codes[slot]] for at in (*stance.keeps_off, *stance.repelled))

    def _can_be_seated(self) -> bool:
        """Whoever may come comes: nobody who comes makes it worse for those within other values, so no order is missed."""
        self._steps.spend(sum(ONE_LOOK + len(numbers) for numbers in self._sums.values()))
        sums = {at: numbers.copy() for at, numbers in self._sums.items()}
        waiting = self._planned if self._ordered else []
        while waiting:
            left = [pod for pod in waiting if not self._seat(*pod, sums)]
            if len(left) == len(waiting):
                return False
            waiting = left
        return True

    def _seat(self, shape: Shape, slot: int, sums: Sums) -> bool:
        stance = self._relations.stances[shape]
        rules = 1 + len(stance.even) + len(stance.near)
        self._steps.spend(ONE_LOOK * rules + ONE_BY_ONE * len(self._relations.effects[shape]))
        if not all(self._is_even(one, slot, sums) for one in stance.even):
            return False
        if stance.near and not self._is_near(shape, slot, sums):
            return False
        for at, amount in self._relations.effects[shape].items():
            place = self._relations.places[at]
            if at in sums and (place.eligible is None or place.eligible[slot]):
                code = place.codes[slot]
                if code:
                    sums[at][code] += amount
        return True

    def _is_even(self, one: Even, slot: int, sums: Sums) -> bool:
        code = self._relations.places[one.place].codes[slot]
        self._steps.spend(len(one.values))
        least = fewest(sums[one.place], one.values, one.spread.min_domains)
        return bool(code and sums[one.place][code] + one.counts_itself - least <= one.spread.max_skew)

    def _is_near(self, shape: Shape, slot: int, sums: Sums) -> bool:
        stance = self._relations.stances[shape]
        codes = [(at, self._relations.places[at].codes[slot]) for at in stance.near]
        if not all(code for _, code in codes):
            return False
        if all(sums[at][code] > 0 for at, code in codes):
            return True
        return stance.is_of_its_kind and not any(sums[at].any() for at in stance.near)

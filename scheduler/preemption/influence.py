"""What running pods mean to the members by rules about other pods: who changes which number that can refuse a node.

Most pods bear on no such rule, so only those are looked at that some rule counts, found by the nodes they run on.
"""

from collections.abc import Hashable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.placement.relations import Relations
from scheduler.state.changes import Slots
from scheduler.state.cluster import ClusterState
from scheduler.state.records import PodRecord
from scheduler.state.steps import ONE_BY_ONE, ONE_LOOK

_A_ROW: Final = 100
"""Steps of finding one resident among others."""

Effect = tuple[int, int, int]
"""(place, code of the label's value, amount) that one pod adds."""


class Influence:
    """The effects of some residents, as columns: `row[i]` adds `amount[i]` to `code[i]` of `place[i]`."""

    __slots__ = ("_effects", "amount", "code", "place", "row")

    def __init__(self, state: ClusterState, relations: Relations, rows: Slots) -> None:
        slots = state.residents.slots[rows]
        found = [
            (at, row, code, much)
            for at in sorted(relations.strict)
            for row, code, much in _on(state, relations, at, rows, slots)
        ]
        columns = np.array(found, dtype=np.int64).reshape(len(found), 4)
        self.place: Final = columns[:, 0]
        self.row: Final = columns[:, 1]
        self.code: Final = columns[:, 2]
        self.amount: Final = columns[:, 3]
        self._effects: dict[int, list[Effect]] = {}
        for at, row, code, much in found:
            self._effects.setdefault(row, []).append((at, code, much))

    def __len__(self) -> int:
        return len(self.row)

    def of(self, row: int) -> list[Effect]:
        """What one resident adds."""
        return self._effects.get(row, [])

    def rows(self, places: set[int] | None = None) -> Slots:
        """The residents that change some of these places (None: any), each once."""
        chosen = self.row if places is None else self.row[np.isin(self.place, list(places))]
        return np.unique(chosen).astype(np.intp)

    def without(self, relations: Relations, rows: Slots) -> Relations:
        """The relations once these residents have left."""
        relations.nodes.steps.spend(ONE_LOOK + _A_ROW * (len(self.row) + len(rows)))
        gone = np.isin(self.row, rows)
        if not gone.any():
            return relations
        taken: dict[int, NDArray[np.int64]] = {}
        for at in np.unique(self.place[gone]).tolist():
            relations.nodes.steps.spend(3 * (ONE_LOOK + len(self.row)))
            here = gone & (self.place == at)
            taken[at] = np.zeros_like(relations.places[at].sums)
            np.add.at(taken[at], self.code[here], self.amount[here])
        return relations.less(taken)


def _on(state: ClusterState, relations: Relations, at: int, rows: Slots, slots: Slots) -> list[tuple[int, int, int]]:
    place, steps = relations.places[at], relations.nodes.steps
    steps.spend(4 * (ONE_LOOK + len(place.codes)) + 2 * len(rows))
    counts = place.codes != 0
    if place.eligible is not None:
        counts = counts & place.eligible
    is_concerned = (counts & relations.counted_on(at))[slots]
    concerned = rows[is_concerned]
    codes = place.codes[slots[is_concerned]].tolist()
    steps.spend(4 * ONE_BY_ONE * len(concerned))
    known: dict[Hashable, int] = {}
    found: list[tuple[int, int, int]] = []
    for row, code in zip(concerned.tolist(), codes, strict=True):
        pod = state.residents.pods[row]
        if pod is None:
            continue
        likeness = _likeness(state, pod)
        amount = known.get(likeness)
        if amount is None:
            amount = known[likeness] = relations.added_by(pod, at)
        if amount:
            found.append((row, code, amount))
    return found


def _likeness(state: ClusterState, pod: PodRecord) -> Hashable:
    return (pod.namespace, state.neighbours.visible(pod), pod.bonds, pod.terminating)

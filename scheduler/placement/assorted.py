"""Members that nearly all differ: each goes to the node that is best for it then, as if taken one by one.

Nodes in the same state count as one kind until a pod is put on one of them, and nodes that cannot be as good as the best few
are not judged at all. Some pods in a row are judged together: each is given its best node as if the nodes given to the pods
before it were out of the question, and that guess is checked. Had one of these nodes, with its new pod on it, been better
still, the guess holds up to there and the rest is guessed anew.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler.placement.kinds import Kinds, kinds
from scheduler.placement.trial import Placed, Trial
from scheduler.scores.after import ROWS, After, Loads
from scheduler.scores.total import best_score, total_score
from scheduler.state.changes import Slots
from scheduler.state.shapes import Shape

Table = NDArray[np.int64]

_STEP: Final = 2**32
"""Weight of a score against a node slot; no cluster has as many nodes."""
_NOWHERE: Final = -(2**62)
_HARDLY: Final = -(2**61)
"""Ranks below this stand for nodes that cannot take the pod."""
_TOO_MUCH: Final = 2**62
_AT_ONCE: Final = 32
"""Pods that are looked at together."""
_MANY: Final = 512
"""From so many kinds on it pays to leave those out that cannot be best."""
_BEST_FEW: Final = 32
_SLACK: Final = 2
"""Points below the best that are still looked at, so that the best may be used up."""
_FEWEST: Final = 8
_MOST_ALIKE: Final = 8
"""From so many pods of each shape on it is cheaper to look at shape after shape."""


def are_assorted(trial: Trial, pending: Mapping[Shape, int]) -> bool:
    """Whether the members are many of which few are alike, and nothing but amounts, masks and images decides."""
    if len(pending) < _FEWEST or sum(pending.values()) > _MOST_ALIKE * len(pending) or trial.company is not None:
        return False
    if not all(shape.scoring.is_usual for shape in pending):
        return False
    return not any(
        shape.demand.ports or not shape.scoring.is_usual or trial.has_preferences(shape) for shape in pending
    )


class Assortment:
    """Many shapes, and the nodes of a trial that nothing was placed on yet, told apart by kind."""

    def __init__(self, trial: Trial, shapes: Sequence[Shape]) -> None:
        self.shapes: Final = shapes
        resolved = [trial.resolve(shape.demand) for shape in shapes]
        amounts = np.array([each.column for each in resolved], dtype=np.int64).T
        self.amounts: Final[Table] = amounts
        self.least: Final[Table] = np.where(amounts > 0, amounts, _NOWHERE)
        """What must be free; what is not asked for need not be."""
        self.least[0, [bool(each.missing) for each in resolved]] = _TOO_MUCH
        self.asked: Final = np.flatnonzero((self.least != _NOWHERE).any(axis=1))
        """The rows that matter to somebody."""
        self.loads: Final = Loads([shape.demand for shape in shapes])
        self.counted: Final[Table] = np.array([shape.demand.scored for shape in shapes], dtype=np.int64).T
        grounds = {(shape.rules, shape.images): index for index, shape in reversed(list(enumerate(shapes)))}
        number = {ground: at for at, ground in enumerate(grounds)}
        self.ground_of: Final = np.array([number[shape.rules, shape.images] for shape in shapes], dtype=np.intp)
        masks = [trial.open_to(shapes[index]) for index in grounds.values()]
        merits = [
            trial.wishes(shapes[index], mask.astype(np.int64))
            for index, mask in zip(grounds.values(), masks, strict=True)
        ]
        self.slots: Final[Slots] = np.flatnonzero(np.any(masks, axis=0))
        self.free: Final[Table] = trial.free[:, self.slots]
        self.scored: Final[Table] = trial.scored[:, self.slots]
        self.offered: Final[Table] = trial.allocatable[: len(ROWS), self.slots]
        self.is_open: Final[NDArray[np.bool_]] = np.array(masks)[:, self.slots]
        nothing = np.zeros(trial.slots_total, dtype=np.int64)
        self.merit: Final[Table] = np.array([nothing if merit is None else merit for merit in merits])[:, self.slots]
        self.kinds: Final[Kinds] = kinds(
            np.concatenate(
                [self.free[self.asked], self.free[: len(ROWS)], self.scored, self.offered, self.is_open, self.merit]
            )
        )

    def room(self) -> tuple[list[int], list[int]]:
        """By shape: how many pods of it alone the nodes could take, and how many nodes could take one."""
        first = self.kinds.first
        sizes = np.array([len(part) for part in self.kinds.members], dtype=np.float64)
        found = np.empty((2, len(self.shapes)))
        for some in _slices(len(self.shapes), max(1, 2**16 // max(1, len(first)))):
            room = np.where(self.is_open[self.ground_of[some]][:, first].T, np.inf, 0)
            for row in self.asked.tolist():
                # Exact: amounts have at most 51 bits, so that no quotient is rounded up to the next whole number.
                fitting = np.floor(self.free[row, first][:, None] / np.maximum(self.amounts[row, some], 1)[None, :])
                np.minimum(room, fitting, out=room, where=(self.least[row, some] != _NOWHERE)[None, :])
            room[:, self.least[0, some] == _TOO_MUCH] = 0
            np.maximum(room, 0, out=room)
            found[:, some] = sizes @ room, sizes @ (room > 0)
        pods, hosts = found.astype(np.int64).tolist()
        return pods, hosts

    def place(self, order: Sequence[int], *, pack: bool) -> list[int]:
        """The node slot of each pod, -1 for none; `order` is the pods by index of their shape, first come, first served."""
        return _Run(self, len(order), pack=pack).place(np.array(order, dtype=np.intp))


class _Guess(NamedTuple):
    """Where a pod may go: the place of the node's column among those that were looked at, its slot and rank; -1 for nowhere."""

    at: int
    slot: int
    rank: int


class _Run:
    """One pass. Columns are kinds first, then the nodes that got a pod, in the order they got their first."""

    def __init__(self, among: Assortment, pods: int, *, pack: bool) -> None:
        first = among.kinds.first
        self._among: Final = among
        self._sign: Final = -1 if pack else 1
        self._kinds: Final = len(first)
        self._used = len(first)
        self._next = [0] * len(first)
        """By kind: how many of its nodes have got a pod."""
        self._free = _wide(among.free[:, first], pods)
        self._scored = _wide(among.scored[:, first], pods)
        self._offered = _wide(among.offered[:, first], pods)
        self._is_open = _wide(among.is_open[:, first], pods)
        self._merit = _wide(among.merit[:, first], pods)
        self._slot: Slots = np.concatenate([among.slots[first], np.zeros(pods, dtype=np.intp)])
        self._can_leave_out: Final = len(first) >= _MANY and not pack
        self._most: Table = np.zeros(len(first) + pods, dtype=np.int64)
        """No pod has a higher score there."""
        if self._can_leave_out:
            self._bound(np.arange(len(first)))

    def place(self, order: NDArray[np.intp]) -> list[int]:
        found: list[int] = []
        while len(found) < len(order):
            found += self._some(order[len(found) : len(found) + _AT_ONCE])
        return found

    def _some(self, pods: NDArray[np.intp]) -> list[int]:
        """Places the first of these pods, at least one."""
        columns, best_left_out = self._promising(pods)
        known = len(columns)
        columns = np.concatenate([columns, np.arange(self._used, self._used + len(pods))])
        ranks = np.full((len(pods), len(columns)), _NOWHERE, dtype=np.int64)
        ranks[:, :known] = self._ranks_now(pods, columns[:known]).T
        found: list[int] = []
        span = len(pods)
        while len(found) < len(pods):
            done = len(found)
            given = self._guess(ranks[done : done + span].copy(), columns)
            proven = next((at for at, guess in enumerate(given) if guess.rank <= best_left_out), len(given))
            if not proven:
                break
            kept = self._check(pods[done:], given[:proven], ranks[done:], columns)
            found += [guess.slot for guess in given[:kept]]
            span = 2 * kept
        return found

    def _promising(self, pods: NDArray[np.intp]) -> tuple[NDArray[np.intp], int]:
        """The columns to look at for these pods, and a rank that none of the others can exceed."""
        columns = np.arange(self._used)
        if not self._can_leave_out:
            return columns, 2 * _NOWHERE
        few = np.argpartition(-self._most[columns], _BEST_FEW)[:_BEST_FEW]
        lowest = int(self._ranks_now(pods, few).max(axis=0).min())
        if lowest < _HARDLY:
            return columns, 2 * _NOWHERE
        is_left_out = self._most[columns] < -(-lowest // _STEP) - _SLACK
        left_out = columns[is_left_out]
        ranks = self._most[left_out] * _STEP - self._slot[left_out]
        return columns[~is_left_out], int(ranks.max(initial=2 * _NOWHERE))

    def _bound(self, columns: NDArray[np.intp]) -> None:
        most = best_score(self._offered, self._free, self._scored, columns)
        self._most[columns] = most + self._merit[:, columns].max(axis=0)

    def _guess(self, ranks: Table, columns: NDArray[np.intp]) -> list[_Guess]:
        """A node for each pod; no node is given twice."""
        given: list[_Guess] = []
        taken: dict[int, int] = {}
        for index, row in enumerate(ranks):
            at = int(row.argmax())
            rank = int(row[at])
            if rank < _HARDLY:
                given.append(_Guess(-1, -1, _NOWHERE))
                continue
            slot = -rank % _STEP
            given.append(_Guess(at, slot, rank))
            taken[at] = taken.get(at, 0) + 1
            self._step(ranks[index + 1 :, at], int(columns[at]), taken[at], slot)
        return given

    def _step(self, ranks: Table, column: int, taken: int, slot: int) -> None:
        """The ranks of a column after so many of its nodes were given away, the last one being `slot`."""
        left = self._left(column, taken)
        if left is None:
            ranks[:] = _NOWHERE
        else:
            ranks -= left - slot

    def _left(self, column: int, taken: int) -> int | None:
        if column >= self._kinds:
            return None
        members = self._among.kinds.members[column]
        at = self._next[column] + taken
        return int(self._among.slots[members[at]]) if at < len(members) else None

    def _check(self, pods: NDArray[np.intp], given: list[_Guess], ranks: Table, seen: NDArray[np.intp]) -> int:
        """Settles as many of the pods as were guessed right, at least the first, and returns how many."""
        placed = [index for index, guess in enumerate(given) if guess.at >= 0]
        where = np.array([given[index].at for index in placed], dtype=np.intp)
        columns = seen[where]
        slots = np.array([given[index].slot for index in placed], dtype=np.intp)
        shapes = pods[placed]
        free = self._free[:, columns] - self._among.amounts[:, shapes]
        scored = self._scored[:, columns] + self._among.counted[:, shapes]
        then = self._ranks(pods, free, scored, columns, slots)
        later = np.array(placed, dtype=np.intp)[:, None] < np.arange(len(given))[None, :]
        better = np.where(later, then[:, : len(given)], _NOWHERE).max(axis=0, initial=_NOWHERE)
        wrong = np.flatnonzero(better > np.array([guess.rank for guess in given]))
        kept = int(wrong[0]) if len(wrong) else len(given)
        settled = int(np.searchsorted(placed, kept))
        where, columns, slots = where[:settled], columns[:settled], slots[:settled]
        targets = self._opened(columns, slots)
        self._free[:, targets], self._scored[:, targets] = free[:, :settled], scored[:, :settled]
        if self._can_leave_out:
            self._bound(targets)
        # Of several nodes of a kind the first given is the one that its column still stands for.
        for index in np.unique(columns, return_index=True)[1].tolist():
            if columns[index] < self._kinds:
                self._step(ranks[kept:, where[index]], int(columns[index]), 0, int(slots[index]))
        # The columns that are opened last stand last among those that are seen.
        where = np.where(columns < self._kinds, targets + (len(seen) - 1 - seen[-1]), where)
        ranks[kept:, where] = then[:settled, kept:].T
        return kept

    def _opened(self, columns: NDArray[np.intp], slots: Slots) -> NDArray[np.intp]:
        """The columns for these nodes: a new one for each that is of a kind, without anything on it yet."""
        targets = columns.copy()
        for index in np.flatnonzero(columns < self._kinds).tolist():
            targets[index] = self._used
            self._used += 1
            self._next[int(columns[index])] += 1
        for array in (self._offered, self._is_open, self._merit):
            array[:, targets] = array[:, columns]
        self._slot[targets] = slots
        for column in {*columns[columns < self._kinds].tolist()}:
            left = self._left(column, 0)
            if left is None:
                self._is_open[:, column] = False
                self._most[column] = 0
            else:
                self._slot[column] = left
        return targets

    def _ranks_now(self, pods: NDArray[np.intp], columns: NDArray[np.intp]) -> Table:
        return self._ranks(pods, self._free[:, columns], self._scored[:, columns], columns, self._slot[columns])

    def _ranks(
        self, pods: NDArray[np.intp], free: Table, scored: Table, columns: NDArray[np.intp], slots: Slots
    ) -> Table:
        """How good nodes (rows) are for pods (columns): by score, then by slot. The nodes are `columns` with other pods on them."""
        among = self._among
        everything = slice(None)
        score = total_score(After(self._offered[:, columns], free, scored, among.loads.some(pods), everything))
        grounds = among.ground_of[pods]
        score += self._merit[grounds][:, columns].T
        ranks = score * (self._sign * _STEP) - slots[:, None]
        fits = self._is_open[grounds][:, columns].T
        for row in among.asked.tolist():
            fits &= free[row][:, None] >= among.least[row, pods][None, :]
        ranks[~fits] = _NOWHERE
        return ranks


def one_by_one(pods: Sequence[Shape], slots: Sequence[int]) -> list[Placed]:
    """What `Assortment.place` found, shape by shape; pods of one shape stand together."""
    where = np.array(slots, dtype=np.intp)
    one = np.ones(1, dtype=np.int64)
    return [Placed(shape, where[at : at + 1], one, 1) for at, shape in enumerate(pods) if slots[at] >= 0]


def _wide(table: NDArray[Any], by: int) -> NDArray[Any]:
    return np.concatenate([table, np.zeros((len(table), by), dtype=table.dtype)], axis=1)


def _slices(total: int, size: int) -> Iterator[slice]:
    for start in range(0, total, size):
        yield slice(start, min(start + size, total))

"""Members of several shapes: by shape, hardest first; other orders and packing before giving up.

One shape is exact. Several are a bin packing problem, and no order is right for all of them; so when an attempt leaves
members over, the next order is tried, and a refusal says whether a placement may exist that was not found.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from scheduler.placement.assorted import Assortment, are_assorted, one_by_one
from scheduler.placement.attempt import Attempt, Pending
from scheduler.placement.ceiling import ceiling
from scheduler.placement.seated import Patience, must_be_seated, patience_for, seated_attempt
from scheduler.placement.trial import Placed, Trial
from scheduler.placement.turns import place_in_turn
from scheduler.state.nodes import NodeTable
from scheduler.state.shapes import Shape


def most(pending: Pending, trial: Trial) -> int:
    """No placement puts more members than this on nodes: each shape as if it were alone."""
    if are_assorted(trial, pending):
        room, _ = Assortment(trial, list(pending)).room()
        return sum(map(min, pending.values(), room))
    return sum(ceiling(trial, shape, count) for shape, count in by_base(pending).items())


def by_base(pending: Pending) -> dict[Shape, int]:
    """The same pods by what decides where they fit."""
    found: dict[Shape, int] = {}
    for shape, count in pending.items():
        found[shape.base] = found.get(shape.base, 0) + count
    return found


def best_attempt(
    pending: Pending,
    wanted: int,
    nodes: NodeTable,
    new_trial: Callable[[], Trial],
    patience: Patience | None = None,
) -> Attempt:
    """Places as many members as it can find room for, stopping early once all have a place or too few ever will."""
    trial = new_trial()
    if must_be_seated(trial, pending):
        return seated_attempt(pending, wanted, new_trial, patience or patience_for(pending))
    if len(pending) == 1 or (trial.company is None and len(by_base(pending)) == 1):
        return Attempt(trial, [trial.place(shape, count) for shape, count in pending.items()])
    placement = _assorted(pending, nodes, trial) if are_assorted(trial, pending) else _by_shape(pending, nodes, trial)
    limit = sum(min(count, placement.prospects[shape].room) for shape, count in pending.items())
    best: Attempt | None = None
    for order, pack in _ways(placement.prospects):
        trial = new_trial()
        attempt = Attempt(trial, placement.place(trial, order, pack))
        if best is None or attempt.total > best.total:
            best = attempt
        if best.total == limit or limit < wanted:
            break
    if best is None:
        raise ValueError("nothing to place")
    best.proven = limit < wanted
    return best


class _Prospect(NamedTuple):
    """How hard a shape is to place: places for it, nodes that have some, and its largest share of any resource."""

    room: int
    hosts: int
    share: float


class _Placement(NamedTuple):
    """How members are placed in a given order, and how hard each shape is."""

    prospects: Mapping[Shape, _Prospect]
    place: Callable[[Trial, list[Shape], bool], list[Placed]]


def _by_shape(pending: Pending, nodes: NodeTable, empty: Trial) -> _Placement:
    """Shape after shape, each in closed form."""
    prospects: dict[Shape, _Prospect] = {}
    shares = _largest_shares(list(pending), nodes)
    for shape, share in zip(pending, shares, strict=True):
        capacity = empty.capacity(shape)
        prospects[shape] = _Prospect(int(capacity.sum()), int(np.count_nonzero(capacity)), share)

    def place(trial: Trial, order: list[Shape], pack: bool) -> list[Placed]:
        return [trial.place(shape, pending[shape], pack=pack) for shape in order]

    return _Placement(prospects, place)


def _assorted(pending: Pending, nodes: NodeTable, empty: Trial) -> _Placement:
    """Pod after pod, many at a time."""
    shapes = list(pending)
    among = Assortment(empty, shapes)
    prospects = dict(zip(shapes, map(_Prospect, *among.room(), _largest_shares(shapes, nodes)), strict=True))
    index_of = {shape: index for index, shape in enumerate(shapes)}

    def place(trial: Trial, order: list[Shape], pack: bool) -> list[Placed]:
        pods = [shape for shape in order for _ in range(pending[shape])]
        placed = one_by_one(pods, place_in_turn(among, [index_of[shape] for shape in pods], pack=pack))
        trial.adopt(placed)
        return placed

    return _Placement(prospects, place)


def _ways(prospects: Mapping[Shape, _Prospect]) -> Iterator[tuple[list[Shape], bool]]:
    keys: tuple[Callable[[Shape], tuple[float, float]], ...] = (
        lambda shape: (prospects[shape].room, -prospects[shape].share),
        lambda shape: (-prospects[shape].share, prospects[shape].room),
        lambda shape: (prospects[shape].hosts, -prospects[shape].share),
        lambda shape: (-prospects[shape].room, prospects[shape].share),
    )
    orders: list[list[Shape]] = []
    for key in keys:
        order = sorted(prospects, key=key)
        if order not in orders:
            orders.append(order)
            yield order, False
    for order in orders:
        yield order, True


def _largest_shares(shapes: Sequence[Shape], nodes: NodeTable) -> list[float]:
    """Of each shape: the largest share of all there is that one pod asks for, over the resources."""
    totals = nodes.allocatable.sum(axis=1).clip(min=1)
    columns = np.array([nodes.resolve(shape.demand).column for shape in shapes])
    shares: list[float] = (columns / totals).max(axis=1).tolist()
    return shares

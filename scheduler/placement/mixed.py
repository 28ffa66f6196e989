"""Members of several shapes: by shape, hardest first; other orders and packing before giving up.

One shape is exact. Several are a bin packing problem, and no order is right for all of them; so when an attempt leaves
members over, the next order is tried, and a refusal says whether a placement may exist that was not found.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from scheduler.placement.attempt import Attempt, Pending
from scheduler.placement.ceiling import ceiling
from scheduler.placement.seated import Patience, must_be_seated, patience_for, seated_attempt
from scheduler.placement.trial import Trial
from scheduler.state.nodes import NodeTable
from scheduler.state.shapes import Shape


def most(pending: Pending, trial: Trial) -> int:
    """No placement puts more members than this on nodes: each shape as if it were alone."""
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
    prospects = _prospects(pending, nodes, trial)
    limit = sum(min(count, prospects[shape].room) for shape, count in pending.items())
    best: Attempt | None = None
    for order, pack in _ways(prospects):
        trial = new_trial()
        attempt = Attempt(trial, [trial.place(shape, pending[shape], pack=pack) for shape in order])
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


def _prospects(pending: Pending, nodes: NodeTable, empty: Trial) -> dict[Shape, _Prospect]:
    found: dict[Shape, _Prospect] = {}
    for shape in pending:
        capacity = empty.capacity(shape)
        found[shape] = _Prospect(int(capacity.sum()), int(np.count_nonzero(capacity)), _largest_share(shape, nodes))
    return found


def _ways(prospects: Mapping[Shape, _Prospect]) -> Iterator[tuple[list[Shape], bool]]:
    orders = [
        sorted(prospects, key=lambda shape: (prospects[shape].room, -prospects[shape].share)),
        sorted(prospects, key=lambda shape: (-prospects[shape].share, prospects[shape].room)),
        sorted(prospects, key=lambda shape: (prospects[shape].hosts, -prospects[shape].share)),
        sorted(prospects, key=lambda shape: (-prospects[shape].room, prospects[shape].share)),
    ]
    seen: list[list[Shape]] = []
    for order in orders:
        if order not in seen:
            seen.append(order)
    for pack in (False, True):
        for order in seen:
            yield order, pack


def _largest_share(shape: Shape, nodes: NodeTable) -> float:
    resolved = nodes.resolve(shape.demand)
    totals = nodes.allocatable[resolved.rows].sum(axis=1)
    return float((resolved.amounts / totals.clip(min=1)).max(initial=0.0))

"""Topology: all members of a group inside one value of a node label.

Every value is a candidate and all of them are looked at, with sums per value: best is the one that takes the most members,
then the one that is fuller afterwards, so that whole racks stay free for others. Members that run already pin the value.
"""

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from api.requests import PODS
from scheduler.placement.attempts import Attempt, AttemptBudget, affect_each_other, best_attempt
from scheduler.placement.domain_sums import DomainSums
from scheduler.placement.trial import Trial
from scheduler.placement.upper_bound import by_base, most_in_domain
from scheduler.state.nodes import NodeTable
from scheduler.state.shapes import Pending

NewTrial = Callable[[NDArray[np.bool_] | None, str], Trial]
"""A trial limited to these nodes (None: all), with the reason to give for all others."""


def domains_in_use(key: str, placed: Iterable[str], nodes: NodeTable) -> set[str]:
    """The values of the label on the nodes of these names; nodes that are gone or lack the label tell nothing."""
    slots = (nodes.slot_of.get(name) for name in placed)
    facts = (nodes.facts[slot] for slot in slots if slot is not None)
    return {value for known in facts if known and (value := known.label(key)) is not None}


def best_domain(
    key: str, pinned: str | None, pending: Pending, wanted: int, nodes: NodeTable, new_trial: NewTrial
) -> Attempt | None:
    """The best attempt over all domains; None when no node carries the label (with the pinned value)."""
    column = nodes.label_column(key)
    everywhere = new_trial(None, "")
    most = most_in_domain(key, pinned, pending, nodes, everywhere)
    domains = everywhere.domains(key)
    codes = np.flatnonzero((most >= 0) & (domains.nodes_in > 0))
    fullness = _fullness(domains, pending, nodes)
    codes = codes[np.lexsort((domains.order[codes], -fullness[codes], -most[codes]))]
    best: Attempt | None = None
    budget = AttemptBudget(pending)
    for code in codes.tolist():
        if best is not None and (most[code] < wanted or most[code] <= best.total):
            break
        allowed = column.codes == code
        outside = f"node(s) were in another {key}"
        attempt = best_attempt(pending, wanted, nodes, lambda: new_trial(allowed, outside), budget)  # noqa: B023
        attempt.domain = column.values[code] or ""
        if best is None or attempt.total > best.total:
            best = attempt
    if best is not None:
        is_exact = len(by_base(pending)) == 1 and not affect_each_other(everywhere, pending)
        best.proven = is_exact or bool(most.max() < wanted)
    return best


def _fullness(domains: DomainSums, pending: Pending, nodes: NodeTable) -> NDArray[np.float64]:
    shares = np.zeros(len(domains.nodes_in))
    wanted: Counter[str] = Counter()
    for shape, members in pending.items():
        wanted.update({name: members * amount for name, amount in shape.demand.amounts.items() if name != PODS})
    for name, amount in wanted.items():
        row = nodes.row_of.get(name)
        if row is not None:
            total = domains.offered[row]
            shares += (total - domains.free[row] + amount) / np.maximum(total, 1)
    return shares

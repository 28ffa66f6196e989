"""Topology: all members of a group inside one value of a node label, and what the nodes of each value have in sum.

Every value is a candidate and all of them are looked at, with sums per value: best is the one that takes the most members,
then the one that is fuller afterwards, so that whole racks stay free for others. Members that run already pin the value.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from api.requests import PODS
from api.topology import ANYWHERE
from scheduler.algorithm.attempt import Attempt, AttemptBudget
from scheduler.algorithm.attempts import PODS_DIFFER, PODS_LIMIT_EACH_OTHER, affect_each_other, best_attempt
from scheduler.algorithm.exact.members import SearchBudget
from scheduler.algorithm.snapshot import NewSnapshot
from scheduler.algorithm.upper_bound import most_in_domain
from scheduler.cache.cluster import ClusterState
from scheduler.cache.node_columns import Column, Slots
from scheduler.cache.nodes import Amounts, NodeTable
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_signature import PodsBySignature
from scheduler.plugins.status import Certainty, Code, Status

NAME: Final = "TopologyPlacementGenerator"

Sums = NDArray[np.float64]
"""Whole numbers; the sum of many nodes' memory may be more than fits an int64."""

_SURE_TO_UNSURE: Final = (Certainty.COUNTED, Certainty.PROVED, Certainty.NOT_FOUND, Certainty.NOT_SEARCHED)

MOST_KEYS: Final = 16
"""Label keys that groups name as their topology at the same time; the longest known goes first."""


class DomainSums:
    """One label key; columns are codes of its values."""

    def __init__(self, nodes: NodeTable, key: str) -> None:
        self._nodes: Final = nodes
        self._key: Final = key
        self.offered: Sums = np.zeros((0, 0))
        self.free: Sums = np.zeros((0, 0))
        self.nodes_in: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        """Nodes per value."""
        self.order: NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        """Where each value stands in alphabetical order."""
        self._column: Column[str | None] | None = None
        self._counted: Amounts = np.zeros((0, 0), dtype=np.int64)
        self._room_position = 0
        self._rule_position = -1

    def catch_up(self) -> None:
        """Takes in what changed since the last call."""
        nodes = self._nodes
        rules, room = nodes.rule_changes, nodes.room_changes
        column = nodes.label_column(self._key)
        if self._column is not column or self._rule_position != rules.end or self._counted.shape != nodes.free.shape:
            self._column = column
            self._count_all()
        elif self._room_position != room.end:
            changed = room.since(self._room_position, limit=nodes.slots // 4)
            if changed is None:
                self._count_all()
            else:
                self._count(changed)
        self._room_position, self._rule_position = room.end, rules.end

    def _count_all(self) -> None:
        nodes = self._nodes
        column = nodes.label_column(self._key)
        size = len(column.values)
        self.offered = _sums(nodes.offered(slice(None)), column.codes, size)
        self.free = _sums(nodes.free, column.codes, size)
        self.nodes_in = np.bincount(column.codes[nodes.alive], minlength=size)
        self.order = np.argsort(np.argsort(np.array([value or "" for value in column.values])))
        self._counted = nodes.free.copy()

    def _count(self, slots: Slots) -> None:
        nodes = self._nodes
        codes = nodes.label_column(self._key).codes
        for slot in slots.tolist():
            now, code = nodes.free[:, slot], codes[slot]
            self.free[:, code] += now - self._counted[:, slot]
            self._counted[:, slot] = now


def _sums(amounts: Amounts, codes: NDArray[np.int32], size: int) -> Sums:
    return np.array([np.bincount(codes, weights=by_node, minlength=size) for by_node in amounts])


class DomainTable:
    """The sums of the label keys in use."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes: Final = nodes
        self._sums: dict[str, DomainSums] = {}

    def of(self, key: str) -> DomainSums:
        """The current sums by a label."""
        sums = self._sums.get(key)
        if sums is None:
            if len(self._sums) >= MOST_KEYS:
                del self._sums[next(iter(self._sums))]
            sums = self._sums[key] = DomainSums(self._nodes, key)
        sums.catch_up()
        return sums


def domain_sums_of(state: ClusterState, key: str) -> DomainSums:
    """The current sums by a label, kept with the cluster."""
    return state.derived(_domain_table).of(key)


def _domain_table(state: ClusterState) -> DomainTable:
    return DomainTable(state.nodes)


def domains_in_use(key: str, placed: Iterable[str], nodes: NodeTable) -> set[str]:
    """The values of the label on the nodes of these names; nodes that are gone or lack the label tell nothing."""
    slots = (nodes.slot_of.get(name) for name in placed)
    facts = (nodes.facts[slot] for slot in slots if slot is not None)
    return {value for known in facts if known and (value := known.label(key)) is not None}


def pinned_values(state: ClusterState, members: PodGroupState) -> dict[str, str] | Status:
    """By label of a required level: the value where members run, nothing where none does; why no value can be right."""
    found: dict[str, str] = {}
    request = members.group.topology if members.group is not None else ANYWHERE
    in_use = state.nodes_in_use(members) if members.scheduled_count else ()
    for key in (level.key for level in request.levels if level.is_required):
        values = domains_in_use(key, in_use, state.nodes)
        if len(values) > 1:
            text = f"members already run in more than one {key}: {', '.join(sorted(values))}"
            return Status(Code.ERROR, text, plugin=NAME)
        if values:
            found[key] = next(iter(values))
    return found


def best_domain(
    key: str,
    pinned: str | None,
    pending: PodsBySignature,
    wanted: int,
    state: ClusterState,
    new_snapshot: NewSnapshot,
    search: SearchBudget | None = None,
) -> Attempt | None:
    """The best attempt over all domains; None when no node carries the label (with the pinned value).

    Args:
        key: the node label whose values are the domains.
        pinned: the only value that may be tried, None for all.
        pending: members to place, by signature.
        wanted: members that must get a node together.
        state: the cluster.
        new_snapshot: makes a snapshot for one try, on some nodes.
        search: what may be spent on searching all placements in domains where no way was enough; None for no search.

    Raises:
        OverBudgetError: more steps are needed than the computation under way may take.
    """
    nodes = state.nodes
    column = nodes.label_column(key)
    everywhere = new_snapshot(None, "")
    most = most_in_domain(key, pinned, pending, nodes, everywhere)
    domains = domain_sums_of(state, key)
    codes = np.flatnonzero((most >= 0) & (domains.nodes_in > 0))
    fullness = _fullness(domains, pending, nodes)
    codes = codes[np.lexsort((domains.order[codes], -fullness[codes], -most[codes]))]
    best: Attempt | None = None
    budget = AttemptBudget(pending)
    certainty = Certainty.COUNTED
    for code in codes.tolist():
        if best is not None and (most[code] < wanted or most[code] <= best.total):
            break
        allowed = column.codes == code
        outside = f"node(s) were in another {key}"
        attempt = best_attempt(pending, wanted, nodes, lambda: new_snapshot(allowed, outside), budget, search)  # noqa: B023
        attempt.domain = column.values[code] or ""
        certainty = max(certainty, attempt.certainty, key=_SURE_TO_UNSURE.index)
        if best is None or attempt.total > best.total:
            best = attempt
    if best is not None:
        reason = PODS_LIMIT_EACH_OTHER if affect_each_other(everywhere, pending) else PODS_DIFFER
        best.certainty = certainty
        best.incomplete_reason = "" if certainty in {Certainty.COUNTED, Certainty.PROVED} else reason
    return best


def _fullness(domains: DomainSums, pending: PodsBySignature, nodes: NodeTable) -> NDArray[np.float64]:
    shares = np.zeros(len(domains.nodes_in))
    wanted: Counter[str] = Counter()
    for signature, members in pending.items():
        wanted.update({name: members * amount for name, amount in signature.demand.amounts.items() if name != PODS})
    for name, amount in wanted.items():
        row = nodes.row_of.get(name)
        if row is not None:
            total = domains.offered[row]
            shares += (total - domains.free[row] + amount) / np.maximum(total, 1)
    return shares

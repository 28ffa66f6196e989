"""From a snapshot to the numbers of the search, and back.

Of nodes that can be exchanged for each other no more are kept than there are pods, so a large cluster of few kinds of nodes
becomes a small problem.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.exact.problem import Group, Kind, Problem, Role, Spread, set_of
from scheduler.algorithm.heterogeneous import node_classes
from scheduler.algorithm.overlay import Placed
from scheduler.algorithm.snapshot import SnapshotOverlay
from scheduler.algorithm.topology import Topology, TopologyGroup
from scheduler.cache.demand import HostPort, ports_conflict
from scheduler.cache.node_columns import Slots
from scheduler.cache.pod_signature import PodsBySignature, PodSignature

_SCANS_OF_A_SIGNATURE: Final = 10
_SCANS_OF_A_GROUP: Final = 10
"""Operations on all nodes that each takes."""
_SHARED_BY_NONE: Final = -1

Mask = NDArray[np.bool_]
Table = NDArray[np.int64]


class CompiledProblem(NamedTuple):
    """A problem, and what its numbers stand for."""

    problem: Problem
    kind_of: tuple[tuple[PodSignature, int], ...]
    """Signatures, each with the number of its kind."""
    slots: Slots
    """By node of the problem: its slot."""

    def placed(self, found: Sequence[tuple[int, int]], pending: PodsBySignature) -> list[Placed]:
        """The members on nodes, from (kind, node) of each."""
        nodes_of: dict[int, list[int]] = {}
        for kind, node in found:
            nodes_of.setdefault(kind, []).append(node)
        parts = []
        for signature, kind in self.kind_of:
            nodes, count = nodes_of.get(kind, []), pending[signature]
            nodes_of[kind] = nodes[count:]
            if nodes:
                slots, counts = np.unique(self.slots[nodes[:count]], return_counts=True)
                parts.append(Placed(signature, slots, counts.astype(np.int64)))
        return parts


def can_express(snapshot: SnapshotOverlay) -> bool:
    """Whether the search knows of all that matters to these pods: of volumes and devices it knows nothing."""
    topology = snapshot.topology_state.topology if snapshot.topology_state is not None else None
    return topology is None or (topology.volume_claims is None and topology.device_claims is None)


def compile_problem(snapshot: SnapshotOverlay, pending: PodsBySignature, wanted: int) -> CompiledProblem | None:
    """The problem of placing so many of these members; None for what it cannot express.

    Args:
        snapshot: without tentative pods.
        pending: the members, by signature.
        wanted: how many of them must get a node together.

    Raises:
        OverBudgetError: that takes more steps than the computation under way may cost.
    """
    if not can_express(snapshot):
        return None
    topology = snapshot.topology_state.topology if snapshot.topology_state is not None else None
    signatures, total = list(pending), sum(pending.values())
    roles, groups = _roles(topology, signatures)
    snapshot.spend(_SCANS_OF_A_SIGNATURE * len(signatures) + _SCANS_OF_A_GROUP * len(groups))
    is_open = np.array([_open_nodes(snapshot, signature) for signature in signatures])
    slots = np.flatnonzero(is_open.any(axis=0))
    amounts = np.array([snapshot.nodes.resolve(signature.demand).column for signature in signatures])
    rows = np.flatnonzero(amounts.any(axis=0))
    amounts = amounts[:, rows]
    free = np.minimum(snapshot.free[np.ix_(rows, slots)], total * amounts.max(axis=0)[:, None])
    rules = _rules_table(groups, roles, slots)
    kept = _kept(np.concatenate([free, is_open[:, slots], rules]), free, total)
    slots, free, rules = slots[kept], free[:, kept], rules[:, kept]
    keys = [
        _Key(tuple(amounts[at].tolist()), set_of(is_open[at, slots].tolist()), roles[at], signature.demand.ports)
        for at, signature in enumerate(signatures)
    ]
    number = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    counts = dict.fromkeys(number, 0)
    for signature, key in zip(signatures, keys, strict=True):
        counts[key] += pending[signature]
    problem = Problem(
        wanted,
        tuple(_kind(key, count, list(number)) for key, count in counts.items()),
        tuple(map(tuple, free.T.tolist())),
        _class_numbers(rules),
        tuple(_group(group, slots) for group in groups),
    )
    return CompiledProblem(
        problem, tuple((signature, number[key]) for signature, key in zip(signatures, keys, strict=True)), slots
    )


class _Key(NamedTuple):
    """What makes pods one kind."""

    amounts: tuple[int, ...]
    nodes: int
    role: Role
    ports: tuple[HostPort, ...]


def _kind(key: _Key, count: int, keys: list[_Key]) -> Kind:
    rivals = tuple(
        at for at, other in enumerate(keys) if any(ports_conflict(one, two) for one in key.ports for two in other.ports)
    )
    return Kind(count, key.amounts, key.nodes, key.role._replace(ports=rivals))


def _open_nodes(snapshot: SnapshotOverlay, signature: PodSignature) -> Mask:
    """The nodes that do not refuse a pod whatever the other members do."""
    found: Mask = snapshot.room(signature) > 0
    state = snapshot.topology_state
    refused = state.permanently_filtered(signature) if state is not None else None
    if state is not None and refused is not None:
        found[state.slots[refused]] = False
    return found


def _roles(topology: Topology | None, signatures: Sequence[PodSignature]) -> tuple[list[Role], list[TopologyGroup]]:
    """What each signature is to the others, and the groups that the roles speak of."""
    if topology is None:
        return [Role() for _ in signatures], []
    changing = topology.improvable
    found = []
    for signature in signatures:
        rules = topology.prefilter_states[signature]
        needs = set(rules.affinity) if changing & set(rules.affinity) else set()
        found.append(
            Role(
                excludes=tuple(sorted(changing & {*rules.anti_affinity, *rules.existing_anti_affinity})),
                needs=tuple(sorted(needs)),
                may_be_first=rules.is_of_its_kind and bool(needs),
                spreads=tuple(
                    Spread(
                        each.place,
                        tuple(each.values.tolist()),
                        each.spread.max_skew,
                        each.spread.min_domains,
                        bool(each.counts_itself),
                    )
                    for each in rules.hard_spreads
                    if each.place in changing
                ),
                effects=tuple(sorted(topology.effects[signature].items())),
            )
        )
    used = sorted({at for role in found for at in _looked_at(role)})
    number = {at: index for index, at in enumerate(used)}
    return [_renumbered(role, number) for role in found], [topology.groups[at] for at in used]


def _looked_at(role: Role) -> list[int]:
    return [*role.excludes, *role.needs, *(spread.group for spread in role.spreads)]


def _renumbered(role: Role, number: dict[int, int]) -> Role:
    return role._replace(
        excludes=tuple(number[at] for at in role.excludes),
        needs=tuple(number[at] for at in role.needs),
        spreads=tuple(spread._replace(group=number[spread.group]) for spread in role.spreads),
        effects=tuple((number[at], amount) for at, amount in role.effects if at in number),
    )


def _rules_table(groups: Sequence[TopologyGroup], roles: Sequence[Role], slots: Slots) -> Table:
    """Columns that are equal for nodes that rules about other pods do not tell apart.

    Values that only one node has are alike as far as they count the same.
    """
    rows: list[NDArray[np.int64] | Mask] = []
    for group in groups:
        codes = group.codes[slots]
        is_shared = (np.bincount(codes)[codes] > 1) | (codes == 0)
        rows.append(np.where(is_shared, codes, _SHARED_BY_NONE).astype(np.int64))
        rows.append(group.counts[codes])
        rows.append(np.ones(len(slots), dtype=np.bool_) if group.eligible is None else group.eligible[slots])
    among = sorted({(spread.group, spread.values) for role in roles for spread in role.spreads})
    rows += [np.isin(groups[at].codes[slots], values) for at, values in among]
    return np.array(rows, dtype=np.int64).reshape(len(rows), len(slots))


def _kept(columns: Table, free: Table, total: int) -> Slots:
    """Of each class of nodes as many as there are pods, the fullest nodes first."""
    kept = np.array([node for nodes in node_classes(columns).members for node in nodes[:total]], dtype=np.intp)
    room = (free[:, kept] / np.maximum(free.max(axis=1, initial=1), 1)[:, None]).sum(axis=0)
    return np.asarray(kept[np.lexsort((kept, room))], dtype=np.intp)


def _class_numbers(columns: Table) -> tuple[int, ...]:
    """By node: the number of its class."""
    found = [0] * columns.shape[1]
    for number, nodes in enumerate(node_classes(columns).members if len(columns) else []):
        for node in nodes:
            found[node] = number
    return tuple(found)


def _group(group: TopologyGroup, slots: Slots) -> Group:
    codes = group.codes[slots]
    counted = codes if group.eligible is None else np.where(group.eligible[slots], codes, 0)
    return Group(tuple(codes.tolist()), tuple(counted.tolist()), tuple(group.counts.tolist()))

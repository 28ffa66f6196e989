"""From a placement to a candidate: who of the chosen can stay after all, and what it costs that the others leave.

With every preemptor on its node, units are given back one by one if that still works (upstream: reprieve): those that would exceed
a disruption budget first, then from the most important down (KEP-5710). A unit is given back whole or not at all. What is left
is minimal: giving back any one more would push a preemptor off its node. What is over on a node only becomes less, so a unit that
is too large for it at the beginning is not looked at one by one.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from api.requests import PODS
from scheduler.algorithm.devices.placed import PlacedDevices, held_by_pod
from scheduler.cache.demand import HostPort, ports_conflict
from scheduler.cache.node_columns import Slots
from scheduler.cache.pod_signature import PodSignature
from scheduler.preemption.claim_releases import ReprieveDevices
from scheduler.preemption.context import PotentialVictims, PreemptionContext
from scheduler.preemption.node_candidates import Mask
from scheduler.preemption.victim_topology import ReprieveTopology
from scheduler.preemption.victims import LIFT, Candidate, Cost, KeptDevices, Victim, importance

_A_POD: Final = 3_000
"""Steps of putting one pod back."""
NO_LIMIT: Final = 2**62
_LOWEST: Final = -(2**31)
_DIGITS: Final = 9
"""Shares that differ by less are equal: they are sums of fractions in another order."""

Placement = Sequence[tuple[PodSignature, Slots, NDArray[np.int64]]]
"""(signature, node slots, pods on each of them)."""


def candidate_for(
    context: PreemptionContext, placement: Placement, potential: PotentialVictims, chosen: Mask, domain: Mask | None
) -> Candidate:
    """The candidate with this placement, once everybody has been given back who can stay.

    Args:
        context: the snapshot.
        placement: where the members go when all chosen have left.
        potential: who may leave.
        chosen: [pod] which of them are in the way of the placement; of a unit all pods or none.
        domain: [node slot] the topology domain of the placement, None: the whole cluster.

    Raises:
        OverBudgetError: one computation may not take so long.
    """
    assigned_pods, names = context.state.assigned_pods, context.state.nodes.names
    numbers = reprieve(context, placement, potential, chosen)
    units = sorted((assigned_pods.units[number] for number in numbers), key=importance)
    pods = [tuple(pod for pod in assigned_pods.records(unit.rows) if not pod.terminating) for unit in units]
    violating = context.violators(pods) if context.violators is not None else [False] * len(units)
    victims = tuple(Victim(*victim) for victim in zip(units, pods, violating, strict=True))
    places: list[tuple[str, str]] = []
    for signature, slots, counts in placement:
        where = [names[slot] for slot in slots.repeat(counts).tolist()]
        places += zip(context.uids[signature][: len(where)], where, strict=True)
    vacancy = _vacancy_after(context, domain, placement, numbers) if domain is not None else 0.0
    leaving = potential.row[np.isin(potential.unit, numbers)]
    devices = kept_devices(context, placement, context.uids, leaving)
    return Candidate(context.members.key, context.priority, tuple(places), victims, _cost_of(victims, vacancy), devices)


def kept_devices(
    context: PreemptionContext, placement: Placement, uids: Mapping[PodSignature, Sequence[str]], leaving: Slots
) -> KeptDevices:
    """The devices that placed pods count on once the pods of these rows have left; nothing where they do not suffice.

    Args:
        context: the snapshot.
        placement: where the pods are.
        uids: of the pods of each signature, in the order of the placement.
        leaving: rows of those who leave.
    """
    topology = context.topology_without_rows(leaving)
    claims = topology.device_claims if topology is not None else None
    if claims is None:
        return ()
    given = PlacedDevices(claims, placement).choose(claims.view.held)
    held = held_by_pod(given or (), uids, placement)
    return tuple((uid, devices) for uid, devices in held.items() if devices)


def reprieve(context: PreemptionContext, placement: Placement, potential: PotentialVictims, chosen: Mask) -> list[int]:
    """Numbers of the units that must leave when all others of the chosen stay; arguments as of `candidate_for`."""
    everybody = np.flatnonzero(chosen)
    rows = sorted(
        {row for signature, _, _ in placement for row in context.state.nodes.resolve(signature.demand).rows.tolist()}
    )
    used, over = _slack(context, placement, potential, everybody, rows)
    stuck: list[int] = _too_large(potential, everybody, rows, used, over).tolist()
    left = everybody[~np.isin(potential.unit[everybody], stuck)]
    if not len(left):
        return stuck
    topology = context.topology_without(potential.where(chosen))
    others = ReprieveTopology(topology, placement) if topology is not None else None
    devices = None
    if topology is not None and context.claim_releases is not None:
        everybody_rows = potential.row[everybody]
        devices = ReprieveDevices(context.state, context.claim_releases, topology, placement, everybody_rows)
    slack: dict[int, list[int]] = dict(zip(used.tolist(), over.T.tolist(), strict=True))
    ports = _ports(placement)
    amounts = potential.amounts[np.ix_(rows, left)].T.tolist()
    parts: dict[int, list[tuple[int, list[int], int]]] = {}
    slots, units = potential.slot[left].tolist(), potential.unit[left].tolist()
    for index, (unit, slot) in enumerate(zip(units, slots, strict=True)):
        parts.setdefault(unit, []).append((slot, amounts[index], int(potential.row[left[index]])))
    violating = set(potential.unit[left[potential.violates[left]]].tolist())
    order = [*(unit for unit in reversed(parts) if unit in violating)]
    order += [unit for unit in reversed(parts) if unit not in violating]
    while True:
        leave = [unit for unit in order if not _reprieve_unit(context, parts[unit], slack, ports, others, devices)]
        # Somebody who came back may be whom required affinity needs, or make a spread even, so that others can stay as well.
        if others is None or len(leave) == len(order):
            return [*stuck, *leave]
        order = leave


def _reprieve_unit(
    context: PreemptionContext,
    pods: list[tuple[int, list[int], int]],
    slack: dict[int, list[int]],
    ports: dict[int, list[HostPort]],
    others: ReprieveTopology | None,
    devices: ReprieveDevices | None,
) -> bool:
    """Puts all pods of a unit back if every node they were on bears it, and so do the placed pods.

    Args:
        context: the snapshot.
        pods: (node slot, amounts [resource], row) of each pod of the unit.
        slack: node slot -> what is over there [resource]; nodes without placed pods are not in it. Becomes less.
        ports: node slot -> host ports of the pods placed there.
        others: rules about other pods; None when none of them can refuse a node.
        devices: those of the placed pods; None when they ask for none.
    """
    context.state.nodes.steps.spend(_A_POD * (1 + len(pods)))
    after: dict[int, list[int]] = {}
    for slot, amounts, row in pods:
        have = after.get(slot) or slack.get(slot)
        if have is None:
            continue
        rest = [free - amount for free, amount in zip(have, amounts, strict=True)]
        if min(rest) < 0 or (slot in ports and _collides(context, row, ports[slot])):
            return False
        after[slot] = rest
    if devices is not None and not devices.fit([row for _, _, row in pods]):
        return False
    if others is not None and context.victim_topology is not None:
        effects = [effect for _, _, row in pods for effect in context.victim_topology.of(row)]
        if not others.reprieve(effects):
            return False
    if devices is not None:
        devices.stay([row for _, _, row in pods])
    slack.update(after)
    return True


def _collides(context: PreemptionContext, row: int, taken: list[HostPort]) -> bool:
    pod = context.state.assigned_pods.pods[row]
    return pod is not None and any(ports_conflict(own, other) for own in pod.demand.ports for other in taken)


def _ports(placement: Placement) -> dict[int, list[HostPort]]:
    found: dict[int, list[HostPort]] = {}
    for signature, slots, _ in placement:
        if signature.demand.ports:
            for slot in slots.tolist():
                found.setdefault(slot, []).extend(signature.demand.ports)
    return found


def _slack(
    context: PreemptionContext, placement: Placement, potential: PotentialVictims, left: Slots, rows: list[int]
) -> tuple[Slots, NDArray[np.int64]]:
    """What is over on the nodes used when all of `left` are gone and the placed pods there.

    Returns:
        [node] the slots that are used, ascending, and [resource of `rows`, node] what is over on them; a resource that nobody
        placed on a node asks for has no limit there.
    """
    nodes = context.state.nodes
    used = np.unique(np.concatenate([slots for _, slots, _ in placement]))
    free = np.zeros((len(nodes.resources), len(used)), dtype=np.int64)
    free += context.resources.free[:, used]
    asked = np.zeros(free.shape, dtype=np.bool_)
    here = left[np.isin(potential.slot[left], used)]
    where = np.searchsorted(used, potential.slot[here])
    for row in rows:
        np.add.at(free[row], where, potential.amounts[row][here])
    for signature, slots, counts in placement:
        demand = nodes.resolve(signature.demand)
        at = np.searchsorted(used, slots)
        for row, amount in zip(demand.rows.tolist(), demand.amounts.tolist(), strict=True):
            free[row, at] -= amount * counts
            asked[row, at] = True
    free[~asked] = NO_LIMIT
    return used, free[rows]


def _too_large(
    potential: PotentialVictims, left: Slots, rows: list[int], used: Slots, over: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Units of which a pod does not fit into what is over on its node, even if nobody else comes back."""
    here = left[np.isin(potential.slot[left], used)]
    where = np.searchsorted(used, potential.slot[here])
    excess = (potential.amounts[rows][:, here] > over[:, where]).any(axis=0)
    return np.unique(potential.unit[here[excess]])


# --- cost ------------------------------------------------------------------------------------------------------------


def _cost_of(victims: tuple[Victim, ...], vacancy: float) -> Cost:
    """The cost of a candidate with these victims; `vacancy` as in `_vacancy_after`, 0 for the whole cluster."""
    priorities = [victim.unit.priority for victim in victims]
    sizes = [len(victim.pods) for victim in victims]
    top, lift = max(priorities, default=_LOWEST), int(LIFT)
    return Cost(
        violations=sum(size for size, victim in zip(sizes, victims, strict=True) if victim.violates_budget),
        top_priority=top,
        priority_sum=sum((priority + lift) * size for priority, size in zip(priorities, sizes, strict=True)),
        units=len(victims),
        vacancy=vacancy,
        earliest=-min((victim.unit.created_seconds for victim in victims if victim.unit.priority == top), default=0.0),
    )


def _vacancy_after(context: PreemptionContext, domain: Mask, placement: Placement, units: list[int]) -> float:
    """How empty a domain is once these units have left and the members are placed: minus the sum of the shares in use.

    Only what the members ask for counts, as when a domain is chosen that needs no victims.

    Args:
        context: the snapshot.
        domain: [node slot] which nodes are in it.
        placement: where the members go.
        units: numbers of the units that leave, with all their pods, on whatever node these are.
    """
    nodes, assigned_pods = context.state.nodes, context.state.assigned_pods
    leaving = np.array([row for number in units for row in assigned_pods.units[number].rows], dtype=np.intp)
    slots = assigned_pods.slots[leaving]
    leaving = leaving[(slots >= 0) & domain[slots]]
    free = context.resources.free[:, domain].sum(axis=1, dtype=np.float64)
    freed = assigned_pods.amounts[:, leaving].sum(axis=1, dtype=np.float64)
    free[: len(freed)] += freed
    asked: set[int] = set()
    for signature, _, counts in placement:
        demand = nodes.resolve(signature.demand)
        free[demand.rows] -= demand.amounts * float(counts.sum())
        asked.update(demand.rows.tolist())
    rows = [row for row in sorted(asked) if nodes.resources[row] != PODS]
    offered = nodes.offered(slice(None))[rows][:, domain].sum(axis=1, dtype=np.float64)
    return -round(float(((offered - free[rows]) / np.maximum(offered, 1)).sum()), _DIGITS)

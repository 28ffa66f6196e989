"""What one evaluation works on: the resources there would be, what rules about other pods would say, and the potential victims.

Pods that are being deleted count as gone, whoever asked for it, so nobody else is evicted for room that is about to be free.
Those in `overdue` were given up on: they count as staying, and their nodes as they are.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.free_after_nominations import resources_left_to
from scheduler.algorithm.overlay import ResourceOverlay
from scheduler.algorithm.partition import partition_by_signature
from scheduler.algorithm.topology import Topology
from scheduler.cache.cluster import ClusterState
from scheduler.cache.node_columns import Slots
from scheduler.cache.pod_group_state import MemberState, PodGroupState
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.records import PodRecord
from scheduler.cache.steps import ONE_SCAN
from scheduler.preemption.claim_releases import ClaimReleases
from scheduler.preemption.victim_topology import VictimTopology
from scheduler.preemption.victims import least_important_first

_A_POD: Final = 300
"""Steps of looking at one pod that could leave."""

Violators = Callable[[list[tuple[PodRecord, ...]]], list[bool]]
"""(pods of each unit, least important first) -> which units would exceed a disruption budget, one entry per unit."""


class PotentialVictims:
    """Pods of lower priority (upstream: potentialVictims), least important first.

    Attributes:
        row: [pod] row in `cache.assigned_pods`.
        slot: [pod] node slot.
        unit: [pod] number of the unit it leaves with.
        size: [pod] pods of that unit.
        priority: [pod] of that unit.
        in_whole: [pod] whether the unit is a whole group.
        violates: [pod] whether the unit would exceed a disruption budget.
        amounts: [resource, pod] what leaves with it, in the units of the node table.
    """

    __slots__ = ("amounts", "in_whole", "priority", "row", "size", "slot", "unit", "violates")

    def __init__(
        self,
        row: Slots,
        slot: Slots,
        unit: NDArray[np.int64],
        size: NDArray[np.int64],
        priority: NDArray[np.int64],
        in_whole: NDArray[np.bool_],
        violates: NDArray[np.bool_],
        amounts: NDArray[np.int64],
    ) -> None:
        self.row: Final = row
        self.slot: Final = slot
        self.unit: Final = unit
        self.size: Final = size
        self.priority: Final = priority
        self.in_whole: Final = in_whole
        self.violates: Final = violates
        self.amounts: Final = amounts

    def __len__(self) -> int:
        return len(self.row)

    def where(self, chosen: NDArray[np.bool_]) -> "PotentialVictims":
        """Only these."""
        if chosen.all():
            return self
        return PotentialVictims(
            self.row[chosen],
            self.slot[chosen],
            self.unit[chosen],
            self.size[chosen],
            self.priority[chosen],
            self.in_whole[chosen],
            self.violates[chosen],
            self.amounts[:, chosen],
        )


class PreemptionContext:
    """One preemptor, the resources without those who leave anyway, and everybody who could be asked to.

    Args:
        state: the snapshot; nothing of it is changed.
        members: the preemptor.
        violators: None when there are no disruption budgets.
        overdue: UIDs of pods that were asked to leave and do not.

    Raises:
        OverBudgetError: there are more pods than one computation may look at.
    """

    def __init__(
        self, state: ClusterState, members: PodGroupState, violators: Violators | None, overdue: Collection[str] = ()
    ) -> None:
        self.state: Final = state
        self.members: Final = members
        self.priority: Final = members.priority
        self.violators: Final = violators
        assigned_pods = state.assigned_pods
        assigned_pods.catch_up()
        state.nodes.steps.spend(_A_POD * len(assigned_pods.pods))
        found = partition_by_signature(state, members)
        # Preferences alone do not decide whether somebody has to leave, and pods that only prefer are equal.
        topology = found.topology if found.topology is not None and found.topology.is_strict else None
        self.uids: Final[Mapping[PodSignature, Sequence[str]]] = (
            found.uids
            if topology is not None
            else {signature: waiting.uids for signature, waiting in members.pending.items()}
        )
        self.pending: Final = {signature: len(uids) for signature, uids in self.uids.items()}
        """Signature -> how many pods of it are to be placed."""
        terminating = assigned_pods.terminating()
        if overdue:
            pods = [assigned_pods.pods[row] for row in terminating]
            is_gone = [pod is not None and pod.uid not in overdue for pod in pods]
            terminating = terminating[np.array(is_gone, dtype=np.bool_)]
        self.leaving: Final = terminating
        """[pod] rows of those who leave anyway."""
        left = resources_left_to(state, members)
        self.resources: Final = left if left is not None else ResourceOverlay(state.nodes, state.ports)
        """What the preemptor may use once they have left."""
        self._give_back(
            self.resources, self.leaving, assigned_pods.slots[self.leaving], assigned_pods.amounts[:, self.leaving]
        )
        self.potential_victims: Final = self._potential_victims()
        self.victim_topology: Final = (
            VictimTopology(state, topology, np.concatenate([self.leaving, self.potential_victims.row]))
            if topology is not None
            else None
        )
        claims = topology.device_claims if topology is not None else None
        self.claim_releases: Final = ClaimReleases(state, members, claims.view, overdue) if claims is not None else None
        """None when the members ask for no devices."""
        self._rules: Final = (
            self.victim_topology.without(topology, self.leaving)
            if topology is not None and self.victim_topology is not None
            else None
        )
        self.topology: Final = self._with_devices(self._rules, self.leaving)
        """None when no rule about other pods, or volumes or devices, can refuse a node."""

    def resources_without(self, victims: PotentialVictims) -> ResourceOverlay:
        """What the preemptor may use once these have left, too."""
        nodes = self.state.nodes
        nodes.steps.spend(2 * len(nodes.resources) * (ONE_SCAN + nodes.slots + 5 * len(victims)))
        resources = self.resources.copy()
        self._give_back(resources, victims.row, victims.slot, victims.amounts)
        return resources

    def topology_without(self, victims: PotentialVictims) -> Topology | None:
        """The rules about other pods once these have left, too; None when there are none."""
        return self.topology_without_rows(victims.row)

    def topology_without_rows(self, rows: Slots) -> Topology | None:
        """The same for the pods of these rows."""
        if self._rules is None or self.victim_topology is None:
            return None
        return self._with_devices(self.victim_topology.without(self._rules, rows), rows)

    @property
    def is_room_coming(self) -> bool:
        """Whether somebody is leaving, or devices come free that nobody uses any more."""
        return bool(len(self.leaving)) or bool(self.claim_releases)

    def needed_by_affinity(self) -> NDArray[np.bool_]:
        """[pod] which potential victims the members may need: required affinity speaks of them, or of others of their unit."""
        potential = self.potential_victims
        if self.topology is None or self.victim_topology is None:
            return np.zeros(len(potential), dtype=np.bool_)
        near = {at for prefilter_state in self.topology.prefilter_states.values() for at in prefilter_state.affinity}
        units = np.unique(potential.unit[np.isin(potential.row, self.victim_topology.rows(near))])
        return np.isin(potential.unit, units)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _with_devices(self, rules: Topology | None, rows: Slots) -> Topology | None:
        """The same rules where the devices of these rows are free."""
        if rules is None or self.claim_releases is None:
            return rules
        return rules.seeing(self.claim_releases.view(rows))

    def _give_back(self, resources: ResourceOverlay, rows: Slots, slots: Slots, amounts: NDArray[np.int64]) -> None:
        """Adds to `resources` what these pods hold: `amounts` is [resource, pod]."""
        if len(rows):
            resources.add(slots, amounts)
        assigned_pods = self.state.assigned_pods
        with_ports = assigned_pods.with_ports.intersection(rows.tolist()) if assigned_pods.with_ports else set()
        if with_ports and any(signature.demand.ports for signature in self.pending):
            resources.ports = resources.ports.copy()
            for pod in assigned_pods.records(with_ports):
                resources.ports.give_back(pod.node_name, pod.demand.ports)

    def _potential_victims(self) -> PotentialVictims:
        assigned_pods = self.state.assigned_pods
        rows = assigned_pods.preemptible_below(self.priority)
        unit = assigned_pods.unit_of[rows]
        in_whole = assigned_pods.in_whole[rows]
        unsure = self._partly_assumed(np.unique(unit[in_whole]).tolist()) if in_whole.any() else []
        if unsure:
            keep = ~np.isin(unit, unsure)
            rows, unit, in_whole = rows[keep], unit[keep], in_whole[keep]
        size = np.ones(len(rows), dtype=np.int64)
        if in_whole.any():
            _, inverse, counts = np.unique(unit, return_inverse=True, return_counts=True)
            size = counts[inverse]
        priority = assigned_pods.priorities[rows]
        order = least_important_first(priority, in_whole, size, assigned_pods.since[rows], unit)
        rows, unit, size, in_whole = rows[order], unit[order], size[order], in_whole[order]
        return PotentialVictims(
            rows,
            assigned_pods.slots[rows],
            unit,
            size,
            priority[order],
            in_whole,
            self._violating(unit),
            assigned_pods.amounts[:, rows],
        )

    def _partly_assumed(self, numbers: list[int]) -> list[int]:
        """Whole groups some of whose members are on their way to a node: they cannot be taken whole at this moment."""
        found = []
        for number in numbers:
            group = self.state.assigned_pods.units[number].group
            members = self.state.item(group.item) if group else None
            if members is not None and members.count(MemberState.ASSUMED):
                found.append(number)
        return found

    def _violating(self, unit: NDArray[np.int64]) -> NDArray[np.bool_]:
        if self.violators is None or not len(unit):
            return np.zeros(len(unit), dtype=np.bool_)
        assigned_pods = self.state.assigned_pods
        numbers = list(dict.fromkeys(unit.tolist()))
        is_violating = self.violators(
            [tuple(assigned_pods.records(assigned_pods.units[number].rows)) for number in numbers]
        )
        return np.isin(unit, [number for number, violates in zip(numbers, is_violating, strict=True) if violates])

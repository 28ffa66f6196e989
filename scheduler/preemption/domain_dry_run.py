"""The dry run inside one topology domain, or in the whole cluster: how many members fit, and the candidates worth comparing."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.attempt import Attempt
from scheduler.algorithm.free_after_nominations import SnapshotOnResources
from scheduler.algorithm.node_fits import fits_of
from scheduler.algorithm.overlay import ResourceOverlay
from scheduler.algorithm.partition import MemberPartition
from scheduler.algorithm.schedule_pod_group import attempt_on_nodes
from scheduler.algorithm.snapshot import NewSnapshot
from scheduler.cache.pod_group_tree import TreeState
from scheduler.cache.pod_signature import PodSignature
from scheduler.plugins.gang_scheduling import missing_count
from scheduler.plugins.node_resources_fit import pods_that_fit
from scheduler.preemption.context import PotentialVictims, PreemptionContext
from scheduler.preemption.node_candidates import Mask, fits_by_node, node_candidates, select_nodes
from scheduler.preemption.reprieve import Placement, candidate_for
from scheduler.preemption.victim_choices import VictimChoices
from scheduler.preemption.victims import Candidate

MOST_COMPARED: Final = 32
"""Nodes on which a candidate for a single pod is worked out whole, the most promising of all."""


class Domain:
    """The dry run inside one topology domain.

    Args:
        context: the snapshot.
        mask: [node slot] the nodes of the domain, None: all.
        potential: who may leave, on whatever node.
    """

    def __init__(self, context: PreemptionContext, mask: Mask | None, potential: PotentialVictims) -> None:
        self._context = context
        self._mask = mask
        self._potential = potential
        self._nobody = potential.where(np.zeros(len(potential), dtype=np.bool_))
        self._signatures = context.pending
        self._has_ports = any(signature.demand.ports for signature in self._signatures)
        self._ignores_other_pods = context.topology is None
        group = context.members.group
        tree = context.members if isinstance(context.members, TreeState) else None
        self._inner_keys = sorted(tree.inner_keys()) if tree is not None else []
        self._is_divided = bool(self._inner_keys) or (group is not None and group.topology.slice_size > 0)
        """Slices, or groups of a tree, must be inside domains of their own."""
        self._is_plain = (
            self._ignores_other_pods and len(self._signatures) == 1 and not self._has_ports and not self._is_divided
        )
        self._latest: tuple[PotentialVictims, Attempt] | None = None
        steps = context.state.nodes.steps
        begun = steps.spent
        self.most_that_fit = self._fits(potential)
        """Members that fit when everybody who could leave has left."""
        self._cost_steps = steps.spent - begun
        """Of asking once how many fit."""

    @property
    def fits_already(self) -> bool:
        """True when as many fit without anybody leaving who is not leaving already."""
        return self._suffices(self._nobody)

    def already(self) -> Candidate | None:
        """Where the members go when nobody else leaves; only if `fits_already`."""
        return self._after_everybody(self._nobody)

    def candidates(self) -> Iterator[Candidate]:
        """The candidates worth comparing: one for each choice of who may leave, or one per promising node for a single pod."""
        choices = VictimChoices(self._context, self._inner_keys, self._suffices, self._cost_steps)
        for potential in choices.of(self._potential):
            if self.most_that_fit == 1 and len(self._signatures) == 1 and not self._is_divided:
                yield from (
                    self._on_each_node(potential) if self._is_plain else self._on_each_node_among_others(potential)
                )
            elif found := self._signature_by_signature(potential) or self._after_everybody(potential):
                yield found

    # --- how much fits -----------------------------------------------------------------------------------------------

    def _fits(self, leaving: PotentialVictims) -> int:
        """How many members fit when these have left."""
        resources = self._context.resources_without(leaving)
        if self._is_plain:
            [(signature, count)] = self._signatures.items()
            return min(count, int(fits_by_node(self._context, resources, signature, self._mask).sum()))
        return self._attempt(leaving, resources).total

    def _suffices(self, leaving: PotentialVictims) -> bool:
        """Whether as many fit when these have left as when everybody has."""
        return self._fits(leaving) >= self.most_that_fit

    def _attempt(self, leaving: PotentialVictims, resources: ResourceOverlay) -> Attempt:
        """Where members go when these have left; the last answer is kept, for it is asked first how many fit and then where."""
        if self._latest is not None and self._latest[0] is leaving:
            return self._latest[1]
        need = missing_count(self._context.members)
        found = MemberPartition(self._context.uids, self._context.topology)
        new_snapshot = self._new_snapshot(resources, leaving)
        attempt = attempt_on_nodes(
            self._context.state, self._context.members, found, need, new_snapshot, self._mask, ""
        )
        if self._latest is None or attempt.total >= self._latest[1].total:
            self._latest = (leaving, attempt)
        return attempt

    def _new_snapshot(self, resources: ResourceOverlay, leaving: PotentialVictims) -> NewSnapshot:
        state, topology = self._context.state, self._context.topology_without(leaving)
        return lambda allowed, _: SnapshotOnResources(
            state.nodes, fits_of(state), resources, allowed, topology=topology
        )

    # --- candidates --------------------------------------------------------------------------------------------------

    def _on_each_node(self, potential: PotentialVictims) -> list[Candidate]:
        """One pod that only amounts keep away: the nodes whose victims cost least."""
        context = self._context
        [signature] = self._signatures
        places = fits_by_node(context, context.resources, signature, self._mask)
        inside = np.ones(len(potential), dtype=np.bool_) if self._mask is None else self._mask[potential.slot]
        nodes = node_candidates(context, context.resources, signature, 1, potential, inside, places)
        # Later ones of a node are for further pods.
        _, first = np.unique(nodes.slot, return_index=True)
        found = []
        for index in np.sort(first)[:MOST_COMPARED].tolist():
            chosen = np.isin(potential.unit, potential.unit[nodes.victims(index)])
            placement = [(signature, nodes.slot[index : index + 1], np.ones(1, dtype=np.int64))]
            found.append(candidate_for(context, placement, potential, chosen, self._mask))
        return found

    def _on_each_node_among_others(self, potential: PotentialVictims) -> list[Candidate]:
        """One pod that minds others, or wants a host port: the nodes with the fewest in its way first."""
        [signature] = self._signatures
        new_snapshot = self._new_snapshot(self._context.resources_without(potential), potential)
        snapshot = new_snapshot(self._mask, "")
        feasible = np.flatnonzero(snapshot.capacity(signature))
        in_the_way = self._count_in_the_way(signature, potential)
        order = feasible[np.lexsort((feasible, in_the_way[feasible]))]
        found = []
        for slot in order[:MOST_COMPARED].tolist():
            placement = [(signature, np.array([slot], dtype=np.intp), np.ones(1, dtype=np.int64))]
            chosen = self._in_the_way(potential, placement)
            found.append(candidate_for(self._context, placement, potential, chosen, self._mask))
        return found

    def _count_in_the_way(self, signature: PodSignature, leaving: PotentialVictims) -> NDArray[np.int64]:
        """[node slot] roughly how many would have to leave for one pod: whom it minds, and who takes its room."""
        context, nodes = self._context, self._context.state.nodes
        fits = pods_that_fit(context.resources.free, nodes.resolve(signature.demand), slice(None))
        found = np.where(fits > 0, 0, np.bincount(leaving.slot, minlength=nodes.slots))
        topology, after = context.topology, context.topology_without(leaving)
        if topology is not None and after is not None:
            prefilter_state = topology.prefilter_states[signature]
            for at in (*prefilter_state.anti_affinity, *prefilter_state.existing_anti_affinity):
                group = topology.groups[at]
                found += (group.counts - after.groups[at].counts)[group.codes]
        return found

    def _signature_by_signature(self, potential: PotentialVictims) -> Candidate | None:
        """Nodes are cleared for one signature after the other, the one with the fewest places first.

        None when that places fewer than can be placed, or when more than amounts keeps the members away.
        """
        context = self._context
        if not self._ignores_other_pods or self._has_ports or self._is_divided:
            return None
        everything = context.resources_without(potential)
        order = sorted(
            self._signatures, key=lambda signature: int(fits_by_node(context, everything, signature, self._mask).sum())
        )
        resources, chosen = context.resources.copy(), np.zeros(len(potential), dtype=np.bool_)
        placement: list[tuple[PodSignature, NDArray[np.intp], NDArray[np.int64]]] = []
        for signature in order:
            stay = np.flatnonzero(~chosen)
            counts, more = select_nodes(
                context, resources, signature, self._signatures[signature], potential.where(~chosen), self._mask
            )
            gone = stay[more]
            chosen[gone] = True
            resources.add(potential.slot[gone], potential.amounts[:, gone])
            slots = np.flatnonzero(counts)
            if len(slots):
                placement.append((signature, slots, counts[slots]))
                demand = context.state.nodes.resolve(signature.demand)
                resources.free[np.ix_(demand.rows, slots)] -= np.outer(demand.amounts, counts[slots])
        if sum(int(counts.sum()) for _, _, counts in placement) < self.most_that_fit:
            return None
        return candidate_for(context, placement, potential, chosen, self._mask)

    def _after_everybody(self, potential: PotentialVictims) -> Candidate | None:
        """Upstream's way: place with everybody gone, then see who can stay."""
        context = self._context
        attempt = self._attempt(potential, context.resources_without(potential))
        placement = [(part.signature, part.slots, part.counts) for part in attempt.placed if part.total]
        if attempt.total < self.most_that_fit:
            return None
        return candidate_for(context, placement, potential, self._in_the_way(potential, placement), self._mask)

    def _in_the_way(self, potential: PotentialVictims, placement: Placement) -> Mask:
        """[pod] whoever is on a node that is used, or bears on a rule about other pods, with all of its unit."""
        used = np.unique(np.concatenate([slots for _, slots, _ in placement]))
        rows = np.isin(potential.slot, used)
        if self._context.victim_topology is not None:
            rows |= np.isin(potential.row, self._context.victim_topology.rows())
        if self._context.claim_releases is not None:
            rows |= np.isin(potential.row, self._context.claim_releases.far_rows())
        return np.isin(potential.unit, potential.unit[rows])

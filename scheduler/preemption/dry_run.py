"""From an item that found no place to the best candidate, or to the reason why nobody has to leave. Changes nothing.

(1) With everybody of lower priority gone, does the item fit at all? Rules that no leaving pod changes (selectors, taints,
amounts no node has) are part of that question, so a hopeless item is refused at the price of one look. (2) Binary search for
the lowest priority that has to leave, among those whom disruption budgets let go if they suffice (KEP-5710 gives those back
first whom a budget protects). (3) Nodes to clear and their victims (`node_candidates`); (4) who can stay (`reprieve`).
A group with a topology constraint is tried inside every domain and the cheapest candidate is taken; a lone pod on each of the
nodes that look best.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from api.topology import ANYWHERE
from scheduler.algorithm.attempt import Attempt
from scheduler.algorithm.devices.extended import asks_devices
from scheduler.algorithm.free_after_nominations import SnapshotOnResources
from scheduler.algorithm.level_tree import level_tree_of
from scheduler.algorithm.node_fits import fits_of
from scheduler.algorithm.overlay import ResourceOverlay
from scheduler.algorithm.partition import MemberPartition
from scheduler.algorithm.schedule_pod_group import attempt_on_nodes
from scheduler.algorithm.snapshot import NewSnapshot
from scheduler.algorithm.topology_domains import pinned_values
from scheduler.algorithm.tree_selections import required_pods
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_group_tree import TreeState
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.steps import OverBudgetError
from scheduler.plugins.gang_scheduling import missing_count
from scheduler.plugins.node_resources_fit import pods_that_fit
from scheduler.plugins.status import Status
from scheduler.preemption.context import PotentialVictims, PreemptionContext, Violators
from scheduler.preemption.node_candidates import Mask, fits_by_node, node_candidates, select_nodes
from scheduler.preemption.reprieve import Placement, candidate_for, kept_devices
from scheduler.preemption.victims import LIFT, Candidate, KeptDevices, Refusal, RefusalCode

MOST_COMPARED: Final = 32
"""Nodes on which a candidate for a single pod is worked out whole, the most promising of all."""
MOST_RANKS: Final = 32
"""In so many parts those of one priority are told apart where nodes are not cleared by count."""

_LOWEST: Final = np.iinfo(np.int64).min


def dry_run_preemption(
    state: ClusterState,
    members: PodGroupState,
    violators: Violators | None = None,
    overdue: Collection[str] = (),
    *,
    is_nominated: bool = False,
) -> Candidate | Refusal:
    """Who has to leave so that the pending members of this item fit; it may take the steps of one computation.

    Args:
        state: the snapshot.
        members: the item; a decision has just found no place for it.
        violators: says which units would exceed a disruption budget; None when there are no budgets.
        overdue: UIDs of pods that were asked to leave and do not.
        is_nominated: it has been nominated before; a refusal because others are leaving says where it goes then.
    """
    if not isinstance(members, TreeState):
        return _dry_run(state, members, violators, overdue, is_nominated=is_nominated)
    # The first choice of groups with which the tree could start; nobody leaves for what is beyond its minimum.
    found: Candidate | Refusal = Refusal(RefusalCode.TREE)
    for required in required_pods(members):
        found = _dry_run(state, required, violators, overdue, is_nominated=is_nominated)
        if isinstance(found, Candidate) or found.waits or found.code is RefusalCode.OVER_BUDGET:
            return found
    return found


def _dry_run(
    state: ClusterState,
    members: PodGroupState,
    violators: Violators | None,
    overdue: Collection[str],
    *,
    is_nominated: bool,
) -> Candidate | Refusal:
    assigned_pods = state.assigned_pods
    if not members.may_preempt:
        return Refusal(RefusalCode.NEVER)
    may_help = len(assigned_pods.preemptible_below(members.priority)) or len(assigned_pods.terminating())
    if not may_help and not any(asks_devices(state, signature) for signature in members.pending):
        return Refusal(RefusalCode.NO_VICTIMS)
    try:
        with state.nodes.steps.limited("preemption"):
            return _best_candidate(PreemptionContext(state, members, violators, overdue), is_nominated=is_nominated)
    except OverBudgetError:
        return Refusal(RefusalCode.OVER_BUDGET)


def _best_candidate(context: PreemptionContext, *, is_nominated: bool) -> Candidate | Refusal:
    members = context.members
    if not len(context.potential_victims) and not context.is_room_coming:
        return Refusal(RefusalCode.NO_VICTIMS)
    domains = _domains_that_fit_most(context)
    fits = domains[0].most_that_fit if domains else 0
    if fits < missing_count(members):
        return _fits_too_few(members, fits)
    free = next((domain for domain in domains if domain.fits_already), None)
    if free is not None:
        found = free.already() if is_nominated else None
        return Refusal(
            RefusalCode.ONGOING,
            waits=True,
            places=found.places if found is not None else (),
            devices=found.devices if found is not None else (),
        )
    candidates = [candidate for domain in domains for candidate in domain.candidates()]
    if not candidates:
        return _fits_too_few(members, 0)
    return min(candidates, key=lambda candidate: candidate.cost)


def devices_on(
    state: ClusterState, members: PodGroupState, nominated: Mapping[str, str], victims: Collection[str]
) -> KeptDevices:
    """The devices that pods which are nominated already count on.

    Args:
        state: the snapshot.
        members: their item.
        nominated: UID of a pod -> name of its node.
        victims: UIDs of those who leave for it.
    """
    if not any(asks_devices(state, signature) for signature in members.pending):
        return ()
    try:
        with state.nodes.steps.limited("preemption"):
            context = PreemptionContext(state, members, None)
            uids: dict[PodSignature, list[str]] = {}
            placement: list[tuple[PodSignature, NDArray[np.intp], NDArray[np.int64]]] = []
            for signature, waiting in context.uids.items():
                slots = [(state.nodes.slot_of.get(nominated.get(uid, ""), -1), uid) for uid in waiting]
                known = sorted(one for one in slots if one[0] >= 0)
                uids[signature] = [uid for _, uid in known]
                found, counts = np.unique(np.array([slot for slot, _ in known], dtype=np.intp), return_counts=True)
                placement.append((signature, found, counts))
            rows = [row for uid in sorted(victims) if (row := state.assigned_pods.row_of(uid)) is not None]
            return kept_devices(context, placement, uids, np.array(rows, dtype=np.intp))
    except OverBudgetError:
        return ()


def _fits_too_few(members: PodGroupState, fits: int) -> Refusal:
    if members.is_lone:
        return Refusal(RefusalCode.NO_NODE)
    scheduled, remaining = members.scheduled_count + fits, members.pending_count - fits
    return Refusal(RefusalCode.TOO_FEW, need=members.min_count, scheduled=scheduled, remaining=remaining)


def _domains_that_fit_most(context: PreemptionContext) -> list["_Domain"]:
    """Where most members fit once everybody who may has left."""
    potential, masks = context.potential_victims, list(_domain_masks(context.state, context.members))
    domains = [_Domain(context, mask, potential) for mask in masks]
    most = max((domain.most_that_fit for domain in domains), default=0)
    needed = context.needed_by_affinity()
    if needed.any() and most < context.members.pending_count:
        # Those whom required affinity speaks of have to stay, or there is nobody to be near to.
        others = [_Domain(context, mask, potential.where(~needed)) for mask in masks]
        if (more := max((domain.most_that_fit for domain in others), default=0)) > most:
            domains, most = others, more
    return [domain for domain in domains if domain.most_that_fit == most]


def _domain_masks(state: ClusterState, members: PodGroupState) -> Iterator[Mask | None]:
    """[node slot] of each topology domain the members may be in; None stands for the whole cluster."""
    request = members.group.topology if members.group is not None else ANYWHERE
    keys = tuple(level.key for level in request.levels if level.is_required)
    if not keys:
        yield None
        return
    pins = pinned_values(state, members)
    if isinstance(pins, Status):
        return
    tree = level_tree_of(state, keys)
    usable = state.nodes.alive & tree.has_all(range(len(keys)))
    for key, value in pins.items():
        usable &= state.nodes.label_column(key).one_of((value,), np.arange(state.nodes.slots))
    codes = tree.codes[-1]
    for code in np.unique(codes[usable]).tolist():
        yield usable & (codes == code)


class _Domain:
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
        self._steps = context.state.nodes.steps
        begun = self._steps.spent
        self.most_that_fit = self._fits(potential)
        """Members that fit when everybody who could leave has left."""
        self._cost = self._steps.spent - begun
        """Steps of asking once how many fit."""

    @property
    def fits_already(self) -> bool:
        """True when as many fit without anybody leaving who is not leaving already."""
        return self._fits(self._nobody) >= self.most_that_fit

    def already(self) -> Candidate | None:
        """Where the members go when nobody else leaves; only if `fits_already`."""
        return self._after_everybody(self._nobody)

    def candidates(self) -> Iterator[Candidate]:
        """The candidates worth comparing: one for each choice of who may leave, or one per promising node for a single pod."""
        for potential in self._choices():
            if self.most_that_fit == 1 and len(self._signatures) == 1 and not self._is_divided:
                yield from (
                    self._on_each_node(potential) if self._is_plain else self._on_each_node_among_others(potential)
                )
            elif found := self._signature_by_signature(potential) or self._after_everybody(potential):
                yield found

    # --- who may leave -----------------------------------------------------------------------------------------------

    def _choices(self) -> list[PotentialVictims]:
        """Who may leave: the lowest priorities that suffice, and where budgets are in the way whom these allow to go first.

        Which pods a budget lets go is settled from the least important up, although it may be another one whose node is
        needed. So the choice that does not ask for budgets is worked out, too; the cost says which candidate is better.
        """
        everybody, is_lone = self._potential, self._context.members.is_lone
        # A lone pod has a domain per node, and every node the level of its own that its least important pods give.
        cheapest = everybody if is_lone else self._up_to_level(everybody, everybody.priority)
        found = [cheapest]
        if self._context.claim_releases is not None and not is_lone:
            # Nodes are not cleared by count where devices matter: the fewest units, from the least important up, are tried instead.
            found.append(self._up_to_level(cheapest, _ranks(cheapest)))
        found += self._in_cheap_domains(cheapest)
        if not everybody.violates.any():
            return found
        spared = everybody.where(~everybody.violates)
        if self._fits(spared) >= self.most_that_fit:
            suffices = spared if is_lone else self._up_to_level(spared, spared.priority)
            return [suffices, *self._in_cheap_domains(suffices), *found]
        violating = np.where(everybody.violates, everybody.priority, _LOWEST)
        return [self._up_to_level(everybody, violating), *found]

    def _up_to_level(self, potential: PotentialVictims, priority: NDArray[np.int64]) -> PotentialVictims:
        """Everybody up to the lowest of these priorities that suffices; `priority` is [pod], and all of them together do."""
        levels = np.unique(priority)
        low, high, found = 0, len(levels) - 1, potential
        while low < high:
            middle = (low + high) // 2
            tried = potential.where(priority <= levels[middle])
            if self._fits(tried) >= self.most_that_fit:
                high, found = middle, tried
            else:
                low = middle + 1
        return found

    def _in_cheap_domains(self, potential: PotentialVictims) -> list[PotentialVictims]:
        """Of these as few as suffice in the domains that are cheapest to clear, for each label that divides a tree."""
        found = []
        for key in self._inner_keys:
            column = self._context.state.nodes.label_column(key)
            if self._affords(len(column.values)):
                there = self._up_to_level(potential, _ranks_by_domain(potential, column.codes))
                found.append(self._up_to_level(there, _ranks(there)) if self._affords(MOST_RANKS) else there)
        return found

    def _affords(self, levels: int) -> bool:
        """Whether the lowest of so many levels can be looked for; half of what is left is for the candidates."""
        return self._steps.left > 2 * self._cost * (levels.bit_length() + 1)

    # --- how much fits -----------------------------------------------------------------------------------------------

    def _fits(self, leaving: PotentialVictims) -> int:
        """How many members fit when these have left."""
        resources = self._context.resources_without(leaving)
        if self._is_plain:
            [(signature, count)] = self._signatures.items()
            return min(count, int(fits_by_node(self._context, resources, signature, self._mask).sum()))
        return self._attempt(leaving, resources).total

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


def _ranks(potential: PotentialVictims) -> NDArray[np.int64]:
    """[pod] how early its unit leaves, the least important first, in not too many ranks."""
    ranks = np.cumsum(np.diff(potential.unit, prepend=potential.unit[:1]) != 0)
    units = int(ranks[-1]) + 1 if len(ranks) else 1
    return ranks * min(units, MOST_RANKS) // units


def _ranks_by_domain(potential: PotentialVictims, codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """[pod] how early its unit leaves if domains are cleared one by one, first those in which the least would have to go.

    Args:
        potential: who may leave.
        codes: [node slot] the domain.
    """
    domain = codes[potential.slot]
    cost = np.bincount(domain, weights=potential.priority + LIFT)
    rank = np.empty(len(cost), dtype=np.int64)
    rank[np.argsort(cost, kind="stable")] = np.arange(len(cost))
    # A unit leaves whole: with the last of its pods.
    units, number = np.unique(potential.unit, return_inverse=True)
    last = np.zeros(len(units), dtype=np.int64)
    np.maximum.at(last, number, rank[domain])
    return last[number]

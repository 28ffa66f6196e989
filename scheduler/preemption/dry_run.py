"""From an item that found no place to the best candidate, or to the reason why nobody has to leave. Changes nothing.

(1) With everybody of lower priority gone, does the item fit at all? Rules that no leaving pod changes (selectors, taints,
amounts no node has) are part of that question, so a hopeless item is refused at the price of one look. (2) Binary search for
the lowest priority that has to leave, among those whom disruption budgets let go if they suffice (KEP-5710 gives those back
first whom a budget protects): `victim_choices`. (3) Nodes to clear and their victims (`node_candidates`); (4) who can stay
(`reprieve`). A group with a topology constraint is tried inside every domain (`domain_dry_run`) and the cheapest candidate is
taken; a lone pod on each of the nodes that look best.
"""

from collections.abc import Collection, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from api.topology import ANYWHERE
from scheduler.algorithm.devices.extended import asks_devices
from scheduler.algorithm.level_tree import level_tree_of
from scheduler.algorithm.topology_domains import pinned_values
from scheduler.algorithm.tree_selections import required_pods
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_group_tree import TreeState
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.steps import OverBudgetError
from scheduler.plugins.gang_scheduling import missing_count
from scheduler.plugins.status import Status
from scheduler.preemption.context import PreemptionContext, Violators
from scheduler.preemption.domain_dry_run import Domain
from scheduler.preemption.node_candidates import Mask
from scheduler.preemption.reprieve import kept_devices
from scheduler.preemption.victims import Candidate, KeptDevices, Refusal, RefusalCode


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
                slots = ((state.nodes.slot_of.get(nominated.get(uid, "")), uid) for uid in waiting)
                known = sorted((slot, uid) for slot, uid in slots if slot is not None)
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


def _domains_that_fit_most(context: PreemptionContext) -> list[Domain]:
    """Where most members fit once everybody who may has left."""
    potential, masks = context.potential_victims, list(_domain_masks(context.state, context.members))
    domains = [Domain(context, mask, potential) for mask in masks]
    most = max((domain.most_that_fit for domain in domains), default=0)
    needed = context.needed_by_affinity()
    if needed.any() and most < context.members.pending_count:
        # Those whom required affinity speaks of have to stay, or there is nobody to be near to.
        others = [Domain(context, mask, potential.where(~needed)) for mask in masks]
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
